import { firstPosition, isBefore, type Position } from '../../../domain/cursors.ts'
import { PAGE_BYTES, type Page } from '../../../domain/paging.ts'
import type { EventFilter } from '../../events/event-filter.ts'
import type { ForwardTexts } from '../../events/event-json.ts'
import { type EventSliceRequest, SLICE_BYTES, type Slice, SliceLines } from '../../exports/exports.ts'
import { readWatermark } from '../arrivals/arrival-order.ts'
import type { Connection } from '../connection/connection.ts'
import { digitsOf, firstUuidOf, idOf, lastUuidOf, msOf, uuidOf } from '../connection/uuids.ts'
import { fewOf, matchOf, Parameters, walkEnd } from './event-matcher.ts'
import { type EventRow, listedOf, newestPosition, pageOf, referencesOf, textsOf } from './event-pages.ts'

/** Reads events in the order of arrival, oldest first. */
export async function readOldest(
  connection: Connection,
  workspace_id: string,
  filter: EventFilter,
  page: Page,
): Promise<ForwardTexts> {
  const { watermark_ms, told_ms } = await readWatermark(connection, uuidOf(workspace_id))
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
  const match = matchOf(filter)
  if (!match || !isBefore(after, closed)) return { rows: [], end }

  const { from_ms, to_ms } = filter
  const { isNarrowed, matching, most: lookedAt } = match
  const few = await fewOf(connection, match)
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
  const conditions = [...among(parameters), ...matched, inPlace(own)]
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
 *
 * With `events.workspace_id` instead of the parameter, Citus reads the queue before the events: one that is stored in
 * between is in neither the queue nor the late arrivals, and is listed here now and as a late arrival afterwards.
 */
const inPlace = (workspace: string) => `
  (SELECT true FROM event_strays WHERE event_strays.workspace_id = ${workspace} AND event_strays.id = events.id)
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
