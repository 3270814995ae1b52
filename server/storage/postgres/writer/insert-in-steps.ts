import { uuidArray } from '../connection/binary-arrays.ts'
import type { Connection } from '../connection/connection.ts'
import { digitsOf } from '../connection/uuids.ts'
import { DURABLE } from '../dialect.ts'

/** What a step needs of an event. */
type StepRow = {
  id?: string
  message: string | null
  series: number
}

export type Steps<Row extends StepRow> = {
  workspace: string
  /** What was looked up: nothing of it may have been removed. */
  lookedUp: { workspace_id: string; journeys: readonly string[]; customers: readonly string[] }
  rows: readonly Row[]
  /** The columns of `event_arrivals` from `arrival` to `counts`. */
  arrival: readonly unknown[]
  /** Runs the statement that inserts these rows into `events`. */
  insertEvents: (rows: readonly Row[]) => Promise<number>
}

/**
 * Stores a group on Citus, with the outcome of `INSERT` of the event writer, but in a transaction of several statements.
 * What one part of a statement finds for another, Citus sends to every node: while one is down, no workspace could store
 * anything. Each of these statements is sent to the node of one shard.
 * @returns the number of events inserted; 0 also if something was removed, and then nothing else is stored either
 */
export async function insertInSteps<Row extends StepRow>(
  connection: Connection,
  { workspace, lookedUp, rows, arrival, insertEvents }: Steps<Row>,
): Promise<number> {
  await connection.run(`BEGIN; SELECT ${DURABLE}`)
  try {
    if (!(await isCurrent(connection, lookedUp))) {
      await connection.run('ROLLBACK')
      return 0
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
    await connection.run(ARRIVAL, [workspace, ...arrival, known.length > 0 ? JSON.stringify(known) : null])
    const fresh = rows.filter(isNew)
    const stored = fresh.length > 0 ? await insertEvents(fresh) : 0
    await connection.run('COMMIT')
    return stored
  } catch (error) {
    await connection.run('ROLLBACK').catch(() => connection.close())
    throw error
  }
}

/** See `IS_CURRENT` of the event writer. */
async function isCurrent(
  connection: Connection,
  { workspace_id, journeys, customers }: Steps<StepRow>['lookedUp'],
): Promise<boolean> {
  const { rows: kept } = await connection.run(JOURNEYS, [workspace_id, journeys])
  const { rows: erased } = await connection.run(ERASED, [workspace_id, customers])
  return kept.length === journeys.length && erased.length === 0
}

const JOURNEYS = `
  SELECT journey_id FROM journeys WHERE workspace_id = $1 AND journey_id = ANY($2::text[]) AND removed_ms IS NULL`

const ERASED =
  'SELECT 1 AS one FROM erasures WHERE workspace_id = $1 AND customer_id = ANY($2::text[]) LIMIT 1'

const MESSAGES = `
  INSERT INTO event_messages (workspace_id, message, event_id)
  SELECT $1, message, id FROM unnest($2::uuid[], $3::uuid[]) AS rows (message, id) ORDER BY message
  ON CONFLICT DO NOTHING RETURNING event_id`

const ARRIVAL = `
  INSERT INTO event_arrivals (workspace_id, arrival, minute_ms, first_event, last_event, counts, taken)
  VALUES ($1, $2, $3, $4, $5, $6, $7)
  ON CONFLICT DO NOTHING`
