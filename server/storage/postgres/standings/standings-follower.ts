import { setImmediate } from 'node:timers/promises'
import { areSameSteps, type Key, type Standing } from '../../../domain/journey-standing.ts'
import { follow, forgetJourneys, type JourneyChange, yieldsBeside } from '../../standings/follower.ts'
import { type KnownChange, type KnownJourney, KnownStandings } from '../../standings/known-standings.ts'
import { adoptSteps, rebuildSome } from '../../standings/rebuild.ts'
import type { JourneyState } from '../../standings/standing-store.ts'
import { type ArrivalOrder, noteOrder, ORDER_COLUMNS, SETTLING_MS } from '../arrivals/arrival-order.ts'
import { foldCounts, forgetNames } from '../arrivals/fold-counts.ts'
import type { Connection } from '../connection/connection.ts'
import { isNodeLost } from '../connection/outages.ts'
import type { Pool } from '../connection/pool.ts'
import { digitsOf, uuidOf } from '../connection/uuids.ts'
import { DURABLE } from '../dialect.ts'
import { transact } from '../transact-on.ts'
import {
  type ArrivedJourney,
  changeOf,
  configuredSteps,
  NOTHING_COUNTED,
  takeSlice,
} from './arrived-slice.ts'
import { writeCustomerJourneys } from './customer-journeys.ts'
import { StandingTablesWriter } from './standing-tables.ts'

/** Maximum time for recomputing pages before other work runs. */
const REBUILD_MS = 50

/**
 * Edited steps are searched among journeys changed up to this long before the last change, because the clocks of servers
 * differ. What is missed is adopted by the first report that reads it.
 */
const CLOCKS_APART_MS = 60_000

/** Maximum journeys looked at, and maximum whose steps are compared at a time: a journey's take up to 64 KiB. */
const EDITS = 10_000
const EDITS_COMPARED = 100

/** Size of a customer's identifier in a map. */
const CUSTOMER_BYTES = 100

/** The pending work of a workspace. */
export type Due = { workspace: string; isArrived: boolean; isEdited: boolean; isToRebuild: boolean }

/** The result of a slice. `busy`: another process has locked the workspace. */
export type Followed = 'all' | 'more' | 'busy'

/**
 * Applies arrivals to the standings and the counts, one slice of one workspace per transaction. Every process does so;
 * the one that has locked the workspace's row continues, and the others skip it. So it does not matter which process
 * dies.
 */
export class StandingsFollower {
  readonly #pool: Pool
  /** The states that this process has left, valid as long as no other has changed any. */
  readonly #known = new KnownStandings<Key, string>({
    nameOf: (event_id) => event_id,
    customer_bytes: CUSTOMER_BYTES,
  })
  /** The change number of `cairn_store` when journeys were last read. */
  #changes: number | undefined
  /** When those were changed that have been looked at, by journey. */
  #looked = new Map<string, number>()
  #lastEdit_ms = Date.now()
  /** Changed journeys whose steps are to be compared, by workspace. */
  readonly #edits = new Map<string, Set<Key>>()

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /**
   * Returns the pending work. While a node of Citus is lost, and with it the queues of some workspaces, all workspaces may
   * have some.
   */
  async due(): Promise<Due[]> {
    try {
      return await this.#inQueues()
    } catch (error) {
      if (!isNodeLost(error)) throw error
      const rows = await this.#pool.read<{ workspace_id: string }>(
        'SELECT workspace_id FROM workspaces WHERE removed_ms IS NULL',
        [],
      )
      return rows.map(({ workspace_id }) => {
        return { workspace: uuidOf(workspace_id), isArrived: true, isEdited: false, isToRebuild: false }
      })
    }
  }

  async #inQueues(): Promise<Due[]> {
    const rows = await this.#pool.read<{ kind: string; workspace: string | null; changes: number | null }>(
      DUE,
      [],
    )
    const due = new Map<string, Due>()
    const dueOf = (workspace: string): Due => {
      const found = due.get(workspace) ?? {
        workspace,
        isArrived: false,
        isEdited: false,
        isToRebuild: false,
      }
      due.set(workspace, found)
      return found
    }
    for (const { kind, workspace, changes } of rows) {
      if (changes !== null) await this.#noteEdits(changes)
      if (workspace === null) continue
      const found = dueOf(kind === 'enrolments' ? uuidOf(workspace) : digitsOf(workspace))
      if (kind === 'rebuild') found.isToRebuild = true
      else found.isArrived = true
    }
    for (const workspace of this.#edits.keys()) dueOf(workspace).isEdited = true
    return [...due.values()]
  }

  /** Applies the next slice of a workspace's arrivals. */
  async follow(workspace: string): Promise<Followed> {
    const looked = new LookedAt()
    const followed = await this.#withLock(workspace, async (connection, writer, order) => {
      const { journeys, arrivals, taken, gone } = await takeSlice(connection, workspace)
      // The order promised to forward walks must not be lost in a crash of the server.
      await connection.run(`SELECT ${DURABLE}`)
      await noteOrder(connection, workspace, order, taken)
      await forgetJourneys(writer, gone)
      const states = await writer.journeys(journeys.map(({ journey }) => journey))
      looked.from(states)
      const changing = this.#changing(journeys, states)
      const { onStanding, onState } = looked
      await follow(writer, writer.history, changing, {
        onStanding,
        onState,
        // On connections of their own.
        yieldLoop: yieldsBeside(() => setImmediate()),
      })
      await writeCustomerJourneys(connection, workspace, journeys)
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
    // Only after the commit, because uncommitted changes are not visible.
    for (const change of looked.changes()) this.#known.advance(change)
    return followed
  }

  /** Returns the arrivals that may change a standing: mostly few, so that hardly a page is read. */
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

  /** Whether an event certainly changes nothing in a journey. */
  #changesNothing(
    { journey, event_ids }: Pick<ArrivedJourney, 'journey' | 'event_ids'>,
    state: JourneyState | undefined,
  ): KnownJourney<Key, string>['changesNothing'] {
    if (!state || state.building || !areSameSteps(state.event_ids, event_ids)) return () => false
    const known = this.#known.of(journey, event_ids, stateText(state))
    return (event) => known.changesNothing(event)
  }

  /** Computes standings for edited steps, or removes what is no longer read, for a while. */
  async rebuild(workspace: string): Promise<Followed> {
    return await this.#withLock(workspace, async (_connection, writer) =>
      (await rebuildSome(writer, writer.history, REBUILD_MS)) ? 'more' : 'all',
    )
  }

  /** Adopts the current steps of journeys. */
  async adopt(workspace: string, journeys: readonly Key[]): Promise<Followed> {
    return await this.#withLock(workspace, async (connection, writer) => {
      const steps = await configuredSteps(connection, workspace, journeys)
      for (const [journey, event_ids] of steps) await adoptSteps(writer, journey, event_ids)
      return 'all'
    })
  }

  /** Adopts the steps of some changed journeys. What cannot be adopted now is tried again. */
  async adoptEdits(workspace: string): Promise<Followed> {
    const pending = this.#edits.get(workspace)
    if (!pending) return 'all'
    const some = [...pending].slice(0, EDITS_COMPARED)
    const edited = await this.#edited(workspace, some)
    if (edited.length > 0 && (await this.adopt(workspace, edited)) === 'busy') return 'busy'
    for (const journey of some) pending.delete(journey)
    if (pending.size > 0) return 'more'
    this.#edits.delete(workspace)
    return 'all'
  }

  /** Finds changed journeys. Changes that other processes must learn of are numbered, including those of journeys. */
  async #noteEdits(changes: number) {
    if (changes === this.#changes) return
    const rows = await this.#pool.read<JourneyRow>(
      `SELECT workspace_id, journey_id, updated_ms FROM journeys WHERE updated_ms > $1
      ORDER BY updated_ms DESC LIMIT ${EDITS}`,
      [this.#lastEdit_ms - CLOCKS_APART_MS],
    )
    for (const { workspace_id, journey_id, updated_ms } of rows) {
      // Not beyond now, for a clock that is ahead.
      this.#lastEdit_ms = Math.max(this.#lastEdit_ms, Math.min(updated_ms, Date.now()))
      if (this.#looked.get(journey_id) === updated_ms) continue
      const workspace = uuidOf(workspace_id)
      const pending = this.#edits.get(workspace) ?? new Set()
      if (pending.size < EDITS) this.#edits.set(workspace, pending.add(uuidOf(journey_id)))
    }
    this.#looked = new Map(rows.map(({ journey_id, updated_ms }) => [journey_id, updated_ms]))
    this.#changes = changes
  }

  /** Returns the journeys whose standings belong to other steps. */
  async #edited(workspace: string, journeys: readonly Key[]): Promise<Key[]> {
    return await this.#pool.use(async (connection) => {
      const steps = await configuredSteps(connection, workspace, journeys)
      const { rows } = await connection.run<{ journey_id: string; event_ids: string }>(
        `SELECT journey_id, coalesce(building::json ->> 'event_ids', event_ids) AS event_ids FROM standing_journeys
        WHERE workspace_id = $1 AND journey_id = ANY($2::uuid[])`,
        [workspace, [...steps.keys()]],
      )
      return rows.flatMap(({ journey_id, event_ids }) => {
        const journey = digitsOf(journey_id)
        return JSON.stringify(steps.get(journey)) === event_ids ? [] : journey
      })
    })
  }

  /** Runs work in a transaction that has locked the workspace. */
  async #withLock(
    workspace: string,
    work: (connection: Connection, writer: StandingTablesWriter, order: ArrivalOrder) => Promise<Followed>,
  ): Promise<Followed> {
    return await this.#pool.use(async (connection) => {
      const locked = async (): Promise<Followed> => {
        const [order] = (await connection.run<ArrivalOrder>(LOCK, [workspace])).rows
        if (order) return await work(connection, new StandingTablesWriter(connection, workspace), order)
        await connection.run(
          'INSERT INTO event_following (workspace_id) VALUES ($1) ON CONFLICT DO NOTHING',
          [workspace],
        )
        return 'busy'
      }
      // Derived data and its sources are in one transaction, so none is lost if the commit survives.
      return await transact(connection, locked, { first: 'SET LOCAL synchronous_commit = off' })
    })
  }
}

/** What a transaction of the follower has read. */
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

/** Differs whenever any standing of the journey differs. */
function stateText({ generation, version }: JourneyState): string {
  return `${generation} ${version}`
}

type JourneyRow = { workspace_id: string; journey_id: string; updated_ms: number }

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
