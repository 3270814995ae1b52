import { type EventContent, isInFuture, isSameContent } from '../../../domain/event-content.ts'
import { ascendingIds, unmadeId } from '../../../domain/identifiers.ts'
import { periodOf } from '../../activity/activity.ts'
import type { EventOutcome, EventRejection, NewEvent } from '../../events/event-store.ts'
import { brokenEventRule, type EventFacts } from '../../events/ingestion-rules.ts'
import { enqueueOnce, GroupCounts, insertCounts, isEnqueued } from '../arrivals/arrivals.ts'
import { bigintArray, booleanArray, integerArray, textArray, uuidArray } from '../connection/binary-arrays.ts'
import type { Connection } from '../connection/connection.ts'
import type { Pool } from '../connection/pool.ts'
import { untilKnown } from '../connection/until-known.ts'
import { digitsOf, idOf, isUuid, messageUuid, msOf, uuidOf, uuidText } from '../connection/uuids.ts'
import { DURABLE } from '../dialect.ts'
import { eventOf, type StoredEvent } from '../reader/stored-event.ts'
import { JOURNEY_STATUS } from './customer-writer.ts'
import { insertInSteps } from './insert-in-steps.ts'
import { KnownEnrolments } from './known-enrolments.ts'

type EventWriterOptions = {
  pool: Pool
  now: () => number
  /** See the column. */
  messageSalt: string
  /** Whether the tables are distributed over the nodes of Citus. */
  isDistributed: boolean
}

/** The events of one request. */
export type Sending = {
  /** The key that sent them; '' for none. */
  key_id: string
  events: readonly NewEvent[]
  /** Whether to reveal nothing about customers, except by what is stored. */
  isDiscreet: boolean
}

/** An event of a group. */
type Row = Pick<Sending, 'isDiscreet'> & {
  event: NewEvent
  /** Number of its series in the group's `GroupCounts`. */
  series: number
  /** The outcome as which it was counted, see `INSERT`. */
  counted?: EventOutcome['status'] | undefined
  /** The UUID under which its message is looked up. */
  message: string | null
  /** The rule that it breaks; deduplication comes before rules. */
  refusal: EventRejection | undefined
  /** The UUID under which it is to be stored; undefined if it is not. */
  id?: string
}

/** A stored event with a message of the group. */
type Known = EventContent & { id: string; received_ms: number }

/** The stored event with the length of its variables instead of the variables. */
type Head = StoredEvent & { message: string; variables_bytes: number | null }

/** Classifies events and stores them, those of one workspace at a time, each group in one transaction. */
export class EventWriter {
  readonly #options: EventWriterOptions
  readonly #enrolments = new KnownEnrolments()
  /** Contains the number of this process among writers, once it has one. */
  #nextId = ascendingIds()
  #entered: Promise<void> | undefined

  constructor(options: EventWriterOptions) {
    this.#options = options
  }

  /**
   * Stores the events of one workspace.
   *
   * They are inserted optimistically, without checking whether their messages are known: hardly any is, and the unique
   * key detects what a check could not, that another replica stores the same message at this moment. Only events that
   * were not inserted are looked up afterwards, and those that a rule would refuse before, for deduplication.
   */
  async insert(workspace_id: string, sent: readonly Sending[]): Promise<EventOutcome[]> {
    const now_ms = this.#options.now()
    const rules = await this.#rules(
      workspace_id,
      sent.flatMap(({ events }) => events),
      now_ms,
    )
    const counts = new GroupCounts()
    const rows = sent.flatMap(({ key_id, events, isDiscreet }) =>
      events.map((event): Row => {
        const { event_id } = event
        const series = counts.numberOf({ journey_id: rules.journeyOf(event), event_id, key_id })
        const refusal = rules.refusalOf(event, isDiscreet)
        return { event, isDiscreet, series, message: this.#messageOf(event), refusal }
      }),
    )
    if (rows.length === 0) return []
    await this.#enter()
    const workspace = uuidOf(workspace_id)
    const questioned = rows.filter(({ refusal }) => refusal !== undefined)
    const known = await this.#known(workspace, questioned, rows)

    this.#giveIds(rows, known, now_ms)
    const expected = outcomesOf(rows, known)
    for (const [index, row] of rows.entries()) row.counted = expected[index]?.status
    for (const { series, counted } of rows) counts.add(series, counted)
    const ids = rows.map(({ id }) => id)
    const { state } = rules
    const found = await this.#store({ workspace_id, workspace, now_ms, rows, counts, state })
    if (found.size === 0 && rows.every(({ id }, index) => id === ids[index])) return expected
    for (const [message, event] of found) known.set(message, event)
    const outcomes = outcomesOf(rows, known)
    for (const [index, { series, counted }] of rows.entries()) {
      counts.add(series, counted, -1)
      counts.add(series, outcomes[index]?.status)
    }
    if (!counts.isNothing) await this.#count({ workspace, now_ms, counts })
    return outcomes
  }

  /** Returns what `insert` would answer to each request now if it were the only one. */
  async check(workspace_id: string, sent: readonly Sending[]): Promise<EventOutcome[]> {
    const now_ms = this.#options.now()
    const all = sent.flatMap(({ events }) => events)
    const rules = await this.#rules(workspace_id, all, now_ms)
    const checked = sent.map(({ events, isDiscreet }) =>
      events.map((event): Row => {
        const refusal = isDiscreet ? rules.refusalOfAnybody(event) : rules.refusalOf(event, isDiscreet)
        return { event, isDiscreet, series: 0, message: this.#messageOf(event), refusal }
      }),
    )
    const rows = checked.flat()
    const recognized = rows.filter(({ isDiscreet }) => !isDiscreet)
    const stored = await this.#known(uuidOf(workspace_id), recognized, rows)
    return checked.flatMap((rows, index) => {
      const known: typeof stored = sent[index]?.isDiscreet ? new Map() : stored
      this.#giveIds(rows, known, now_ms)
      const unmade = new Set(rows.flatMap(({ id }) => (id === undefined ? [] : idOf('evt', id))))
      return outcomesOf(rows, known).map((outcome) =>
        outcome.status !== 'rejected' && unmade.has(outcome.id)
          ? { ...outcome, id: unmadeId('evt'), received_ms: now_ms }
          : outcome,
      )
    })
  }

  /**
   * Takes a number at the first stored event, because a standby cannot assign one, and lists are read from it all the
   * same.
   */
  async #enter(): Promise<void> {
    const { pool } = this.#options
    // A number that was taken twice by a repeated statement is simply unused.
    this.#entered ??= untilKnown(pool, (connection) => connection.run<{ writers: number }>(ENTER)).then(
      ({ rows: [store] }) => {
        this.#nextId = ascendingIds(undefined, store?.writers)
      },
    )
    try {
      await this.#entered
    } catch (error) {
      this.#entered = undefined
      throw error
    }
  }

  /** Assigns an identifier to what is to be stored: the first event of each message. */
  #giveIds(rows: readonly Row[], known: ReadonlyMap<string, Known>, now_ms: number) {
    const held = new Set<string>()
    for (const row of rows) {
      const { message, refusal } = row
      if (refusal || (message !== null && (known.has(message) || held.has(message)))) continue
      row.id = uuidText(this.#nextId(now_ms))
      if (message !== null) held.add(message)
    }
  }

  #messageOf({ message_id, isTooLarge }: NewEvent): string | null {
    return message_id === null || isTooLarge ? null : messageUuid(message_id, this.#options.messageSalt)
  }

  /** Enqueues counts that are in no statement that stores events. */
  async #count(row: Pick<Group, 'workspace' | 'now_ms' | 'counts'>) {
    const arrival = uuidText(this.#nextId(row.now_ms))
    await insertCounts(this.#options.pool, { ...row, arrival })
  }

  /** Returns functions that apply the rules for journeys, enrolments and times. */
  async #rules(
    workspace_id: string,
    events: readonly NewEvent[],
    now_ms: number,
    enrolments = this.#enrolments,
  ) {
    const pairs = new Map<string, NewEvent>()
    for (const event of events) pairs.set(pairOf(event), event)
    const { statuses, outside, state } = await this.#references(workspace_id, pairs, enrolments)
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
  async #references(workspace_id: string, pairs: ReadonlyMap<string, NewEvent>, enrolments: KnownEnrolments) {
    // The standby of a node of Citus may be promoted without notice.
    if (this.#options.isDistributed) return await this.#lookUp(workspace_id, pairs, [...pairs])
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
    const rows = await this.#options.pool.read<Reference>(REFERENCES, [
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
    return { state, statuses, outside }
  }

  /**
   * Stores the rows that have an identifier, and the counts of all.
   * @param group.counts see `INSERT`
   * @returns the events known before, by message
   */
  async #store({ state, ...group }: Group): Promise<Map<string, Known>> {
    const { workspace_id, workspace, now_ms, rows, counts } = group
    const known = new Map<string, Known>()
    let missing = rows.filter(({ id }) => id !== undefined)
    let lookedUp = state
    if (missing.length === 0) await this.#count(group)
    for (let round = 1; missing.length > 0; round += 1) {
      if (round > ROUNDS) throw new Error('events were neither stored nor known in any round')
      const inserted = await this.#insertOnce({ ...group, state: lookedUp, rows: missing })
      if (inserted !== 'outdated') {
        counts.clear()
        for (const row of missing) row.counted = 'created'
        if (inserted === missing.length) break
        // For the others, another replica was first, or this one was, on a connection that was lost.
        const own = await this.#existing(workspace, missing)
        missing = missing.filter(({ id = '' }) => !own.has(id))
        for (const row of missing) row.counted = 'duplicate'
        for (const [message, event] of await this.#known(workspace, missing, rows)) known.set(message, event)
        missing = missing.filter(({ message }) => message === null || !known.has(message))
      }
      if (missing.length === 0) break
      const events = missing.map(({ event }) => event)
      // Nothing that was known before counts.
      const rules = await this.#rules(workspace_id, events, now_ms, new KnownEnrolments())
      lookedUp = rules.state
      missing = missing.filter((row) => {
        row.refusal = rules.refusalOf(row.event, row.isDiscreet)
        counts.add(row.series, row.counted, -1)
        row.counted = row.refusal ? 'rejected' : 'created'
        counts.add(row.series, row.counted)
        // Each statement's identifiers are its own, consecutively.
        if (row.refusal) delete row.id
        else row.id = uuidText(this.#nextId(now_ms))
        return !row.refusal
      })
    }
    return known
  }

  /**
   * Runs `INSERT` once.
   * @returns the number of events inserted; undefined if it was committed without an answer; 'outdated' if it stored
   *   nothing, not even counts, because what was looked up is no longer so
   */
  async #insertOnce(group: Group): Promise<number | undefined | 'outdated'> {
    const { pool, isDistributed } = this.#options
    const { workspace_id, workspace, now_ms, rows, counts, state = null } = group
    const arrival = uuidText(this.#nextId(now_ms))
    const minute_ms = periodOf(now_ms, 'minute')
    const ofArrival = [arrival, minute_ms, rows[0]?.id, rows.at(-1)?.id, JSON.stringify(counts)]
    const series = columnsOfSeries(counts)
    const journeys = [...new Set(rows.map(({ event }) => event.journey_id))]
    const customers = [...new Set(rows.map(({ event }) => event.customer_id))]
    const run = async (connection: Connection) => {
      if (!isDistributed) {
        const lookedUp = [state, journeys, textArray(customers)]
        const parameters = [workspace, workspace_id, ...ofArrival, ...series, ...columnsOf(rows), ...lookedUp]
        return (await connection.run(INSERT, parameters)).changes
      }
      const insertEvents = async (rows: readonly Row[]) =>
        (await connection.run(INSERT_EVENTS, [workspace, ...series, ...columnsOf(rows)])).changes
      const lookedUp = { workspace_id, journeys, customers }
      return await insertInSteps(connection, { workspace, lookedUp, rows, arrival: ofArrival, insertEvents })
    }
    const inserted = await enqueueOnce(pool, { workspace, arrival }, run)
    const isOutdated = inserted === 0 && !(await isEnqueued(pool, { workspace, arrival }))
    return isOutdated ? 'outdated' : inserted
  }

  /** Returns the identifiers of the rows that are stored under their own identifiers. */
  async #existing(workspace: string, rows: readonly Row[]): Promise<Set<string>> {
    const ids = rows.map(({ id }) => id)
    const found = await this.#options.pool.read<{ id: string }>(
      'SELECT id FROM events WHERE workspace_id = $1 AND id = ANY($2::uuid[])',
      [workspace, ids],
    )
    return new Set(found.map(({ id }) => digitsOf(id)))
  }

  /**
   * Returns the stored events with the messages of some rows, by message.
   * @param all the rows that may be compared with them
   */
  async #known(workspace: string, asked: readonly Row[], all: readonly Row[]): Promise<Map<string, Known>> {
    const messages = new Set(asked.flatMap(({ message }) => message ?? []))
    if (messages.size === 0) return new Map()
    const found = await this.#options.pool.read<Head>(KNOWN, [
      workspace,
      [...messages],
      idOf('wsp', workspace),
    ])
    const heads = new Map(found.map((head) => [digitsOf(head.message), head]))
    // Equal variables have texts of equal length, so no more is read than was sent, whatever is stored.
    const compared = new Set<string>()
    for (const { message, event } of all) {
      const head = message === null ? undefined : heads.get(message)
      if (!head) continue
      if ((head.message_text ?? head.message_id) !== event.message_id)
        throw new Error('two messages share a UUID')
      const { custom_variables } = event
      const isComparable =
        custom_variables !== null && Buffer.byteLength(custom_variables) === head.variables_bytes
      if (isComparable) compared.add(head.id)
    }
    const texts = compared.size > 0 ? await this.#variables(workspace, [...compared]) : undefined
    return new Map([...heads].map(([message, head]) => [message, knownOf(head, texts?.get(head.id))]))
  }

  async #variables(workspace: string, ids: string[]): Promise<Map<string, string>> {
    const rows = await this.#options.pool.read<{ id: string; custom_variables: string }>(
      'SELECT id, custom_variables FROM events WHERE workspace_id = $1 AND id = ANY($2::uuid[])',
      [workspace, ids],
    )
    return new Map(rows.map(({ id, custom_variables }) => [id, custom_variables]))
  }
}

type Group = {
  workspace_id: string
  workspace: string
  now_ms: number
  rows: readonly Row[]
  counts: GroupCounts
  /** The state in which references were looked up, see `KnownEnrolments`. */
  state: string | undefined
}

/**
 * Returns the outcomes of rows, if those with an identifier are stored unless their messages are known.
 * @param known by message
 */
function outcomesOf(rows: readonly Row[], known: ReadonlyMap<string, Known>): EventOutcome[] {
  const held = new Map<string, Known>()
  return rows.map(({ event, isDiscreet, message, refusal, id }) => {
    const before = message === null ? undefined : (known.get(message) ?? held.get(message))
    if (before && isSameContent(before, event)) return stored('duplicate', before)
    // With discretion a conflict is reported only if a new message_id would be accepted.
    if (before) return rejected((isDiscreet && refusal) || 'message_id_conflict')
    if (id === undefined) return rejected(refusal ?? 'message_id_conflict')
    const made = { ...event, id, received_ms: msOf(id) }
    if (message !== null) held.set(message, made)
    return stored('created', made)
  })
}

/** Maximum attempts: an event, a customer or a journey may be removed during each; one retry is usually enough. */
const ROUNDS = 5

function knownOf(head: Head, custom_variables: string | undefined): Known {
  return {
    ...eventOf(head),
    // Its length differs from everything sent, so it equals none; nobody can send the JSON null.
    custom_variables: head.variables_bytes === null ? null : (custom_variables ?? 'null'),
  }
}

function stored(status: 'created' | 'duplicate', { id, received_ms }: Known): EventOutcome {
  return { status, id: idOf('evt', id), received_ms }
}

function rejected(code: EventRejection): EventOutcome {
  return { status: 'rejected', code }
}

/** Identifiers may contain any characters except NUL. */
function pairOf({ journey_id, customer_id }: NewEvent): string {
  return `${journey_id}\0${customer_id}`
}

/** Returns what the rows of a series have in common, as parameters of `INSERT`. */
function columnsOfSeries(counts: GroupCounts) {
  const series = counts.series()
  return [
    // Nothing is stored without a journey.
    series.map(({ journey_id }) => (journey_id === '' ? null : uuidOf(journey_id))),
    series.map(({ event_id }) => event_id),
    series.map(({ key_id }) => (key_id === '' ? null : uuidOf(key_id))),
  ]
}

/** Returns the other columns. */
function columnsOf(rows: readonly Row[]) {
  const isText = ({ event: { message_id } }: Row) => message_id !== null && !isUuid(message_id)
  return [
    uuidArray(rows.map(({ id = '' }) => id)),
    // Arrays start at 1 in PostgreSQL.
    integerArray(rows.map(({ series }) => series + 1)),
    uuidArray(rows.map(({ event }) => uuidOf(event.customer_id))),
    uuidArray(rows.map(({ message }) => message)),
    textArray(rows.map((row) => (isText(row) ? row.event.message_id : null))),
    bigintArray(rows.map(({ event, id = '' }) => event.occurred_ms ?? msOf(id))),
    booleanArray(rows.map(({ event }) => event.occurred_ms !== null)),
    textArray(rows.map(({ event }) => event.custom_variables)),
  ]
}

type Reference = {
  state: string | null
  journey_id: string | null
  status: string | null
  pair: number | null
  customer_exists: boolean | null
  is_erased: boolean | null
}

/** Takes a number for this process as a writer. */
const ENTER = `
  UPDATE cairn_store SET writers = writers + 1 FROM (SELECT ${DURABLE}) AS durable RETURNING writers`

/** When the server was started, as a text. */
const STARTED = 'extract(epoch FROM pg_postmaster_start_time())::text'

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
  SELECT erasures || ' ' || ${STARTED}, NULL, NULL, NULL, NULL, NULL FROM workspaces WHERE workspace_id = $1
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

/**
 * The removed customers or journeys whose events are still being deleted: mostly none.
 * @param workspace the placeholder of its identifier
 */
function beingRemoved(kind: 'customer' | 'journey', workspace: string): string {
  return `SELECT (place::json ->> '${kind}')::uuid FROM removals
    WHERE removals.workspace_id = ${workspace} AND kind = '${kind}' AND before_ms IS NULL`
}

/**
 * Whether what was looked up is still so: the same server answers, no customer of the group was erased since, and no journey
 * was removed, alone or with its workspace. Removals wait for statements that began before them. Erasures are found by their
 * numbers, of which hardly any is new, so their customers are hidden from the planner.
 */
const IS_CURRENT = `
  split_part($19, ' ', 2) = ${STARTED} AND NOT EXISTS (
    SELECT 1 FROM erasures WHERE erasures.workspace_id = $2 AND number > split_part($19, ' ', 1)::bigint
      AND erasures.customer_id || '' = ANY($21::text[])
  ) AND cardinality($20::text[]) = (
    SELECT count(*) FROM journeys
    WHERE journeys.workspace_id = $2 AND journeys.journey_id = ANY($20::text[]) AND removed_ms IS NULL
  )`

/**
 * Stores the events, or nothing at all if what was looked up is no longer so. Messages are inserted in order, so that two
 * replicas never deadlock. An event is inserted if its message was, and one without a message if the arrival was: if the
 * same statement still runs on a connection that was lost, this waits for it, and then finds its messages and its arrival.
 * So no event is inserted twice, and PostgreSQL need not look for each one first, as it does for `ON CONFLICT`.
 *
 * Counts are optimistic: `counts` are written as if the messages of the events to store were new, and corrected by
 * `taken`, the series of each event whose message is known, which `countsOf` moves from created to duplicate. So the
 * statement counts an event as a duplicate if its message is known, even with other content, and otherwise as created. An
 * event with another outcome is reverted and counted again, in the next arrival.
 */
const INSERT = `
  WITH looked_up AS MATERIALIZED (SELECT ${IS_CURRENT} AS is_current), batch AS MATERIALIZED (
    SELECT * FROM (
      SELECT *, ($8::uuid[])[series] AS journey_id, ($9::text[])[series] AS event_id, ($10::uuid[])[series] AS key_id
      FROM unnest($11::uuid[], $12::int[], $13::uuid[], $14::uuid[], $15::text[], $16::bigint[], $17::bool[], $18::text[])
        AS rows (id, series, customer_id, message, message_text, at_ms, is_dated, custom_variables)
    ) AS rows
    WHERE (SELECT is_current FROM looked_up)
  ), taken AS (
    INSERT INTO event_messages (workspace_id, message, event_id)
    SELECT $1, message, id FROM batch WHERE message IS NOT NULL ORDER BY message
    ON CONFLICT DO NOTHING RETURNING event_id
  ), arrived AS (
    INSERT INTO event_arrivals (workspace_id, arrival, minute_ms, first_event, last_event, counts, taken)
    SELECT $1, $3, $4, $5, $6, $7, (
      SELECT json_agg(series - 1)::text FROM batch
      WHERE message IS NOT NULL AND id NOT IN (SELECT event_id FROM taken)
    )
    FROM (SELECT ${DURABLE}) AS durable, looked_up WHERE is_current
    ON CONFLICT DO NOTHING RETURNING 1 AS one
  )
  INSERT INTO events (at_ms, id, workspace_id, journey_id, customer_id, message_id, is_dated, event_id, message_text,
    custom_variables, key_id)
  SELECT at_ms, id, $1, journey_id, customer_id, CASE WHEN message_text IS NULL THEN message END, is_dated, event_id,
    message_text, custom_variables, key_id
  FROM batch
  WHERE id IN (SELECT event_id FROM taken) OR (message IS NULL AND EXISTS (SELECT one FROM arrived))
  ORDER BY id`

/** The last part of it by itself, for rows of which all are new. */
const INSERT_EVENTS = `
  INSERT INTO events (at_ms, id, workspace_id, journey_id, customer_id, message_id, is_dated, event_id, message_text,
    custom_variables, key_id)
  SELECT at_ms, id, $1, ($2::uuid[])[series], customer_id, CASE WHEN message_text IS NULL THEN message END, is_dated,
    ($3::text[])[series], message_text, custom_variables, ($4::uuid[])[series]
  FROM unnest($5::uuid[], $6::int[], $7::uuid[], $8::uuid[], $9::text[], $10::bigint[], $11::bool[], $12::text[])
    AS rows (id, series, customer_id, message, message_text, at_ms, is_dated, custom_variables)
  ORDER BY id ON CONFLICT DO NOTHING`

const KNOWN = `
  SELECT message, events.id, journey_id, customer_id, events.event_id, at_ms, is_dated, message_id, message_text, received_ms,
    key_id, octet_length(custom_variables) AS variables_bytes
  FROM event_messages JOIN events ON events.workspace_id = $1 AND events.id = event_messages.event_id
  WHERE event_messages.workspace_id = $1 AND message = ANY($2::uuid[])
    AND events.customer_id NOT IN (${beingRemoved('customer', '$3')})
    AND events.journey_id NOT IN (${beingRemoved('journey', '$3')})`
