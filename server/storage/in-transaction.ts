import type { Kysely, Transaction } from 'kysely'
import { TransactionConflict } from './unavailable.ts'

/** Including the first. */
const ATTEMPTS = 3

/**
 * Runs a transaction; again if it conflicted with another.
 * @param work may run several times
 */
export async function inTransaction<Tables, Result>(
  db: Kysely<Tables>,
  work: (db: Transaction<Tables>) => Promise<Result>,
): Promise<Result> {
  return await repeatedOnConflict(() => db.transaction().execute(work))
}

/** Runs one transaction; again if the database has rolled it back because of a conflict with another, such as a deadlock. */
export async function repeatedOnConflict<Result>(transact: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await transact()
    } catch (error) {
      if (attempt === ATTEMPTS || !(error instanceof TransactionConflict)) throw error
    }
  }
}
