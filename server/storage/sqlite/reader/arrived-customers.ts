import { sql } from 'kysely'
import { firstPosition } from '../../../domain/cursors.ts'
import type { ReadingDatabase } from '../../database.ts'
import type { Arrived } from '../../lists/arrived-customers.ts'
import { LAST_CUSTOMER_REF } from '../customer-refs.ts'

/**
 * Customers by their row numbers, which one thread assigns in commit order. A position after all of them is of another
 * store, which was copied to this one, and is taken for the beginning: nothing would come after it.
 */
export async function arrivedCustomers(
  db: ReadingDatabase,
  workspaceId: string,
  now_ms: number,
): Promise<Arrived> {
  const found = await sql<Ends>`
    SELECT ${sql.raw(LAST_CUSTOMER_REF)} AS last_ref,
      coalesce((SELECT max(customer_ref) FROM customers WHERE workspace_id = ${workspaceId}), 0) AS end_ref
    FROM event_indexing`.execute(db)
  const ends = found.rows[0] ?? { last_ref: 0, end_ref: 0 }
  const end = firstPosition('cus', ends.end_ref)
  return { places: arrivedPlaces(workspaceId, ends), end, caughtUp_ms: now_ms }
}

/** The last row numbers: that the store has given to a customer, and of a customer of the workspace. */
type Ends = { last_ref: number; end_ref: number }

/** See `Arrived`. */
function arrivedPlaces(workspaceId: string, { last_ref, end_ref }: Ends): Arrived['places'] {
  return (after, limit) => sql`
    SELECT customer_ref AS ms, customer_id AS id FROM customers
    WHERE workspace_id = ${workspaceId} AND customer_ref > ${after.ms > last_ref ? 0 : after.ms}
      AND customer_ref <= ${end_ref}
    ORDER BY customer_ref LIMIT ${limit}`
}
