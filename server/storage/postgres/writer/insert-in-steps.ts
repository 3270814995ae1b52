import { uuidArray } from '../connection/binary-arrays.ts'
import type { Connection } from '../connection/connection.ts'
import { digitsOf, uuidOf } from '../connection/uuids.ts'
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
  workspace_id: string
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
 * @returns the number of events inserted
 */
export async function insertInSteps<Row extends StepRow>(
  connection: Connection,
  { workspace, workspace_id, rows, arrival, insertEvents }: Steps<Row>,
): Promise<number> {
  await connection.run(`BEGIN; SELECT ${DURABLE}`)
  try {
    const isRemoved = await removedOf(connection, workspace_id)
    const batch = rows.filter(({ event }) => !isRemoved(event))
    const withMessage = batch.filter(({ message }) => message !== null)
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
    const known = batch.filter((row) => !isNew(row)).map(({ series }) => series)
    await connection.run(ARRIVAL, [workspace, ...arrival, known.length > 0 ? JSON.stringify(known) : null])
    const fresh = batch.filter(isNew)
    const stored = fresh.length > 0 ? await insertEvents(fresh) : 0
    await connection.run('COMMIT')
    return stored
  } catch (error) {
    await connection.run('ROLLBACK').catch(() => connection.close())
    throw error
  }
}

/** Returns whether the customer, the journey or the workspace of an event was removed. */
async function removedOf(connection: Connection, workspace_id: string) {
  const { rows: workspaces } = await connection.run(REMOVED_WORKSPACE, [workspace_id])
  const { rows } = await connection.run<{ kind: string; subject_id: string }>(REMOVALS, [workspace_id])
  const removed = new Set(rows.map(({ kind, subject_id }) => `${kind} ${uuidOf(subject_id)}`))
  return ({ journey_id, customer_id }: StepRow['event']) =>
    workspaces.length > 0 ||
    (removed.size > 0 &&
      (removed.has(`customer ${uuidOf(customer_id)}`) || removed.has(`journey ${uuidOf(journey_id)}`)))
}

const REMOVED_WORKSPACE = 'SELECT 1 AS one FROM workspaces WHERE workspace_id = $1 AND removed_ms IS NOT NULL'

const REMOVALS = `SELECT kind, subject_id FROM removals
  WHERE workspace_id = $1 AND kind IN ('customer', 'journey') AND before_ms IS NULL`

const MESSAGES = `
  INSERT INTO event_messages (workspace_id, message, event_id)
  SELECT $1, message, id FROM unnest($2::uuid[], $3::uuid[]) AS rows (message, id) ORDER BY message
  ON CONFLICT DO NOTHING RETURNING event_id`

const ARRIVAL = `
  INSERT INTO event_arrivals (workspace_id, arrival, minute_ms, first_event, last_event, counts, taken)
  VALUES ($1, $2, $3, $4, $5, $6, $7)
  ON CONFLICT DO NOTHING`
