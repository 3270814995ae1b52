import { firstPosition, isBefore, type Position } from '../../../domain/cursors.ts'
import { PAGE_BYTES, type Page } from '../../../domain/paging.ts'
import type { CountFilter, EventFilter } from '../../events/event-filter.ts'
import {
  END,
  type EventTexts,
  type ForwardTexts,
  type ListedEvent,
  OTHER_BYTES,
  PageTexts,
} from '../../events/event-json.ts'
import { COUNTING_MS, type CountedEvents } from '../../events/event-store.ts'
import { type EventSliceRequest, SLICE_BYTES, type Slice, SliceLines } from '../../exports/exports.ts'
import { readWalkEnd } from '../arrivals/arrival-order.ts'
import type { Connection } from '../connection/connection.ts'
import { digitsOf, firstUuidOf, idOf, lastUuidOf, msOf, parsedUuid, uuidOf } from '../connection/uuids.ts'
import { eventOf, type StoredEvent } from './stored-event.ts'

/**
 * So many events are looked at for a page, or of a customer sorted. Only where a filter finds few events among many are
 * there so many; the page then ends early.
 */
const LOOKED_AT = 10_000

type EventRow = StoredEvent & {
  /** Where it stands in the order of arrival, where that is asked for. */
  order_ms?: number
  /** Null also where the event is beyond the page. */
  custom_variables: string | null
  fits: boolean
}

/** Parameters of a statement, and their places in it. */
class Parameters {
  readonly values: unknown[] = []

  /** The place of a value. */
  add(value: unknown): string {
    this.values.push(value)
    return `$${this.values.length}`
  }
}

/** Events in the order of their identifiers, which is that of their arrival at each replica, newest first. */
export async function readNewest(
  connection: Connection,
  workspace_id: string,
  filter: EventFilter,
  page: Page,
): Promise<EventTexts> {
  const narrowed = narrowedBy(filter)
  if (!narrowed) return END
  const { from_ms, to_ms } = filter
  const { isNarrowed, matching } = narrowed
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
  const walkedTo = isNarrowed && !few ? await walkEnd(connection, span, 'DESC') : undefined

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
  return textsOf(rows, { page, references, positionOf, early })
}

/** Events in the order of arrival, oldest first. */
export async function readOldest(
  connection: Connection,
  workspace_id: string,
  filter: EventFilter,
  page: Page,
): Promise<ForwardTexts> {
  const { closed_ms, told_ms } = await readWalkEnd(connection, uuidOf(workspace_id))
  const after = page.after ?? firstPosition('evt')
  const walk = { after, closed_ms, limit: page.limit, limit_bytes: PAGE_BYTES }
  const { rows, end, early } = await readForward(connection, workspace_id, filter, walk)
  const references = await referencesOf(connection, workspace_id, rows)
  const texts = textsOf(rows, { page, references, positionOf: orderPosition, early })
  return { rows: texts.rows, next: texts.next ?? end, caughtUp_ms: texts.next ? null : told_ms }
}

/** So many rows are read for a slice of an export, unless they are long. They are made lines on the main thread, in 5 ms. */
const SLICE_ROWS = 1_000

/** The next events of an export, in the order of `readOldest`. */
export async function readSlice(
  connection: Connection,
  { workspace_id, filter, after, bound, most, format }: EventSliceRequest,
): Promise<Slice> {
  const limit = Math.min(SLICE_ROWS, most)
  const walk = { after, closed_ms: bound, limit, limit_bytes: SLICE_BYTES }
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
  // Others follow, where one of them was removed and left room for the first behind the limit.
  if (last && rows.length > limit) return lines.ending(orderPosition(last), { isLast: false })
  return lines.ending(early ?? end, { isLast: early === undefined })
}

/** A part of a walk forward: behind a position, before an instant up to which the order is closed. */
type Walk = { after: Position; closed_ms: number; limit: number; limit_bytes: number }

/** What is read for it: one row more than its limit at the most, of which as many fit as it has bytes. */
type Forward = {
  rows: EventRow[]
  /** Where the walk ends. */
  end: Position
  /** Where this part ends at the latest, because enough was looked at. */
  early?: Position | undefined
}

/**
 * Events in the order of arrival, see `ArrivalOrder`. What is in the queue of what has arrived, at an instant
 * up to which the order is closed, will be a stray; it stands elsewhere.
 */
async function readForward(
  connection: Connection,
  workspace_id: string,
  filter: EventFilter,
  { after, closed_ms, limit: most, limit_bytes }: Walk,
): Promise<Forward> {
  const workspace = uuidOf(workspace_id)
  const closed = firstPosition('evt', closed_ms)
  const end = isBefore(after, closed) ? closed : after
  const narrowed = narrowedBy(filter)
  if (!narrowed || !isBefore(after, closed)) return { rows: [], end }

  const { from_ms, to_ms } = filter
  const { isNarrowed, matching } = narrowed
  const few = await fewOf(connection, narrowed)
  // A position of the order among the identifiers: that of a stray lies elsewhere.
  const begin = uuidAt(after)
  const received = (parameters: Parameters) => [
    ...(from_ms === undefined ? [] : [`events.id >= ${parameters.add(firstUuidOf(from_ms))}`]),
    ...(to_ms === undefined ? [] : [`events.id < ${parameters.add(firstUuidOf(to_ms))}`]),
  ]
  const among = (parameters: Parameters) => [
    `workspace_id = ${parameters.add(workspace)}`,
    `events.id > ${parameters.add(begin)}`,
    `events.id < ${parameters.add(firstUuidOf(closed_ms))}`,
    ...received(parameters),
  ]
  const isWalked = isNarrowed && !few
  const ends = isWalked
    ? [await walkEnd(connection, among, 'ASC'), await strayWalkEnd(connection, workspace, after, closed_ms)]
    : []
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
  const strayed = [
    `(event_strays.at_ms, event_strays.id) > (${parameters.add(ms)}, ${parameters.add(uuidOf(id))}::uuid)`,
    `event_strays.at_ms < ${parameters.add(closed_ms)}`,
    ...received(parameters),
    ...matched,
  ]
  if (early) {
    const last = `(${parameters.add(early.ms)}, ${parameters.add(uuidOf(early.id))}::uuid)`
    strayed.push(`(event_strays.at_ms, event_strays.id) <= ${last}`)
  }
  const listed = `
    SELECT * FROM (
      (
        SELECT events.*, ${ID_MS} AS order_ms FROM events
        WHERE ${conditions.join(' AND ')} ORDER BY events.id LIMIT ${limit}
      )
      UNION ALL (
        SELECT events.*, event_strays.at_ms FROM event_strays JOIN events USING (workspace_id, id)
        WHERE event_strays.workspace_id = ${own} AND ${strayed.join(' AND ')}
        ORDER BY event_strays.at_ms, event_strays.id LIMIT ${limit}
      )
    ) AS both_kinds ORDER BY order_ms, id LIMIT ${limit}`
  const sql = `${straying(own, parameters.add(firstUuidOf(closed_ms)))}
    ${pageOf({ listed, order: 'order_ms, id', columns: 'order_ms, ', limit_bytes })}`
  const { rows } = await connection.run<EventRow>(sql, parameters.values)
  return { rows, end, early }
}

/** Where an event stands in the order of arrival. */
function orderPosition({ order_ms, id }: EventRow): Position {
  return { ms: order_ms ?? 0, id: idOf('evt', digitsOf(id)) }
}

/** The instant in an identifier. */
const ID_MS = `('x' || substr(replace(events.id::text, '-', ''), 1, 12))::bit(48)::bigint`

/** Arrivals that nobody has taken out of the queue, of which some will be strays. */
function straying(workspace: string, closed: string): string {
  return `WITH straying AS MATERIALIZED (
    SELECT first_event, last_event, substr(first_event::text, 16, 3) AS writer FROM event_arrivals
    WHERE workspace_id = ${workspace} AND first_event < ${closed}
  )`
}

/**
 * Looked up event by event: nearly none is a stray, and joined all of these might be read for each page. (`IS NULL` would
 * have the planner believe that nearly all are, and read the whole table to find the others.)
 */
const IN_PLACE = `
  (SELECT true FROM event_strays WHERE event_strays.workspace_id = events.workspace_id AND event_strays.id = events.id)
    IS NOT TRUE
  AND (SELECT true FROM straying
    WHERE events.id BETWEEN first_event AND last_event AND substr(events.id::text, 16, 3) = writer LIMIT 1) IS NOT TRUE`

/** Where a page ends at the latest for the strays in it, as `walkEnd` has it for the others. */
async function strayWalkEnd(
  connection: Connection,
  workspace: string,
  after: Position,
  closed_ms: number,
): Promise<Position | undefined> {
  const { rows } = await connection.run<{ ms: number; id: string }>(
    `SELECT at_ms AS ms, id FROM event_strays
    WHERE workspace_id = $1 AND (at_ms, id) > ($2, $3::uuid) AND at_ms < $4
    ORDER BY at_ms, id OFFSET ${LOOKED_AT - 1} LIMIT 1`,
    [workspace, after.ms, uuidOf(after.id), closed_ms],
  )
  return rows[0] && { ms: rows[0].ms, id: idOf('evt', digitsOf(rows[0].id)) }
}

/** The identifier behind which those lie that are in their places and behind a position: its own, but for a stray's. */
function uuidAt({ ms, id }: Position): string {
  const uuid = uuidOf(id)
  if (msOf(uuid) === ms) return uuid
  // Of the same instant those are behind the stray that have a greater identifier: all of them, or none.
  return msOf(uuid) < ms ? lastUuidOf(ms - 1) : lastUuidOf(ms)
}

/** Events of a customer by (`at_ms`, `id`), latest first. */
export async function readTimeline(
  connection: Connection,
  workspace_id: string,
  customer_id: string,
  page: Page,
): Promise<EventTexts> {
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
  const listed = queryOf({ conditions, order, limit: parameters.add(page.limit + 1) })
  // All in one statement: where others send, each answer waits for this thread.
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
  return textsOf(rows, { page, references, positionOf })
}

/**
 * Of a partition that was not analyzed since it grew the planner thinks that a workspace has few events in it, a customer
 * no fewer, and reads both indexes to their ends. Of a span of time, with which the customer's index goes on, it thinks
 * that next to nothing lies in it, and reads that index alone.
 */
const AT_ANY_TIME = `at_ms BETWEEN ${Number.MIN_SAFE_INTEGER} AND ${Number.MAX_SAFE_INTEGER}`

type AllOrNone<Columns> = Columns | Record<keyof Columns, null>

/** How a customer is called, and which journeys are being removed; nothing where the customer was removed. */
function namedOf(workspace_id: string, customer_id: string): string {
  return `
    SELECT customer_name, client_customer_id, ARRAY(
      SELECT subject_id FROM removals
      WHERE removals.workspace_id = ${workspace_id} AND kind = 'journey' AND before_ms IS NULL
    ) AS removed
    FROM customers WHERE workspace_id = ${workspace_id} AND customer_id = ${customer_id}`
}

/** So many events are counted in a statement. */
const COUNTED_AT_ONCE = 50_000

/** How many events a filter lets through. */
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

/** When the oldest event was received that a filter lets through; null also where too many others lie before it. */
export async function oldestReceived(
  connection: Connection,
  workspace_id: string,
  { journey_id, from_ms = 0 }: Pick<EventFilter, 'journey_id' | 'from_ms'>,
): Promise<number | null> {
  const journey = journey_id === undefined ? undefined : parsedIdentifier('jrn', journey_id)
  if (journey === null) return null
  // Without a journey the first is found.
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
  SELECT count(*)::int AS looked, max(id::text) AS last,
    min(id::text) FILTER (WHERE $3::uuid IS NULL OR journey_id = $3) AS oldest
  FROM (
    SELECT id, journey_id FROM events WHERE workspace_id = $1 AND id > $2 ORDER BY id LIMIT $4
  ) AS looked_at`

const COUNT = `
  SELECT count(*)::int AS looked, max(id::text) AS last,
    count(*) FILTER (WHERE $4::uuid IS NULL OR journey_id = $4)::int AS events
  FROM (
    SELECT id, journey_id FROM events
    WHERE workspace_id = $1 AND id > $2 AND id < $3 ORDER BY id LIMIT ${COUNTED_AT_ONCE}
  ) AS looked_at`

/** The UUID of an identifier of a kind; null for what is none, and so nobody's. */
function parsedIdentifier(prefix: 'evt' | 'jrn' | 'cus' | 'key', id: string): string | null {
  return (id.startsWith(`${prefix}_`) && parsedUuid(id)) || null
}

/** What a filter asks of an event; undefined where none can be found. */
function narrowedBy(filter: EventFilter) {
  const { id, journey_id, customer_id, event_id, key_id, occurred_from_ms, occurred_to_ms } = filter
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
  ]
  const isNarrowed = [event, journey, customer, event_id, key, occurred_from_ms, occurred_to_ms].some(
    (asked) => asked !== undefined,
  )
  return { event, customer, isNarrowed, matching }
}

function earliest(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return a < b ? a : b
}

/** The event that is asked for, or the customer's events, where they are not more than are looked at for a page. */
async function fewOf(
  connection: Connection,
  { event, customer }: { event?: string | undefined; customer?: string | undefined },
): Promise<string[] | undefined> {
  if (event !== undefined) return [event]
  if (customer === undefined) return undefined
  const { rows } = await connection.run<{ id: string }>(
    `SELECT id FROM events WHERE customer_id = $1 LIMIT ${LOOKED_AT + 1}`,
    [customer],
  )
  return rows.length > LOOKED_AT ? undefined : rows.map(({ id }) => id)
}

/** Where a page ends at the latest if its events have to be looked at one by one; undefined where the list ends before. */
async function walkEnd(
  connection: Connection,
  span: (parameters: Parameters) => string[],
  order: 'ASC' | 'DESC',
): Promise<string | undefined> {
  const parameters = new Parameters()
  const { rows } = await connection.run<{ id: string }>(
    `SELECT id FROM events WHERE ${span(parameters).join(' AND ')}
      ORDER BY id ${order} OFFSET ${LOOKED_AT - 1} LIMIT 1`,
    parameters.values,
  )
  return rows[0] && digitsOf(rows[0].id)
}

/**
 * A page and the event behind it. Of events that do not fit into it the variables are not read: only their length, which
 * stands at the head of the row.
 */
function pageOf({
  listed,
  order,
  columns = '',
  limit_bytes = PAGE_BYTES,
}: {
  /** A query of the events, in whatever order. */
  listed: string
  order: string
  /** Others that the query has, each with a comma behind it. */
  columns?: string
  /** So many bytes of JSON fit into it. */
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

/** The customers of a page by identifier, and the journeys that are being removed. */
type References = { customers: Map<string, Named>; removed: Set<string> }

/** Those of a page, in one statement: keys of customers are texts, of which the events have the UUIDs. */
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

/** The event as it is listed; undefined where its customer or its journey was removed, and it goes next. */
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
  /** Where the list was walked to, and may go on. */
  early?: Position | undefined
}

function textsOf(rows: readonly EventRow[], { page, references, positionOf, early }: Texts): EventTexts {
  const texts = new PageTexts(page)
  for (const row of rows) {
    if (!row.fits) return texts.endingBehindLast()
    const event = listedOf(row, references)
    const position = positionOf(row)
    // Removed between the two statements, and its events with it.
    if (!event) {
      texts.skip(position)
      continue
    }
    if (!texts.add(event, position)) return texts.endingBehindLast()
  }
  // Others follow, where one of them was removed and left room for the first behind the page.
  if (rows.length > page.limit) return texts.endingBehindLast()
  return early ? texts.endingEarly(early) : texts.ending()
}
