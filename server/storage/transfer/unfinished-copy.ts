import type { Transaction } from 'kysely'
import type { DB } from '../../../generated/tables.ts'

/**
 * Exists until a copy into the store is finished; meanwhile the store must not be served. Holds the progress of the
 * copy.
 */
export const UNFINISHED_COPY = 'unfinished_copy'

/** Saves the progress of a copy, together with the rows written. */
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

/**
 * @param where for example the file of the store
 * @param hasTable whether the store has a table of this name
 * @throws {Error} with a message for the operator if a copy into the store was started and is unfinished
 */
export async function assertWhole(
  where: string,
  hasTable: (name: string) => boolean | Promise<boolean>,
): Promise<void> {
  if (!(await hasTable(UNFINISHED_COPY))) return
  throw new Error(`The copy into ${where} is unfinished. Run the same cairn copy command again to resume it.`)
}
