import { setImmediate } from 'node:timers/promises'
import { areSameSteps, eventIdsOf, type Key, type Standing } from '../../../domain/journey-standing.ts'
import { follow, forgetJourneys, type JourneyChange, turnsBeside } from '../../standings/follower.ts'
import { type KnownChange, type KnownJourney, KnownStandings } from '../../standings/known-standings.ts'
import { adoptSteps, rebuildPage } from '../../standings/rebuild.ts'
import type { JourneyState } from '../../standings/standing-store.ts'
import { type ArrivalOrder, noteOrder, ORDER_COLUMNS, SETTLING_MS } from '../arrivals/arrival-order.ts'
import { foldCounts, forgetNames } from '../arrivals/fold-counts.ts'
import type { Connection } from '../connection/connection.ts'
import type { Pool } from '../connection/pool.ts'
import { digitsOf, uuidOf } from '../connection/uuids.ts'
import { DURABLE } from '../dialect.ts'
import {
  type ArrivedJourney,
  changeOf,
  configuredSteps,
  NOTHING_COUNTED,
  takeSlice,
} from './arrived-slice.ts'
import { CustomerHistory } from './customer-history.ts'
import { StandingTablesWriter } from './standing-tables.ts'

/** So long one page after the other is computed anew before others have a turn. */
const REBUILD_MS = 50

/** Steps that were edited are looked for among journeys that were changed so long before the last one. */
const CLOCKS_APART_MS = 600_000

/** What a customer's identifier takes in a map. */
const CUSTOMER_BYTES = 100

/** What there is to do in a workspace. */
export type Due = { workspace: string; isArrived: boolean; isToRebuild: boolean }

/** What a slice has come to. `busy`: somebody else has the workspace. */
export type Followed = 'all' | 'more' | 'busy'

/**
 * Follows what arrives into the standings and the counts, a slice of one workspace in a transaction. Every process does so;
 * whoever has locked the workspace's row goes on, and the others leave it alone. So it does not matter which of them dies.
 */
export class StandingsFollower {
  readonly #pool: Pool
  /** As this process has left them, which holds as long as no other has changed any. */
  readonly #known = new KnownStandings<Key, string>({
    nameOf: (event_id) => event_id,
    customer_bytes: CUSTOMER_BYTES,
  })
  /** Of `cairn_store`, when journeys were looked at last. */
  #changes: number | undefined
  /** When the last of them was changed. */
  #updated_ms = Number.MIN_SAFE_INTEGER

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /** Looks what there is to do. */
  async due(): Promise<Due[]> {
    const rows = await this.#pool.read<{ kind: string; workspace: string | null; changes: number | null }>(
      DUE,
      [],
    )
    const due = new Map<string, Due>()
    for (const { kind, workspace, changes } of rows) {
      if (changes !== null) await this.#adoptEdits(changes)
      if (workspace === null) continue
      const key = kind === 'enrolments' ? uuidOf(workspace) : digitsOf(workspace)
      const found = due.get(key) ?? { workspace: key, isArrived: false, isToRebuild: false }
      if (kind === 'rebuild') found.isToRebuild = true
      else found.isArrived = true
      due.set(key, found)
    }
    return [...due.values()]
  }

  /** Takes in the next slice of what has arrived in a workspace. */
  async follow(workspace: string): Promise<Followed> {
    const looked = new LookedAt()
    const followed = await this.#inTurn(workspace, async (connection, writer, order) => {
      const { journeys, arrivals, taken, gone } = await takeSlice(connection, workspace)
      // What is told of the order to those who walk must not be forgotten by a server that fails.
      await connection.run(`SELECT ${DURABLE}`)
      await noteOrder(connection, workspace, order, taken)
      await forgetJourneys(writer, gone)
      const states = await writer.journeys(journeys.map(({ journey }) => journey))
      looked.from(states)
      const changing = this.#changing(journeys, states)
      const { onStanding, onState } = looked
      await follow(writer, new CustomerHistory(connection, workspace), changing, {
        onStanding,
        onState,
        // On connections of their own.
        turn: turnsBeside(() => setImmediate()),
      })
      await foldCounts(
        connection,
        workspace,
        arrivals.filter(({ counts }) => counts !== NOTHING_COUNTED),
      )
      await forgetNames(connection, workspace, gone)
      if (!taken.isAll) return 'more'
      await connection.run(
        'UPDATE event_following SET as_of_ms = greatest(as_of_ms, $2) WHERE workspace_id = $1',
        [workspace, taken.now_ms],
      )
      return 'all'
    })
    // Only now it is so: what has not been committed is seen by nobody.
    for (const change of looked.changes()) this.#known.advance(change)
    return followed
  }

  /** Of what has arrived that which may change a standing: mostly little, and then hardly a page is read. */
  #changing(journeys: readonly ArrivedJourney[], states: ReadonlyMap<Key, JourneyState>): JourneyChange[] {
    return journeys.flatMap(({ journey, event_ids, customers, events }) => {
      const changesNothing = this.#changesNothing({ journey, event_ids }, states.get(journey))
      for (const packed of events) {
        for (let index = 0; index < packed.length; index += 1) {
          const event = { name: packed.name(index), at_ms: packed.at_ms(index) }
          const customer = packed.customer(index)
          const { enrolment, isRenewed } = customers.get(customer) ?? {}
          if (!enrolment && !isRenewed && changesNothing({ customer, ...event })) continue
          changeOf(customers, customer).events.push({ ...event, id: packed.id(index) })
        }
      }
      const changing = Array.from(customers, ([customer, change]) => ({ customer, ...change }))
      changing.sort((one, other) => (one.customer < other.customer ? -1 : 1))
      return changing.length > 0 ? { journey, event_ids, customers: changing } : []
    })
  }

  /** Whether an event surely changes nothing in a journey. */
  #changesNothing(
    { journey, event_ids }: Pick<ArrivedJourney, 'journey' | 'event_ids'>,
    state: JourneyState | undefined,
  ): KnownJourney<Key, string>['changesNothing'] {
    if (!state || state.building || !areSameSteps(state.event_ids, event_ids)) return () => false
    const known = this.#known.of(journey, event_ids, stateText(state))
    return (event) => known.changesNothing(event)
  }

  /** Computes standings for edited steps, or removes what is not read any more, for a while. */
  async rebuild(workspace: string): Promise<Followed> {
    return await this.#inTurn(workspace, async (connection, writer) => {
      const history = new CustomerHistory(connection, workspace)
      const until_ms = performance.now() + REBUILD_MS
      let hasMore = true
      while (hasMore && performance.now() < until_ms) {
        const journey = await buildingJourney(connection, workspace)
        if (journey === undefined) hasMore = await writer.removeSome()
        else await rebuildPage(writer, history, journey)
      }
      return hasMore ? 'more' : 'all'
    })
  }

  /** Adopts the steps of journeys as they are configured. */
  async adopt(workspace: string, journeys: readonly Key[]): Promise<Followed> {
    return await this.#inTurn(workspace, async (connection, writer) => {
      const steps = await configuredSteps(connection, workspace, journeys)
      for (const [journey, event_ids] of steps) await adoptSteps(writer, journey, event_ids)
      return 'all'
    })
  }

  /**
   * What other processes must hear of is numbered, edits of journeys too. What cannot be adopted now, because somebody else
   * has the workspace, is looked for again.
   */
  async #adoptEdits(changes: number) {
    if (changes === this.#changes) return
    const rows = await this.#pool.read<JourneyRow>(
      'SELECT workspace_id, journey_id, steps, updated_ms FROM journeys WHERE updated_ms > $1 ORDER BY updated_ms',
      [this.#updated_ms],
    )
    const journeys = new Map<string, JourneyRow[]>()
    for (const row of rows) {
      const own = journeys.get(row.workspace_id)
      if (own) own.push(row)
      else journeys.set(row.workspace_id, [row])
    }
    let isBusy = false
    for (const [workspace_id, own] of journeys) {
      const workspace = uuidOf(workspace_id)
      const edited = await this.#edited(workspace, own)
      if (edited.length > 0 && (await this.adopt(workspace, edited)) === 'busy') isBusy = true
    }
    if (isBusy) return
    const last = rows.at(-1)
    if (last) this.#updated_ms = Math.max(this.#updated_ms, last.updated_ms - CLOCKS_APART_MS)
    this.#changes = changes
  }

  /** The journeys among some whose standings are of other steps. */
  async #edited(workspace: string, journeys: readonly JourneyRow[]): Promise<Key[]> {
    const steps = new Map(journeys.map(({ journey_id, steps }) => [uuidOf(journey_id), steps]))
    const states = await this.#pool.read<{ journey_id: string; event_ids: string }>(
      `SELECT journey_id, coalesce(building::json ->> 'event_ids', event_ids) AS event_ids FROM standing_journeys
      WHERE workspace_id = $1 AND journey_id = ANY($2::uuid[])`,
      [workspace, [...steps.keys()]],
    )
    return states.flatMap(({ journey_id, event_ids }) => {
      const journey = digitsOf(journey_id)
      return JSON.stringify(eventIdsOf(steps.get(journey) ?? '[]')) === event_ids ? [] : journey
    })
  }

  /** Does something in a transaction in which nobody else does anything in the workspace. */
  async #inTurn(
    workspace: string,
    work: (connection: Connection, writer: StandingTablesWriter, order: ArrivalOrder) => Promise<Followed>,
  ): Promise<Followed> {
    return await this.#pool.use(async (connection) => {
      // What is derived and what it is derived from are in one transaction: none is lost where the commit is.
      await connection.run('BEGIN; SET LOCAL synchronous_commit = off')
      try {
        const [order] = (await connection.run<ArrivalOrder>(LOCK, [workspace])).rows
        if (!order) {
          await connection.run(
            'INSERT INTO event_following (workspace_id) VALUES ($1) ON CONFLICT DO NOTHING',
            [workspace],
          )
          await connection.run('COMMIT')
          return 'busy'
        }
        const followed = await work(connection, new StandingTablesWriter(connection, workspace), order)
        await connection.run('COMMIT')
        return followed
      } catch (error) {
        await connection.run('ROLLBACK').catch(() => connection.close())
        throw error
      }
    })
  }
}

/** What following has looked at in a transaction. */
class LookedAt {
  #states: ReadonlyMap<Key, JourneyState> = new Map()
  readonly #standings = new Map<Key, { customer: Key; standing: Standing }[]>()
  readonly #changes: KnownChange<Key>[] = []

  /** @param states of the journeys, before */
  from(states: ReadonlyMap<Key, JourneyState>): void {
    this.#states = states
  }

  onStanding = (journey: Key, customer: Key, standing: Standing): void => {
    const standings = this.#standings.get(journey) ?? []
    if (standings.length === 0) this.#standings.set(journey, standings)
    standings.push({ customer, standing })
  }

  onState = (journey: Key, state: JourneyState): void => {
    const before = this.#states.get(journey)
    this.#changes.push({
      journey,
      event_ids: state.event_ids,
      from: before && stateText(before),
      to: stateText(state),
      standings: this.#standings.get(journey) ?? [],
    })
  }

  changes(): readonly KnownChange<Key>[] {
    return this.#changes
  }
}

/** Another one where any standing of the journey is another. */
function stateText({ generation, version }: JourneyState): string {
  return `${generation} ${version}`
}

type JourneyRow = { workspace_id: string; journey_id: string; steps: string; updated_ms: number }

const LOCK = `SELECT ${ORDER_COLUMNS} FROM event_following WHERE workspace_id = $1 FOR UPDATE SKIP LOCKED`

const DUE = `
  SELECT 'events' AS kind, workspace_id::text AS workspace, NULL::bigint AS changes FROM event_arrivals
  UNION SELECT 'order', workspace_id::text, NULL FROM event_following
  WHERE greatest_ms >= closed_ms AND greatest_ms < extract(epoch FROM statement_timestamp()) * 1000 - ${SETTLING_MS}
  UNION SELECT 'enrolments', workspace_id, NULL FROM enrolment_arrivals
  UNION SELECT 'removals', workspace_id::text, NULL FROM enrolment_removals
  UNION SELECT 'rebuild', workspace_id::text, NULL FROM standing_journeys WHERE building IS NOT NULL
  UNION SELECT 'rebuild', workspace_id::text, NULL FROM standing_spaces WHERE generation IS NULL
  UNION ALL SELECT 'changes', NULL, changes FROM cairn_store`

async function buildingJourney(connection: Connection, workspace: string): Promise<Key | undefined> {
  const { rows } = await connection.run<{ journey_id: string }>(
    `SELECT journey_id FROM standing_journeys
    WHERE workspace_id = $1 AND building IS NOT NULL ORDER BY journey_id LIMIT 1`,
    [workspace],
  )
  return rows[0] && digitsOf(rows[0].journey_id)
}
