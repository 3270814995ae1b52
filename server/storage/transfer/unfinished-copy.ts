import type { Transaction } from 'kysely'
import type { DB } from '../../../generated/tables.ts'

/** There while a copy into a store has not ended: the store must not be served. It has the progress of the copy. */
export const UNFINISHED_COPY = 'unfinished_copy'

/** Notes how far a copy has come, together with what it has written. */
export async function noteProgress(db: Transaction<DB>, progress: string): Promise<void> {
  const { schema } = db
  await schema
    .createTable(UNFINISHED_COPY)
    .ifNotExists()
    .addColumn('progress', 'text', (column) => column.notNull())
    .execute()
  const copies = db.withTables<{ [UNFINISHED_COPY]: { progress: string } }>()
  await copies.deleteFrom(UNFINISHED_COPY).execute()
  await copies.insertInto(UNFINISHED_COPY).values({ progress }).execute()
}

/** What the operator is told of a store that is a part of a copy. @param where for example its file */
export function unfinishedCopy(where: string): Error {
  return new Error(`The copy into ${where} has not ended. Run the same cairn copy again, and it goes on.`)
}
