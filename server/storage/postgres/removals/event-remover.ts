import type { Removal, RemovedSlice } from '../../removals/removals.ts'
import type { Connection } from '../connection/connection.ts'
import type { Pool } from '../connection/pool.ts'
import { digitsOf, firstUuidOf, idOf, messageUuid, uuidOf } from '../connection/uuids.ts'
import { DURABLE } from '../dialect.ts'
import { configuredSteps } from '../standings/arrived-slice.ts'
import { transactOn } from '../transact-on.ts'

/** Maximum events scanned and removed per transaction: some ten milliseconds. */
const SLICE_EVENTS = 1_000

/** Maximum difference between the clocks of servers. */
const CLOCKS_MS = 3_600_000

/** The progress of a removal. */
type RemovalProgress = {
  /** The customer, as 32 digits. Storing events checks it. */
  customer?: string
  /** The journey, likewise. */
  journey?: string
  /** What was received before was removed by an earlier retention run. */
  since_ms?: number
  /** The last event scanned, if events are walked. */
  after?: string
  /** The transactions that may be writes which did not see the removal. */
  blind?: string[]
}

/** An event, with the keys of its message and its enrolment. */
type EventRow = {
  id: string
  message_id: string | null
  message_text: string | null
  journey_id: string
  customer_id: string
  event_id: string
  at_ms: number
  isIts: boolean
}

const EVENT_COLUMNS = 'id, message_id, message_text, journey_id, customer_id, event_id, at_ms'

type EventRemoverOptions = {
  pool: Pool
  /** See the column. */
  messageSalt: string
  /** Whether the tables are distributed over the nodes of Citus. */
  isDistributed: boolean
}

/**
 * Removes events in slices, each in a transaction of its own, together with the entries by which their messages are
 * recognized. Every process does so; the one that has locked the removal's row continues.
 */
export class EventRemover {
  readonly #options: EventRemoverOptions

  constructor(options: EventRemoverOptions) {
    this.#options = options
  }

  /**
   * Removes the next events, and for a journey without events the next enrolments; records the progress. Does nothing
   * if another process is working on it.
   * @throws {Unavailable}
   */
  async slice({ workspace_id, removal_id }: Removal): Promise<RemovedSlice> {
    return await transactOn(this.#options.pool, async (connection) => {
      const [row] = (await connection.run<Removal>(LOCK, [workspace_id, removal_id])).rows
      return row ? await this.#remove(connection, row) : NOTHING
    })
  }

  async #remove(connection: Connection, removal: Removal): Promise<RemovedSlice> {
    const place: RemovalProgress = removal.place === '' ? {} : JSON.parse(removal.place)
    if (removal.before_ms === null && !(await isSettled(connection, place, this.#options))) {
      const noted = JSON.stringify(place)
      if (noted !== removal.place) {
        await connection.run(NOTE, [removal.workspace_id, removal.removal_id, noted, 0])
      }
      return { rows: 0, isDone: false }
    }
    const workspace = uuidOf(removal.workspace_id)
    const rows = await (removal.kind === 'customer'
      ? ofCustomer(connection, workspace, removal, place)
      : walked(connection, workspace, removal, place))
    const removed = rows.filter(({ isIts }) => isIts)
    const ids = removed.map(({ id }) => id)
    if (ids.length > 0) {
      const messages = removed.flatMap((row) => this.#messageOf(row))
      await connection.run(DELETE_MESSAGES, [workspace, messages, ids])
      await connection.run(DELETE_LATE_ARRIVALS, [workspace, ids])
      await connection.run(DELETE_EVENTS, [workspace, ids])
      if (removal.before_ms !== null) await tellEnrolments(connection, workspace, removed)
    }
    const last = rows.at(-1)
    if (last && removal.kind !== 'customer') place.after = digitsOf(last.id)
    await connection.run(NOTE, [removal.workspace_id, removal.removal_id, JSON.stringify(place), ids.length])
    const isAll = rows.length < SLICE_EVENTS
    if (removal.before_ms !== null) return { rows: ids.length, isDone: isAll }
    if (!isAll) return { rows: ids.length, isDone: false }
    const isJourney = removal.kind === 'journey'
    if (!isJourney || ids.length > 0) return { rows: ids.length, isDone: !isJourney }
    return await removeEnrolments(connection, removal)
  }

  #messageOf({ message_id, message_text }: EventRow): string[] {
    const message = message_text ?? message_id
    return message === null ? [] : [messageUuid(message, this.#options.messageSalt)]
  }
}

/** Another process is working on it, or it has finished. */
const NOTHING: RemovedSlice = { rows: 0, isDone: false }

/** Finds events by the index of customers; removed ones are not found again. */
async function ofCustomer(
  connection: Connection,
  workspace: string,
  { before_ms }: Removal,
  { customer }: RemovalProgress,
): Promise<EventRow[]> {
  const { rows } = await connection.run<EventRow>(
    `SELECT ${EVENT_COLUMNS}, true AS "isIts" FROM events
    WHERE workspace_id = $1 AND customer_id = $2 AND id < $3 LIMIT ${SLICE_EVENTS}`,
    [workspace, customer, endOf(before_ms)],
  )
  return rows
}

/** Scans events in the order of their identifiers. */
async function walked(
  connection: Connection,
  workspace: string,
  { kind, subject_id, before_ms }: Removal,
  { after, since_ms }: RemovalProgress,
): Promise<EventRow[]> {
  const first = since_ms === undefined ? FIRST : firstUuidOf(since_ms - CLOCKS_MS)
  const { rows } = await connection.run<EventRow>(
    `SELECT ${EVENT_COLUMNS}, $4::uuid IS NULL OR journey_id = $4 AS "isIts" FROM events
    WHERE workspace_id = $1 AND id > $2 AND id < $3 ORDER BY id LIMIT ${SLICE_EVENTS}`,
    [workspace, after ?? first, endOf(before_ms), kind === 'journey' ? uuidOf(subject_id) : null],
  )
  return rows
}

/** Removes the next enrolments of a journey, and notifies the follower of each. */
async function removeEnrolments(
  connection: Connection,
  { workspace_id, subject_id }: Removal,
): Promise<RemovedSlice> {
  const { rows } = await connection.run<{ customer_id: string }>(
    `SELECT customer_id FROM enrolments WHERE workspace_id = $1 AND journey_id = $2
    ORDER BY customer_id LIMIT ${SLICE_EVENTS}`,
    [workspace_id, subject_id],
  )
  if (rows.length === 0) return { rows: 0, isDone: true }
  const customers = rows.map(({ customer_id }) => customer_id)
  await connection.run(DELETE_ENROLMENTS, [workspace_id, subject_id, customers])
  const journeys = customers.map(() => uuidOf(subject_id))
  await connection.run(INSERT_PAIRS, [uuidOf(workspace_id), journeys, customers.map(uuidOf)])
  return { rows: rows.length, isDone: false }
}

/**
 * Notifies the follower of enrolments whose standings may change without some events: those that filled a step, or came
 * before everything else of the enrolment.
 */
async function tellEnrolments(connection: Connection, workspace: string, events: readonly EventRow[]) {
  const journeys = new Set(events.map(({ journey_id }) => digitsOf(journey_id)))
  const configured = await configuredSteps(connection, workspace, [...journeys])
  const steps = new Map([...configured].map(([journey, event_ids]) => [journey, new Set(event_ids)]))
  const affected = new Map<string, { journey: string; customer: string }>()
  const first = new Map<string, { journey: string; customer: string; at_ms: number }>()
  for (const { journey_id, customer_id, event_id, at_ms } of events) {
    const pair = { journey: digitsOf(journey_id), customer: digitsOf(customer_id) }
    const key = pair.journey + pair.customer
    if (steps.get(pair.journey)?.has(event_id)) affected.set(key, pair)
    else if (at_ms < (first.get(key)?.at_ms ?? Number.POSITIVE_INFINITY)) first.set(key, { ...pair, at_ms })
  }
  const asked = [...first].flatMap(([key, pair]) => (affected.has(key) ? [] : pair))
  if (asked.length > 0) {
    const { rows } = await connection.run<{ place: number }>(ENTERED_BEFORE, [
      idOf('wsp', workspace),
      asked.map(({ journey }) => idOf('jrn', journey)),
      asked.map(({ customer }) => idOf('cus', customer)),
      asked.map(({ at_ms }) => at_ms),
    ])
    for (const { place } of rows) {
      const pair = asked[place - 1]
      if (pair) affected.set(pair.journey + pair.customer, pair)
    }
  }
  if (affected.size === 0) return
  const pairs = [...affected.values()]
  const of = [pairs.map(({ journey }) => journey), pairs.map(({ customer }) => customer)]
  await connection.run(INSERT_PAIRS, [workspace, ...of])
}

/** The index of each pair of journey and customer that had an event before the enrolment. */
const ENTERED_BEFORE = `
  SELECT asked.place::int AS place
  FROM unnest($2::text[], $3::text[], $4::bigint[]) WITH ORDINALITY AS asked (journey_id, customer_id, at_ms, place)
  WHERE asked.at_ms < (
    SELECT enrolled_ms FROM enrolments
    WHERE workspace_id = $1 AND enrolments.journey_id = asked.journey_id
      AND enrolments.customer_id = asked.customer_id
  )`

const INSERT_PAIRS = `
  INSERT INTO enrolment_removals (workspace_id, removal, journey_id, customer_id)
  SELECT $1, gen_random_uuid(), journey_id, customer_id
  FROM unnest($2::uuid[], $3::uuid[]) AS affected (journey_id, customer_id)`

const FIRST = '0'.repeat(32)

function endOf(before_ms: number | null): string {
  return before_ms === null ? 'f'.repeat(32) : firstUuidOf(before_ms)
}

/**
 * Whether every write has ended that did not see the removal. Only then are events looked for: none of it will appear any
 * more, also none with an identifier before the last one scanned. Such a write holds locks on tables from before it looks.
 * @param place gets the writes that are running, the first time: every later one sees the removal
 */
async function isSettled(
  connection: Connection,
  place: RemovalProgress,
  { isDistributed }: Pick<EventRemoverOptions, 'isDistributed'>,
): Promise<boolean> {
  if (place.blind?.length === 0) return true
  const { rows } = await connection.run<{ transaction: string }>(isDistributed ? WRITES_IN_STEPS : WRITES)
  const running = rows.map(({ transaction }) => transaction)
  if (place.blind === undefined) {
    place.blind = running
    // An earlier release has walked without waiting.
    delete place.after
  } else place.blind = running.filter((one) => place.blind?.includes(one))
  return place.blind.length === 0
}

/** The transactions that may be storing events: maintenance and backups lock the table in other modes. */
const WRITES = `
  SELECT DISTINCT virtualtransaction AS transaction FROM pg_locks
  WHERE database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND pid <> pg_backend_pid()
    AND relation = 'event_messages'::regclass AND mode = 'RowExclusiveLock'`

/** With those that have only looked so far, before they store. */
const WRITES_IN_STEPS = `${WRITES}
  UNION SELECT virtualtransaction FROM pg_locks
  WHERE database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND pid <> pg_backend_pid()
    AND relation IN ('journeys'::regclass, 'removals'::regclass)
    AND mode IN ('AccessShareLock', 'RowShareLock', 'RowExclusiveLock')`

const LOCK = `
  SELECT removals.*, ${DURABLE} FROM removals
  WHERE workspace_id = $1 AND removal_id = $2 FOR UPDATE SKIP LOCKED`

const NOTE = `
  UPDATE removals SET place = $3, events = events + $4 WHERE workspace_id = $1 AND removal_id = $2`

const DELETE_EVENTS = 'DELETE FROM events WHERE workspace_id = $1 AND id = ANY($2::uuid[])'

/** A message may have been taken over by another event meanwhile. */
const DELETE_MESSAGES = `
  DELETE FROM event_messages WHERE workspace_id = $1 AND message = ANY($2::uuid[]) AND event_id = ANY($3::uuid[])`

const DELETE_LATE_ARRIVALS = 'DELETE FROM event_strays WHERE workspace_id = $1 AND id = ANY($2::uuid[])'

const DELETE_ENROLMENTS =
  'DELETE FROM enrolments WHERE workspace_id = $1 AND journey_id = $2 AND customer_id = ANY($3::text[])'
