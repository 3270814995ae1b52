/** The store cannot take the work now: too much waits, the engine or its disk failed, or it is being closed. */
export class Unavailable extends Error {
  readonly reason: 'overloaded' | 'storage_unavailable' | 'storage_full' | 'shutting_down'

  constructor(reason: Unavailable['reason'], cause?: unknown) {
    super(reason, { cause })
    this.name = 'Unavailable'
    this.reason = reason
  }
}
