import type { Connection } from '../connection/connection.ts'
import { digitsOf, idOf, writerOf } from '../connection/uuids.ts'
import type { PackedEvents } from './packed-events.ts'

/**
 * The order in which events and customers arrive, for those who walk forward and must miss none.
 *
 * It is the order of the instants in the identifiers, and of creation, which every replica gives by its own clock; so what
 * is committed late, or by a clock that is behind, would appear where others have walked past. Whoever takes what has
 * arrived out of its queue, one process at a time in a workspace, decides: up to which instant the order is closed, and that
 * what was not taken by then is a stray, which stands where the order is closed now. Nobody reads beyond that. So neither
 * sequences, nor clocks, nor how long a transaction takes anywhere on the server matters to whether all is seen; clocks
 * that are half a second apart only have their events among the strays, which cost a row each.
 */
export type ArrivalOrder = {
  closed_ms: number
  greatest_ms: number
  told_ms: number
  due_ms: number | null
  due_greatest_ms: number | null
}

/** The columns of `event_following`. */
export const ORDER_COLUMNS = 'closed_ms, greatest_ms, told_ms, due_ms, due_greatest_ms'

/**
 * The order is closed so long behind the clock of the database, so that what is being committed need not stray; and what is
 * so long ahead of it is not waited for.
 */
export const SETTLING_MS = 500

/** What was taken out of the queues of a workspace. */
export type Taken = {
  /** When was looked, by the clock of the database: everything that was committed by then was seen. */
  now_ms: number
  /** Whether nothing that was seen is left. */
  isAll: boolean
  /** The least instant, or more, of what is left; undefined where nothing is known of it, and where it is nothing. */
  left_ms: number | undefined
  /** Whether what was stored before there was an order is among it, or left. */
  isOld: boolean
  arrivals: readonly Span[]
  /** Events between the first and the last of the arrivals; others may be among them. */
  events: readonly PackedEvents[]
  /** Customers of whom nobody has heard before. */
  customers: readonly NewCustomer[]
}

export type Span = { first: string; last: string; isOld: boolean }

type NewCustomer = { customer_id: string; created_ms: number }

/** Notes where what was taken stands, in the transaction that takes it. */
export async function noteOrder(
  connection: Connection,
  workspace: string,
  order: ArrivalOrder,
  taken: Taken,
): Promise<void> {
  const isStray = (ms: number) => ms < order.closed_ms || ms > taken.now_ms + SETTLING_MS
  const { ids, ...events } = eventsOf(taken, isStray)
  const customers = taken.customers.filter(({ created_ms }) => isStray(created_ms))
  if (ids.length > 0) await connection.run(STRAY_EVENTS, [workspace, ids, order.closed_ms])
  if (customers.length > 0) {
    const created = customers.map(({ created_ms }) => created_ms)
    const strays = customers.map(({ customer_id }) => customer_id)
    await connection.run(STRAY_CUSTOMERS, [idOf('wsp', workspace), strays, created, order.closed_ms])
  }

  let greatest_ms = Math.max(order.greatest_ms, events.greatest_ms)
  for (const { created_ms } of taken.customers) {
    if (!isStray(created_ms)) greatest_ms = Math.max(greatest_ms, created_ms)
  }
  const strays = ids.length + customers.length
  const next = advanced({ ...order, greatest_ms }, { ...taken, strays })
  await connection.run(NOTE, [
    workspace,
    next.closed_ms,
    next.greatest_ms,
    next.told_ms,
    next.due_ms,
    next.due_greatest_ms,
  ])
}

/** The strays among the events, and the greatest instant of those that are none; 0 where all are. */
function eventsOf({ events, arrivals }: Taken, isStray: (ms: number) => boolean) {
  const strays: string[] = []
  let greatest_ms = 0
  for (const packed of events) {
    for (let index = 0; index < packed.length; index += 1) {
      const ms = packed.created_ms(index)
      if (!isStray(ms)) greatest_ms = Math.max(greatest_ms, ms)
      else if (arrivals.some((span) => isIn(span, packed.id(index)))) strays.push(packed.id(index))
    }
  }
  return { ids: strays, greatest_ms }
}

/** The order once something was taken. */
function advanced(order: ArrivalOrder, taken: Taken & { strays: number }): ArrivalOrder {
  const { now_ms, isAll, isOld, left_ms, strays } = taken
  const mayClose = !isOld && (isAll || left_ms !== undefined)
  const to_ms = mayClose ? Math.min(now_ms - SETTLING_MS, left_ms ?? now_ms) : 0
  // Strays stand at what was closed before, which must be closed now.
  const closed_ms = Math.max(order.closed_ms + Math.min(strays, 1), to_ms)
  const next = { ...order, closed_ms }
  if (next.due_ms !== null && next.due_greatest_ms !== null && next.due_greatest_ms < closed_ms) {
    next.told_ms = Math.max(next.told_ms, next.due_ms)
    next.due_ms = null
    next.due_greatest_ms = null
  }
  if (isAll && next.greatest_ms < closed_ms) next.told_ms = Math.max(next.told_ms, now_ms)
  else if (isAll && next.due_ms === null) {
    next.due_ms = now_ms
    next.due_greatest_ms = next.greatest_ms
  }
  return next
}

/** What one statement stores has identifiers of one process, in one piece; others of the same instant may be among them. */
function isIn({ first, last, isOld }: Span, id: string): boolean {
  return first <= id && id <= last && (isOld || writerOf(first) === writerOf(id))
}

/** How far a workspace can be walked forward. */
export type WalkEnd = {
  /** What stands at an instant before is all there. */
  closed_ms: number
  /** What was acknowledged by then stands there. */
  told_ms: number
}

/** Reads it. What is read after that in another statement is read as a walk must. */
export async function readWalkEnd(connection: Connection, workspace: string): Promise<WalkEnd> {
  const { rows } = await connection.run<WalkEnd>(WALK_END, [workspace, idOf('wsp', digitsOf(workspace))])
  return rows[0] ?? { closed_ms: 0, told_ms: 0 }
}

/** By the clock of the database, in milliseconds. */
export async function readClock(connection: Connection): Promise<number> {
  const { rows } = await connection.run<{ now_ms: number }>(`SELECT ${NOW_MS} AS now_ms`, [])
  return rows[0]?.now_ms ?? 0
}

const NOW_MS = 'floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint'

const WALK_END = `
  SELECT coalesce(closed_ms, 0) AS closed_ms, CASE
    WHEN coalesce(greatest_ms < closed_ms, true) AND NOT EXISTS (SELECT FROM event_arrivals WHERE workspace_id = $1)
      AND NOT EXISTS (SELECT FROM enrolment_arrivals WHERE workspace_id = $2) THEN ${NOW_MS}
    ELSE coalesce(told_ms, 0) END AS told_ms
  FROM (SELECT) AS always LEFT JOIN event_following ON workspace_id = $1`

const STRAY_EVENTS = `
  INSERT INTO event_strays (workspace_id, id, at_ms) SELECT $1, id, $3 FROM unnest($2::uuid[]) AS strayed (id)
  ON CONFLICT DO NOTHING`

const STRAY_CUSTOMERS = `
  INSERT INTO customer_strays (workspace_id, customer_id, at_ms)
  SELECT $1, customer_id, $4 FROM customers JOIN unnest($2::text[], $3::bigint[]) AS strayed (customer_id, created_ms)
    USING (customer_id, created_ms)
  WHERE workspace_id = $1
  ON CONFLICT DO NOTHING`

const NOTE = `
  UPDATE event_following
  SET closed_ms = $2, greatest_ms = $3, told_ms = $4, due_ms = $5, due_greatest_ms = $6
  WHERE workspace_id = $1`
