import { firstPosition, type Position } from '../../../domain/cursors.ts'
import { eventIdBytes, typeIdText } from '../../../domain/identifiers.ts'
import type { IndexReader } from '../index/index-reader.ts'
import type { TimelineEntry } from '../index/timeline.ts'
import type { ZoneMapReader } from '../index/zone-map.ts'
import { timeOf, wholeIdText } from '../kept-ids.ts'
import type { EventStatements } from './event-statements.ts'

/**
 * Maximum events scanned per page: 20 ms. That many are scanned only if two conditions rarely coincide; the page then
 * ends early.
 */
export const LOOKED_AT = 10_000

/** A scanned event with its position in the list; undefined if it was removed. */
export type ScannedEvent = { seq: number; position?: Position }

/** Finds the events between which the pages of a list begin and end. */
export class ListPositions {
  readonly #index: IndexReader
  readonly #zoneMap: ZoneMapReader
  readonly #statements: EventStatements

  constructor(index: IndexReader, statements: EventStatements) {
    this.#index = index
    this.#zoneMap = index.zoneMap
    this.#statements = statements
  }

  /** Returns the number of the last event before a page of the newest; 0 if there is none. */
  lastBefore(after: Position | undefined): number {
    const last = this.#index.lastSeq()
    return after ? Math.min(last, this.#zoneMap.firstFrom(eventIdBytes(after.id)) - 1) : last
  }

  /** Returns the number of the first event after a position, in order of arrival. */
  firstAfter(after: Position | undefined): number {
    return after ? this.#zoneMap.firstAfter(eventIdBytes(after.id)) : 0
  }

  /** Returns the entry of a timeline before which a page begins. */
  timelineStart(after: Position | undefined): TimelineEntry {
    return after
      ? { at_ms: after.ms, seq: this.#zoneMap.firstFrom(eventIdBytes(after.id)) }
      : { at_ms: Number.POSITIVE_INFINITY, seq: Number.POSITIVE_INFINITY }
  }

  /**
   * Returns where a list that ends early continues: after the last event scanned. If that was removed, at the start of
   * its span, or after the last event seen in it; so part of a span is scanned twice, but nothing is shown twice.
   */
  newestEnd({ seq, position }: ScannedEvent, seen: ScannedEvent | undefined): Position {
    if (position) return position
    const next = this.#zoneMap.around(seq).find(({ first }) => first > seq)
    if (seen?.position && (!next || seen.seq < next.first)) return seen.position
    if (!next) throw new Error(`no span follows event ${seq}`)
    return positionOf(next.first_id)
  }

  /** The same for a forward walk. */
  oldestEnd({ seq, position }: ScannedEvent, seen: ScannedEvent | undefined): Position {
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
  timelineEnd(customer: number, { at_ms, seq }: TimelineEntry, next_ms: number): Position | undefined {
    if (next_ms < at_ms) return firstPosition('evt', at_ms)
    const next = this.#zoneMap.around(seq).find(({ first }) => first > seq)
    const end = next?.first ?? Number.MAX_SAFE_INTEGER
    const seen = this.#statements.firstAt.get({ seq, end, customer, at_ms })
    if (seen) return { ms: at_ms, id: wholeIdText(seen) }
    return next && { ms: at_ms, id: typeIdText('evt', next.first_id) }
  }
}

/** The position of an identifier in lists by arrival. */
function positionOf(id: Uint8Array): Position {
  return { ms: timeOf(id), id: typeIdText('evt', id) }
}
