import type { Connection } from './connection.ts'
import { BLOCK_EVENTS } from './spans.ts'
import type { Segment, Tail } from './tail.ts'

/** A pass indexes at least this many events: the more, the fewer pages each of the sorted slices touches. */
const PASS_EVENTS = 100_000

/** With more than this in the tail, less is written at a time, so that the slices outrun what arrives. */
const LONG_TAIL_EVENTS = 200_000

/** With more than this writing waits: memory and the time of a start must have a bound. */
const GREATEST_TAIL_EVENTS = 400_000

/** What has arrived is indexed also without a full pass when there is nothing else to do; less is no burden. */
const IDLE_EVENTS = 10_000

/** Entries owed before a slice is worth a commit of its own. */
const SLICE_ENTRIES = 4_000

/** A slice ends after this. Its commit is not in it and takes about as long. */
const SLICE_MS = 8

/** The time is looked at, and rows are inserted, in chunks of this many entries. */
const CHUNK_ENTRIES = 50

/** Each event has an entry in either index. Twice that much is done for every event that arrives. */
const ENTRIES_PER_EVENT = 2
const PACE = 2

type Pass = {
  segment: Segment
  /** Places in the segment, by customer; then those with a message, by its key. Each sorted when it is its turn. */
  timeline: Uint32Array
  messages: Uint32Array | undefined
  /** Entries done so far, of both lists. */
  done: number
}

/**
 * Fills the indexes of events in sorted slices between groups: an index over random keys would otherwise touch a page
 * of its own for each event. A pass that was cut short is begun again after a restart; an entry can be made twice.
 */
export class Indexer {
  readonly #connection: Connection
  readonly #tail: Tail
  readonly #statements: ReturnType<typeof prepare>
  #pass: Pass | undefined
  /** Entries to be made for what has arrived since the pass began. */
  #owed = 0
  #seenSeq: number
  /** How many rows the next group may have, so that the slices outrun what arrives. */
  groupRows = Number.POSITIVE_INFINITY
  /** The longest time that sorting or a slice, its commit included, has held the writer. */
  longestPause_ms = 0

  constructor(connection: Connection, tail: Tail) {
    this.#connection = connection
    this.#tail = tail
    this.#seenSeq = tail.nextSeq
    this.#statements = prepare(connection)
  }

  /**
   * Whether a step is to be made now.
   * @param isIdle whether nothing else waits; then also what is not urgent is done
   */
  isDue(isIdle: boolean): boolean {
    const { arriving, nextSeq } = this.#tail
    this.#owed += (nextSeq - this.#seenSeq) * ENTRIES_PER_EVENT * PACE
    this.#seenSeq = nextSeq
    if (!this.#pass) return arriving.length >= (isIdle ? IDLE_EVENTS : PASS_EVENTS)
    return isIdle || this.#isBehind || this.#owed >= SLICE_ENTRIES
  }

  /** Whether so much waits for the indexes that writing must wait for them. */
  get isFull(): boolean {
    return this.#tail.length > GREATEST_TAIL_EVENTS
  }

  get #isBehind(): boolean {
    return this.#tail.length > LONG_TAIL_EVENTS
  }

  /** Sorts what is next, or fills in a slice of it. @throws what the engine throws; the slice is as if never begun */
  step(): void {
    const started = performance.now()
    const pass = this.#pass
    if (!pass) {
      const segment = this.#tail.beginIndexing()
      this.#pass = { segment, timeline: byCustomer(segment), messages: undefined, done: 0 }
      this.#owed = 0
    } else if (!pass.messages && pass.done === pass.timeline.length) {
      pass.messages = byMessage(pass.segment)
    } else {
      this.#runSlice(pass, started)
    }
    this.longestPause_ms = Math.max(this.longestPause_ms, performance.now() - started)
  }

  /** In a transaction of its own. */
  #runSlice(pass: Pass, started: number) {
    const begun = pass.done
    const end = pass.timeline.length + (pass.messages?.length ?? 0)
    const isLast = () => pass.messages !== undefined && pass.done === end
    try {
      this.#connection.exec('BEGIN IMMEDIATE')
      while (pass.done < end && performance.now() - started < SLICE_MS) this.#insertChunk(pass)
      if (isLast()) this.#statements.indexed.run(pass.segment.firstSeq + pass.segment.length - 1)
      this.#connection.exec('COMMIT')
    } catch (error) {
      pass.done = begun
      throw error
    }
    const entries = pass.done - begun
    this.#owed = Math.max(0, this.#owed - entries)
    if (isLast()) {
      this.#tail.endIndexing()
      this.#pass = undefined
    }
    const enough = Math.max(1, Math.floor(entries / ENTRIES_PER_EVENT / PACE))
    this.groupRows = this.#isBehind ? enough : Number.POSITIVE_INFINITY
  }

  #insertChunk(pass: Pass) {
    const { segment, timeline, messages = timeline, done } = pass
    const isTimeline = done < timeline.length
    const places = isTimeline ? timeline : messages
    const from = isTimeline ? done : done - timeline.length
    const chunk = places.subarray(from, from + CHUNK_ENTRIES)
    const parameters: number[] = []
    for (const place of chunk) {
      const seq = segment.firstSeq + place
      if (isTimeline) {
        const block = Math.floor(seq / BLOCK_EVENTS)
        parameters.push(block, segment.customers[place] as number, segment.times[place] as number, seq)
      } else {
        parameters.push(segment.keys[place] as number, seq)
      }
    }
    const [many, one, width] = isTimeline
      ? [this.#statements.timelineChunk, this.#statements.timelineEntry, 4]
      : [this.#statements.messagesChunk, this.#statements.messagesEntry, 2]
    if (chunk.length === CHUNK_ENTRIES) many.run(...parameters)
    else for (let at = 0; at < parameters.length; at += width) one.run(...parameters.slice(at, at + width))
    pass.done += chunk.length
  }
}

function byCustomer({ length, customers }: Segment): Uint32Array {
  const places = new Uint32Array(length)
  for (let place = 0; place < length; place += 1) places[place] = place
  return sorted(places, customers)
}

/** Those that have a message. By the upper 32 of its key's 53 bits: what lies together need not be in order. */
function byMessage({ length, keys }: Segment): Uint32Array {
  const places = new Uint32Array(length)
  const words = new Uint32Array(length)
  let count = 0
  for (let place = 0; place < length; place += 1) {
    const key = keys[place] as number
    if (key === -1) continue
    places[count] = place
    words[place] = key / 2 ** 21
    count += 1
  }
  return sorted(places.subarray(0, count), words)
}

/** So many bits are sorted by at a time. */
const DIGIT_BITS = 11

/**
 * Sorts places by their words (radix sort): some milliseconds for 150,000, against 35 for an array's own sort, and the
 * writer waits for it.
 */
function sorted(places: Uint32Array, words: Uint32Array): Uint32Array {
  let from = places
  let to: Uint32Array = new Uint32Array(places.length)
  const ends = new Uint32Array(2 ** DIGIT_BITS)
  const mask = ends.length - 1
  for (let shift = 0; shift < 32; shift += DIGIT_BITS) {
    ends.fill(0)
    for (let index = 0; index < from.length; index += 1) {
      const digit = ((words[from[index] as number] as number) >>> shift) & mask
      ends[digit] = (ends[digit] as number) + 1
    }
    for (let digit = 1; digit <= mask; digit += 1) {
      ends[digit] = (ends[digit] as number) + (ends[digit - 1] as number)
    }
    for (let index = from.length - 1; index >= 0; index -= 1) {
      const place = from[index] as number
      const digit = ((words[place] as number) >>> shift) & mask
      const end = (ends[digit] as number) - 1
      ends[digit] = end
      to[end] = place
    }
    const done = to
    to = from
    from = done
  }
  return from
}

function prepare(connection: Connection) {
  const into = (table: string, columns: number, rows: number) => {
    const row = `(${Array(columns).fill('?').join(', ')})`
    return connection.prepare<unknown[]>(
      `INSERT INTO ${table} VALUES ${Array(rows).fill(row).join(', ')} ON CONFLICT DO NOTHING`,
    )
  }
  return {
    timelineChunk: into('event_timeline', 4, CHUNK_ENTRIES),
    timelineEntry: into('event_timeline', 4, 1),
    messagesChunk: into('event_messages', 2, CHUNK_ENTRIES),
    messagesEntry: into('event_messages', 2, 1),
    indexed: connection.prepare<[number]>('UPDATE event_indexing SET indexed_seq = ?'),
  }
}
