import { sql } from 'kysely'
import { firstPosition } from '../../../domain/cursors.ts'
import type { ReadingDatabase } from '../../database.ts'
import type { Arrived } from '../../lists/arrived-customers.ts'
import { lastCustomerRef } from '../customer-refs.ts'

/**
 * Customers by their row numbers, which one thread assigns in commit order. A position after all of them is of another
 * store, which was copied to this one, and is taken for the beginning: nothing would come after it.
 */
export async function arrivedCustomers(
  db: ReadingDatabase,
  workspaceId: string,
  now_ms: number,
): Promise<Arrived> {
  const found = await sql<{ last: number | null }>`
    SELECT max(customer_ref) AS last FROM customers WHERE workspace_id = ${workspaceId}`.execute(db)
  const last = found.rows[0]?.last ?? 0
  const end = firstPosition('cus', last)
  const places = arrivedPlaces(workspaceId, { end_ref: last, last_ref: await lastCustomerRef(db) })
  return { places, end, caughtUp_ms: now_ms }
}

/** See `Arrived`. */
function arrivedPlaces(
  workspaceId: string,
  { end_ref, last_ref }: { end_ref: number; last_ref: number },
): Arrived['places'] {
  return (after, limit) => sql`
    SELECT customer_ref AS ms, customer_id AS id FROM customers
    WHERE workspace_id = ${workspaceId} AND customer_ref > ${after.ms > last_ref ? 0 : after.ms}
      AND customer_ref <= ${end_ref}
    ORDER BY customer_ref LIMIT ${limit}`
}
