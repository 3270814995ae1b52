import { textArray, uuidArray } from '../connection/binary-arrays.ts'
import type { Connection } from '../connection/connection.ts'
import { digitsOf } from '../connection/uuids.ts'
import { DURABLE } from '../dialect.ts'

/** What a step needs of an event. */
type StepRow = {
  id?: string
  message: string | null
  series: number
  event: { journey_id: string; customer_id: string }
}

export type Steps<Row extends StepRow> = {
  workspace: string
  /** What was looked up: nothing of it may have been removed. */
  lookedUp: { workspace_id: string; journeys: readonly string[] }
  rows: readonly Row[]
  /** The columns of `event_arrivals` from `arrival` to `counts`. */
  arrival: readonly unknown[]
  /** Runs the statement that inserts these rows into `events`. */
  insertEvents: (rows: readonly Row[]) => Promise<void>
}

/**
 * Stores a group on Citus, with the outcome of `INSERT` of the event writer, but in a transaction of several statements.
 * What one part of a statement finds for another, Citus sends to every node: while one is down, no workspace could store
 * anything. Each of these statements is sent to the node of one shard.
 * @returns the rows that were inserted; 'outdated' if nothing was stored because something was removed; undefined if an
 *   earlier run was committed
 */
export async function insertInSteps<Row extends StepRow>(
  connection: Connection,
  { workspace, lookedUp, rows, arrival, insertEvents }: Steps<Row>,
): Promise<readonly Row[] | 'outdated' | undefined> {
  await connection.begin({ first: `SELECT ${DURABLE}` })
  try {
    if (!(await isCurrent(connection, lookedUp, rows))) {
      await connection.run('ROLLBACK')
      return 'outdated'
    }
    const withMessage = rows.filter(({ message }) => message !== null)
    // In order, so that two replicas never deadlock.
    const ascending = withMessage.toSorted((a, b) => ((a.message ?? '') < (b.message ?? '') ? -1 : 1))
    const taken = new Set<string>()
    if (ascending.length > 0) {
      const inserted = await connection.run<{ event_id: string }>(MESSAGES, [
        workspace,
        uuidArray(ascending.map(({ message }) => message)),
        uuidArray(ascending.map(({ id = '' }) => id)),
      ])
      for (const { event_id } of inserted.rows) taken.add(digitsOf(event_id))
    }
    const isNew = ({ message, id = '' }: Row) => message === null || taken.has(id)
    const known = rows.filter((row) => !isNew(row)).map(({ series }) => series)
    const takenSeries = known.length > 0 ? JSON.stringify(known) : null
    const { rows: arrived } = await connection.run(ARRIVAL, [workspace, ...arrival, takenSeries])
    if (arrived.length === 0) {
      await connection.run('ROLLBACK')
      return undefined
    }
    const fresh = rows.filter(isNew)
    if (fresh.length > 0) await insertEvents(fresh)
    await connection.run('COMMIT')
    return fresh
  } catch (error) {
    await connection.run('ROLLBACK').catch(() => connection.close())
    throw error
  }
}

/**
 * Whether the journeys and the enrolments are still there: also on the standby of a node, which may have been promoted
 * without notice.
 */
async function isCurrent(
  connection: Connection,
  { workspace_id, journeys }: Steps<StepRow>['lookedUp'],
  rows: readonly StepRow[],
): Promise<boolean> {
  const { rows: kept } = await connection.run(JOURNEYS, [workspace_id, journeys])
  const { rows: outside } = await connection.run(OUTSIDE, [
    workspace_id,
    textArray(rows.map(({ event }) => event.journey_id)),
    textArray(rows.map(({ event }) => event.customer_id)),
  ])
  return kept.length === journeys.length && outside.length === 0
}

const JOURNEYS = `
  SELECT journey_id FROM journeys WHERE workspace_id = $1 AND journey_id = ANY($2::text[]) AND removed_ms IS NULL`

const OUTSIDE = `
  SELECT 1 AS one FROM unnest($2::text[], $3::text[]) AS pairs (journey_id, customer_id)
  WHERE (
    SELECT true FROM enrolments
    WHERE workspace_id = $1 AND enrolments.journey_id = pairs.journey_id
      AND enrolments.customer_id = pairs.customer_id
  ) IS NULL LIMIT 1`

const MESSAGES = `
  INSERT INTO event_messages (workspace_id, message, event_id)
  SELECT $1, message, id FROM unnest($2::uuid[], $3::uuid[]) AS rows (message, id) ORDER BY message
  ON CONFLICT DO NOTHING RETURNING event_id`

const ARRIVAL = `
  INSERT INTO event_arrivals (workspace_id, arrival, minute_ms, first_event, last_event, counts, taken)
  VALUES ($1, $2, $3, $4, $5, $6, $7)
  ON CONFLICT DO NOTHING RETURNING 1 AS one`
