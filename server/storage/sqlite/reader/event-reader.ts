import { firstPosition, type Position } from '../../../domain/cursors.ts'
import { variablesTest } from '../../../domain/event-values.ts'
import { eventIdBytes } from '../../../domain/identifiers.ts'
import { messageIdText } from '../../../domain/message-ids.ts'
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
import type { EventSliceRequest, Slice } from '../../exports/exports.ts'
import { type Connection, endRead } from '../connection.ts'
import { IndexReader, RingOverwritten } from '../index/index-reader.ts'
import type { MemtableRing } from '../index/memtable.ts'
import type { TimelineEntry } from '../index/timeline.ts'
import { type Interval, SPAN_EVENTS } from '../index/zone-map.ts'
import { wholeIdText } from '../kept-ids.ts'
import { EventMatcher } from './event-matcher.ts'
import { type EventHead, type EventStatements, prepareEventStatements } from './event-statements.ts'
import { ListPositions, LOOKED_AT, type ScannedEvent } from './list-positions.ts'
import { SliceReader } from './slice-reader.ts'

/** A request for a page of a list of events. */
export type EventsRequest =
  | { list: 'newest'; workspace_id: string; filter: EventFilter; page: Page }
  /** `now_ms`: everything acknowledged by then is in the file. */
  | { list: 'oldest'; workspace_id: string; filter: EventFilter; page: Page; now_ms: number }
  | { list: 'timeline'; workspace_id: string; customer_id: string; page: Page & TimelineFilter }

/** Event numbers counted between two checks of the time. */
const COUNTED_AT_ONCE = 16 * SPAN_EVENTS

/** Approximate size of a page of the file. */
const FILE_PAGE_BYTES = 4096

const ATTEMPTS = 5

/** Reads lists of events, each page in one transaction: from the runs and from the memtable. */
export class EventReader {
  readonly #connection: Connection
  readonly #index: IndexReader
  readonly #statements: EventStatements
  readonly #matcher: EventMatcher
  readonly #positions: ListPositions
  readonly #slices: SliceReader

  /** @param ring the memtable shared by the writer */
  constructor(connection: Connection, ring: MemtableRing) {
    const index = new IndexReader(connection, ring)
    const statements = prepareEventStatements(connection)
    const matcher = new EventMatcher(statements)
    const positions = new ListPositions(index, statements)
    this.#connection = connection
    this.#index = index
    this.#statements = statements
    this.#matcher = matcher
    this.#positions = positions
    this.#slices = new SliceReader({ index, statements, matcher, positions })
  }

  read(request: EventsRequest): EventTexts | ForwardTexts {
    return this.#inSnapshot(() => {
      if (request.list === 'newest') return this.#newest(request)
      return request.list === 'oldest' ? this.#oldest(request) : this.#timeline(request)
    })
  }

  /** Returns the next events of an export, in the order of `oldest`. */
  slice(request: EventSliceRequest): Slice {
    return this.#inSnapshot(() => this.#slices.read(request))
  }

  /** Counts row by row, which is faster than asking the indexes, which still contain removed events. */
  count(workspace_id: string, { journey_id, to_ms }: CountFilter): CountedEvents {
    return this.#inSnapshot(() => {
      const match = this.#matcher.match(workspace_id, { ...(journey_id !== undefined && { journey_id }) })
      if (!match) return { events: 0, isAll: true }
      const { workspace, journey = null } = match.refs
      const until_ms = performance.now() + COUNTING_MS
      const received = to_ms === undefined ? {} : { to_ms }
      let events = 0
      for (const { from, to } of this.#index.zoneMap.intervals(received, this.#index.lastSeq())) {
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
    for (const { seq, at_ms } of this.#latest(customer, COUNTED_PER_CUSTOMER)) {
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
    const match = this.#matcher.match(workspace_id, filter)
    if (!match) return END
    const { refs, isFound } = match
    const rows = new PageTexts(page)
    let looked = 0
    let place: ScannedEvent | undefined
    let seen: ScannedEvent | undefined
    for (const interval of this.#intervals(filter, this.#positions.lastBefore(page.after))) {
      for (const seq of this.#index.candidates(refs, interval)) {
        if (looked >= LOOKED_AT && place) return rows.endingEarly(this.#positions.newestEnd(place, seen))
        looked += 1
        place = { seq }
        const head = this.#statements.head.get(seq)
        if (!head) continue
        place = { seq, position: newestPosition(head) }
        seen = place
        const sending = isFound(head) ? this.#contents(seq, match) : undefined
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
    const match = this.#matcher.match(workspace_id, filter)
    if (!match) return { rows: [], next: last, caughtUp_ms: now_ms }
    const { refs, isFound } = match
    const first = this.#positions.firstAfter(page.after)
    let looked = 0
    let seen: ScannedEvent | undefined
    let place: ScannedEvent | undefined
    for (const { from, to } of [...this.#intervals(filter, this.#index.lastSeq())].reverse()) {
      for (const seq of this.#index.candidatesForward(refs, { from: Math.max(from, first), to })) {
        if (looked >= LOOKED_AT && place) {
          return { ...rows.ending(), next: this.#positions.oldestEnd(place, seen), caughtUp_ms: null }
        }
        looked += 1
        place = { seq }
        const head = this.#statements.head.get(seq)
        if (!head) continue
        const position = newestPosition(head)
        const sending = isFound(head) ? this.#contents(seq, match) : undefined
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

  /** By (`at_ms`, number), merging all runs and the memtable. */
  #timeline({ workspace_id, customer_id, page }: EventsRequest & { list: 'timeline' }): EventTexts {
    const customer = this.#statements.customer.get(workspace_id, customer_id)
    if (customer === undefined) return END
    const rows = new PageTexts(page)
    let looked = 0
    let last: TimelineEntry = { at_ms: Number.POSITIVE_INFINITY, seq: 0 }
    const { variables } = page
    const wanted = { sender: undefined, ...(variables && { hasVariables: variablesTest(variables) }) }
    for (const { seq, at_ms } of this.#latest(customer, page.limit + 1, page.after)) {
      const end = looked >= LOOKED_AT ? this.#positions.timelineEnd(customer, last, at_ms) : undefined
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

  #latest(customer: number, count: number, after?: Position): Iterable<TimelineEntry> {
    return this.#index.timeline(customer, this.#positions.timelineStart(after), count)
  }

  /** Yields where the events of a filter may be, latest first. */
  #intervals({ id, ...received }: EventFilter, last: number): Iterable<Interval> {
    if (id === undefined) return this.#index.zoneMap.intervals(received, last)
    const seq = this.#index.zoneMap.seqOf(eventIdBytes(id))
    return seq <= last ? [{ from: seq, to: seq }] : []
  }

  /** Undefined if the event, its customer or its journey was removed; the indexes may still contain it. */
  #row(seq: number): ListedEvent | undefined {
    const row = this.#statements.row.get(seq)
    return (
      row && { ...row, id: wholeIdText(row), message_id: row.message_id && messageIdText(row.message_id) }
    )
  }
}

function newestPosition(head: EventHead): Position {
  return { ms: head.received_ms, id: wholeIdText(head) }
}
