/** The store cannot take the work now: too much waits, the engine or its disk failed, or it is being closed. */
export class Unavailable extends Error {
  readonly reason: 'overloaded' | 'storage_unavailable' | 'storage_full' | 'shutting_down'

  constructor(reason: Unavailable['reason'], cause?: unknown) {
    super(reason, { cause })
    this.name = 'Unavailable'
    this.reason = reason
  }
}

/** An error on its way to another thread; `message` is for the log where there is any, `outage` what others are told. */
export type Failure = { message: string | undefined; outage?: Unavailable['reason'] | undefined }

export function errorOf({ message, outage }: Failure): Error {
  return outage ? new Unavailable(outage, message) : new Error(message)
}
