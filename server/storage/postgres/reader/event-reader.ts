import { firstPosition, isBefore, type Position } from '../../../domain/cursors.ts'
import { type VariableFilter, variablesTest } from '../../../domain/event-values.ts'
import { PAGE_BYTES, type Page } from '../../../domain/paging.ts'
import type { CountFilter, EventFilter, TimelineFilter } from '../../events/event-filter.ts'
import {
  END,
  type EventTexts,
  type ForwardTexts,
  type ListedEvent,
  OTHER_BYTES,
  PageTexts,
} from '../../events/event-json.ts'
import {
  COUNTED_PER_CUSTOMER,
  COUNTING_MS,
  type CountedEvents,
  type CustomerActivity,
} from '../../events/event-store.ts'
import { type EventSliceRequest, SLICE_BYTES, type Slice, SliceLines } from '../../exports/exports.ts'
import { readWalkEnd } from '../arrivals/arrival-order.ts'
import type { Connection } from '../connection/connection.ts'
import { digitsOf, firstUuidOf, idOf, lastUuidOf, msOf, parsedUuid, uuidOf } from '../connection/uuids.ts'
import { eventOf, type StoredEvent } from './stored-event.ts'

/**
 * Maximum events scanned per page, or sorted per customer. That many are scanned only if a filter matches few events
 * among many; the page then ends early.
 */
const LOOKED_AT = 10_000

/** The same with a filter by variables, which are read of each event: up to 64 KiB. */
const VARIABLES_LOOKED_AT = 2_000

type EventRow = StoredEvent & {
  /** Its position in the order of arrival, if requested. */
  order_ms?: number
  /** Also null if the event is beyond the page. */
  custom_variables: string | null
  fits: boolean
}

/** The parameters of a statement, and their placeholders. */
class Parameters {
  readonly values: unknown[] = []

  /** Adds a value and returns its placeholder. */
  add(value: unknown): string {
    this.values.push(value)
    return `$${this.values.length}`
  }
}

/** Reads events by identifier, newest first, which is the order of arrival at each replica. */
export async function readNewest(
  connection: Connection,
  workspace_id: string,
  filter: EventFilter,
  page: Page,
): Promise<EventTexts> {
  const narrowed = narrowedBy(filter)
  if (!narrowed) return END
  const { from_ms, to_ms } = filter
  const { isNarrowed, matching, most, variables } = narrowed
  const end = earliest(
    page.after && uuidOf(page.after.id),
    to_ms === undefined ? undefined : firstUuidOf(to_ms),
  )
  const begin = from_ms === undefined ? undefined : firstUuidOf(from_ms)
  const span = (parameters: Parameters) => [
    `workspace_id = ${parameters.add(uuidOf(workspace_id))}`,
    ...(end === undefined ? [] : [`id < ${parameters.add(end)}`]),
    ...(begin === undefined ? [] : [`id >= ${parameters.add(begin)}`]),
  ]
  const few = await fewOf(connection, narrowed)
  const walkedTo = isNarrowed && !few ? await walkEnd(connection, span, 'DESC', most) : undefined

  const parameters = new Parameters()
  const conditions = [...span(parameters), ...matching(parameters)]
  if (walkedTo !== undefined) conditions.push(`id >= ${parameters.add(walkedTo)}`)
  if (few) conditions.push(`id = ANY(${parameters.add(few)}::uuid[])`)
  const limit = parameters.add(page.limit + 1)
  const listed = queryOf({ conditions, order: 'id DESC', limit })
  const sql = pageOf({ listed, order: 'id DESC' })
  const { rows } = await connection.run<EventRow>(sql, parameters.values)
  const early = walkedTo === undefined ? undefined : newestPosition(walkedTo)
  const references = await referencesOf(connection, workspace_id, rows)
  const positionOf = (row: EventRow) => newestPosition(digitsOf(row.id))
  return textsOf(rows, { page, references, positionOf, early, variables })
}

/** Reads events in the order of arrival, oldest first. */
export async function readOldest(
  connection: Connection,
  workspace_id: string,
  filter: EventFilter,
  page: Page,
): Promise<ForwardTexts> {
  const { watermark_ms, told_ms } = await readWalkEnd(connection, uuidOf(workspace_id))
  const after = page.after ?? firstPosition('evt')
  const walk = { after, watermark_ms, limit: page.limit, limit_bytes: PAGE_BYTES }
  const { rows, end, early } = await readForward(connection, workspace_id, filter, walk)
  const references = await referencesOf(connection, workspace_id, rows)
  const { variables = [] } = filter
  const texts = textsOf(rows, { page, references, positionOf: orderPosition, early, variables })
  return { rows: texts.rows, next: texts.next ?? end, caughtUp_ms: texts.next ? null : told_ms }
}

/** Maximum rows per slice of an export. They are formatted on the main thread, in 5 ms. */
const SLICE_ROWS = 1_000

/** Reads the next events of an export, in the order of `readOldest`. */
export async function readSlice(
  connection: Connection,
  { workspace_id, filter, after, bound, most, format }: EventSliceRequest,
): Promise<Slice> {
  const limit = Math.min(SLICE_ROWS, most)
  const walk = { after, watermark_ms: bound, limit, limit_bytes: SLICE_BYTES }
  const { rows, end, early } = await readForward(connection, workspace_id, filter, walk)
  const references = await referencesOf(connection, workspace_id, rows)
  const lines = new SliceLines({ most: limit, format })
  let last: EventRow | undefined
  for (const row of rows) {
    if (!row.fits || lines.isFull) return lines.ending(last ? orderPosition(last) : after, { isLast: false })
    const event = listedOf(row, references)
    if (event) lines.addEvent(event)
    last = row
  }
  // More follow, but one of them was removed, so the first one after the limit fits.
  if (last && rows.length > limit) return lines.ending(orderPosition(last), { isLast: false })
  return lines.ending(early ?? end, { isLast: early === undefined })
}

/** A part of a forward walk: after a position and before the watermark. */
type Walk = { after: Position; watermark_ms: number; limit: number; limit_bytes: number }

/** The rows of such a part: at most one more than its limit, of which as many count as fit into its bytes. */
type Forward = {
  rows: EventRow[]
  /** The end of the walk. */
  end: Position
  /** Where this part ends at the latest, because enough rows were scanned. */
  early?: Position | undefined
}

/**
 * Reads events in the order of arrival, see `ArrivalOrder`. An arrival that is still in the queue at a closed instant
 * will be a late arrival, whose position is elsewhere.
 */
async function readForward(
  connection: Connection,
  workspace_id: string,
  filter: EventFilter,
  { after, watermark_ms, limit: most, limit_bytes }: Walk,
): Promise<Forward> {
  const workspace = uuidOf(workspace_id)
  const closed = firstPosition('evt', watermark_ms)
  const end = isBefore(after, closed) ? closed : after
  const narrowed = narrowedBy(filter)
  if (!narrowed || !isBefore(after, closed)) return { rows: [], end }

  const { from_ms, to_ms } = filter
  const { isNarrowed, matching, most: lookedAt } = narrowed
  const few = await fewOf(connection, narrowed)
  // Converts a position in the order to an identifier: a late arrival's own one is elsewhere.
  const begin = uuidAt(after)
  const received = (parameters: Parameters) => [
    ...(from_ms === undefined ? [] : [`events.id >= ${parameters.add(firstUuidOf(from_ms))}`]),
    ...(to_ms === undefined ? [] : [`events.id < ${parameters.add(firstUuidOf(to_ms))}`]),
  ]
  const among = (parameters: Parameters) => [
    `workspace_id = ${parameters.add(workspace)}`,
    `events.id > ${parameters.add(begin)}`,
    `events.id < ${parameters.add(firstUuidOf(watermark_ms))}`,
    ...received(parameters),
  ]
  const isWalked = isNarrowed && !few
  const ends = isWalked
    ? [
        await walkEnd(connection, among, 'ASC', lookedAt),
        await lateWalkEnd(connection, workspace, { after, watermark_ms, most: lookedAt }),
      ]
    : [few ? undefined : await passedOverTo(connection, workspace, { begin, from_ms, watermark_ms })]
  const early = ends
    .flatMap((end) => (end === undefined ? [] : typeof end === 'string' ? newestPosition(end) : end))
    .reduce<Position | undefined>((a, b) => (a && isBefore(a, b) ? a : b), undefined)

  const parameters = new Parameters()
  const own = parameters.add(workspace)
  const limit = parameters.add(most + 1)
  const matched = [...matching(parameters)]
  if (few) matched.push(`events.id = ANY(${parameters.add(few)}::uuid[])`)
  const conditions = [...among(parameters), ...matched, IN_PLACE]
  if (early) conditions.push(`events.id <= ${parameters.add(uuidAt(early))}`)
  const { ms, id } = after
  const lateConditions = [
    `(event_strays.at_ms, event_strays.id) > (${parameters.add(ms)}, ${parameters.add(uuidOf(id))}::uuid)`,
    `event_strays.at_ms < ${parameters.add(watermark_ms)}`,
    ...received(parameters),
    ...matched,
  ]
  if (early) {
    const last = `(${parameters.add(early.ms)}, ${parameters.add(uuidOf(early.id))}::uuid)`
    lateConditions.push(`(event_strays.at_ms, event_strays.id) <= ${last}`)
  }
  const listed = `
    SELECT * FROM (
      (
        SELECT events.*, ${ID_MS} AS order_ms FROM events
        WHERE ${conditions.join(' AND ')} ORDER BY events.id LIMIT ${limit}
      )
      UNION ALL (
        SELECT events.*, event_strays.at_ms FROM event_strays JOIN events USING (workspace_id, id)
        WHERE event_strays.workspace_id = ${own} AND ${lateConditions.join(' AND ')}
        ORDER BY event_strays.at_ms, event_strays.id LIMIT ${limit}
      )
    ) AS both_kinds ORDER BY order_ms, id LIMIT ${limit}`
  const sql = `${withPendingArrivals(own, parameters.add(firstUuidOf(watermark_ms)))}
    ${pageOf({ listed, order: 'order_ms, id', columns: 'order_ms, ', limit_bytes })}`
  const { rows } = await connection.run<EventRow>(sql, parameters.values)
  return { rows, end, early }
}

/** Returns the position of an event in the order of arrival. */
function orderPosition({ order_ms, id }: EventRow): Position {
  return { ms: order_ms ?? 0, id: idOf('evt', digitsOf(id)) }
}

/** The instant in an identifier. */
const ID_MS = `('x' || substr(replace(events.id::text, '-', ''), 1, 12))::bit(48)::bigint`

/** The arrivals in the queue, some of which will be late arrivals. */
function withPendingArrivals(workspace: string, closed: string): string {
  return `WITH pending_arrivals AS MATERIALIZED (
    SELECT first_event, last_event, substr(first_event::text, 16, 3) AS writer FROM event_arrivals
    WHERE workspace_id = ${workspace} AND first_event < ${closed}
  )`
}

/**
 * Looked up event by event: hardly any event is a late arrival, and a join might read all of them for each page. (With
 * `IS NULL` the planner believes that nearly all are, and reads the whole table to find the others.)
 */
const IN_PLACE = `
  (SELECT true FROM event_strays WHERE event_strays.workspace_id = events.workspace_id AND event_strays.id = events.id)
    IS NOT TRUE
  AND (SELECT true FROM pending_arrivals
    WHERE events.id BETWEEN first_event AND last_event AND substr(events.id::text, 16, 3) = writer LIMIT 1) IS NOT TRUE`

/** This many late arrivals are passed over for a page of all events. */
const PASSED_OVER = 1_000

/** Returns the identifier at which so many late arrivals have been passed over that the page must end; undefined if there are fewer. */
async function passedOverTo(
  connection: Connection,
  workspace: string,
  { begin, from_ms = 0, watermark_ms }: { begin: string; from_ms: number | undefined; watermark_ms: number },
): Promise<string | undefined> {
  const first = firstUuidOf(from_ms)
  const { rows } = await connection.run<{ id: string }>(
    `SELECT id FROM event_strays WHERE workspace_id = $1 AND id > $2::uuid AND id < $3::uuid
    ORDER BY id OFFSET ${PASSED_OVER} LIMIT 1`,
    [workspace, first > begin ? first : begin, firstUuidOf(watermark_ms)],
  )
  return rows[0] && digitsOf(rows[0].id)
}

/** Returns where a page must end because of the late arrivals in it, like `walkEnd` for the others. */
async function lateWalkEnd(
  connection: Connection,
  workspace: string,
  { after, watermark_ms, most }: { after: Position; watermark_ms: number; most: number },
): Promise<Position | undefined> {
  const { rows } = await connection.run<{ ms: number; id: string }>(
    `SELECT at_ms AS ms, id FROM event_strays
    WHERE workspace_id = $1 AND (at_ms, id) > ($2, $3::uuid) AND at_ms < $4
    ORDER BY at_ms, id OFFSET ${most - 1} LIMIT 1`,
    [workspace, after.ms, uuidOf(after.id), watermark_ms],
  )
  return rows[0] && { ms: rows[0].ms, id: idOf('evt', digitsOf(rows[0].id)) }
}

/**
 * Returns the identifier after which events follow a position, late arrivals aside: its own, unless it is itself a late
 * arrival.
 */
function uuidAt({ ms, id }: Position): string {
  const uuid = uuidOf(id)
  if (msOf(uuid) === ms) return uuid
  // Of the same instant, those with a greater identifier follow the late arrival: all of them, or none.
  return msOf(uuid) < ms ? lastUuidOf(ms - 1) : lastUuidOf(ms)
}

/** Reads events of a customer by (`at_ms`, `id`), latest first. */
export async function readTimeline(
  connection: Connection,
  workspace_id: string,
  customer_id: string,
  page: Page & TimelineFilter,
): Promise<EventTexts> {
  const { variables = [] } = page
  const customer = parsedIdentifier('cus', customer_id)
  if (customer === null) return END
  const parameters = new Parameters()
  const conditions = [
    `workspace_id = ${parameters.add(uuidOf(workspace_id))}`,
    `customer_id = ${parameters.add(customer)}`,
    AT_ANY_TIME,
  ]
  if (page.after) {
    const { ms, id } = page.after
    conditions.push(`(at_ms, id) < (${parameters.add(ms)}, ${parameters.add(uuidOf(id))}::uuid)`)
  }
  const order = 'at_ms DESC, id DESC'
  const early = variables.length > 0 ? await timelineEnd(connection, conditions, parameters) : undefined
  if (early) {
    conditions.push(`(at_ms, id) >= (${parameters.add(early.ms)}, ${parameters.add(uuidOf(early.id))}::uuid)`)
  }
  conditions.push(...variableConditions(variables, parameters))
  const listed = queryOf({ conditions, order, limit: parameters.add(page.limit + 1) })
  // In one statement, because under load each response waits for this thread.
  const sql = `
    WITH named AS MATERIALIZED (${namedOf(parameters.add(workspace_id), parameters.add(customer_id))})
    SELECT * FROM (${pageOf({ listed, order })}) AS page LEFT JOIN named ON true ORDER BY ${order}`
  const { rows } = await connection.run<EventRow & AllOrNone<Named & { removed: string[] }>>(
    sql,
    parameters.values,
  )
  const [first] = rows
  const references: References = { customers: new Map(), removed: new Set(first?.removed ?? []) }
  if (first && first.removed !== null) {
    const { customer_name, client_customer_id } = first
    references.customers.set(customer_id, { customer_name, client_customer_id })
  }
  const positionOf = ({ at_ms, id }: EventRow) => ({ ms: at_ms, id: idOf('evt', digitsOf(id)) })
  return textsOf(rows, { page, references, positionOf, early, variables })
}

/** Returns where a page of a timeline must end whose events are scanned one by one, like `walkEnd`. */
async function timelineEnd(
  connection: Connection,
  conditions: readonly string[],
  { values }: Parameters,
): Promise<Position | undefined> {
  const { rows } = await connection.run<{ at_ms: number; id: string }>(
    `SELECT at_ms, id FROM events WHERE ${conditions.join(' AND ')}
    ORDER BY at_ms DESC, id DESC OFFSET ${VARIABLES_LOOKED_AT - 1} LIMIT 1`,
    values,
  )
  return rows[0] && { ms: rows[0].at_ms, id: idOf('evt', digitsOf(rows[0].id)) }
}

/**
 * For a partition that was not analyzed since it grew, the planner assumes that a workspace has few events in it, and a
 * customer as many, and reads both indexes completely. With a condition on time, the next column of the customer's
 * index, it expects almost no rows and reads only that index.
 */
const AT_ANY_TIME = `at_ms BETWEEN ${Number.MIN_SAFE_INTEGER} AND ${Number.MAX_SAFE_INTEGER}`

type AllOrNone<Columns> = Columns | Record<keyof Columns, null>

/** The customer's name, and the journeys being removed; no row if the customer was removed. */
function namedOf(workspace_id: string, customer_id: string): string {
  return `
    SELECT customer_name, client_customer_id, ARRAY(
      SELECT subject_id FROM removals
      WHERE removals.workspace_id = ${workspace_id} AND kind = 'journey' AND before_ms IS NULL
    ) AS removed
    FROM customers WHERE workspace_id = ${workspace_id} AND customer_id = ${customer_id}`
}

/** Reads how active customers are from their latest events. */
export async function customerActivity(
  connection: Connection,
  workspace_id: string,
  customer_ids: readonly string[],
): Promise<Map<string, CustomerActivity>> {
  const removed = await connection.run<{ subject_id: string }>(REMOVED_JOURNEYS, [workspace_id])
  const { rows } = await connection.run<{
    id: string
    latest_ms: number | null
    events: number
    looked: number
  }>(ACTIVITY, [
    uuidOf(workspace_id),
    customer_ids.map(uuidOf),
    removed.rows.map(({ subject_id }) => uuidOf(subject_id)),
  ])
  const activityOf = ({ latest_ms, events, looked }: (typeof rows)[number]) => ({
    latest_ms,
    events,
    isAll: looked < COUNTED_PER_CUSTOMER,
  })
  return new Map(rows.map((row) => [idOf('cus', digitsOf(row.id)), activityOf(row)]))
}

const REMOVED_JOURNEYS = `
  SELECT subject_id FROM removals WHERE workspace_id = $1 AND kind = 'journey' AND before_ms IS NULL`

const ACTIVITY = `
  SELECT customer.id, looked, events, latest_ms FROM unnest($2::uuid[]) AS customer (id)
  CROSS JOIN LATERAL (
    SELECT count(*)::int AS looked, (count(*) FILTER (WHERE is_listed))::int AS events,
      max(at_ms) FILTER (WHERE is_listed) AS latest_ms
    FROM (
      SELECT at_ms, journey_id <> ALL ($3::uuid[]) AS is_listed FROM events
      WHERE workspace_id = $1 AND customer_id = customer.id AND ${AT_ANY_TIME}
      ORDER BY at_ms DESC, id DESC LIMIT ${COUNTED_PER_CUSTOMER}
    ) AS latest
  ) AS activity`

/** Maximum events counted per statement. */
const COUNTED_AT_ONCE = 50_000

/** Counts the events that match a filter. */
export async function countEvents(
  connection: Connection,
  workspace_id: string,
  { journey_id, to_ms }: CountFilter,
): Promise<CountedEvents> {
  const journey = journey_id === undefined ? undefined : parsedIdentifier('jrn', journey_id)
  if (journey === null) return { events: 0, isAll: true }
  const until_ms = performance.now() + COUNTING_MS
  const end = to_ms === undefined ? lastUuidOf(Number.POSITIVE_INFINITY) : firstUuidOf(to_ms)
  let events = 0
  let last = firstUuidOf(0)
  while (performance.now() < until_ms) {
    const { rows } = await connection.run<{ looked: number; events: number; last: string | null }>(COUNT, [
      uuidOf(workspace_id),
      last,
      end,
      journey ?? null,
    ])
    const [counted] = rows
    events += counted?.events ?? 0
    if (counted?.looked !== COUNTED_AT_ONCE) return { events, isAll: true }
    last = counted.last ?? last
  }
  return { events, isAll: false }
}

/** Returns when the oldest matching event was received; null also if too many others precede it. */
export async function oldestReceived(
  connection: Connection,
  workspace_id: string,
  { journey_id, from_ms = 0 }: Pick<EventFilter, 'journey_id' | 'from_ms'>,
): Promise<number | null> {
  const journey = journey_id === undefined ? undefined : parsedIdentifier('jrn', journey_id)
  if (journey === null) return null
  // Without a journey, the first event matches.
  const most = journey === undefined ? 1 : COUNTED_AT_ONCE
  const until_ms = performance.now() + COUNTING_MS
  let last = lastUuidOf(from_ms - 1)
  while (performance.now() < until_ms) {
    const { rows } = await connection.run<{ looked: number; oldest: string | null; last: string | null }>(
      OLDEST,
      [uuidOf(workspace_id), last, journey ?? null, most],
    )
    const [found] = rows
    if (found?.oldest) return msOf(digitsOf(found.oldest))
    if (found?.looked !== most) return null
    last = found.last ?? last
  }
  return null
}

const OLDEST = `
  SELECT count(*)::int AS looked, max(id::text COLLATE "C") AS last,
    min(id::text COLLATE "C") FILTER (WHERE $3::uuid IS NULL OR journey_id = $3) AS oldest
  FROM (
    SELECT id, journey_id FROM events WHERE workspace_id = $1 AND id > $2 ORDER BY id LIMIT $4
  ) AS looked_at`

const COUNT = `
  SELECT count(*)::int AS looked, max(id::text COLLATE "C") AS last,
    count(*) FILTER (WHERE $4::uuid IS NULL OR journey_id = $4)::int AS events
  FROM (
    SELECT id, journey_id FROM events
    WHERE workspace_id = $1 AND id > $2 AND id < $3 ORDER BY id LIMIT ${COUNTED_AT_ONCE}
  ) AS looked_at`

/** Returns the UUID of an identifier of a kind; null if it is invalid, and so matches nothing. */
function parsedIdentifier(prefix: 'evt' | 'jrn' | 'cus' | 'key', id: string): string | null {
  return (id.startsWith(`${prefix}_`) && parsedUuid(id)) || null
}

const NUMBER_OR_BOOLEAN = /^(true|false|-?\d[\d.e+-]*)$/

/**
 * Returns conditions on variables that let a little more pass: stored JSON is that of `JSON.stringify`, so that a field
 * with a value has one form per type, but it may be a field further inside or a longer number, and variables may be a
 * text of JSON. `textsOf` decides. Each that passes takes a place on the page.
 */
function variableConditions(variables: readonly VariableFilter[], parameters: Parameters): string[] {
  return variables.map(({ name, value }) => {
    const forms = [JSON.stringify(value), ...(NUMBER_OR_BOOLEAN.test(value) ? [value] : [])]
    const fields = forms.map((form) => parameters.add(`${JSON.stringify(name)}:${form}`))
    const found = fields.map((field) => `strpos(custom_variables, ${field}) > 0`)
    return `(${found.join(' OR ')} OR starts_with(custom_variables, '"'))`
  })
}

/** Returns the conditions of a filter; undefined if no event can match. */
function narrowedBy(filter: EventFilter) {
  const { id, journey_id, customer_id, event_id, key_id, occurred_from_ms, occurred_to_ms } = filter
  const { variables = [] } = filter
  const event = id === undefined ? undefined : parsedIdentifier('evt', id)
  const journey = journey_id === undefined ? undefined : parsedIdentifier('jrn', journey_id)
  const customer = customer_id === undefined ? undefined : parsedIdentifier('cus', customer_id)
  const key = key_id === undefined ? undefined : parsedIdentifier('key', key_id)
  if (event === null || journey === null || customer === null || key === null) return undefined
  const matching = (parameters: Parameters) => [
    ...(journey === undefined ? [] : [`journey_id = ${parameters.add(journey)}`]),
    ...(customer === undefined ? [] : [`customer_id = ${parameters.add(customer)}`]),
    ...(event_id === undefined ? [] : [`event_id = ${parameters.add(event_id)}`]),
    ...(key === undefined ? [] : [`key_id = ${parameters.add(key)}`]),
    ...(occurred_from_ms === undefined ? [] : [`events.at_ms >= ${parameters.add(occurred_from_ms)}`]),
    ...(occurred_to_ms === undefined ? [] : [`events.at_ms < ${parameters.add(occurred_to_ms)}`]),
    ...variableConditions(variables, parameters),
  ]
  const isByVariables = variables.length > 0
  const isNarrowed =
    isByVariables ||
    [event, journey, customer, event_id, key, occurred_from_ms, occurred_to_ms].some(
      (asked) => asked !== undefined,
    )
  const most = isByVariables ? VARIABLES_LOOKED_AT : LOOKED_AT
  return { event, customer, isNarrowed, matching, most, variables }
}

function earliest(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return a < b ? a : b
}

/** Returns the requested event, or the customer's events if they are no more than are scanned for a page. */
async function fewOf(
  connection: Connection,
  { event, customer, most }: { event?: string | undefined; customer?: string | undefined; most: number },
): Promise<string[] | undefined> {
  if (event !== undefined) return [event]
  if (customer === undefined) return undefined
  const { rows } = await connection.run<{ id: string }>(
    `SELECT id FROM events WHERE customer_id = $1 LIMIT ${most + 1}`,
    [customer],
  )
  return rows.length > most ? undefined : rows.map(({ id }) => id)
}

/** Returns where a page must end if its events are scanned one by one; undefined if the list ends earlier. */
async function walkEnd(
  connection: Connection,
  span: (parameters: Parameters) => string[],
  order: 'ASC' | 'DESC',
  most: number,
): Promise<string | undefined> {
  const parameters = new Parameters()
  const { rows } = await connection.run<{ id: string }>(
    `SELECT id FROM events WHERE ${span(parameters).join(' AND ')}
      ORDER BY id ${order} OFFSET ${most - 1} LIMIT 1`,
    parameters.values,
  )
  return rows[0] && digitsOf(rows[0].id)
}

/**
 * The query of a page and the event after it. For events that do not fit, it does not read the variables, only their
 * length, which is in the row header.
 */
function pageOf({
  listed,
  order,
  columns = '',
  limit_bytes = PAGE_BYTES,
}: {
  /** A query of the events, in any order. */
  listed: string
  order: string
  /** Additional columns of the query, each followed by a comma. */
  columns?: string
  /** Size of the page in bytes of JSON. */
  limit_bytes?: number
}): string {
  return `
    SELECT ${columns}id, journey_id, customer_id, event_id, at_ms, is_dated, message_id, message_text, received_ms, key_id,
      fits, CASE WHEN fits THEN custom_variables END AS custom_variables
    FROM (
      SELECT *, row_number() OVER page = 1 OR sum(${OTHER_BYTES} + coalesce(octet_length(custom_variables), 0))
        OVER page <= ${limit_bytes} AS fits
      FROM (${listed}) AS listed
      WINDOW page AS (ORDER BY ${order} ROWS UNBOUNDED PRECEDING)
    ) AS measured
    ORDER BY ${order}`
}

type Listed = { conditions: string[]; order: string; limit: string }

function queryOf({ conditions, order, limit }: Listed): string {
  return `SELECT * FROM events WHERE ${conditions.join(' AND ')} ORDER BY ${order} LIMIT ${limit}`
}

function newestPosition(uuid: string): Position {
  return { ms: msOf(uuid), id: idOf('evt', uuid) }
}

type Named = Pick<ListedEvent, 'customer_name' | 'client_customer_id'>

/** The customers of a page by identifier, and the journeys being removed. */
type References = { customers: Map<string, Named>; removed: Set<string> }

/** Reads those of a page in one statement. Customer keys are texts; events have their UUIDs. */
async function referencesOf(
  connection: Connection,
  workspace_id: string,
  rows: readonly EventRow[],
): Promise<References> {
  const ids = new Set(rows.map(({ customer_id }) => idOf('cus', digitsOf(customer_id))))
  if (ids.size === 0) return { customers: new Map(), removed: new Set() }
  const { rows: found } = await connection.run<
    (Named & { customer_id: string; journey_id: null }) | { customer_id: null; journey_id: string }
  >(
    `SELECT customer_id, customer_name, client_customer_id, NULL AS journey_id FROM customers
    WHERE workspace_id = $1 AND customer_id = ANY($2::text[])
    UNION ALL SELECT NULL, NULL, NULL, subject_id FROM removals
    WHERE workspace_id = $1 AND kind = 'journey' AND before_ms IS NULL`,
    [workspace_id, [...ids]],
  )
  const customers = new Map<string, Named>()
  const removed = new Set<string>()
  for (const row of found) {
    if (row.customer_id === null) removed.add(row.journey_id)
    else
      customers.set(row.customer_id, {
        customer_name: row.customer_name,
        client_customer_id: row.client_customer_id,
      })
  }
  return { customers, removed }
}

/** Converts a row; undefined if its customer or journey was removed, and it will be removed next. */
function listedOf(row: EventRow, { customers, removed }: References): ListedEvent | undefined {
  const stored = eventOf(row)
  const customer = removed.has(stored.journey_id) ? undefined : customers.get(stored.customer_id)
  return (
    customer && {
      ...stored,
      ...customer,
      id: idOf('evt', stored.id),
      custom_variables: row.custom_variables,
    }
  )
}

type Texts = {
  page: Page
  references: References
  positionOf: (row: EventRow) => Position
  /** How far the list was scanned, if it may continue. */
  early?: Position | undefined
  /** What the variables must be. */
  variables?: readonly VariableFilter[]
}

function textsOf(
  rows: readonly EventRow[],
  { page, references, positionOf, early, variables = [] }: Texts,
): EventTexts {
  const texts = new PageTexts(page)
  const matches = variablesTest(variables)
  for (const row of rows) {
    if (!row.fits) return texts.endingBehindLast()
    const event = matches(row.custom_variables) ? listedOf(row, references) : undefined
    const position = positionOf(row)
    // Other variables, or removed between the two statements, together with its events.
    if (!event) {
      texts.skip(position)
      continue
    }
    if (!texts.add(event, position)) return texts.endingBehindLast()
  }
  // More follow, but one of them was removed, so the first one after the page fits.
  if (rows.length > page.limit) return texts.endingBehindLast()
  return early ? texts.endingEarly(early) : texts.ending()
}
