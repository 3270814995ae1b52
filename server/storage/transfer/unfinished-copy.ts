import { sql, type Transaction } from 'kysely'
import type { DB } from '../../../generated/tables.ts'

/** There while a copy into a store has not ended: the store must not be served. It has the progress of the copy. */
export const UNFINISHED_COPY = 'unfinished_copy'

/** Notes how far a copy has come, together with what it has written. */
export async function noteProgress(db: Transaction<DB>, progress: string): Promise<void> {
  const table = sql.table(UNFINISHED_COPY)
  await sql`CREATE TABLE IF NOT EXISTS ${table} (progress text NOT NULL)`.execute(db)
  await sql`DELETE FROM ${table}`.execute(db)
  await sql`INSERT INTO ${table} VALUES (${progress})`.execute(db)
}

/** What the operator is told of a store that is a part of a copy. @param where for example its file */
export function unfinishedCopy(where: string): Error {
  return new Error(`The copy into ${where} has not ended. Run the same cairn copy again, and it goes on.`)
}
