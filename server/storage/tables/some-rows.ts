import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Transaction } from '../database.ts'
import { runDeclared } from '../effects.ts'
import { type SharedTable, sharedKeys } from '../transfer/tables.ts'

/**
 * Maximum rows per statement: a statement takes 32,766 parameters in SQLite and 65,535 in PostgreSQL, a delivery has 11, and
 * others wait for its transaction.
 */
const AT_ONCE = 500

/** Yields items in as many slices as statements about them need. */
export function* inSlices<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let from = 0; from < items.length; from += AT_ONCE) yield items.slice(from, from + AT_ONCE)
}

/** The tables whose keys begin with their workspace. */
export type TableOfWorkspaces = {
  [Table in SharedTable]: (typeof sharedKeys)[Table] extends readonly ['workspace_id', string, ...string[]]
    ? Table
    : never
}[SharedTable]

/** Deletes some rows of a workspace that a condition is about. @returns how many */
export async function deleteRows(
  db: Transaction,
  table: TableOfWorkspaces,
  workspace_id: string,
  condition: RawBuilder<SqlBool>,
): Promise<number> {
  const key = sql.join(sharedKeys[table].slice(1).map((column) => sql.ref(column)))
  const statement = sql`
    DELETE FROM ${sql.table(table)} WHERE workspace_id = ${workspace_id} AND (${key}) IN (
      SELECT ${key} FROM ${sql.table(table)} WHERE workspace_id = ${workspace_id} AND ${condition} LIMIT ${AT_ONCE}
    )`
  const { numAffectedRows } = await runDeclared(db, [], statement)
  return Number(numAffectedRows ?? 0n)
}

/** The same. @returns whether none is left */
export async function deleteSome(...some: Parameters<typeof deleteRows>): Promise<boolean> {
  return (await deleteRows(...some)) < AT_ONCE
}
