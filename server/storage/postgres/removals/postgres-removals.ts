import { sql } from 'kysely'
import type { Transaction } from '../../database.ts'
import { runDeclared } from '../../effects.ts'
import type { RemovalStore } from '../../removals/removal-store.ts'
import { insertRemoval, type Removal } from '../../removals/removals.ts'
import { uuidOf } from '../connection/uuids.ts'

/** Removes a customer from the tables in which others look it up; storing events checks the removal. */
export const removeCustomer: RemovalStore['removeCustomer'] = async (
  db,
  { workspace_id, customer_id, begun_ms },
) => {
  const own = sql`workspace_id = ${workspace_id} AND customer_id = ${customer_id}`
  // A concurrent enrolment in another journey is waited for and then visible.
  const known = await sql<{ customer_type: string; client_customer_id: string }>`
    SELECT customer_type, client_customer_id FROM customers WHERE ${own} FOR UPDATE`.execute(db)
  const [names] = known.rows
  if (!names) return undefined
  const customer = uuidOf(customer_id)
  const left = sql<{ journey_id: string }>`DELETE FROM enrolments WHERE ${own} RETURNING journey_id`
  const removed = await runDeclared(db, ['enrolments'], left)
  const journeys = removed.rows.map(({ journey_id }) => uuidOf(journey_id))
  const noted = sql`INSERT INTO enrolment_removals (workspace_id, removal, journey_id, customer_id)
    SELECT ${uuidOf(workspace_id)}, gen_random_uuid(), journey_id, ${customer}
    FROM unnest(${journeys}::uuid[]) AS left_behind (journey_id)`
  await runDeclared(db, [], noted)
  for (const table of ['customer_words', 'customer_strays', 'customers']) {
    await runDeclared(db, ['customers'], sql`DELETE FROM ${sql.table(table)} WHERE ${own}`)
  }
  const place = JSON.stringify({ customer, own: names })
  const subject = { workspace_id, kind: 'customer', subject_id: customer_id, begun_ms, place } as const
  return { removal_id: await insertRemoval(db, subject), enrolments: journeys.length }
}

/** Hides a journey; storing events checks the removal. */
export const removeJourney: RemovalStore['removeJourney'] = async (
  db,
  { workspace_id, journey_id, begun_ms },
) => {
  const hidden = sql`UPDATE journeys SET removed_ms = ${begun_ms}
    WHERE workspace_id = ${workspace_id} AND journey_id = ${journey_id}`
  await runDeclared(db, ['journeys'], hidden)
  const place = JSON.stringify({ journey: uuidOf(journey_id) })
  const subject = { workspace_id, kind: 'journey', subject_id: journey_id, begun_ms, place } as const
  await insertRemoval(db, subject)
}

export const countEnrolments: RemovalStore['countEnrolments'] = async (db, { workspace_id, journey_id }) => {
  const { rows } = await sql<{ enrolments: number }>`
    SELECT count(*) AS enrolments FROM enrolments
    WHERE workspace_id = ${workspace_id} AND journey_id = ${journey_id}`.execute(db)
  return rows[0]?.enrolments ?? 0
}

/** Makes the follower forget a journey. */
export async function forgetJourney(
  db: Transaction,
  { workspace_id, subject_id: journey_id }: Pick<Removal, 'workspace_id' | 'subject_id'>,
): Promise<void> {
  const noted = sql`INSERT INTO enrolment_removals (workspace_id, removal, journey_id)
    VALUES (${uuidOf(workspace_id)}, gen_random_uuid(), ${uuidOf(journey_id)})`
  await runDeclared(db, [], noted)
}

/** Emptied row by row by the follower. */
const QUEUES = [
  'event_arrivals',
  'enrolment_arrivals',
  'enrolment_removals',
  'standing_journeys',
  'standing_spaces',
] as const

const BY_IDENTIFIER: readonly string[] = ['customers', 'customer_strays']

/** By the workspace's UUID, in order of deletion: holding the row of the last one means following the workspace. */
const OWN = [
  'event_strays',
  'event_arrivals_taken',
  'standing_customers',
  'event_series',
  'event_counts',
  'event_following',
] as const

/** Removes customers, and after the follower has forgotten the journeys, what only this engine has of a workspace. */
export async function removeOwn(db: Transaction, workspaceId: string, rows: number): Promise<boolean> {
  const workspace = uuidOf(workspaceId)
  for (const table of QUEUES) {
    const own = table === 'enrolment_arrivals' ? workspaceId : workspace
    const { rows } = await sql`SELECT 1 FROM ${sql.table(table)} WHERE workspace_id = ${own} LIMIT 1`.execute(
      db,
    )
    if (rows.length > 0) return false
  }
  for (const table of [...BY_IDENTIFIER, ...OWN]) {
    const own = BY_IDENTIFIER.includes(table) ? workspaceId : workspace
    const some = sql`
      DELETE FROM ${sql.table(table)} WHERE workspace_id = ${own} AND ctid = ANY(ARRAY(
        SELECT ctid FROM ${sql.table(table)} WHERE workspace_id = ${own} LIMIT ${sql.lit(rows)}
      ))`
    const { numAffectedRows = 0n } = await runDeclared(db, ['customers'], some)
    if (numAffectedRows > 0n) return false
  }
  return true
}
