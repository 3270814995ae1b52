import { UNDECLARED } from '../effects.ts'
import { type Failure, Unavailable } from '../unavailable.ts'
import { type Connection, storageFailure } from './connection.ts'

/** A compiled query that is sent to another thread. */
export type Statement = {
  sql: string
  parameters: readonly unknown[]
  /** Whether it must not change rows. */
  isRead?: boolean
  /** Whether it may change what the writer has looked up. */
  changesReferences?: boolean
}

export type StatementResult = { rows: unknown[]; changes: number } | { failure: Failure }

/** Runs one statement; an error of the driver is returned as a failure. */
export function runStatement(
  connection: Connection,
  { sql, parameters, isRead = false }: Statement,
): StatementResult {
  try {
    const statement = connection.prepare(sql)
    if (connection.readonly && !statement.readonly) throw new Error('a write outside a transaction')
    if (isRead && !statement.readonly) throw new Error(UNDECLARED)
    if (statement.reader) return { rows: statement.all(...parameters), changes: 0 }
    return { rows: [], changes: statement.run(...parameters).changes }
  } catch (error) {
    return { failure: failureOf(error) }
  }
}

export function failureOf(error: unknown): Failure {
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { message, outage: error instanceof Unavailable ? error.reason : storageFailure(error) }
}
