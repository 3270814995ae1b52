import { areSameSteps, type Key } from '../../../domain/journey-standing.ts'
import type { JourneyState } from '../../standings/standing-store.ts'
import type { AnswerSource } from '../../standings/standings-answers.ts'
import { readEnrolmentQueue } from '../arrivals/arrival-order.ts'
import type { Connection } from '../connection/connection.ts'
import { type Pool, readOn } from '../connection/pool.ts'
import { idOf, parsedUuid, uuidOf } from '../connection/uuids.ts'
import { transact } from '../transact-on.ts'
import { configuredSteps } from './arrived-slice.ts'
import { StandingTablesReader } from './standing-tables.ts'

type Now = { now_ms: number; as_of_ms: number | null; is_arrived: boolean }

/** Reads standings, each time in one snapshot. */
export class StandingsSnapshots {
  readonly #pool: Pool
  /** Per workspace, the last instant at which nothing was pending. That stays true, so it need not be stored. */
  readonly #asOf_ms = new Map<string, number>()

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /** Returns whether arrivals of a workspace are pending, and whether a journey's steps were edited. */
  async due(workspace: string, journey?: Key): Promise<{ isArrived: boolean; isEdited: boolean }> {
    return await this.#pool.use(async (connection) => {
      const isArrived = (await readNow(connection, workspace)).is_arrived
      if (journey === undefined) return { isArrived, isEdited: false }
      const state = await new StandingTablesReader(connection, workspace).journey(journey)
      const steps = state && (await configuredSteps(connection, workspace, [journey])).get(journey)
      const { event_ids } = state?.building ?? state ?? { event_ids: [] }
      return { isArrived, isEdited: steps !== undefined && !areSameSteps(steps, event_ids) }
    })
  }

  /** @throws {ConnectionLost} or PostgreSQL's error, also if the signal has cancelled it */
  async read<Result>(
    workspaceId: string,
    signal: AbortSignal,
    read: (source: AnswerSource) => Promise<Result>,
  ): Promise<Result> {
    const workspace = uuidOf(workspaceId)
    return await readOn(this.#pool, signal, async (connection) => {
      try {
        signal.throwIfAborted()
        const readAll = async () => {
          const now = await readNow(connection, workspace)
          return await read({
            reader: new WholeStandings(connection, workspace, this.#asOf(workspace, now)),
            keyOf: (prefix, id) => (id.startsWith(`${prefix}_`) ? parsedUuid(id) : undefined),
            idOf,
            placeOf: parsedUuid,
            configuredSteps: (journeys) =>
              configuredSteps(connection, workspace, journeys, { isListed: true }),
            journeysOf: (...page) => journeysOf(connection, workspaceId, ...page),
          })
        }
        return await transact(connection, readAll, { mode: 'ISOLATION LEVEL REPEATABLE READ READ ONLY' })
      } catch (error) {
        // What was not flushed yet may be lost with the server.
        this.#asOf_ms.delete(workspace)
        throw error
      }
    })
  }

  #asOf(workspace: string, now: Now): number | null {
    const known = this.#asOf_ms.get(workspace)
    if (now.is_arrived) return known === undefined ? now.as_of_ms : Math.max(known, now.as_of_ms ?? known)
    this.#asOf_ms.set(workspace, now.now_ms)
    return now.now_ms
  }
}

/** Returns nothing before everything stored initially has been processed: partial numbers would be wrong. */
class WholeStandings extends StandingTablesReader {
  override async journey(journey: Key): Promise<JourneyState | undefined> {
    return this.asOf_ms === null ? undefined : await super.journey(journey)
  }
}

async function journeysOf(
  connection: Connection,
  workspaceId: string,
  customer: Key,
  before: Key | null,
  limit: number,
): Promise<Key[]> {
  const { rows } = await connection.run<{ journey_id: string }>(
    `SELECT journey_id FROM enrolments
    WHERE workspace_id = $1 AND customer_id = $2 ${before === null ? '' : 'AND journey_id < $4'}
    ORDER BY journey_id DESC LIMIT $3`,
    [workspaceId, idOf('cus', customer), limit, ...(before === null ? [] : [idOf('jrn', before)])],
  )
  return rows.map(({ journey_id }) => uuidOf(journey_id))
}

/** If no queue has entries, everything acknowledged before this started is in the standings. */
async function readNow(connection: Connection, workspace: string): Promise<Now> {
  const { now_ms, has_enrolments } = await readEnrolmentQueue(connection, workspace)
  const { rows } = await connection.run<{ as_of_ms: number | null; has_others: boolean }>(QUEUES, [workspace])
  const { as_of_ms = null, has_others = true } = rows[0] ?? {}
  return { now_ms, as_of_ms, is_arrived: has_enrolments || has_others }
}

const QUEUES = `
  SELECT (SELECT as_of_ms FROM event_following WHERE workspace_id = $1) AS as_of_ms,
    EXISTS (SELECT 1 FROM event_arrivals WHERE workspace_id = $1)
      OR EXISTS (SELECT 1 FROM enrolment_removals WHERE workspace_id = $1) AS has_others`
