import { type Kysely, sql } from 'kysely'
import type { DB } from '../../../generated/tables.ts'
import type { Transaction } from '../database.ts'
import { runDeclared } from '../effects.ts'

/**
 * SQL expression over `event_indexing`: the last row number that the store has given to a customer. None is reused:
 * events of removed customers are removed later, and programs that follow the list of customers are at a row number.
 */
export const LAST_CUSTOMER_REF =
  'max(removed_customer_ref, coalesce((SELECT max(customer_ref) FROM customers), 0))'

export async function lastCustomerRef(db: Kysely<DB>): Promise<number> {
  const { rows } = await sql<{ last: number }>`
    SELECT ${sql.raw(LAST_CUSTOMER_REF)} AS last FROM event_indexing`.execute(db)
  return rows[0]?.last ?? 0
}

/** Lets new customers get only row numbers after this one. */
export async function skipCustomerRefs(db: Transaction, last: number): Promise<void> {
  const skipped = sql`UPDATE event_indexing SET removed_customer_ref = max(removed_customer_ref, ${last})`
  await runDeclared(db, [], skipped)
}
