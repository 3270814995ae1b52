import type { CountFilter, EventFilter } from '../../events/event-filter.ts'
import {
  COUNTED_PER_CUSTOMER,
  COUNTING_MS,
  type CountedEvents,
  type CustomerActivity,
} from '../../events/event-store.ts'
import type { Connection } from '../connection/connection.ts'
import { digitsOf, firstUuidOf, idOf, lastUuidOf, msOf, uuidOf } from '../connection/uuids.ts'
import { AT_ANY_TIME, parsedIdentifier } from './event-matcher.ts'

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
