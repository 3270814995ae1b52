import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Transaction } from '../database.ts'
import { runDeclared } from '../effects.ts'

/** The primary keys of the tables that grow with what webhooks are told, within a workspace. */
const KEYS = {
  webhook_deliveries: ['webhook_id', 'delivery_id'],
  webhook_windows: ['customer_id', 'webhook_id', 'journey_id'],
} as const

/**
 * Maximum rows per statement: a statement takes 32,766 parameters in SQLite and 65,535 in PostgreSQL, a delivery has 11, and
 * others wait for its transaction.
 */
const AT_ONCE = 500

/** Yields items in as many slices as statements about them need. */
export function* inSlices<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let from = 0; from < items.length; from += AT_ONCE) yield items.slice(from, from + AT_ONCE)
}

/** Deletes some rows of a workspace that a condition is about. @returns whether none is left */
export async function deleteSome(
  db: Transaction,
  table: keyof typeof KEYS,
  workspace_id: string,
  condition: RawBuilder<SqlBool>,
): Promise<boolean> {
  const key = sql.join(KEYS[table].map((column) => sql.ref(column)))
  const statement = sql`
    DELETE FROM ${sql.table(table)} WHERE workspace_id = ${workspace_id} AND (${key}) IN (
      SELECT ${key} FROM ${sql.table(table)} WHERE workspace_id = ${workspace_id} AND ${condition} LIMIT ${AT_ONCE}
    )`
  const { numAffectedRows } = await runDeclared(db, [], statement)
  return (numAffectedRows ?? 0n) < AT_ONCE
}
