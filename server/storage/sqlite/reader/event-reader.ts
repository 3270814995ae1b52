import { firstPosition, type Position } from '../../../domain/cursors.ts'
import { variablesTest } from '../../../domain/event-values.ts'
import { eventIdBytes, isEventId, typeIdText } from '../../../domain/identifiers.ts'
import { messageIdText, readUuidDigits, type StoredMessageId } from '../../../domain/message-ids.ts'
import { nameHashes } from '../../../domain/name-hashes.ts'
import type { Page } from '../../../domain/paging.ts'
import type { CountFilter, EventFilter, TimelineFilter } from '../../events/event-filter.ts'
import {
  END,
  type EventTexts,
  type ForwardTexts,
  type ListedEvent,
  PageTexts,
} from '../../events/event-json.ts'
import {
  COUNTED_PER_CUSTOMER,
  COUNTING_MS,
  type CountedEvents,
  type CustomerActivity,
} from '../../events/event-store.ts'
import { type EventSliceRequest, type Slice, SliceLines } from '../../exports/exports.ts'
import { type Connection, endRead } from '../connection.ts'
import type { MemtableFilter, MemtableRing } from '../index/memtable.ts'
import { postingKeys } from '../index/posting-keys.ts'
import { postingsBelow, postingsFrom } from '../index/postings.ts'
import { RunStore } from '../index/run-store.ts'
import { isBefore, type TimelineEntry, timelineBefore } from '../index/timeline.ts'
import { type Interval, SPAN_EVENTS, ZoneMapReader } from '../index/zone-map.ts'
import { type Kept, timeOf, wholeDigits, wholeIdText } from '../kept-ids.ts'
import { prepareReferences } from '../writer/references.ts'

/** A request for a page of a list of events. */
export type EventsRequest =
  | { list: 'newest'; workspace_id: string; filter: EventFilter; page: Page }
  /** `now_ms`: everything acknowledged by then is in the file. */
  | { list: 'oldest'; workspace_id: string; filter: EventFilter; page: Page; now_ms: number }
  | { list: 'timeline'; workspace_id: string; customer_id: string; page: Page & TimelineFilter }

type EventRow = Omit<ListedEvent, 'id' | 'message_id'> & {
  /** See `Kept`. */
  id: Uint8Array
  message_id: StoredMessageId | null
}

type NamedCustomer = Pick<ListedEvent, 'customer_id' | 'customer_name' | 'client_customer_id'>

/** An event read in sequence with others. */
type SuccessiveRow = Omit<EventHead, 'id'> &
  Pick<ListedEvent, 'custom_variables'> & {
    seq: number
    /** The hexadecimal digits of the stored part. */
    id: string
    /** See `messageText`. */
    message: string | null
    key_ref: number | null
  }

/** The fields that decide whether an event belongs to a list. */
type EventHead = Kept & {
  workspace_ref: number
  journey_ref: number
  customer_ref: number
  event_id: string
  occurred_ms: number | null
}

/**
 * Maximum events scanned per page: 20 ms. That many are scanned only if two conditions rarely coincide; the page then
 * ends early.
 */
export const LOOKED_AT = 10_000

/** How many more of a customer's events in the memtable are sorted each time. */
const MEMTABLE_GROWTH = 8

/**
 * Candidates of an export examined together; they are read in one go if they are at least a quarter of the events
 * there.
 */
const CHUNK = 500
const DENSE = 4

/** Event numbers counted between two checks of the time. */
const COUNTED_AT_ONCE = 16 * SPAN_EVENTS

/** Approximate size of a page of the file. */
const FILE_PAGE_BYTES = 4096

/** Maximum rows in memory at a time, each with at most 64 KiB. */
const READ_AT_ONCE = 100

/** The ring buffer was overwritten under a delayed reader, which must start again. */
class RingOverwritten extends Error {}

const ATTEMPTS = 5

/** Reads lists of events, each page in one transaction: from the runs and from the memtable. */
export class EventReader {
  readonly #connection: Connection
  readonly #ring: MemtableRing
  readonly #runs: RunStore
  readonly #zoneMap: ZoneMapReader
  readonly #statements: ReturnType<typeof prepare>
  #nameHash: ((name: string) => number) | undefined
  /** The names that events of one slice refer to. Not kept longer, because a name or a reference may change. */
  #named = namesOfNone()

  /** @param ring the memtable shared by the writer */
  constructor(connection: Connection, ring: MemtableRing) {
    this.#connection = connection
    this.#ring = ring
    this.#runs = new RunStore(connection)
    this.#zoneMap = new ZoneMapReader(connection)
    this.#statements = prepare(connection)
  }

  read(request: EventsRequest): EventTexts | ForwardTexts {
    return this.#inSnapshot(() => {
      if (request.list === 'newest') return this.#newest(request)
      return request.list === 'oldest' ? this.#oldest(request) : this.#timeline(request)
    })
  }

  /** Returns the next events of an export, in the order of `oldest`. */
  slice(request: EventSliceRequest): Slice {
    return this.#inSnapshot(() => this.#slice(request))
  }

  /** Counts row by row, which is faster than asking the indexes, which still contain removed events. */
  count(workspace_id: string, { journey_id, to_ms }: CountFilter): CountedEvents {
    return this.#inSnapshot(() => {
      const narrowed = this.#narrowed(workspace_id, { ...(journey_id !== undefined && { journey_id }) })
      if (!narrowed) return { events: 0, isAll: true }
      const { workspace, journey = null } = narrowed.refs
      const until_ms = performance.now() + COUNTING_MS
      const received = to_ms === undefined ? {} : { to_ms }
      let events = 0
      for (const { from, to } of this.#zoneMap.intervals(received, this.#lastSeq())) {
        for (let at = from; at <= to; at += COUNTED_AT_ONCE) {
          if (performance.now() >= until_ms) return { events, isAll: false }
          const end = Math.min(at + COUNTED_AT_ONCE - 1, to)
          events += this.#statements.count.get({ at, end, workspace, journey, to_ms: to_ms ?? null }) ?? 0
        }
      }
      return { events, isAll: true }
    })
  }

  customerActivity(workspace_id: string, customer_ids: readonly string[]): Map<string, CustomerActivity> {
    return this.#inSnapshot(() => new Map(customer_ids.map((id) => [id, this.#activityOf(workspace_id, id)])))
  }

  /** The indexes may still contain removed events, so that each event is looked up, and no more than are counted. */
  #activityOf(workspace_id: string, customer_id: string): CustomerActivity {
    const customer = this.#statements.customer.get(workspace_id, customer_id)
    const activity: CustomerActivity = { latest_ms: null, events: 0, isAll: true }
    if (customer === undefined) return activity
    let looked = 0
    for (const { seq, at_ms } of this.#latest(customer, { limit: COUNTED_PER_CUSTOMER })) {
      if (this.#statements.isListed.get(seq) !== undefined) {
        activity.events += 1
        activity.latest_ms ??= at_ms
      }
      looked += 1
      if (looked === COUNTED_PER_CUSTOMER) return { ...activity, isAll: false }
    }
    return activity
  }

  #inSnapshot<Read>(read: () => Read): Read {
    for (let attempt = 1; ; attempt += 1) {
      this.#connection.exec('BEGIN')
      try {
        return read()
      } catch (error) {
        if (!(error instanceof RingOverwritten) || attempt === ATTEMPTS) throw error
      } finally {
        endRead(this.#connection)
      }
    }
  }

  /** In the order of numbers, which is that of arrival and of identifiers. */
  #newest({ workspace_id, filter, page }: EventsRequest & { list: 'newest' }): EventTexts {
    const narrowed = this.#narrowed(workspace_id, filter)
    if (!narrowed) return END
    const { key, refs, isFound } = narrowed
    const rows = new PageTexts(page)
    let looked = 0
    let place: ScannedEvent | undefined
    let seen: ScannedEvent | undefined
    for (const interval of this.#intervals(filter, this.#lastBefore(page))) {
      for (const seq of this.#candidates(key, refs, interval)) {
        if (looked >= LOOKED_AT && place) return rows.endingEarly(this.#newestEnd(place, seen))
        looked += 1
        place = { seq }
        const head = this.#statements.head.get(seq)
        if (!head) continue
        place = { seq, position: newestPosition(head) }
        seen = place
        const sending = isFound(head) ? this.#contents(seq, narrowed) : undefined
        looked += sending?.looked ?? 0
        const row = sending?.isFound ? this.#row(seq) : undefined
        if (row && !rows.add(row, newestPosition(head))) return rows.endingBehindLast()
      }
    }
    return rows.ending()
  }

  /** In the same order from the other end. It is commit order, because one thread writes. */
  #oldest({ workspace_id, filter, page, now_ms }: EventsRequest & { list: 'oldest' }): ForwardTexts {
    const rows = new PageTexts(page)
    let last = page.after ?? firstPosition('evt')
    const narrowed = this.#narrowed(workspace_id, filter)
    if (!narrowed) return { rows: [], next: last, caughtUp_ms: now_ms }
    const { key, refs, isFound } = narrowed
    const first = this.#firstBehind(page)
    let looked = 0
    let seen: ScannedEvent | undefined
    let place: ScannedEvent | undefined
    for (const { from, to } of [...this.#intervals(filter, this.#lastSeq())].reverse()) {
      for (const seq of this.#candidatesForward(key, refs, { from: Math.max(from, first), to })) {
        if (looked >= LOOKED_AT && place) {
          return { ...rows.ending(), next: this.#oldestEnd(place, seen), caughtUp_ms: null }
        }
        looked += 1
        place = { seq }
        const head = this.#statements.head.get(seq)
        if (!head) continue
        const position = newestPosition(head)
        const sending = isFound(head) ? this.#contents(seq, narrowed) : undefined
        looked += sending?.looked ?? 0
        const row = sending?.isFound ? this.#row(seq) : undefined
        if (row && !rows.add(row, position)) return { ...rows.ending(), next: last, caughtUp_ms: null }
        place = { seq, position }
        seen = place
        last = position
      }
    }
    return { ...rows.ending(), next: last, caughtUp_ms: now_ms }
  }

  #slice({ workspace_id, filter, after, bound, ...form }: EventSliceRequest): Slice {
    const lines = new SliceLines(form)
    const narrowed = this.#narrowed(workspace_id, filter)
    if (!narrowed) return lines.ending(after, { isLast: true })
    const { key, refs, matches, sender } = narrowed
    this.#named = namesOfNone()
    const first = this.#firstBehind({ after })
    let looked = 0
    let end = first
    let last: SuccessiveRow | undefined
    for (const { from, to } of [...this.#zoneMap.intervals(filter, bound)].reverse()) {
      if (to < first) continue
      const candidates = this.#candidatesForward(key, refs, { from: Math.max(from, first), to })
      for (const seqs of chunks(candidates, CHUNK)) {
        if (looked >= LOOKED_AT) {
          return lines.ending(this.#oldestEnd({ seq: end }, last && placeOf(last)), { isLast: false })
        }
        // Includes candidates that were removed since.
        const { intervals, count } = readTogether(seqs)
        for (const row of this.#rows(intervals)) {
          if (lines.isFull && last) return lines.ending(placeOf(last).position, { isLast: false })
          last = row
          const isFound = matches(row) && (sender === undefined || row.key_ref === sender)
          const event = isFound ? this.#listed(row) : undefined
          if (event) lines.addEvent(event)
        }
        looked += count
        end = seqs.at(-1) ?? end
      }
    }
    return lines.ending(last ? placeOf(last).position : after, { isLast: true })
  }

  /**
   * Whether an event was sent with a key, and has the variables, if those are requested. The key is after the variables,
   * so reading it passes all of them; their pages count as scanned too.
   */
  #contents(
    seq: number,
    { sender, hasVariables }: { sender: number | undefined; hasVariables?: (json: string | null) => boolean },
  ): { isFound: boolean; looked: number } {
    if (hasVariables) {
      const { key_ref = null, custom_variables = null } = this.#statements.contents.get(seq) ?? {}
      const isSent = sender === undefined || key_ref === sender
      const isFound = isSent && hasVariables(custom_variables)
      return { isFound, looked: Math.floor((custom_variables?.length ?? 0) / FILE_PAGE_BYTES) }
    }
    if (sender === undefined) return { isFound: true, looked: 0 }
    const { key_ref = null, variables_bytes = 0 } = this.#statements.sender.get(seq) ?? {}
    return { isFound: key_ref === sender, looked: Math.floor(variables_bytes / FILE_PAGE_BYTES) }
  }

  *#rows(intervals: readonly Interval[]): Generator<SuccessiveRow> {
    for (const { from, to } of intervals) {
      for (let at = from; at <= to; at += READ_AT_ONCE) {
        yield* this.#statements.successive.all(at, Math.min(at + READ_AT_ONCE - 1, to))
      }
    }
  }

  /** Undefined if its customer or journey was removed, and the event will be removed next. */
  #listed(row: SuccessiveRow): ListedEvent | undefined {
    const { event_id, custom_variables, occurred_ms, received_ms } = row
    const journey_id = this.#journeyId(row.journey_ref)
    const customer = this.#customer(row.customer_ref)
    if (journey_id === undefined || customer === undefined) return undefined
    return {
      id: idText(row),
      journey_id,
      ...customer,
      event_id,
      custom_variables,
      occurred_ms,
      received_ms,
      message_id: messageText(row.message),
      key_id: row.key_ref === null ? null : this.#keyId(row.key_ref),
    }
  }

  #journeyId(ref: number): string | undefined {
    const known = this.#named.journeys.get(ref)
    if (known !== undefined) return known
    const id = this.#statements.journeyId.get(ref)
    if (id !== undefined) this.#named.journeys.set(ref, id)
    return id
  }

  #keyId(ref: number): string | null {
    const known = this.#named.keys.get(ref)
    if (known !== undefined) return known
    const id = this.#statements.keyId.get(ref)
    if (id !== undefined) this.#named.keys.set(ref, id)
    return id ?? null
  }

  #customer(ref: number): NamedCustomer | undefined {
    const known = this.#named.customers.get(ref)
    if (known !== undefined) return known
    const customer = this.#statements.namedCustomer.get(ref)
    if (customer !== undefined) this.#named.customers.set(ref, customer)
    return customer
  }

  /** By (`at_ms`, number), merging all runs and the memtable. */
  #timeline({ workspace_id, customer_id, page }: EventsRequest & { list: 'timeline' }): EventTexts {
    const customer = this.#statements.customer.get(workspace_id, customer_id)
    if (customer === undefined) return END
    const rows = new PageTexts(page)
    let looked = 0
    let last: TimelineEntry = { at_ms: Number.POSITIVE_INFINITY, seq: 0 }
    const { variables } = page
    const wanted = { sender: undefined, ...(variables && { hasVariables: variablesTest(variables) }) }
    for (const { seq, at_ms } of this.#latest(customer, page)) {
      const end = looked >= LOOKED_AT ? this.#timelineEnd(customer, last, at_ms) : undefined
      if (end) return rows.endingEarly(end)
      looked += 1
      last = { at_ms, seq }
      const contents = this.#contents(seq, wanted)
      looked += contents.looked
      const row = contents.isFound ? this.#row(seq) : undefined
      if (row && !rows.add(row, { ms: at_ms, id: row.id })) return rows.endingBehindLast()
    }
    return rows.ending()
  }

  /**
   * Returns where a list that ends early continues: after the last event scanned. If that was removed, at the start of
   * its span, or after the last event seen in it; so part of a span is scanned twice, but nothing is shown twice.
   */
  #newestEnd({ seq, position }: ScannedEvent, seen: ScannedEvent | undefined): Position {
    if (position) return position
    const next = this.#zoneMap.around(seq).find(({ first }) => first > seq)
    if (seen?.position && (!next || seen.seq < next.first)) return seen.position
    if (!next) throw new Error(`no span follows event ${seq}`)
    return positionOf(next.first_id)
  }

  /** The same for a forward walk. */
  #oldestEnd({ seq, position }: ScannedEvent, seen: ScannedEvent | undefined): Position {
    if (position) return position
    const [span] = this.#zoneMap.around(seq)
    if (seen?.position && (!span || seen.seq >= span.first)) return seen.position
    if (!span) throw new Error(`event ${seq} is in no span`)
    return positionOf(span.first_id)
  }

  /**
   * Returns where a customer's timeline that ends early continues: after the last entry scanned, which is followed by one of
   * `next_ms`. Between two entries of one instant only an identifier names a position. If the event was removed, it is that
   * of the last one seen in its span, or the start of the next span.
   */
  #timelineEnd(customer: number, { at_ms, seq }: TimelineEntry, next_ms: number): Position | undefined {
    if (next_ms < at_ms) return firstPosition('evt', at_ms)
    const next = this.#zoneMap.around(seq).find(({ first }) => first > seq)
    const end = next?.first ?? Number.MAX_SAFE_INTEGER
    const seen = this.#statements.firstAt.get({ seq, end, customer, at_ms })
    if (seen) return { ms: at_ms, id: wholeIdText(seen) }
    return next && { ms: at_ms, id: typeIdText('evt', next.first_id) }
  }

  /** Yields where the events of a filter may be, latest first. */
  #intervals({ id, ...received }: EventFilter, last: number): Iterable<Interval> {
    if (id === undefined) return this.#zoneMap.intervals(received, last)
    const seq = this.#zoneMap.seqOf(eventIdBytes(id))
    return seq <= last ? [{ from: seq, to: seq }] : []
  }

  /** Returns what a filter means: the posting key of its events in the runs, and the further conditions. */
  #narrowed(workspace_id: string, filter: EventFilter) {
    const { id, journey_id, customer_id, event_id, key_id, variables = [] } = filter
    const { from_ms, to_ms, occurred_from_ms, occurred_to_ms } = filter
    const workspace = this.#statements.workspace.get(workspace_id)
    const journey =
      journey_id === undefined ? undefined : this.#statements.journey.get(workspace_id, journey_id)
    const customer =
      customer_id === undefined ? undefined : this.#statements.customer.get(workspace_id, customer_id)
    const sender = key_id === undefined ? undefined : this.#statements.keyRef.get(key_id)
    const isUnknown =
      workspace === undefined ||
      (id !== undefined && !isEventId(id)) ||
      (journey_id !== undefined && journey === undefined) ||
      (customer_id !== undefined && customer === undefined) ||
      (key_id !== undefined && sender === undefined)
    if (isUnknown) return undefined
    const name = event_id === undefined ? undefined : this.#hashOf(event_id)
    const refs: MemtableFilter = {
      workspace,
      ...(journey !== undefined && { journey }),
      ...(customer !== undefined && { customer }),
      ...(name !== undefined && { name }),
    }
    const isDatedWithin = ({ occurred_ms, received_ms }: Omit<EventHead, 'id'>) => {
      const at_ms = occurred_ms ?? received_ms
      return (
        (occurred_from_ms === undefined || at_ms >= occurred_from_ms) &&
        (occurred_to_ms === undefined || at_ms < occurred_to_ms)
      )
    }
    const matches = (head: Omit<EventHead, 'id'>) =>
      head.workspace_ref === workspace &&
      (journey === undefined || head.journey_ref === journey) &&
      (customer === undefined || head.customer_ref === customer) &&
      (event_id === undefined || head.event_id === event_id) &&
      (from_ms === undefined || head.received_ms >= from_ms) &&
      (to_ms === undefined || head.received_ms < to_ms) &&
      isDatedWithin(head)
    const isFound = (head: EventHead) => (id === undefined || wholeIdText(head) === id) && matches(head)
    const hasVariables = variables.length > 0 && { hasVariables: variablesTest(variables) }
    return { key: keyOf(workspace, refs), refs, matches, isFound, sender, ...hasVariables }
  }

  /** Yields events that may belong to a list, latest first. */
  *#candidates(key: number, refs: MemtableFilter, { from, to }: Interval): Generator<number> {
    const indexed = this.#indexedSeq()
    const least = Math.max(from, indexed + 1)
    for (let seq = to + 1; ; ) {
      seq = this.#ring.lastMatch(refs, seq - 1, least)
      // Also what did not match may have been another event that has overwritten the slot.
      this.#assertIntact(indexed)
      if (seq === -1) break
      yield seq
    }
    for (const run of this.#runs.all()) {
      if (run.first_seq > to) continue
      if (run.last_seq < from) return
      for (const seq of postingsBelow(run, this.#runs.readPage, { key, below: to + 1 })) {
        if (seq < from) return
        yield seq
      }
    }
  }

  /** The same, earliest first. */
  *#candidatesForward(key: number, refs: MemtableFilter, { from, to }: Interval): Generator<number> {
    const indexed = this.#indexedSeq()
    for (const run of this.#runs.all().reverse()) {
      if (run.last_seq < from) continue
      if (run.first_seq > to) return
      for (const seq of postingsFrom(run, this.#runs.readPage, { key, from })) {
        if (seq > to) return
        yield seq
      }
    }
    for (let seq = Math.max(from, indexed + 1); ; seq += 1) {
      seq = this.#ring.firstMatch(refs, seq, to)
      // The match may belong to another event that has overwritten the slot.
      this.#assertIntact(indexed)
      if (seq === -1) return
      yield seq
    }
  }

  /** Yields a customer's timeline after the page's position, latest first. */
  *#latest(customer: number, page: Page): Generator<TimelineEntry> {
    const before = page.after
      ? { at_ms: page.after.ms, seq: this.#zoneMap.firstFrom(eventIdBytes(page.after.id)) }
      : { at_ms: Number.POSITIVE_INFINITY, seq: Number.POSITIVE_INFINITY }
    const runs = this.#runs.all().sort((a, b) => b.greatest_at_ms - a.greatest_at_ms)
    const sources = [new Source(this.#latestInMemtable(customer, before, page.limit + 1))]
    while (true) {
      let latest: Source | undefined
      for (const source of sources) {
        if (source.entry && (!latest?.entry || isBefore(latest.entry, source.entry))) latest = source
      }
      // A run whose latest time is earlier than the current entry need not be opened yet.
      const [run] = runs
      if (run && !(latest?.entry && run.greatest_at_ms < latest.entry.at_ms)) {
        runs.shift()
        sources.push(new Source(timelineBefore(run, this.#runs.readPage, { customer, before })))
      } else if (latest?.entry) {
        yield latest.entry
        latest.next()
      } else {
        return
      }
    }
  }

  /** Not all at once, because a customer may have the whole memtable; but all of them, because many may be removed. */
  *#latestInMemtable(customer: number, before: TimelineEntry, count: number): Generator<TimelineEntry> {
    const some = this.#someInMemtable(customer, before, count)
    yield* some
    const last = some.at(-1)
    if (last && some.length === count) yield* this.#latestInMemtable(customer, last, count * MEMTABLE_GROWTH)
  }

  #someInMemtable(customer: number, before: TimelineEntry, count: number): TimelineEntry[] {
    const indexed = this.#indexedSeq()
    const keep = (entries: TimelineEntry[]) =>
      entries.sort((a, b) => (isBefore(a, b) ? 1 : -1)).slice(0, count)
    let found: TimelineEntry[] = []
    for (let seq = this.#lastSeq(); seq !== -1; seq -= 1) {
      seq = this.#ring.lastMatch({ customer }, seq, indexed + 1)
      if (seq === -1) break
      const entry = { at_ms: this.#ring.at_ms(seq), seq }
      if (isBefore(entry, before)) found.push(entry)
      if (found.length > 8 * count) found = keep(found)
    }
    this.#assertIntact(indexed)
    return keep(found)
  }

  #lastBefore({ after }: Page): number {
    const last = this.#lastSeq()
    return after ? Math.min(last, this.#zoneMap.firstFrom(eventIdBytes(after.id)) - 1) : last
  }

  #firstBehind({ after }: Pick<Page, 'after'>): number {
    if (!after) return 0
    const seq = this.#zoneMap.firstFrom(eventIdBytes(after.id))
    const head = Number.isFinite(seq) ? this.#statements.head.get(seq) : undefined
    return head && wholeIdText(head) === after.id ? seq + 1 : seq
  }

  /** Returns 0 if there are no events. */
  #lastSeq(): number {
    return this.#statements.lastSeq.get() ?? 0
  }

  #indexedSeq(): number {
    return this.#statements.indexed.get()?.indexed_seq ?? 0
  }

  #assertIntact(seq: number) {
    if (!this.#ring.isIntactBehind(seq))
      throw new RingOverwritten('the ring buffer was overwritten during a read')
  }

  #hashOf(event_id: string): number {
    this.#nameHash ??= nameHashes(this.#statements.indexed.get()?.message_salt ?? '')
    return this.#nameHash(event_id)
  }

  /** Undefined if the event, its customer or its journey was removed; the indexes may still contain it. */
  #row(seq: number): ListedEvent | undefined {
    const row = this.#statements.row.get(seq)
    return (
      row && { ...row, id: wholeIdText(row), message_id: row.message_id && messageIdText(row.message_id) }
    )
  }
}

/** Returns the most selective of the posting keys of a list's events. */
function keyOf(workspace: number, { customer, journey, name }: MemtableFilter): number {
  if (customer !== undefined) return postingKeys.customer(customer)
  if (journey !== undefined) {
    return name === undefined ? postingKeys.journey(journey) : postingKeys.journeyName(journey, name)
  }
  return name === undefined ? postingKeys.workspace(workspace) : postingKeys.name(workspace, name)
}

/**
 * Returns what to read for some events: if they are close together, everything in between, which takes half the time in
 * one go.
 * @param seqs consecutive candidates
 */
function readTogether(seqs: readonly number[]): { intervals: Interval[]; count: number } {
  const [from = 0] = seqs
  const to = seqs.at(-1) ?? from
  const count = to - from + 1
  if (count <= DENSE * seqs.length) return { intervals: [{ from, to }], count }
  return { intervals: seqs.map((seq) => ({ from: seq, to: seq })), count: seqs.length }
}

/** Splits the items of a generator into chunks. */
function* chunks<Item>(items: Iterable<Item>, size: number): Generator<Item[]> {
  let chunk: Item[] = []
  for (const item of items) {
    chunk.push(item)
    if (chunk.length < size) continue
    yield chunk
    chunk = []
  }
  if (chunk.length > 0) yield chunk
}

const idBytes = new Uint8Array(16)

function idText({ id, received_ms }: SuccessiveRow): string {
  readUuidDigits(wholeDigits(id, received_ms), idBytes)
  return typeIdText('evt', idBytes)
}

/** @param message a `message_id` after a t, or the digits of a UUID after a u */
function messageText(message: string | null): string | null {
  if (message === null) return null
  if (message.startsWith('t')) return message.slice(1)
  const digits = message.slice(1).toLowerCase()
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-${digits.slice(12, 16)}-${digits.slice(16, 20)}-${digits.slice(20)}`
}

function placeOf(row: SuccessiveRow): Required<ScannedEvent> {
  return { seq: row.seq, position: { ms: row.received_ms, id: idText(row) } }
}

function newestPosition(head: EventHead): Position {
  return { ms: head.received_ms, id: wholeIdText(head) }
}

function namesOfNone() {
  return {
    journeys: new Map<number, string>(),
    customers: new Map<number, NamedCustomer>(),
    keys: new Map<number, string>(),
  }
}

/** A scanned event with its position in the list; undefined if it was removed. */
type ScannedEvent = { seq: number; position?: Position }

/** The position of an identifier in lists by arrival. */
function positionOf(id: Uint8Array): Position {
  return { ms: timeOf(id), id: typeIdText('evt', id) }
}

/** Entries in descending order, with the next one visible. */
class Source {
  readonly #entries: Iterator<TimelineEntry>
  entry: TimelineEntry | undefined

  constructor(entries: Iterator<TimelineEntry>) {
    this.#entries = entries
    this.next()
  }

  next(): void {
    const { done, value } = this.#entries.next()
    this.entry = done ? undefined : value
  }
}

function prepare(connection: Connection) {
  return {
    workspace: connection
      .prepare<[string], number>('SELECT workspace_ref FROM workspaces WHERE workspace_id = ?')
      .pluck(),
    ...prepareReferences(connection),
    lastSeq: connection.prepare<[], number>('SELECT seq FROM events ORDER BY seq DESC LIMIT 1').pluck(),
    indexed: connection.prepare<[], { indexed_seq: number; message_salt: string }>(
      'SELECT indexed_seq, message_salt FROM event_indexing',
    ),
    count: connection
      .prepare<
        [
          {
            at: number
            end: number
            workspace: number | undefined
            journey: number | null
            to_ms: number | null
          },
        ],
        number
      >(
        `SELECT count(*) FROM events
        WHERE seq BETWEEN @at AND @end AND workspace_ref = @workspace AND (@journey IS NULL OR journey_ref = @journey)
          AND (@to_ms IS NULL OR received_ms < @to_ms)`,
      )
      .pluck(),
    firstAt: connection.prepare<
      [{ seq: number; end: number; customer: number; at_ms: number }],
      Pick<EventHead, 'id' | 'received_ms'>
    >(
      `SELECT id, received_ms FROM events
      WHERE seq >= @seq AND seq < @end AND customer_ref = @customer AND coalesce(occurred_ms, received_ms) = @at_ms
      ORDER BY seq LIMIT 1`,
    ),
    // Without the variables, which are last in the row and may be on overflow pages.
    head: connection.prepare<[number], EventHead>(
      `SELECT id, workspace_ref, journey_ref, customer_ref, event_id, occurred_ms, received_ms
      FROM events WHERE seq = ?`,
    ),
    journeyId: connection
      .prepare<[number], string>(
        'SELECT journey_id FROM journeys WHERE journey_ref = ? AND removed_ms IS NULL',
      )
      .pluck(),
    sender: connection.prepare<[number], { key_ref: number | null; variables_bytes: number }>(
      `SELECT key_ref, coalesce(octet_length(custom_variables), 0) AS variables_bytes FROM events WHERE seq = ?`,
    ),
    contents: connection.prepare<[number], { key_ref: number | null; custom_variables: string | null }>(
      'SELECT key_ref, custom_variables FROM events WHERE seq = ?',
    ),
    keyId: connection.prepare<[number], string>('SELECT key_id FROM event_keys WHERE key_ref = ?').pluck(),
    keyRef: connection.prepare<[string], number>('SELECT key_ref FROM event_keys WHERE key_id = ?').pluck(),
    namedCustomer: connection.prepare<[number], NamedCustomer>(
      'SELECT customer_id, customer_name, client_customer_id FROM customers WHERE customer_ref = ?',
    ),
    isListed: connection
      .prepare<[number], number>(
        'SELECT 1 FROM events JOIN journeys USING (journey_ref) WHERE seq = ? AND removed_ms IS NULL',
      )
      .pluck(),
    // Bytes as digits: the driver takes 0.9 µs to return bytes, so the rest of the row took a third as long.
    successive: connection.prepare<[number, number], SuccessiveRow>(
      `SELECT seq, hex(id) AS id, workspace_ref, journey_ref, customer_ref, event_id, custom_variables, occurred_ms,
        received_ms, CASE typeof(message_id) WHEN 'blob' THEN 'u' || hex(message_id) ELSE 't' || message_id END AS message,
        key_ref
      FROM events WHERE seq BETWEEN ? AND ? ORDER BY seq`,
    ),
    row: connection.prepare<[number], EventRow>(
      `SELECT events.id, events.event_id, custom_variables, occurred_ms, received_ms, message_id, journey_id,
        customer_id, customer_name, client_customer_id,
        (SELECT key_id FROM event_keys WHERE event_keys.key_ref = events.key_ref) AS key_id
      FROM events JOIN journeys USING (journey_ref) JOIN customers USING (customer_ref)
      WHERE seq = ? AND removed_ms IS NULL`,
    ),
  }
}
