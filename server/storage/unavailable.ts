/** The store cannot take the work now: too much is queued, SQLite, PostgreSQL or the disk failed, or it is closing. */
export class Unavailable extends Error {
  readonly reason: 'overloaded' | 'storage_unavailable' | 'storage_full' | 'shutting_down'

  constructor(reason: Unavailable['reason'], cause?: unknown) {
    super(reason, { cause })
    this.name = 'Unavailable'
    this.reason = reason
  }
}

/** Returns the error to report to an operator: of a store that is unavailable, why it is. */
export function causeOf(error: unknown): unknown {
  return error instanceof Unavailable ? (error.cause ?? error) : error
}

/** The database has rolled back a transaction because of a conflict with another, such as a deadlock. It can be repeated. */
export class TransactionConflict extends Unavailable {
  constructor(cause: unknown) {
    super('storage_unavailable', cause)
    this.name = 'TransactionConflict'
  }
}

/** An error on its way to another thread; `message`, if any, is for the log, `outage` for the response. */
export type Failure = { message: string | undefined; outage?: Unavailable['reason'] | undefined }

export function errorOf({ message, outage }: Failure): Error {
  return outage ? new Unavailable(outage, message) : new Error(message)
}
