import { eventIdsOf, type Key, type StandingEvent } from '../../../domain/journey-standing.ts'
import { nameHashes } from '../../../domain/name-hashes.ts'
import type { CustomerChange, JourneyChange } from '../../standings/follower.ts'
import { KnownStandings } from '../../standings/known-standings.ts'
import { type Connection, endRead } from '../connection.ts'
import type { MemtableRing } from '../index/memtable.ts'
import { SPAN_EVENTS } from '../index/zone-map.ts'
import { LAST_SEQ } from '../writer/event-writer.ts'
import { keyOf, numberOf } from './keys.ts'
import { type FollowedUpTo, NOTHING } from './standings-file.ts'

/** What was stored after a position, or as much of it as is processed at a time. */
export type Slice = {
  changes: JourneyChange[]
  /** Removed journeys. Process them before the changes, because another journey may have got the number of one. */
  gone: Key[]
  /** The position after the slice. */
  followed: FollowedUpTo
  /** Whether there was nothing more when the slice was read. */
  isAll: boolean
  /** How many events and removals it covers. */
  events: number
}

type CustomerType = NonNullable<CustomerChange['enrolment']>['customer_type']

type Change = {
  enrolment?: NonNullable<CustomerChange['enrolment']>
  events: StandingEvent[]
  isRenewed?: true
}

/** Limit of events, of enrolments, and of removals, in a slice. */
export const SLICE_ROWS = 65_536

type Steps = { text: string; event_ids: string[]; json: string }

/** An event that may change a standing. */
type Candidate = [seq: number, journey_ref: number, customer_ref: number, event_id: string, at_ms: number]

/** Memory of a customer's number in a map. */
const CUSTOMER_BYTES = 40

/** How many journeys' steps are cached in parsed form. */
const STEPS_KEPT = 1_000

/** Reads a store as it grows (change data capture), each slice in one transaction. */
export class FollowedStore {
  /** Current standings, kept up to date by the caller, so that events that change nothing are skipped. */
  readonly known: KnownStandings<number, number>
  readonly #connection: Connection
  readonly #ring: MemtableRing
  readonly #statements: ReturnType<typeof prepare>
  readonly #steps = new Map<number, Steps>()

  /** @param ring where the writer records what it stores */
  constructor(connection: Connection, ring: MemtableRing) {
    this.#connection = connection
    this.#ring = ring
    this.#statements = prepare(connection)
    const nameOf = nameHashes(this.#statements.salt.get() ?? '')
    this.known = new KnownStandings({ nameOf, customer_bytes: CUSTOMER_BYTES })
  }

  /** A number that changes when something may have been stored in between. */
  version(): unknown {
    return this.#connection.pragma('data_version', { simple: true })
  }

  /**
   * Whether a position belongs to this store, and not to another or to a later state from before a restore. If the row
   * at the position was removed since, only the numbers are compared; they are not reused.
   */
  has({ enrolment, enrolment_mark, seq, event_mark, removal }: FollowedUpTo): boolean {
    const { lastEnrolment, lastSeq, removals } = this.#statements
    const { first_removal, last_removal } = removals.get() ?? { first_removal: 1, last_removal: 0 }
    if (removal < first_removal - 1 || removal > last_removal) return false
    const enrolled = this.#enrolmentMark(enrolment)
    const isEnrolment =
      enrolled === enrolment_mark || (enrolled === REMOVED && enrolment <= (lastEnrolment.get() ?? 0))
    if (!isEnrolment) return false
    const marked = this.#eventMark(seq)
    if (marked === event_mark) return true
    const isRemoved = marked.startsWith(REMOVED) && seq <= (lastSeq.get() ?? 0)
    return isRemoved && marked.slice(REMOVED.length) === event_mark.slice(event_mark.indexOf(' '))
  }

  /**
   * The position from which everything is followed anew: before all enrolments and events, and after all removals. What
   * they removed is not read anyway, and their log may no longer reach back to the first one.
   */
  beginning(): FollowedUpTo {
    return { ...NOTHING, removal: this.#statements.removals.get()?.last_removal ?? 0 }
  }

  /** Whether the log of removals still reaches back to a position. */
  tellsAllBehind({ removal }: FollowedUpTo): boolean {
    const { first_removal } = this.#statements.removals.get() ?? { first_removal: 1 }
    return removal >= first_removal - 1
  }

  /** Whether a journey was removed, according to the log of removals after a position. */
  isGone(journey_ref: number, { removal }: FollowedUpTo): boolean {
    return this.#statements.goneBehind.get(removal, journey_ref) !== undefined
  }

  /** @param now_ms time of the read */
  slice(from: FollowedUpTo, now_ms: number): Slice {
    this.#connection.exec('BEGIN')
    try {
      return this.#slice(from, now_ms)
    } finally {
      endRead(this.#connection)
    }
  }

  /** The events of a journey's steps in its current configuration. */
  eventIds(journey_ref: number): string[] {
    return this.#stepsOf(journey_ref).event_ids
  }

  /** The journeys that a customer is enrolled in, before a given one, newest first. */
  journeysOf(customer: Key, before: Key | null, limit: number): Key[] {
    const behind = before === null ? Number.MAX_SAFE_INTEGER : numberOf(before)
    return this.#statements.journeysOf.all(numberOf(customer), behind, limit).map(keyOf)
  }

  /** The `custom_variables` of events as stored; null for an event that has none, or was removed. */
  variables(events: readonly Key[]): (string | null)[] {
    return this.#statements.variables.all(`[${events.map(numberOf).join()}]`)
  }

  #stepsOf(journey_ref: number): Steps {
    const text = this.#statements.steps.get(journey_ref) ?? '[]'
    const known = this.#steps.get(journey_ref)
    if (known?.text === text) return known
    const event_ids = eventIdsOf(text)
    const steps = { text, event_ids, json: JSON.stringify(event_ids) }
    if (this.#steps.size >= STEPS_KEPT) this.#steps.clear()
    this.#steps.set(journey_ref, steps)
    // Their standings are rebuilt, also if these steps are edited back: what is cached must not outlive that.
    this.known.dropUnless(journey_ref, steps.json)
    return steps
  }

  #slice(from: FollowedUpTo, now_ms: number): Slice {
    const journeys = new Map<number, Map<number, Change>>()
    const changeOf = (journey_ref: number, customer_ref: number): Change => {
      const customers = journeys.get(journey_ref) ?? new Map<number, Change>()
      if (customers.size === 0) journeys.set(journey_ref, customers)
      const known = customers.get(customer_ref)
      if (known) return known
      const change: Change = { events: [] }
      customers.set(customer_ref, change)
      return change
    }

    const removals = this.#statements.removed.all(from.removal, SLICE_ROWS)
    const gone = removals.flatMap(({ journey_ref, customer_ref }) =>
      customer_ref === null ? journey_ref : [],
    )
    if (gone.length > 0) this.#forgetJourneys()
    for (const { journey_ref, customer_ref } of removals) {
      if (customer_ref === null) continue
      const change = changeOf(journey_ref, customer_ref)
      change.isRenewed = true
      const enrolment = this.#statements.enrolment.get(journey_ref, customer_ref)
      if (enrolment) change.enrolment = enrolment
    }

    // After all removals: those of a journey must not meet the enrolments of another that has got its number.
    const hasRemovals = removals.length < SLICE_ROWS
    // The enrolments of the slice's events are in this slice or an earlier one.
    const enrolments = hasRemovals ? this.#statements.enrolments.all(from.enrolment, SLICE_ROWS) : []
    for (const [, journey_ref, customer_ref, entered_ms, customer_type] of enrolments) {
      changeOf(journey_ref, customer_ref).enrolment = { customer_type, entered_ms }
    }
    const hasEnrolments = hasRemovals && enrolments.length < SLICE_ROWS
    const last = this.#statements.lastSeq.get() ?? 0
    const seq = hasEnrolments ? Math.max(from.seq, Math.min(last, from.seq + SLICE_ROWS)) : from.seq
    const events = seq - from.seq
    for (const [number, journey_ref, customer_ref, name, at_ms] of this.#candidates(from.seq, seq)) {
      changeOf(journey_ref, customer_ref).events.push({ name, at_ms, id: keyOf(number) })
    }

    const isAll = hasEnrolments && seq === last
    const enrolment = enrolments.at(-1)?.[0] ?? from.enrolment
    // Everything received before the last event is included, because events are stored in order of receipt.
    const reached_ms = events > 0 ? (this.#statements.received.get(seq) ?? 0) - 1 : null
    const later_ms = reached_ms === null ? from.asOf_ms : Math.max(reached_ms, from.asOf_ms ?? reached_ms)
    return {
      changes: [...journeys]
        .filter(([journey_ref]) => this.#statements.steps.get(journey_ref) !== undefined)
        .map(([journey_ref, customers]) => {
          const { event_ids, json } = this.#stepsOf(journey_ref)
          // Also if nobody has sent an event yet: otherwise the first event of each customer would be read.
          this.known.of(journey_ref, event_ids, json)
          return {
            journey: keyOf(journey_ref),
            event_ids,
            customers: [...customers]
              .sort(([one], [other]) => one - other)
              .map(([customer_ref, change]) => ({ customer: keyOf(customer_ref), ...change })),
          }
        }),
      gone: gone.map(keyOf),
      followed: {
        enrolment,
        enrolment_mark: enrolments.length > 0 ? this.#enrolmentMark(enrolment) : from.enrolment_mark,
        seq,
        event_mark: events > 0 ? this.#eventMark(seq) : from.event_mark,
        removal: removals.at(-1)?.number ?? from.removal,
        // Not the later of the two: the clock may have been ahead.
        asOf_ms: isAll ? now_ms : later_ms,
      },
      isAll,
      events: events + removals.length,
    }
  }

  /** Another journey may get the number of a removed one. */
  #forgetJourneys() {
    this.#steps.clear()
    this.known.forget()
  }

  /** Of the events in a range of numbers, those that may change a standing. The ring has no gaps. */
  #candidates(from: number, to: number): readonly Candidate[] {
    if (to === from) return []
    const found: Candidate[] = []
    let journey_ref = 0
    let known = this.known.of(0, [], '')
    const ring = this.#ring
    for (let seq = from + 1; seq <= to; seq += 1) {
      const customer = ring.customer(seq)
      // Stored before this process started: no customer has the number 0.
      if (customer === 0) return this.#statements.events.all(from, to)
      if (ring.journey(seq) !== journey_ref) {
        journey_ref = ring.journey(seq)
        const { event_ids, json } = this.#stepsOf(journey_ref)
        known = this.known.of(journey_ref, event_ids, json)
      }
      const at_ms = ring.at_ms(seq)
      if (known.changesNothing({ customer, name: ring.name(seq), at_ms })) continue
      found.push([seq, journey_ref, customer, '', at_ms])
    }
    if (!ring.isIntactBehind(from)) return this.#statements.events.all(from, to)
    // If more than half of them are needed, reading all of them in sequence is faster.
    if (found.length * 2 > to - from) return this.#statements.events.all(from, to)
    return found.filter((candidate) => {
      const name = this.#statements.name.get(candidate[0])
      candidate[3] = name ?? ''
      return name !== undefined
    })
  }

  #enrolmentMark(number: number): string {
    return number === 0 ? '' : (this.#statements.enrolmentMark.get(number) ?? REMOVED)
  }

  /** Identifies an event together with the first one of its span, which is not removed. */
  #eventMark(seq: number): string {
    if (seq === 0) return ''
    const span = this.#statements.spanMark.get(Math.floor(seq / SPAN_EVENTS)) ?? ''
    return `${this.#statements.eventMark.get(seq) ?? REMOVED} ${span}`
  }
}

/** The mark of a removed row. */
const REMOVED = 'removed'

function prepare(connection: Connection) {
  return {
    enrolments: connection
      .prepare<
        [number, number],
        [number: number, journey_ref: number, customer_ref: number, enrolled_ms: number, type: CustomerType]
      >(
        `SELECT number, journey_ref, customer_ref, enrolled_ms, customer_type
        FROM enrolment_numbers JOIN enrolments USING (journey_ref, customer_ref) JOIN customers USING (customer_ref)
        WHERE number > ? ORDER BY number LIMIT ?`,
      )
      .raw(),
    // Without the variables, which are last in the row and may be on overflow pages.
    events: connection
      .prepare<[number, number], Candidate>(
        `SELECT seq, journey_ref, customer_ref, event_id, coalesce(occurred_ms, received_ms) FROM events
        WHERE seq > ? AND seq <= ? ORDER BY seq`,
      )
      .raw(),
    // In one statement: one per event took 1.5 times as long. A left join keeps the order of the numbers.
    variables: connection
      .prepare<[string], string | null>(
        'SELECT custom_variables FROM json_each(?) AS asked LEFT JOIN events ON events.seq = asked.value',
      )
      .pluck(),
    lastSeq: connection.prepare<[], number>(LAST_SEQ).pluck(),
    lastEnrolment: connection.prepare<[], number>('SELECT max(number) FROM enrolment_numbers').pluck(),
    removals: connection.prepare<[], { first_removal: number; last_removal: number }>(
      `SELECT coalesce((SELECT min(number) FROM enrolment_removals), seq + 1) AS first_removal, seq AS last_removal
      FROM sqlite_sequence WHERE name = 'enrolment_removals'`,
    ),
    removed: connection.prepare<
      [number, number],
      { number: number; journey_ref: number; customer_ref: number | null }
    >('SELECT * FROM enrolment_removals WHERE number > ? ORDER BY number LIMIT ?'),
    goneBehind: connection
      .prepare<[number, number], number>(
        'SELECT 1 FROM enrolment_removals WHERE number > ? AND journey_ref = ? AND customer_ref IS NULL LIMIT 1',
      )
      .pluck(),
    enrolment: connection.prepare<[number, number], NonNullable<CustomerChange['enrolment']>>(
      `SELECT customer_type, enrolled_ms AS entered_ms FROM enrolments JOIN customers USING (customer_ref)
      WHERE journey_ref = ? AND customer_ref = ?`,
    ),
    journeysOf: connection
      .prepare<[number, number, number], number>(
        `SELECT journey_ref FROM enrolments WHERE customer_ref = ? AND journey_ref < ?
        ORDER BY journey_ref DESC LIMIT ?`,
      )
      .pluck(),
    spanMark: connection
      .prepare<[number], string>('SELECT hex(first_id) FROM event_spans WHERE span = ?')
      .pluck(),
    name: connection.prepare<[number], string>('SELECT event_id FROM events WHERE seq = ?').pluck(),
    salt: connection.prepare<[], string>('SELECT message_salt FROM event_indexing').pluck(),
    received: connection
      .prepare<[number], number>('SELECT received_ms FROM events WHERE seq <= ? ORDER BY seq DESC LIMIT 1')
      .pluck(),
    steps: connection.prepare<[number], string>('SELECT steps FROM journeys WHERE journey_ref = ?').pluck(),
    enrolmentMark: connection
      .prepare<[number], string>(
        // No identifier: after an erasure nothing here refers to the customer.
        `SELECT journey_ref || ' ' || customer_ref || ' ' || enrolled_ms
        FROM enrolment_numbers JOIN enrolments USING (journey_ref, customer_ref) WHERE number = ?`,
      )
      .pluck(),
    eventMark: connection.prepare<[number], string>('SELECT hex(id) FROM events WHERE seq = ?').pluck(),
  }
}
