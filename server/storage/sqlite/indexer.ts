import type { Connection } from './connection.ts'
import type { Segment, Tail } from './tail.ts'

/** A pass indexes at least this many events: the more, the fewer pages each of the sorted slices touches. */
const PASS_EVENTS = 100_000

/** With more than this in the tail, memory and the time of a start would have no bound. */
const TAIL_EVENTS = 240_000

/** What has arrived is indexed also without a full pass when there is nothing else to do; less is no burden. */
const IDLE_EVENTS = 10_000

/** Entries owed before a slice is worth a commit of its own. */
const SLICE_ENTRIES = 4_000

/** A slice ends after this, or after the longer time where a slow disk has let the tail grow. Its commit is not in it. */
const SLICE_MS = 10
const LONG_SLICE_MS = 25
const LONG_TAIL_EVENTS = 160_000

/** The time is looked at, and rows are inserted, in chunks of this many entries. */
const CHUNK_ENTRIES = 50

/** Each event has an entry in either index. Twice that much is done for every event that arrives. */
const ENTRIES_PER_EVENT = 2
const PACE = 2

/**
 * A sort by number alone: the place in the segment takes the low bits, what to sort by the high ones. A segment is never
 * larger than the tail may be.
 */
const PLACE_RANGE = 2 ** 18

type Pass = {
  segment: Segment
  /** Places in the segment, by customer; then those with a message, by its key. */
  timeline: Float64Array
  messages: Float64Array
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
  /** The longest time that a slice has held the writer, its commit included. */
  longestPause_ms = 0

  constructor(connection: Connection, tail: Tail) {
    this.#connection = connection
    this.#tail = tail
    this.#seenSeq = tail.nextSeq
    this.#statements = prepare(connection)
  }

  /**
   * Whether a slice is to be run now.
   * @param isIdle whether nothing else waits; then also what is not urgent is done
   */
  isDue(isIdle: boolean): boolean {
    const { arriving, nextSeq } = this.#tail
    this.#owed += (nextSeq - this.#seenSeq) * ENTRIES_PER_EVENT * PACE
    this.#seenSeq = nextSeq
    if (!this.#pass && arriving.length >= (isIdle ? IDLE_EVENTS : PASS_EVENTS)) {
      this.#pass = sorted(this.#tail.beginIndexing())
      this.#owed = 0
    }
    if (!this.#pass) return false
    return isIdle || this.#owed >= SLICE_ENTRIES
  }

  /** Whether so much waits for the indexes that writing must wait for them. */
  get isBehind(): boolean {
    return this.#tail.length > TAIL_EVENTS
  }

  /** One slice, in a transaction of its own. @throws what the engine throws; the slice is then as if never begun */
  runSlice(): void {
    const pass = this.#pass
    if (!pass) return
    const started = performance.now()
    const slice_ms = this.#tail.length > LONG_TAIL_EVENTS ? LONG_SLICE_MS : SLICE_MS
    const begun = pass.done
    const total = pass.timeline.length + pass.messages.length
    try {
      this.#connection.exec('BEGIN IMMEDIATE')
      while (pass.done < total && performance.now() - started < slice_ms) this.#insertChunk(pass)
      if (pass.done === total) this.#statements.indexed.run(pass.segment.firstSeq + pass.segment.length - 1)
      this.#connection.exec('COMMIT')
    } catch (error) {
      pass.done = begun
      throw error
    }
    this.#owed = Math.max(0, this.#owed - (pass.done - begun))
    if (pass.done === total) {
      this.#tail.endIndexing()
      this.#pass = undefined
    }
    this.longestPause_ms = Math.max(this.longestPause_ms, performance.now() - started)
  }

  #insertChunk(pass: Pass) {
    const { segment, timeline, messages, done } = pass
    const isTimeline = done < timeline.length
    const places = isTimeline ? timeline : messages
    const from = isTimeline ? done : done - timeline.length
    const chunk = places.subarray(from, from + CHUNK_ENTRIES)
    const parameters: number[] = []
    for (const packed of chunk) {
      const place = packed % PLACE_RANGE
      const seq = segment.firstSeq + place
      if (isTimeline) {
        parameters.push(segment.customers[place] as number, segment.times[place] as number, seq)
      } else {
        parameters.push(segment.keys[place] as number, seq)
      }
    }
    const [many, one, width] = isTimeline
      ? [this.#statements.timelineChunk, this.#statements.timelineEntry, 3]
      : [this.#statements.messagesChunk, this.#statements.messagesEntry, 2]
    if (chunk.length === CHUNK_ENTRIES) many.run(...parameters)
    else for (let at = 0; at < parameters.length; at += width) one.run(...parameters.slice(at, at + width))
    pass.done += chunk.length
  }
}

function sorted(segment: Segment): Pass {
  const timeline = new Float64Array(segment.length)
  const messages = new Float64Array(segment.length)
  let messageCount = 0
  for (let place = 0; place < segment.length; place += 1) {
    timeline[place] = (segment.customers[place] as number) * PLACE_RANGE + place
    const key = segment.keys[place] as number
    if (key === -1) continue
    messages[messageCount] = Math.floor(key / PLACE_RANGE) * PLACE_RANGE + place
    messageCount += 1
  }
  return { segment, timeline: timeline.sort(), messages: messages.subarray(0, messageCount).sort(), done: 0 }
}

function prepare(connection: Connection) {
  const into = (table: string, columns: number, rows: number) => {
    const row = `(${Array(columns).fill('?').join(', ')})`
    return connection.prepare<unknown[]>(
      `INSERT INTO ${table} VALUES ${Array(rows).fill(row).join(', ')} ON CONFLICT DO NOTHING`,
    )
  }
  return {
    timelineChunk: into('event_timeline', 3, CHUNK_ENTRIES),
    timelineEntry: into('event_timeline', 3, 1),
    messagesChunk: into('event_messages', 2, CHUNK_ENTRIES),
    messagesEntry: into('event_messages', 2, 1),
    indexed: connection.prepare<[number]>('UPDATE event_indexing SET indexed_seq = ?'),
  }
}
