import type { Connection } from '../connection.ts'
import type { MemtableFilter, MemtableRing } from './memtable.ts'
import { postingKeys } from './posting-keys.ts'
import { postingsBelow, postingsFrom } from './postings.ts'
import { RunStore } from './run-store.ts'
import { isBefore, type TimelineEntry, timelineBefore } from './timeline.ts'
import { type Interval, ZoneMapReader } from './zone-map.ts'

/** The ring buffer was overwritten under a delayed reader, which must start again. */
export class RingOverwritten extends Error {}

/** What events refer to, by row numbers; `name` is a hash. */
export type EventRefs = MemtableFilter & { workspace: number }

/** How many more of a customer's events in the memtable are sorted each time. */
const MEMTABLE_GROWTH = 8

/** Finds events in the runs and in the memtable, within one read transaction of its connection. */
export class IndexReader {
  readonly zoneMap: ZoneMapReader
  readonly #ring: MemtableRing
  readonly #runs: RunStore
  readonly #statements: ReturnType<typeof prepare>

  /** @param ring the memtable shared by the writer */
  constructor(connection: Connection, ring: MemtableRing) {
    this.zoneMap = new ZoneMapReader(connection)
    this.#ring = ring
    this.#runs = new RunStore(connection)
    this.#statements = prepare(connection)
  }

  /** Returns 0 if there are no events. */
  lastSeq(): number {
    return this.#statements.lastSeq.get() ?? 0
  }

  /** Yields events that may belong to a list, latest first. */
  *candidates(refs: EventRefs, { from, to }: Interval): Generator<number> {
    const key = keyOf(refs)
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
  *candidatesForward(refs: EventRefs, { from, to }: Interval): Generator<number> {
    const key = keyOf(refs)
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

  /**
   * Yields a customer's timeline before an entry, latest first: all runs and the memtable, merged.
   * @param count how many are probably wanted
   */
  *timeline(customer: number, before: TimelineEntry, count: number): Generator<TimelineEntry> {
    const runs = this.#runs.all().sort((a, b) => b.greatest_at_ms - a.greatest_at_ms)
    const sources = [new Source(this.#latestInMemtable(customer, before, count))]
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
    for (let seq = this.lastSeq(); seq !== -1; seq -= 1) {
      seq = this.#ring.lastMatch({ customer }, seq, indexed + 1)
      if (seq === -1) break
      const entry = { at_ms: this.#ring.at_ms(seq), seq }
      if (isBefore(entry, before)) found.push(entry)
      if (found.length > 8 * count) found = keep(found)
    }
    this.#assertIntact(indexed)
    return keep(found)
  }

  #indexedSeq(): number {
    return this.#statements.indexed.get() ?? 0
  }

  #assertIntact(seq: number) {
    if (!this.#ring.isIntactBehind(seq))
      throw new RingOverwritten('the ring buffer was overwritten during a read')
  }
}

/** Returns the most selective of the posting keys of a list's events. */
function keyOf({ workspace, customer, journey, name }: EventRefs): number {
  if (customer !== undefined) return postingKeys.customer(customer)
  if (journey !== undefined) {
    return name === undefined ? postingKeys.journey(journey) : postingKeys.journeyName(journey, name)
  }
  return name === undefined ? postingKeys.workspace(workspace) : postingKeys.name(workspace, name)
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
    lastSeq: connection.prepare<[], number>('SELECT seq FROM events ORDER BY seq DESC LIMIT 1').pluck(),
    indexed: connection.prepare<[], number>('SELECT indexed_seq FROM event_indexing').pluck(),
  }
}
