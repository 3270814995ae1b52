import type { Connection } from '../connection/connection.ts'
import { digitsOf, idOf, writerOf } from '../connection/uuids.ts'
import type { PackedEvents } from './packed-events.ts'

/**
 * The order of arrival of events and customers, for consumers that walk forward and must miss nothing. It works like a
 * watermark in stream processing (Akidau et al. 2015, "The Dataflow Model").
 *
 * The order is that of the instants in identifiers (for customers, of creation), which every replica assigns by its own
 * clock. What is committed late, or by a clock that is behind, would thus appear where consumers have passed already.
 * The process that takes arrivals out of the queue, one at a time per workspace, therefore decides up to which instant
 * the order is closed (the watermark). What it has not taken by then is a late arrival, whose position is at
 * the current watermark. Nobody reads beyond the watermark. So completeness depends neither on sequences, nor on clocks,
 * nor on how long a transaction takes anywhere on the server; if clocks differ by half a second, more events are late
 * arrivals, which cost a row each.
 */
export type ArrivalOrder = {
  /** The watermark. */
  closed_ms: number
  greatest_ms: number
  told_ms: number
  due_ms: number | null
  due_greatest_ms: number | null
}

/** The columns of `event_following`. */
export const ORDER_COLUMNS = 'closed_ms, greatest_ms, told_ms, due_ms, due_greatest_ms'

/**
 * Distance of the watermark from the database's clock: what is being committed now need not become a late arrival, and
 * what is further ahead is not waited for.
 */
export const SETTLING_MS = 500

/** What was taken out of the queues of a workspace. */
export type Taken = {
  /** When the queues were read, by the clock of the database: everything committed by then was seen. */
  now_ms: number
  /** Whether nothing that was seen is left. */
  isAll: boolean
  /** A lower bound of the instants that are left; undefined if unknown or nothing is left. */
  left_ms: number | undefined
  /** Whether what was stored before there was an order is among it, or left. */
  isOld: boolean
  arrivals: readonly Span[]
  /** Events between the first and the last of the arrivals; others may be among them. */
  events: readonly PackedEvents[]
  /** Customers that were not in the order yet. */
  customers: readonly NewCustomer[]
}

export type Span = { first: string; last: string; isOld: boolean }

type NewCustomer = { customer_id: string; created_ms: number }

/** Records the positions of what was taken, in the transaction that takes it. */
export async function noteOrder(
  connection: Connection,
  workspace: string,
  order: ArrivalOrder,
  taken: Taken,
): Promise<void> {
  const isLate = (ms: number) => ms < order.closed_ms || ms > taken.now_ms + SETTLING_MS
  const { ids, ...events } = eventsOf(taken, isLate)
  const customers = taken.customers.filter(({ created_ms }) => isLate(created_ms))
  if (ids.length > 0) await connection.run(LATE_EVENTS, [workspace, ids, order.closed_ms])
  if (customers.length > 0) {
    const created = customers.map(({ created_ms }) => created_ms)
    const lateCustomers = customers.map(({ customer_id }) => customer_id)
    await connection.run(LATE_CUSTOMERS, [idOf('wsp', workspace), lateCustomers, created, order.closed_ms])
  }

  let greatest_ms = Math.max(order.greatest_ms, events.greatest_ms)
  for (const { created_ms } of taken.customers) {
    if (!isLate(created_ms)) greatest_ms = Math.max(greatest_ms, created_ms)
  }
  const lateCount = ids.length + customers.length
  const next = advanced({ ...order, greatest_ms }, { ...taken, lateCount })
  await connection.run(NOTE, [
    workspace,
    next.closed_ms,
    next.greatest_ms,
    next.told_ms,
    next.due_ms,
    next.due_greatest_ms,
  ])
}

/** Returns the late arrivals among the events, and the greatest instant of the others; 0 if there are none. */
function eventsOf({ events, arrivals }: Taken, isLate: (ms: number) => boolean) {
  const ids: string[] = []
  let greatest_ms = 0
  for (const packed of events) {
    for (let index = 0; index < packed.length; index += 1) {
      const ms = packed.created_ms(index)
      if (!isLate(ms)) greatest_ms = Math.max(greatest_ms, ms)
      else if (arrivals.some((span) => isIn(span, packed.id(index)))) ids.push(packed.id(index))
    }
  }
  return { ids, greatest_ms }
}

/** Returns the order after something was taken. */
function advanced(order: ArrivalOrder, taken: Taken & { lateCount: number }): ArrivalOrder {
  const { now_ms, isAll, isOld, left_ms, lateCount } = taken
  const mayClose = !isOld && (isAll || left_ms !== undefined)
  const to_ms = mayClose ? Math.min(now_ms - SETTLING_MS, left_ms ?? now_ms) : 0
  // Late arrivals are placed at the previous watermark, which must be closed now.
  const watermark_ms = Math.max(order.closed_ms + Math.min(lateCount, 1), to_ms)
  const next = { ...order, closed_ms: watermark_ms }
  if (next.due_ms !== null && next.due_greatest_ms !== null && next.due_greatest_ms < watermark_ms) {
    next.told_ms = Math.max(next.told_ms, next.due_ms)
    next.due_ms = null
    next.due_greatest_ms = null
  }
  if (isAll && next.greatest_ms < watermark_ms) next.told_ms = Math.max(next.told_ms, now_ms)
  else if (isAll && next.due_ms === null) {
    next.due_ms = now_ms
    next.due_greatest_ms = next.greatest_ms
  }
  return next
}

/** One statement's identifiers come from one process, consecutively; others with the same instant may be among them. */
function isIn({ first, last, isOld }: Span, id: string): boolean {
  return first <= id && id <= last && (isOld || writerOf(first) === writerOf(id))
}

/** How far a workspace can be walked forward. */
export type Watermark = {
  /** The watermark: everything before it is complete. */
  watermark_ms: number
  /** Everything acknowledged by then is before the watermark. */
  told_ms: number
}

/** Reads the watermark of a workspace. A later statement may read up to it. */
export async function readWatermark(connection: Connection, workspace: string): Promise<Watermark> {
  const { now_ms, has_enrolments } = await readEnrolmentQueue(connection, workspace)
  const { rows } = await connection.run<Watermark>(WATERMARK, [workspace, now_ms, has_enrolments])
  return rows[0] ?? { watermark_ms: 0, told_ms: 0 }
}

/**
 * Reads the clock of the database, and then whether enrolments are in the queue. Before the queues of events are read, and in
 * a statement of its own: on Citus, enrolments may be on another node, and parts of a statement are run at different times.
 */
export async function readEnrolmentQueue(
  connection: Connection,
  workspace: string,
): Promise<{ now_ms: number; has_enrolments: boolean }> {
  const { rows } = await connection.run<{ now_ms: number; has_enrolments: boolean }>(ENROLMENT_QUEUE, [
    idOf('wsp', digitsOf(workspace)),
  ])
  return rows[0] ?? { now_ms: 0, has_enrolments: true }
}

/** Returns the time by the clock of the database, in milliseconds. */
export async function readClock(connection: Connection): Promise<number> {
  const { rows } = await connection.run<{ now_ms: number }>(`SELECT ${NOW_MS} AS now_ms`, [])
  return rows[0]?.now_ms ?? 0
}

/** The clock of the database at the start of the statement. */
export const NOW_MS = 'floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint'

const ENROLMENT_QUEUE = `
  SELECT ${NOW_MS} AS now_ms, EXISTS (SELECT 1 FROM enrolment_arrivals WHERE workspace_id = $1) AS has_enrolments`

const WATERMARK = `
  SELECT coalesce(closed_ms, 0) AS watermark_ms, CASE
    WHEN coalesce(greatest_ms < closed_ms, true) AND NOT $3::boolean
      AND NOT EXISTS (SELECT 1 FROM event_arrivals WHERE workspace_id = $1) THEN $2::bigint
    ELSE coalesce(told_ms, 0) END AS told_ms
  FROM (SELECT 1) AS always LEFT JOIN event_following ON workspace_id = $1`

const LATE_EVENTS = `
  INSERT INTO event_strays (workspace_id, id, at_ms) SELECT $1, id, $3 FROM unnest($2::uuid[]) AS late (id)
  ON CONFLICT DO NOTHING`

const LATE_CUSTOMERS = `
  INSERT INTO customer_strays (workspace_id, customer_id, at_ms)
  SELECT $1, customer_id, $4 FROM customers JOIN unnest($2::text[], $3::bigint[]) AS late (customer_id, created_ms)
    USING (customer_id, created_ms)
  WHERE workspace_id = $1
  ON CONFLICT DO NOTHING`

const NOTE = `
  UPDATE event_following
  SET closed_ms = $2, greatest_ms = $3, told_ms = $4, due_ms = $5, due_greatest_ms = $6
  WHERE workspace_id = $1`
