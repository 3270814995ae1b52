import type { Connection } from '../connection.ts'
import { IS_FROM, type Kept, sought, wholeId } from '../kept-ids.ts'

/**
 * The zone map in two resolutions: a span is this many consecutive event numbers, a stretch this many. The times of
 * receipt are recorded for both, so that a list of some time can skip the others.
 */
export const SPAN_EVENTS = 1024
export const STRETCH_EVENTS = 2 ** 20

type Span = { span: number; first_id: Uint8Array; least_ms: number; greatest_ms: number }

/** Records the spans while their events are written. */
export class ZoneMapWriter {
  readonly #statements: ReturnType<typeof prepare>
  /** The current span, as far as it is not written yet. */
  #span: Span | undefined

  constructor(connection: Connection) {
    this.#statements = prepare(connection)
  }

  add(seq: number, id: Uint8Array, received_ms: number): void {
    const number = Math.floor(seq / SPAN_EVENTS)
    const span = this.#span
    if (span?.span === number) {
      if (received_ms < span.least_ms) span.least_ms = received_ms
      if (received_ms > span.greatest_ms) span.greatest_ms = received_ms
      return
    }
    this.end()
    this.#span = { span: number, first_id: id, least_ms: received_ms, greatest_ms: received_ms }
  }

  /** Writes what `add` has deferred. Call before the commit. */
  end(): void {
    if (!this.#span) return
    const { span, first_id, least_ms, greatest_ms } = this.#span
    this.#statements.span.run(span, first_id, least_ms, greatest_ms)
    this.#statements.stretch.run(Math.floor((span * SPAN_EVENTS) / STRETCH_EVENTS), least_ms, greatest_ms)
    this.#span = undefined
  }

  /** Drops what was not committed. */
  forget(): void {
    this.#span = undefined
  }
}

/** A time range of receipt: `from_ms` or later, and before `to_ms`. */
export type Received = { from_ms?: number; to_ms?: number }

/** Consecutive event numbers, both ends included. */
export type Interval = { from: number; to: number }

/** Returns which event numbers a list of some time must read. */
export class ZoneMapReader {
  readonly #statements: ReturnType<typeof prepareReads>

  constructor(connection: Connection) {
    this.#statements = prepareReads(connection)
  }

  /**
   * Yields intervals up to a number that may contain events received in the range, latest first. A clock that was ahead
   * or behind affects only the spans in which it was so.
   */
  *intervals({ from_ms, to_ms }: Received, last: number): Generator<Interval> {
    if (from_ms === undefined && to_ms === undefined) {
      yield { from: 0, to: last }
      return
    }
    const from = from_ms ?? Number.MIN_SAFE_INTEGER
    const to = to_ms ?? Number.MAX_SAFE_INTEGER
    const stretches = this.#statements.stretches.all(Math.floor(last / STRETCH_EVENTS), from, to)
    for (const { stretch, least_received_ms, greatest_received_ms } of stretches) {
      const first = stretch * STRETCH_EVENTS
      const whole = { from: first, to: Math.min(first + STRETCH_EVENTS - 1, last) }
      if (least_received_ms >= from && greatest_received_ms < to) yield whole
      else yield* this.#intervalsOfSpans(whole, from, to)
    }
  }

  *#intervalsOfSpans(stretch: Interval, from_ms: number, to_ms: number): Generator<Interval> {
    const [first, last] = [stretch.from, stretch.to].map((seq) => Math.floor(seq / SPAN_EVENTS))
    let found: Interval | undefined
    for (const span of this.#statements.spans.all(first ?? 0, last ?? 0, from_ms, to_ms)) {
      const from = span * SPAN_EVENTS
      if (found?.from === from + SPAN_EVENTS) {
        found.from = from
      } else {
        if (found) yield found
        found = { from, to: Math.min(from + SPAN_EVENTS - 1, stretch.to) }
      }
    }
    if (found) yield found
  }

  /**
   * Returns the number of the first event whose identifier is not before this one, or a number between it and the event
   * before it; infinite if all are before. For an identifier that starts a span it is the start of the span, even if
   * the events there were removed: a list that continues there skips them without repeating what follows.
   */
  firstFrom(id: Uint8Array): number {
    const { span = 0, isFirst = 0 } = this.#statements.spanOf.get(id, id) ?? {}
    // There is no number 0: the first span starts with 1.
    if (isFirst) return Math.max(1, span * SPAN_EVENTS)
    return this.#firstFrom(span, id)
  }

  /** The same for the first event after this identifier. */
  firstAfter(id: Uint8Array): number {
    const seq = this.firstFrom(id)
    const event = Number.isFinite(seq) ? this.#statements.idOf.get(seq) : undefined
    return event && Buffer.compare(wholeId(event), id) === 0 ? seq + 1 : seq
  }

  /** Returns the number of the event with this identifier; if there is none, another's, or infinite. */
  seqOf(id: Uint8Array): number {
    const { span = 0 } = this.#statements.spanOf.get(id, id) ?? {}
    return this.#firstFrom(span, id)
  }

  #firstFrom(span: number, id: Uint8Array): number {
    const from = { seq: span * SPAN_EVENTS, ...sought(id) }
    return this.#statements.firstFrom.get(from) ?? Number.POSITIVE_INFINITY
  }

  /** Returns the span of a number, and the next one that is left: where they start, and with which identifiers. */
  around(seq: number): { first: number; first_id: Uint8Array }[] {
    const found = this.#statements.firstIds.all(Math.floor(seq / SPAN_EVENTS))
    return found.map(({ span, first_id }) => ({ first: span * SPAN_EVENTS, first_id }))
  }
}

function prepare(connection: Connection) {
  return {
    span: connection.prepare<[number, Uint8Array, number, number]>(
      `INSERT INTO event_spans VALUES (?, ?, ?, ?) ON CONFLICT (span) DO UPDATE SET
        least_received_ms = min(least_received_ms, excluded.least_received_ms),
        greatest_received_ms = max(greatest_received_ms, excluded.greatest_received_ms)`,
    ),
    stretch: connection.prepare<[number, number, number]>(
      `INSERT INTO event_stretches VALUES (?, ?, ?) ON CONFLICT (stretch) DO UPDATE SET
        least_received_ms = min(least_received_ms, excluded.least_received_ms),
        greatest_received_ms = max(greatest_received_ms, excluded.greatest_received_ms)`,
    ),
  }
}

function prepareReads(connection: Connection) {
  return {
    stretches: connection.prepare<
      [number, number, number],
      { stretch: number; least_received_ms: number; greatest_received_ms: number }
    >(
      `SELECT * FROM event_stretches
      WHERE stretch <= ? AND greatest_received_ms >= ? AND least_received_ms < ? ORDER BY stretch DESC`,
    ),
    spans: connection
      .prepare<[number, number, number, number], number>(
        `SELECT span FROM event_spans
        WHERE span BETWEEN ? AND ? AND greatest_received_ms >= ? AND least_received_ms < ? ORDER BY span DESC`,
      )
      .pluck(),
    spanOf: connection.prepare<[Uint8Array, Uint8Array], { span: number; isFirst: 0 | 1 }>(
      'SELECT span, first_id = ? AS isFirst FROM event_spans WHERE first_id <= ? ORDER BY first_id DESC LIMIT 1',
    ),
    idOf: connection.prepare<[number], Kept>('SELECT id, received_ms FROM events WHERE seq = ?'),
    firstIds: connection.prepare<[number], { span: number; first_id: Uint8Array }>(
      'SELECT span, first_id FROM event_spans WHERE span >= ? ORDER BY span LIMIT 2',
    ),
    firstFrom: connection
      .prepare<[{ seq: number } & ReturnType<typeof sought>], number>(
        `SELECT seq FROM events WHERE seq >= @seq AND ${IS_FROM} ORDER BY seq LIMIT 1`,
      )
      .pluck(),
  }
}
