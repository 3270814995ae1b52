import type { Connection } from '../connection/connection.ts'
import type { ArrivedJourney } from './arrived-slice.ts'

/**
 * Writes which journeys customers entered or left, for servers of version 1.1 that run beside this one during an
 * upgrade: they list a customer's journeys from this table. Later versions read `enrolments`.
 */
export async function writeCustomerJourneys(
  connection: Connection,
  workspace: string,
  journeys: readonly ArrivedJourney[],
): Promise<void> {
  const changes = journeys.flatMap(({ journey, customers }) =>
    Array.from(customers, ([customer, change]) => ({ journey, customer, ...change })),
  )
  for (const [statement, pairs] of [
    [REMOVE, changes.filter(({ enrolment, isRenewed }) => isRenewed && !enrolment)],
    [PUT, changes.filter(({ enrolment }) => enrolment)],
  ] as const) {
    if (pairs.length === 0) continue
    const customers = pairs.map(({ customer }) => customer)
    await connection.run(statement, [workspace, customers, pairs.map(({ journey }) => journey)])
  }
}

const REMOVE = `
  DELETE FROM standing_customers USING unnest($2::uuid[], $3::uuid[]) AS pairs (customer, journey)
  WHERE workspace_id = $1 AND customer_id = customer AND journey_id = journey`

const PUT = `
  INSERT INTO standing_customers (workspace_id, customer_id, journey_id)
  SELECT $1, customer, journey FROM unnest($2::uuid[], $3::uuid[]) AS pairs (customer, journey)
  ORDER BY customer ON CONFLICT DO NOTHING`
