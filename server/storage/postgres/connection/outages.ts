import { TransactionConflict, Unavailable } from '../../unavailable.ts'

/** The connection was lost during a statement, or did not answer: it is unknown whether the statement was done. */
export class ConnectionLost extends Error {
  constructor(cause: unknown) {
    super('the connection to PostgreSQL was lost', { cause })
    this.name = 'ConnectionLost'
  }
}

/** No connection is available; nothing was sent. */
export class CannotConnect extends Error {
  constructor(message: string, cause: unknown) {
    super(message, { cause })
    this.name = 'CannotConnect'
  }
}

/** An error from PostgreSQL (its appendix A): the statement has changed nothing. */
export type Refused = Error & { code: string }

export function isRefused(error: unknown): error is Refused {
  return error instanceof Error && 'severity' in error && 'code' in error && typeof error.code === 'string'
}

/**
 * Whether two transactions conflicted (deadlock or serialization failure), and the statement may succeed if repeated.
 */
export function isCollision(error: unknown): boolean {
  return isRefused(error) && (error.code === '40P01' || error.code === '40001')
}

/** Whether a lock was not available in time. */
export function isLocked(error: unknown): boolean {
  return isRefused(error) && error.code === '55P03'
}

/** Whether a statement, a lock or a transaction took too long. */
export function isTimeout(error: unknown): boolean {
  return isRefused(error) && OVERLOADS.has(error.code)
}

/** Whether a row refers to another that was removed meanwhile. */
export function isOrphaned(error: unknown): boolean {
  return isRefused(error) && error.code === '23503'
}

/** Whether the server has no connection left. */
export function isCrowded(error: unknown): boolean {
  return error instanceof CannotConnect && isRefused(error.cause) && error.cause.code === '53300'
}

/** Whether the server is read-only, as a standby: another one is the primary now. */
export function isReadOnly(error: unknown): boolean {
  return isRefused(error) && error.code === '25006'
}

/**
 * Whether Citus could not reach one of its nodes, while the server that reports it, on a connection that lives, goes on:
 * other workspaces may be on other nodes.
 */
export function isNodeLost(error: unknown): boolean {
  if (!isRefused(error)) return false
  const routine = 'routine' in error ? String(error.routine) : ''
  const isRelayed = routine === RELAYED.routine && error.code === RELAYED.code
  return /^(08|57P)/.test(error.code) || NODE_LOST.has(routine) || isRelayed
}

/**
 * The functions of Citus 13 that report a lost connection to a node with the code of an internal error or of a failed
 * read. Their messages are partly those of the operating system, in its language.
 */
const NODE_LOST = new Set([
  'CheckRemoteTransactionsHealth',
  'EndRemoteCopy',
  'InitializeCopyShardState',
  'MarkRemoteTransactionFailed',
  'SendCopyDataToPlacement',
])

/** Of a statement that a node was running: without a code of its own, the connection was lost. */
const RELAYED = { routine: 'ReportResultError', code: 'XX000' }

/**
 * Converts an error for callers: `Unavailable` if the engine, its disk or the network failed; any other error means a
 * wrong statement and is returned unchanged.
 */
export function seenFromOutside(error: unknown): unknown {
  if (error instanceof ConnectionLost || error instanceof CannotConnect) {
    return new Unavailable('storage_unavailable', error)
  }
  if (isCollision(error)) return new TransactionConflict(error)
  if (isNodeLost(error)) return new Unavailable('storage_unavailable', error)
  const reason = isRefused(error) ? reasonOf(error.code) : undefined
  return reason ? new Unavailable(reason, error) : error
}

/** The same for an error of this work. */
export async function outward<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    throw seenFromOutside(error)
  }
}

function reasonOf(code: string): Unavailable['reason'] | undefined {
  if (code === '53100') return 'storage_full'
  if (OVERLOADS.has(code)) return 'overloaded'
  return OUTAGE.test(code) ? 'storage_unavailable' : undefined
}

/** Timeouts of a statement, a lock or a transaction. */
const OVERLOADS = new Set(['57014', '55P03', '25P03'])

/**
 * Errors of connections; a standby; a server that starts or stops; one without capacity; a missing role or database; a right
 * that the role has lost; the disk; corruption.
 */
const OUTAGE = /^(08|25006|25P04|28|3D000|42501|53|57P|58|F0|XX001|XX002)/
