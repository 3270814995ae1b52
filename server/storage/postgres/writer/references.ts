import { isInFuture } from '../../../domain/event-content.ts'
import type { NewEvent } from '../../events/event-store.ts'
import { brokenEventRule, type EventFacts } from '../../events/ingestion-rules.ts'
import { Unavailable } from '../../unavailable.ts'
import { textArray } from '../connection/binary-arrays.ts'
import type { Pool } from '../connection/pool.ts'
import { IDENTITY, StoreReplaced } from '../connection/store-identity.ts'
import { JOURNEY_STATUS } from './customer-writer.ts'
import { KnownEnrolments } from './known-enrolments.ts'

/** When the server was started, and which store it has, as a text: both without spaces. */
export const ANSWERING = `extract(epoch FROM pg_postmaster_start_time()) || ' ' || ${IDENTITY}`

/** Looks up the journeys and enrolments of events, and applies the rules for them. */
export class References {
  readonly #pool: Pool
  readonly #isDistributed: boolean
  readonly #identity: string
  readonly #enrolments = new KnownEnrolments()

  /**
   * @param options.isDistributed whether the tables are distributed over the nodes of Citus
   * @param options.identity of the store, see `IDENTITY`
   */
  constructor({ pool, isDistributed, identity }: { pool: Pool; isDistributed: boolean; identity: string }) {
    this.#pool = pool
    this.#isDistributed = isDistributed
    this.#identity = identity
  }

  /**
   * Returns functions that apply the rules for journeys, enrolments and times, and the state in which they were looked
   * up (see `KnownEnrolments`).
   * @param options.isNew whether nothing that was known before counts
   * @throws {Unavailable} if the database was replaced by another one
   */
  async rules(
    workspace_id: string,
    events: readonly NewEvent[],
    now_ms: number,
    { isNew = false }: { isNew?: boolean } = {},
  ) {
    const enrolments = isNew ? new KnownEnrolments() : this.#enrolments
    const pairs = new Map<string, NewEvent>()
    for (const event of events) pairs.set(pairOf(event), event)
    const { statuses, outside, state } = await this.#find(workspace_id, pairs, enrolments)
    const journeyOf = ({ journey_id }: NewEvent) => (statuses.has(journey_id) ? journey_id : '')
    const broken = (event: NewEvent, facts: Pick<EventFacts, 'customer' | 'isDiscreet'>) => {
      if (event.isTooLarge) return 'event_too_large'
      const journeyStatus = statuses.get(event.journey_id)
      const { breaks } = event
      return brokenEventRule({ journeyStatus, isInFuture: isInFuture(event, now_ms), breaks, ...facts })
    }
    const refusalOf = (event: NewEvent, isDiscreet: boolean) =>
      broken(event, { customer: outside.size > 0 ? outside.get(pairOf(event)) : undefined, isDiscreet })
    /** For any customer. */
    const refusalOfAnybody = (event: NewEvent) => broken(event, { customer: undefined, isDiscreet: true })
    return { journeyOf, refusalOf, refusalOfAnybody, state }
  }

  /** Returns the statuses of journeys, and of pairs of journey and customer that are not enrolled why not. */
  async #find(workspace_id: string, pairs: ReadonlyMap<string, NewEvent>, enrolments: KnownEnrolments) {
    // The standby of a node of Citus may be promoted without notice.
    if (this.#isDistributed) return await this.#lookUp(workspace_id, pairs, [...pairs])
    const state = enrolments.stateOf(workspace_id)
    let asked = [...pairs].filter(([pair]) => !enrolments.has(workspace_id, pair))
    let found = await this.#lookUp(workspace_id, pairs, asked)
    if (asked.length < pairs.size && found.state !== state) {
      asked = [...pairs]
      found = await this.#lookUp(workspace_id, pairs, asked)
    }
    const { outside } = found
    const enrolled = asked.flatMap(([pair]) => (outside.has(pair) ? [] : pair))
    if (found.state !== undefined) enrolments.add(workspace_id, found.state, enrolled)
    return found
  }

  /** @param asked the pairs that are looked up */
  async #lookUp(
    workspace_id: string,
    pairs: ReadonlyMap<string, NewEvent>,
    asked: readonly (readonly [pair: string, event: NewEvent])[],
  ) {
    const journeyIds = new Set([...pairs.values()].map(({ journey_id }) => journey_id))
    const rows = await this.#pool.read<Reference>(REFERENCES, [
      workspace_id,
      [...journeyIds],
      textArray(asked.map(([, { journey_id }]) => journey_id)),
      textArray(asked.map(([, { customer_id }]) => customer_id)),
    ])
    let state: string | undefined
    const statuses = new Map<string, string>()
    const outside = new Map<string, EventFacts['customer']>()
    for (const row of rows) {
      if (row.state !== null) state = row.state
      if (row.journey_id !== null && row.status !== null) statuses.set(row.journey_id, row.status)
      const [pair] = (row.pair !== null && asked[row.pair - 1]) || []
      if (pair === undefined) continue
      const missing = row.is_erased ? 'customer_erased' : 'customer_not_found'
      outside.set(pair, row.customer_exists ? 'customer_not_in_journey' : missing)
    }
    const isReplaced = !this.#isDistributed && state !== undefined && !state.endsWith(` ${this.#identity}`)
    if (isReplaced) throw new Unavailable('storage_unavailable', new StoreReplaced())
    return { state, statuses, outside }
  }
}

/** Identifiers may contain any characters except NUL. */
function pairOf({ journey_id, customer_id }: NewEvent): string {
  return `${journey_id}\0${customer_id}`
}

type Reference = {
  state: string | null
  journey_id: string | null
  status: string | null
  pair: number | null
  customer_exists: boolean | null
  is_erased: boolean | null
}

/**
 * Reads the journeys, the pairs of journey and customer without an enrolment, which hardly any is, and the state of the
 * workspace's erasures (see `KnownEnrolments`). Each pair is looked up by the key, whatever the planner assumes about
 * their number.
 */
const REFERENCES = `
  SELECT NULL AS state, journey_id, ${JOURNEY_STATUS}, NULL::int AS pair, NULL::boolean AS customer_exists,
    NULL::boolean AS is_erased
  FROM journeys WHERE workspace_id = $1 AND journey_id = ANY($2::text[]) AND removed_ms IS NULL
  UNION ALL
  SELECT erasures || ' ' || ${ANSWERING}, NULL, NULL, NULL, NULL, NULL FROM workspaces WHERE workspace_id = $1
  UNION ALL
  SELECT NULL, NULL, NULL, pair::int, EXISTS (
    SELECT 1 FROM customers WHERE workspace_id = $1 AND customers.customer_id = pairs.customer_id
  ), EXISTS (
    SELECT 1 FROM erasures WHERE workspace_id = $1 AND erasures.customer_id = pairs.customer_id
  )
  FROM unnest($3::text[], $4::text[]) WITH ORDINALITY AS pairs (journey_id, customer_id, pair)
  WHERE (
    SELECT true FROM enrolments
    WHERE workspace_id = $1 AND enrolments.journey_id = pairs.journey_id
      AND enrolments.customer_id = pairs.customer_id
  ) IS NULL`
