import { sql } from 'kysely'
import { firstPosition, type Position } from '../../../domain/cursors.ts'
import type { Arrived } from '../../lists/arrived-customers.ts'
import { readWatermark } from '../arrivals/arrival-order.ts'
import type { Connection } from '../connection/connection.ts'
import { uuidOf } from '../connection/uuids.ts'

/**
 * Customers in the order of creation, except late arrivals (see `ArrivalOrder`). All customers created by one enrolment
 * arrival have the same instant; one that is still in the queue at a closed instant will be a late arrival.
 */
export async function arrivedCustomers(connection: Connection, workspaceId: string): Promise<Arrived> {
  const { watermark_ms, told_ms } = await readWatermark(connection, uuidOf(workspaceId))
  const end = firstPosition('cus', watermark_ms)
  return { places: arrivedPlaces(workspaceId, end), end, caughtUp_ms: told_ms }
}

/** See `Arrived`. */
function arrivedPlaces(workspaceId: string, end: Position): Arrived['places'] {
  return ({ ms, id }, limit) => sql`
      WITH pending_arrivals AS MATERIALIZED (
        SELECT made.customer_id FROM enrolment_arrivals
        CROSS JOIN json_to_recordset(enrolments::json) AS made (customer_id text, made boolean)
        WHERE workspace_id = ${workspaceId} AND made.made IS NOT FALSE
          AND substring(enrolments FROM '"enrolled_ms" ?: ?([0-9]+)')::bigint < ${end.ms}
      )
      SELECT ms, id FROM (
        (
          SELECT created_ms AS ms, customer_id AS id FROM customers
          WHERE workspace_id = ${workspaceId} AND (created_ms, customer_id) > (${ms}, ${id})
            AND created_ms < ${end.ms}
            AND (
              SELECT true FROM customer_strays
              WHERE customer_strays.workspace_id = ${workspaceId}
                AND customer_strays.customer_id = customers.customer_id
            ) IS NOT TRUE
            AND NOT customers.customer_id = ANY(ARRAY(SELECT customer_id FROM pending_arrivals))
          ORDER BY created_ms, customer_id LIMIT ${limit}
        )
        UNION ALL (
          -- One that was erased while it was found to be late is without its customer.
          SELECT at_ms, customer_id FROM customer_strays JOIN customers USING (workspace_id, customer_id)
          WHERE workspace_id = ${workspaceId} AND (at_ms, customer_id) > (${ms}, ${id}) AND at_ms < ${end.ms}
          ORDER BY at_ms, customer_id LIMIT ${limit}
        )
      ) AS both_kinds ORDER BY ms, id LIMIT ${limit}`
}
