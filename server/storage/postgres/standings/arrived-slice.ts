import { eventIdsOf, type Key, type StandingEvent } from '../../../domain/journey-standing.ts'
import type { CustomerChange, JourneyChange } from '../../standings/follower.ts'
import { NOW_MS, type Span, type Taken } from '../arrivals/arrival-order.ts'
import { type Arrival, takeArrivals } from '../arrivals/arrivals.ts'
import { PACKED_EVENT, PackedEvents } from '../arrivals/packed-events.ts'
import type { Connection } from '../connection/connection.ts'
import { digitsOf, idOf, msOf, uuidOf } from '../connection/uuids.ts'

/** Maximum arrivals of events, and approximate number of events, per slice. */
const SLICE_ARRIVALS = 1_000
const SLICE_EVENTS = 65_536

/** Maximum events per packed value; each has at most 850 bytes. */
const PACKED_EVENTS = 4096

/** Maximum events or enrolments per arrival. */
const ARRIVAL_ROWS = 1_000
const SLICE_ENROLMENT_ARRIVALS = 50
const SLICE_REMOVALS = 1_000

/** The arrivals of a workspace, or as many as are processed at a time, taken out of the queues. */
export type ArrivedSlice = {
  journeys: ArrivedJourney[]
  /** Removed journeys. */
  gone: Key[]
  /** The counts. */
  arrivals: Arrival[]
  taken: Taken
}

/** The arrivals of one journey. */
export type ArrivedJourney = Pick<JourneyChange, 'journey' | 'event_ids'> & {
  /** Enrolments and removals, by customer. */
  customers: Map<Key, ChangeOfCustomer>
  events: readonly PackedEvents[]
}

/** The same for one customer. */
export type ChangeOfCustomer = Omit<CustomerChange, 'customer' | 'events'> & { events: StandingEvent[] }

type Enrolment = NonNullable<CustomerChange['enrolment']>
/** The form in their arrival. */
type EnrolmentRow = {
  journey_id: string
  customer_id: string
  customer_type: Enrolment['customer_type']
  enrolled_ms: number
  /** Whether the customer was created with it; absent if unknown, for what was stored earlier. */
  made?: boolean
}

/**
 * Dequeues a slice, in a transaction that has locked the workspace's row. Neither clocks nor the order of commits
 * matter: what is committed is seen, what is seen is taken once, and it is there again if the transaction fails.
 * @param workspace as 32 digits
 */
export async function takeSlice(connection: Connection, workspace: string): Promise<ArrivedSlice> {
  const changes = new Changes()
  // Removals before enrolments, so that all enrolments that they belong to are seen; they are dequeued together.
  const removals = await seenRemovals(connection, workspace)
  // Enrolments after events: the enrolments of an event that is seen are in the queue, or were taken earlier.
  const { now_ms, arrivals: seen } = await seenArrivals(connection, workspace)
  const enrolments = await takeEnrolments(connection, workspace)
  for (const { journey_id, customer_id, customer_type, enrolled_ms } of enrolments.rows) {
    const change = changes.ofCustomer(uuidOf(journey_id), uuidOf(customer_id))
    change.enrolment = { customer_type, entered_ms: enrolled_ms }
  }
  const arrivals = enrolments.isAll ? firstOf(seen) : []
  const events = await takeEvents(connection, { workspace, now_ms }, arrivals)
  for (const { journey_id, events: packed } of events)
    changes.ofJourney(digitsOf(journey_id)).events.push(packed)
  const customers = enrolments.rows.filter(({ made }) => made !== false)
  const isAll = enrolments.isAll && arrivals.length === seen.length && seen.length < SLICE_ARRIVALS
  // A removed journey is forgotten after its last counts.
  const takable = isAll ? removals : removals.filter(({ customer_id }) => customer_id !== null)
  const taken = enrolments.isAll ? takable : []
  await takeRemovals(connection, workspace, taken)
  for (const { journey_id, customer_id, enrolment } of taken) {
    if (customer_id === null) continue
    const change = changes.ofCustomer(digitsOf(journey_id), digitsOf(customer_id))
    change.isRenewed = true
    if (enrolment) change.enrolment = enrolment
    else delete change.enrolment
  }
  return {
    gone: taken.flatMap(({ journey_id, customer_id }) => (customer_id === null ? digitsOf(journey_id) : [])),
    journeys: await changes.ofAllThere(connection, workspace),
    arrivals,
    taken: {
      now_ms,
      isAll: isAll && removals.length < SLICE_REMOVALS,
      left_ms: enrolments.isAll ? leftFrom(seen, arrivals) : undefined,
      isOld: seen.some(isOld),
      arrivals: arrivals.flatMap(spanOf),
      events: events.map(({ events: packed }) => packed),
      customers: customers.map(({ customer_id, enrolled_ms }) => ({ customer_id, created_ms: enrolled_ms })),
    },
  }
}

/** Returns the least instant of the events seen but not taken, or about where others may be left. */
function leftFrom(seen: readonly Arrival[], taken: readonly Arrival[]): number | undefined {
  const left = seen.slice(taken.length).flatMap(spanOf)
  if (left.length > 0) return Math.min(...left.map(({ first }) => msOf(first)))
  if (seen.length < SLICE_ARRIVALS) return undefined
  return Math.max(...taken.flatMap(spanOf).map(({ last }) => msOf(last)))
}

function spanOf(arrival: Arrival): Span[] {
  const { first_event, last_event } = arrival
  if (first_event === null || last_event === null) return []
  return [{ first: digitsOf(first_event), last: digitsOf(last_event), isOld: isOld(arrival) }]
}

/** Whether it contains what was stored before anything was counted. */
function isOld({ counts }: Arrival): boolean {
  return counts === NOTHING_COUNTED
}

/** The counts of what was stored before anything was counted. */
export const NOTHING_COUNTED = '[]'

/** The arrivals of a workspace, by journey. */
class Changes {
  readonly #journeys = new Map<Key, { customers: Map<Key, ChangeOfCustomer>; events: PackedEvents[] }>()

  ofJourney(journey: Key) {
    const known = this.#journeys.get(journey)
    if (known) return known
    const change = { customers: new Map<Key, ChangeOfCustomer>(), events: [] }
    this.#journeys.set(journey, change)
    return change
  }

  ofCustomer(journey: Key, customer: Key): ChangeOfCustomer {
    return changeOf(this.ofJourney(journey).customers, customer)
  }

  async ofAllThere(connection: Connection, workspace: string): Promise<ArrivedJourney[]> {
    const steps = await configuredSteps(connection, workspace, [...this.#journeys.keys()])
    return [...this.#journeys].flatMap(([journey, change]) => {
      const event_ids = steps.get(journey)
      return event_ids ? { journey, event_ids, ...change } : []
    })
  }
}

/** Returns the changes of a customer; creates an empty entry if there is none. */
export function changeOf(customers: Map<Key, ChangeOfCustomer>, customer: Key): ChangeOfCustomer {
  const known = customers.get(customer)
  if (known) return known
  const change: ChangeOfCustomer = { events: [] }
  customers.set(customer, change)
  return change
}

/** Returns the event names of journeys' current steps. @param isListed whether to exclude journeys being removed */
export async function configuredSteps(
  connection: Connection,
  workspace: string,
  journeys: readonly Key[],
  { isListed = false }: { isListed?: boolean } = {},
): Promise<Map<Key, string[]>> {
  if (journeys.length === 0) return new Map()
  const { rows } = await connection.run<{ journey_id: string; steps: string }>(
    `SELECT journey_id, steps FROM journeys
    WHERE workspace_id = $1 AND journey_id = ANY($2::text[]) AND (removed_ms IS NULL OR NOT $3::boolean)`,
    [idOf('wsp', workspace), journeys.map((journey) => idOf('jrn', journey)), isListed],
  )
  return new Map(rows.map(({ journey_id, steps }) => [uuidOf(journey_id), eventIdsOf(steps)]))
}

/** Reads the first arrivals of events, and when they were read. */
async function seenArrivals(connection: Connection, workspace: string) {
  const { rows } = await connection.run<{ now_ms: number } & (Arrival | { arrival: null })>(SEEN, [
    workspace,
    SLICE_ARRIVALS,
  ])
  const arrivals = rows.flatMap((row): Arrival[] => (row.arrival === null ? [] : [row]))
  return { now_ms: rows[0]?.now_ms ?? 0, arrivals }
}

/** Returns as many of them as make a slice. */
function firstOf(arrivals: readonly Arrival[]): Arrival[] {
  let events = 0
  const end = arrivals.findIndex(({ counts }) => {
    events += Math.min(createdIn(counts), ARRIVAL_ROWS)
    return events > SLICE_EVENTS
  })
  return end < 0 ? [...arrivals] : arrivals.slice(0, Math.max(end, 1))
}

function createdIn(counts: string): number {
  const parsed: { created: number }[] = JSON.parse(counts)
  // What was stored before anything was counted.
  if (parsed.length === 0) return ARRIVAL_ROWS
  return parsed.reduce((sum, { created }) => sum + created, 0)
}

/** Dequeues the enrolments of the next arrivals; returns whether those were all. */
async function takeEnrolments(connection: Connection, workspace: string) {
  const { rows } = await connection.run<{ enrolments: string }>(TAKE_ENROLMENTS, [
    idOf('wsp', workspace),
    SLICE_ENROLMENT_ARRIVALS,
  ])
  return {
    rows: rows.flatMap(({ enrolments }): EnrolmentRow[] => JSON.parse(enrolments)),
    isAll: rows.length < SLICE_ENROLMENT_ARRIVALS,
  }
}

type RemovalRow = { removal: string; journey_id: string; customer_id: string | null; enrolment?: Enrolment }

/** Reads the enrolments of which something was removed, if they still exist. */
async function seenRemovals(connection: Connection, workspace: string): Promise<RemovalRow[]> {
  const { rows } = await connection.run<RemovalRow>(
    'SELECT removal, journey_id, customer_id FROM enrolment_removals WHERE workspace_id = $1 LIMIT $2',
    [workspace, SLICE_REMOVALS],
  )
  const pairs = rows.flatMap(({ journey_id, customer_id }) =>
    customer_id === null ? [] : { journey_id: digitsOf(journey_id), customer_id: digitsOf(customer_id) },
  )
  if (pairs.length === 0) return rows
  const found = await connection.run<EnrolmentRow>(ENROLMENTS, [
    idOf('wsp', workspace),
    pairs.map(({ journey_id }) => idOf('jrn', journey_id)),
    pairs.map(({ customer_id }) => idOf('cus', customer_id)),
  ])
  const enrolments = new Map(
    found.rows.map(({ journey_id, customer_id, customer_type, enrolled_ms }) => [
      `${uuidOf(journey_id)} ${uuidOf(customer_id)}`,
      { customer_type, entered_ms: enrolled_ms },
    ]),
  )
  return rows.map((row) => {
    const enrolment =
      row.customer_id && enrolments.get(`${digitsOf(row.journey_id)} ${digitsOf(row.customer_id)}`)
    return enrolment ? { ...row, enrolment } : row
  })
}

async function takeRemovals(connection: Connection, workspace: string, removals: readonly RemovalRow[]) {
  if (removals.length === 0) return
  await connection.run(
    'DELETE FROM enrolment_removals WHERE workspace_id = $1 AND removal = ANY($2::uuid[])',
    [workspace, removals.map(({ removal }) => removal)],
  )
}

/**
 * Dequeues arrivals and returns their events: all between the first and the last of each. Others may be among them,
 * which come again or came earlier; applying them is idempotent.
 */
async function takeEvents(
  connection: Connection,
  { workspace, now_ms }: { workspace: string; now_ms: number },
  arrivals: readonly Arrival[],
): Promise<{ journey_id: string; events: PackedEvents }[]> {
  if (arrivals.length === 0) return []
  await takeArrivals(
    connection,
    { workspace, now_ms },
    arrivals.map(({ arrival }) => arrival),
  )
  const spans = spansOf(arrivals)
  if (spans.length === 0) return []
  const { rows } = await connection.run<{ journey_id: string; events: Buffer }>(EVENTS, [
    workspace,
    spans.map(({ first }) => first),
    spans.map(({ last }) => last),
    PACKED_EVENTS,
  ])
  return rows.map(({ journey_id, events }) => ({ journey_id, events: new PackedEvents(events) }))
}

/** Returns the spans of identifiers, with overlapping ones merged. */
function spansOf(arrivals: readonly Arrival[]): { first: string; last: string }[] {
  const spans: { first: string; last: string }[] = []
  const ascending = arrivals.flatMap(spanOf).sort((one, other) => (one.first < other.first ? -1 : 1))
  for (const { first, last } of ascending) {
    const before = spans.at(-1)
    if (!before || before.last < first) spans.push({ first, last })
    else if (before.last < last) before.last = last
  }
  return spans
}

/** At least one row, for the time. */
const SEEN = `
  SELECT ${NOW_MS} AS now_ms, arrivals.*
  FROM (SELECT 1) AS always LEFT JOIN (
    SELECT arrival, minute_ms, first_event, last_event, counts, taken FROM event_arrivals
    WHERE workspace_id = $1 ORDER BY arrival LIMIT $2
  ) AS arrivals ON true ORDER BY arrival`

const TAKE_ENROLMENTS = `
  DELETE FROM enrolment_arrivals WHERE workspace_id = $1 AND arrival = ANY(ARRAY(
    SELECT arrival FROM enrolment_arrivals WHERE workspace_id = $1 ORDER BY arrival LIMIT $2
  )) RETURNING enrolments`

const ENROLMENTS = `
  SELECT enrolments.journey_id, enrolments.customer_id, customer_type, enrolled_ms
  FROM unnest($2::text[], $3::text[]) AS asked (journey_id, customer_id)
    JOIN enrolments ON enrolments.workspace_id = $1 AND enrolments.journey_id = asked.journey_id
      AND enrolments.customer_id = asked.customer_id
    JOIN customers ON customers.workspace_id = $1 AND customers.customer_id = asked.customer_id`

const EVENTS = `
  SELECT journey_id, string_agg(${PACKED_EVENT}, ''::bytea) AS events FROM (
    SELECT found.*, row_number() OVER () / $4 AS part
    FROM unnest($2::uuid[], $3::uuid[]) AS spans (first_event, last_event) CROSS JOIN LATERAL (
      SELECT id, journey_id, customer_id, at_ms, event_id FROM events
      WHERE workspace_id = $1 AND id BETWEEN first_event AND last_event
      ORDER BY id LIMIT 1000000
    ) AS found
  ) AS numbered GROUP BY part, journey_id`
