import { sql } from 'kysely'
import { firstPosition, type Position } from '../../../domain/cursors.ts'
import type { ReadingDatabase } from '../../database.ts'
import type { Arrived } from '../../lists/arrived-customers.ts'

/** Customers by their row numbers, which one thread assigns in commit order. */
export async function arrivedCustomers(
  db: ReadingDatabase,
  workspaceId: string,
  now_ms: number,
): Promise<Arrived> {
  const found = await sql<{ last: number | null }>`
    SELECT max(customer_ref) AS last FROM customers WHERE workspace_id = ${workspaceId}`.execute(db)
  const last = found.rows[0]?.last ?? 0
  const end = firstPosition('cus', last)
  return { places: arrivedPlaces(workspaceId, end), end, caughtUp_ms: now_ms }
}

/** See `Arrived`. */
function arrivedPlaces(workspaceId: string, end: Position): Arrived['places'] {
  return (after, limit) => sql`
    SELECT customer_ref AS ms, customer_id AS id FROM customers
    WHERE workspace_id = ${workspaceId} AND customer_ref > ${after.ms} AND customer_ref <= ${end.ms}
    ORDER BY customer_ref LIMIT ${limit}`
}
