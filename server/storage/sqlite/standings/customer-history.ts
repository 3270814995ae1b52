import type { Key } from '../../../domain/journey-standing.ts'
import type { FollowedEvent, History } from '../../standings/standing-store.ts'
import { type Connection, endRead } from '../connection.ts'
import { type MemtableRing, RING_EVENTS } from '../index/memtable.ts'
import { RunStore } from '../index/run-store.ts'
import { isBefore, TimelineCursor, type TimelineEntry } from '../index/timeline.ts'
import { keyOf, numberOf } from './keys.ts'

/**
 * How many events are read at a time before other work runs. For a time range the first chunk is small, because a
 * caller who needs one event usually finds it among the first.
 */
const CHUNKS = { first: 256, firstOfRange: 4, growth: 8, greatest: 10_000 }

/** The ring was overwritten while a reader was delayed; the reader must start again. */
class RingOverwritten extends Error {}

const ATTEMPTS = 5

/**
 * The events of a customer by time, merged from all sorted runs and the memtable, in transactions of one chunk or of
 * whatever length the caller chooses.
 */
export class CustomerHistory implements History {
  /** All customers share the cursors. */
  readonly customersAtOnce = 1
  readonly #connection: Connection
  readonly #ring: MemtableRing
  readonly #runs: RunStore
  readonly #memtable: MemtableByCustomer
  readonly #statements: ReturnType<typeof prepare>
  readonly #yieldLoop: () => Promise<void>
  /** By run number. */
  readonly #cursors = new Map<number, TimelineCursor>()
  #snapshot: { cursors: TimelineCursor[]; indexed_seq: number; last_seq: number } | undefined
  /** How many event rows were read. */
  rowsRead = 0

  /**
   * @param ring where the writer records events that are not in a run yet
   * @param turn lets other work run between two chunks
   */
  constructor(connection: Connection, ring: MemtableRing, yieldLoop: () => Promise<void>) {
    this.#connection = connection
    this.#ring = ring
    this.#runs = new RunStore(connection)
    this.#memtable = new MemtableByCustomer(ring)
    this.#statements = prepare(connection)
    this.#yieldLoop = yieldLoop
  }

  async *events(
    journey: Key,
    customer: Key,
    range: { from_ms: number; to_ms: number },
  ): AsyncGenerator<readonly FollowedEvent[]> {
    const journey_ref = numberOf(journey)
    const reading: TimelineReading = {
      customer: numberOf(customer),
      from: { at_ms: range.from_ms, seq: 0 },
      to_ms: range.to_ms,
      cursors: new Set(),
    }
    const isRange = range.from_ms > Number.NEGATIVE_INFINITY
    const first = isRange ? CHUNKS.firstOfRange : CHUNKS.first
    for (let limit = first; ; limit = Math.min(limit * CHUNKS.growth, CHUNKS.greatest)) {
      const entries = this.#entries(reading, limit)
      const events: FollowedEvent[] = []
      for (const { at_ms, seq } of entries) {
        const row = this.#statements.row.get(seq)
        // Removed, but still in the index.
        if (!row) continue
        this.rowsRead += 1
        if (row[0] === journey_ref) events.push({ journey, customer, name: row[1], at_ms, id: keyOf(seq) })
      }
      if (events.length > 0) yield events
      const last = entries.at(-1)
      if (!last || entries.length < limit) return
      reading.from = { at_ms: last.at_ms, seq: last.seq + 1 }
      if (limit === CHUNKS.greatest) await this.rest()
    }
  }

  /** Ends the transaction in which chunks were read. */
  end(): void {
    this.#snapshot = undefined
    endRead(this.#connection)
  }

  /** Lets others run, who then see the store's current state. */
  async rest(): Promise<void> {
    this.end()
    await this.#yieldLoop()
  }

  /** The next entries of a customer in all journeys, by time. */
  #entries(reading: TimelineReading, limit: number): TimelineEntry[] {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return this.#merged(reading, limit)
      } catch (error) {
        this.end()
        reading.cursors.clear()
        if (!(error instanceof RingOverwritten) || attempt === ATTEMPTS) throw error
      }
    }
  }

  #merged(reading: TimelineReading, limit: number): TimelineEntry[] {
    const { customer, from, to_ms } = reading
    const { cursors, indexed_seq, last_seq } = this.#begin()
    const isWanted = (entry: TimelineEntry) => !isBefore(entry, from) && entry.at_ms < to_ms
    const ofMemtable = [...this.#memtable.entries(customer, { indexed_seq, last_seq })].filter(isWanted)
    if (!this.#ring.isIntactBehind(indexed_seq))
      throw new RingOverwritten('the ring buffer was overwritten during a read')
    ofMemtable.sort((one, other) => (isBefore(one, other) ? -1 : 1))
    const sources: Source[] = [new MemtableSource(customer, ofMemtable)]
    for (const cursor of cursors) {
      // Most requests ask for a time after everything in older runs.
      if (cursor.run.greatest_at_ms < from.at_ms) continue
      // A cursor already in use keeps its position: all its entries may have the same timestamp.
      if (!reading.cursors.has(cursor)) {
        cursor.seek(customer, from.at_ms)
        while (cursor.customer === customer && isBefore(cursor, from)) cursor.next()
        reading.cursors.add(cursor)
      }
      if (cursor.customer === customer && cursor.at_ms < to_ms) sources.push(cursor)
    }
    const found: TimelineEntry[] = []
    while (found.length < limit) {
      let least: Source | undefined
      for (const source of sources) {
        const isLeft = source.customer === customer && source.at_ms < to_ms
        if (isLeft && (!least || isBefore(source, least))) least = source
      }
      if (!least) break
      found.push({ at_ms: least.at_ms, seq: least.seq })
      least.next()
    }
    return found
  }

  #begin() {
    if (this.#snapshot) return this.#snapshot
    this.#connection.exec('BEGIN')
    const runs = this.#runs.all()
    const numbers = new Set(runs.map(({ run }) => run))
    for (const number of this.#cursors.keys()) if (!numbers.has(number)) this.#cursors.delete(number)
    const cursors = runs.map((run) => {
      const known = this.#cursors.get(run.run)
      const cursor = known?.run === run ? known : new TimelineCursor(run, this.#runs.readPage)
      this.#cursors.set(run.run, cursor)
      return cursor
    })
    const indexed_seq = this.#statements.indexedSeq.get() ?? 0
    const last_seq = this.#statements.lastSeq.get() ?? 0
    this.#snapshot = { cursors, indexed_seq, last_seq }
    return this.#snapshot
  }
}

/** A reading of one customer, and its progress. */
type TimelineReading = {
  customer: number
  /** The first entry to read next. */
  from: TimelineEntry
  to_ms: number
  /** The cursors that were positioned for this customer and not used for another since. */
  cursors: Set<TimelineCursor>
}

/** Yields entries in ascending order. */
type Source = TimelineEntry & { customer: number; next(): void }

class MemtableSource implements Source {
  readonly #entries: readonly TimelineEntry[]
  #next = 0
  customer: number
  at_ms = 0
  seq = 0

  constructor(customer: number, entries: readonly TimelineEntry[]) {
    this.customer = customer
    this.#entries = entries
    this.next()
  }

  next(): void {
    const entry = this.#entries[this.#next]
    this.#next += 1
    this.at_ms = entry?.at_ms ?? Number.POSITIVE_INFINITY
    this.seq = entry?.seq ?? 0
  }
}

/** Size of the hash table of list heads, by customer. */
const HEADS = 2 ** 16

/** Finds the events of a customer in the memtable through linked lists, which are extended whenever someone reads. */
class MemtableByCustomer {
  readonly #ring: MemtableRing
  /** The last event of the customers that share a slot; 0 if there is none. */
  readonly #heads = new Float64Array(HEADS)
  /** The previous event of the same slot, by the event's slot in the ring. */
  readonly #before = new Float64Array(RING_EVENTS)
  #lastSeq = 0

  constructor(ring: MemtableRing) {
    this.#ring = ring
  }

  /** Unordered. After reading entries behind `indexed_seq`, the caller must check that they were not overwritten. */
  *entries(
    customer: number,
    { indexed_seq, last_seq }: { indexed_seq: number; last_seq: number },
  ): Generator<TimelineEntry> {
    for (let seq = Math.max(this.#lastSeq, indexed_seq) + 1; seq <= last_seq; seq += 1) {
      const place = placeOf(this.#ring.customer(seq))
      this.#before[seq % RING_EVENTS] = this.#heads[place] as number
      this.#heads[place] = seq
    }
    this.#lastSeq = Math.max(this.#lastSeq, last_seq)
    let seq = this.#heads[placeOf(customer)] as number
    while (seq > indexed_seq) {
      if (this.#ring.customer(seq) === customer) yield { at_ms: this.#ring.at_ms(seq), seq }
      seq = this.#before[seq % RING_EVENTS] as number
    }
  }
}

/** Customer numbers are consecutive, so they spread over the slots without hashing. */
function placeOf(customer: number): number {
  return customer % HEADS
}

function prepare(connection: Connection) {
  return {
    indexedSeq: connection.prepare<[], number>('SELECT indexed_seq FROM event_indexing').pluck(),
    lastSeq: connection.prepare<[], number>('SELECT seq FROM events ORDER BY seq DESC LIMIT 1').pluck(),
    // Without the variables, which are last in the row and may be on overflow pages.
    row: connection
      .prepare<[number], [journey_ref: number, event_id: string]>(
        'SELECT journey_ref, event_id FROM events WHERE seq = ?',
      )
      .raw(),
  }
}
