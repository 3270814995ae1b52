import { Unavailable } from '../../unavailable.ts'

/** The connection ended under a statement, or gave no answer: nobody knows whether the statement was done. */
export class ConnectionLost extends Error {
  constructor(cause: unknown) {
    super('the connection to PostgreSQL was lost', { cause })
    this.name = 'ConnectionLost'
  }
}

/** There is no connection to be had; nothing was sent. */
export class CannotConnect extends Error {
  constructor(message: string, cause: unknown) {
    super(message, { cause })
    this.name = 'CannotConnect'
  }
}

/** What PostgreSQL answered instead of a result (its appendix A): the statement has changed nothing. */
export type Refused = Error & { code: string }

export function isRefused(error: unknown): error is Refused {
  return error instanceof Error && 'severity' in error && 'code' in error && typeof error.code === 'string'
}

/** Whether two transactions were in each other's way, and the same statement may do well now. */
export function isCollision(error: unknown): boolean {
  return isRefused(error) && (error.code === '40P01' || error.code === '40001')
}

/** Whether a row refers to another that was removed meanwhile. */
export function isOrphaned(error: unknown): boolean {
  return isRefused(error) && error.code === '23503'
}

/** Whether the server has no connection left to give. */
export function isCrowded(error: unknown): boolean {
  return error instanceof CannotConnect && isRefused(error.cause) && error.cause.code === '53300'
}

/** Whether the server takes no writes, as a standby: another one is the primary now. */
export function isReadOnly(error: unknown): boolean {
  return isRefused(error) && error.code === '25006'
}

/**
 * The same error as others are to see it: `Unavailable` where the engine, its disk or the network failed; else a statement
 * is wrong, and it stays as it is.
 */
export function seenFromOutside(error: unknown): unknown {
  if (error instanceof ConnectionLost || error instanceof CannotConnect) {
    return new Unavailable('storage_unavailable', error)
  }
  const reason = isRefused(error) ? reasonOf(error.code) : undefined
  return reason ? new Unavailable(reason, error) : error
}

function reasonOf(code: string): Unavailable['reason'] | undefined {
  if (code === '53100') return 'storage_full'
  if (OVERLOADS.has(code)) return 'overloaded'
  return OUTAGE.test(code) ? 'storage_unavailable' : undefined
}

/** A statement took too long, or waited too long for a lock. */
const OVERLOADS = new Set(['57014', '55P03', '25P03'])

/**
 * Connections; a standby; a server that starts or stops; one that has no room; a role or a database that is missing;
 * collisions that did not end; the disk; damage.
 */
const OUTAGE = /^(08|25006|25P04|28|3D000|40P01|40001|53|57P|58|F0|XX001|XX002)/
