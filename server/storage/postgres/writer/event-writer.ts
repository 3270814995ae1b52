import { type EventContent, isSameContent } from '../../../domain/event-content.ts'
import { ascendingIds, unmadeId } from '../../../domain/identifiers.ts'
import { periodOf } from '../../activity/activity.ts'
import type { EventOutcome, EventRejection, NewEvent } from '../../events/event-store.ts'
import { enqueueOnce, GroupCounts, insertCounts } from '../arrivals/arrivals.ts'
import { textArray } from '../connection/binary-arrays.ts'
import type { Connection } from '../connection/connection.ts'
import type { Pool } from '../connection/pool.ts'
import { untilKnown } from '../connection/until-known.ts'
import { digitsOf, idOf, messageUuid, msOf, uuidOf, uuidText } from '../connection/uuids.ts'
import { DURABLE } from '../dialect.ts'
import { eventOf, type StoredEvent } from '../reader/stored-event.ts'
import { GroupUnavailable } from './group-unavailable.ts'
import { insertInSteps } from './insert-in-steps.ts'
import { columnsOf, columnsOfSeries, INSERT, INSERT_EVENTS, type Inserted } from './insert-statement.ts'
import { References } from './references.ts'

type EventWriterOptions = {
  pool: Pool
  now: () => number
  /** See the column. */
  messageSalt: string
  /** See `IDENTITY`. */
  identity: string
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
  readonly #references: References
  /** Contains the number of this process among writers, once it has one. */
  #nextId = ascendingIds()
  #entered: Promise<void> | undefined

  constructor(options: EventWriterOptions) {
    this.#options = options
    this.#references = new References(options)
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
    const rules = await this.#references.rules(
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
    const rules = await this.#references.rules(workspace_id, all, now_ms)
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
      if (round > ROUNDS) throw new GroupUnavailable('overloaded')
      const stored = await this.#insertOnce({ ...group, state: lookedUp, rows: missing })
      if (stored !== 'outdated') {
        counts.clear()
        const own = stored ?? (await this.#existing(workspace, missing))
        for (const row of missing) row.counted = 'created'
        // For the others, another replica was first, or this one was, on a connection that was lost.
        missing = missing.filter(({ id = '' }) => !own.has(id))
        for (const [message, event] of await this.#known(workspace, missing, rows)) known.set(message, event)
        const isKnown = ({ message }: Row) => message !== null && known.has(message)
        // Without an answer, what nobody knows was stored and then removed.
        for (const row of missing) if (stored || isKnown(row)) row.counted = 'duplicate'
        missing = missing.filter((row) => !isKnown(row))
      }
      if (missing.length === 0) break
      // With those that were to be duplicates of them.
      const open = [...missing, ...rows.filter(({ id, refusal }) => id === undefined && !refusal)]
      const events = open.map(({ event }) => event)
      const rules = await this.#references.rules(workspace_id, events, now_ms, { isNew: true })
      lookedUp = rules.state
      for (const row of open) row.refusal = rules.refusalOf(row.event, row.isDiscreet)
      // Deduplication comes before rules.
      const refused = open.filter(({ refusal }) => refusal)
      for (const [message, event] of await this.#known(workspace, refused, rows)) known.set(message, event)
      const still = missing.filter(({ refusal }) => !refusal)
      for (const row of missing) {
        counts.add(row.series, row.counted, -1)
        if (row.refusal) {
          const { event_id, key_id } = counts.seriesOf(row.series)
          row.series = counts.numberOf({ journey_id: rules.journeyOf(row.event), event_id, key_id })
          delete row.id
        }
        row.counted = row.refusal ? 'rejected' : 'created'
        counts.add(row.series, row.counted)
      }
      // Each statement's identifiers are its own, consecutively.
      for (const row of still) row.id = uuidText(this.#nextId(now_ms))
      await this.#freeMessages(group, still)
      missing = still
    }
    return known
  }

  /**
   * Runs `INSERT` once.
   * @returns the identifiers of the events inserted; undefined if it was committed without an answer; 'outdated' if it
   *   stored nothing, not even counts, because what was looked up is no longer so
   * @throws {GroupUnavailable} if it would be that, but an earlier run on a lost connection may still store something
   */
  async #insertOnce(group: Group): Promise<ReadonlySet<string> | undefined | 'outdated'> {
    const { pool, isDistributed } = this.#options
    const { workspace_id, workspace, now_ms, rows, counts, state = null } = group
    const arrival = uuidText(this.#nextId(now_ms))
    const minute_ms = periodOf(now_ms, 'minute')
    const ofArrival = [arrival, minute_ms, rows[0]?.id, rows.at(-1)?.id, JSON.stringify(counts)]
    const series = columnsOfSeries(counts)
    const journeys = [...new Set(rows.map(({ event }) => event.journey_id))]
    const idsOf = (rows: readonly Row[]) => new Set(rows.map(({ id = '' }) => id))
    const insert = async (connection: Connection, mayBeDone: boolean) => {
      const customers = [...new Set(rows.map(({ event }) => event.customer_id))]
      const lookedUp = [state, journeys, textArray(customers)]
      const parameters = [workspace, workspace_id, ...ofArrival, ...series, ...columnsOf(rows), ...lookedUp]
      const [inserted] = (await connection.run<Inserted>(INSERT, parameters)).rows
      if (!inserted?.is_current) {
        if (mayBeDone && inserted?.is_same_server) throw new GroupUnavailable('storage_unavailable')
        return 'outdated'
      }
      if (!inserted.has_arrived) return undefined
      if (inserted.events === rows.length) return idsOf(rows)
      const ids: string[] = JSON.parse(inserted.ids ?? '[]')
      return new Set(ids.map(digitsOf))
    }
    const insertOnNodes = async (connection: Connection, mayBeDone: boolean) => {
      const insertEvents = async (rows: readonly Row[]) =>
        void (await connection.run(INSERT_EVENTS, [workspace, ...series, ...columnsOf(rows)]))
      const lookedUp = { workspace_id, journeys }
      const steps = { workspace, lookedUp, rows, arrival: ofArrival, insertEvents }
      const inserted = await insertInSteps(connection, steps)
      if (inserted === 'outdated' && mayBeDone) throw new GroupUnavailable('storage_unavailable')
      return inserted === 'outdated' ? inserted : inserted && idsOf(inserted)
    }
    return await enqueueOnce(pool, { workspace, arrival }, isDistributed ? insertOnNodes : insert)
  }

  /**
   * Frees the messages of these rows that belong to events which are still being deleted: as if they were deleted already.
   */
  async #freeMessages({ workspace_id, workspace }: Omit<Group, 'state'>, rows: readonly Row[]) {
    const messages = rows.flatMap(({ message }) => message ?? [])
    if (messages.length === 0) return
    const { pool } = this.#options
    const hidden = await pool.read<{ message: string; event_id: string }>(HIDDEN, [
      workspace,
      messages,
      workspace_id,
    ])
    if (hidden.length === 0) return
    const [ofHidden, ids] = [hidden.map(({ message }) => message), hidden.map(({ event_id }) => event_id)]
    await untilKnown(pool, (connection) => connection.run(FREE, [workspace, ofHidden, ids]))
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
const ROUNDS = 20

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

/** Takes a number for this process as a writer. */
const ENTER = `
  UPDATE cairn_store SET writers = writers + 1 FROM (SELECT ${DURABLE}) AS durable RETURNING writers`

/** The removed customers or journeys of the workspace $3 whose events are still being deleted: mostly none. */
function beingRemoved(kind: 'customer' | 'journey'): string {
  return `SELECT (place::json ->> '${kind}')::uuid FROM removals
    WHERE removals.workspace_id = $3 AND kind = '${kind}' AND before_ms IS NULL`
}

/** The messages of events that are hidden because they are being deleted. */
const HIDDEN = `
  SELECT message, events.id AS event_id
  FROM event_messages JOIN events ON events.workspace_id = $1 AND events.id = event_messages.event_id
  WHERE event_messages.workspace_id = $1 AND message = ANY($2::uuid[])
    AND (events.customer_id IN (${beingRemoved('customer')})
      OR events.journey_id IN (${beingRemoved('journey')}))`

const FREE = `
  DELETE FROM event_messages WHERE workspace_id = $1 AND message = ANY($2::uuid[]) AND event_id = ANY($3::uuid[])`

const KNOWN = `
  SELECT message, events.id, journey_id, customer_id, events.event_id, at_ms, is_dated, message_id, message_text, received_ms,
    key_id, octet_length(custom_variables) AS variables_bytes
  FROM event_messages JOIN events ON events.workspace_id = $1 AND events.id = event_messages.event_id
  WHERE event_messages.workspace_id = $1 AND message = ANY($2::uuid[])
    AND events.customer_id NOT IN (${beingRemoved('customer')})
    AND events.journey_id NOT IN (${beingRemoved('journey')})`
