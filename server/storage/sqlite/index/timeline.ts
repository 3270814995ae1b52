import { ByteReader, ByteWriter, NUMBER_BYTES } from '../../../domain/varint.ts'
import type { PageSource } from './postings.ts'
import { type Directory, lastPageUpTo, PAGE_BYTES, type Run } from './run.ts'

/** An event in the timeline of its customer: `at_ms` is when it occurred, otherwise when it was received. */
export type TimelineEntry = { at_ms: number; seq: number }

/**
 * Encodes a page of timelines, with delta encoding and varints: per event the difference of its customer to the
 * previous one; its time, relative to the page's for the first event of a customer, otherwise to the previous event;
 * its number likewise, relative to the run's first. About 6 bytes per event.
 */
export class TimelinePacker {
  readonly #onPage: (bytes: Buffer) => void
  readonly #firstSeq: number
  readonly #page = new ByteWriter(PAGE_BYTES)
  readonly #firsts: number[] = []
  readonly #seconds: number[] = []
  #customer = -1
  #at_ms = 0
  #seq = 0
  /** Nothing is earlier than a timeline without events; SQLite stores no infinite integer. */
  greatestAt_ms = Number.MIN_SAFE_INTEGER

  /** @param onPage called with each full page */
  constructor(firstSeq: number, onPage: (bytes: Buffer) => void) {
    this.#firstSeq = firstSeq
    this.#onPage = onPage
  }

  /** Must be called by customer, then by time, then by number. */
  add(customer: number, at_ms: number, seq: number): void {
    if (this.#page.length > PAGE_BYTES - ENTRY_BYTES) this.#onPage(this.#page.take())
    const isFirst = this.#page.length === 0
    if (isFirst) {
      this.#firsts.push(customer)
      this.#seconds.push(at_ms)
    }
    this.#page.number(isFirst ? 0 : customer - this.#customer)
    if (isFirst || customer !== this.#customer) {
      this.#page.signed(at_ms - (this.#seconds.at(-1) as number))
      this.#page.number(seq - this.#firstSeq)
    } else {
      this.#page.number(at_ms - this.#at_ms)
      this.#page.signed(seq - this.#seq)
    }
    this.#customer = customer
    this.#at_ms = at_ms
    this.#seq = seq
    if (at_ms > this.greatestAt_ms) this.greatestAt_ms = at_ms
  }

  end(): Directory {
    if (this.#page.length > 0) this.#onPage(this.#page.take())
    return { firsts: Float64Array.from(this.#firsts), seconds: Float64Array.from(this.#seconds) }
  }
}

const ENTRY_BYTES = 3 * NUMBER_BYTES

/** Decodes a page of timelines event by event. */
export class TimelineReader {
  readonly #bytes: ByteReader
  readonly #firstSeq: number
  readonly #firstAt_ms: number
  #isFirst = true
  customer: number
  at_ms = 0
  seq = 0

  constructor(
    bytes: Uint8Array,
    { first_seq }: Pick<Run, 'first_seq'>,
    first: { customer: number; at_ms: number },
  ) {
    this.#bytes = new ByteReader(bytes)
    this.#firstSeq = first_seq
    this.#firstAt_ms = first.at_ms
    this.customer = first.customer
  }

  /** Moves to the next event; false at the end of the page. */
  next(): boolean {
    if (this.#bytes.isAtEnd) return false
    const difference = this.#bytes.number()
    if (difference > 0 || this.#isFirst) {
      this.customer += difference
      this.at_ms = this.#firstAt_ms + this.#bytes.signed()
      this.seq = this.#firstSeq + this.#bytes.number()
      this.#isFirst = false
    } else {
      this.at_ms += this.#bytes.number()
      this.seq += this.#bytes.signed()
    }
    return true
  }
}

/** Whether an entry is earlier than another, that is, after it in a timeline, which shows the latest first. */
export function isBefore(a: TimelineEntry, b: TimelineEntry): boolean {
  return a.at_ms < b.at_ms || (a.at_ms === b.at_ms && a.seq < b.seq)
}

/** Yields a customer's events before a position, latest first, loading pages on demand. */
export function* timelineBefore(
  run: Run,
  readPage: PageSource,
  { customer, before }: { customer: number; before: TimelineEntry },
): Generator<TimelineEntry> {
  const { firsts, seconds } = run.timeline
  for (let page = lastPageUpTo(run.timeline, customer, before.at_ms); page >= 0; page -= 1) {
    const first = { customer: firsts[page] as number, at_ms: seconds[page] as number }
    const reader = new TimelineReader(readPage(run, 'timeline', page), run, first)
    const found: TimelineEntry[] = []
    while (reader.next() && reader.customer <= customer) {
      if (reader.customer === customer && isBefore(reader, before)) {
        found.push({ at_ms: reader.at_ms, seq: reader.seq })
      }
    }
    yield* found.toReversed()
    // Only if the customer is first on the page can the previous page have some of it too.
    if (first.customer !== customer) return
  }
}

/** Reads a run's timelines forward, event by event; after the last the customer is infinite. */
export class TimelineCursor {
  readonly run: Run
  readonly #readPage: PageSource
  #page = -1
  #reader: TimelineReader | undefined
  #sought = Number.NEGATIVE_INFINITY
  customer = Number.NEGATIVE_INFINITY
  at_ms = 0
  seq = 0

  /** Starts before the first event. */
  constructor(run: Run, readPage: PageSource) {
    this.run = run
    this.#readPage = readPage
  }

  next(): void {
    if (this.#page === -1) this.#open(0)
    while (this.#reader && !this.#reader.next()) this.#open(this.#page + 1)
    if (this.#reader) {
      this.customer = this.#reader.customer
      this.at_ms = this.#reader.at_ms
      this.seq = this.#reader.seq
    } else {
      this.customer = Number.POSITIVE_INFINITY
    }
  }

  /**
   * Moves to the first event of a customer at or after a time, or to what follows it. Customers must be sought in
   * ascending order, without passing events of the next one; then each page is decoded once.
   */
  seek(customer: number, from_ms: number): void {
    // The last page that starts before: several may start at the same instant.
    const page = Math.max(0, lastPageUpTo(this.run.timeline, customer, from_ms - 1))
    if (customer <= this.#sought || page > this.#page) {
      this.#open(page)
      this.next()
    }
    this.#sought = customer
    while (this.customer < customer || (this.customer === customer && this.at_ms < from_ms)) this.next()
  }

  #open(page: number) {
    const { firsts, seconds } = this.run.timeline
    const first = { customer: firsts[page] as number, at_ms: seconds[page] as number }
    this.#page = page
    this.#reader =
      page < firsts.length
        ? new TimelineReader(this.#readPage(this.run, 'timeline', page), this.run, first)
        : undefined
  }
}
