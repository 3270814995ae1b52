import type { Connection } from '../connection.ts'
import { mergeRuns } from './compaction.ts'
import type { Tail } from './memtable.ts'
import { runOfSegment } from './memtable-flush.ts'
import type { MessageIndex } from './message-index.ts'
import { ENTRIES_AT_ONCE, type Run } from './run.ts'
import { RunBuilder } from './run-builder.ts'
import { type RunStore, RunWriter } from './run-store.ts'
import { SPAN_EVENTS, STRETCH_EVENTS } from './zone-map.ts'

/** A run is made of at least this many events: the fewer, the more runs a look-up must ask. */
const RUN_EVENTS = 65_536

/** What has arrived is indexed also without a full run when there is nothing else to do; less is no burden. */
const IDLE_EVENTS = 10_000

/**
 * So many runs of one level that follow each other become one, mostly of the next level; those of the last stay. Until the
 * one is made the file has both: for the last level 21 bytes for each of three million events.
 */
const MERGED_RUNS = 7
const GREATEST_LEVEL = 2

/** A run of fewer events is of this level still, however often it was merged: a quiet store makes many small ones. */
const LEVEL_EVENTS = [2 ** 18, 2 ** 21]

/** Every event has six postings and one entry in a timeline; these are put into a run, and merged twice. */
const ENTRIES_PER_EVENT = 7 * (1 + GREATEST_LEVEL)

/** So many times what has arrived is done. */
const PACE = 2

/** Entries owed before a slice is worth a commit of its own. */
const SLICE_ENTRIES = 30_000

/** A slice ends after this. Its commit is not in it and takes about as long. */
const SLICE_MS = 4

type Job = {
  work: Generator<void, Run>
  builder: RunBuilder
  /** What the run takes the place of; none: the events of the tail's older segment. */
  merged: readonly Run[]
}

/**
 * Fills the indexes of events in slices between groups. What was cut short is begun again after a restart; pages that
 * are then of no run are removed.
 */
export class Indexer {
  readonly #connection: Connection
  readonly #tail: Tail
  readonly #messages: MessageIndex
  readonly #store: RunStore
  readonly #writer: RunWriter
  readonly #statements: ReturnType<typeof prepare>
  /** All runs, the one with the latest events first. */
  #runs: readonly Run[]
  /** A run of arrived events goes before a merge that is under way. */
  #arrived: Job | undefined
  #merge: Job | undefined
  /** Numbers under which there are pages of no run. */
  readonly #left: number[]
  #lastNumber: number
  /** Entries to be written for what has arrived. */
  #owed = 0
  #seenSeq: number

  constructor(
    connection: Connection,
    { tail, store, messages }: { tail: Tail; store: RunStore; messages: MessageIndex },
  ) {
    this.#connection = connection
    this.#tail = tail
    this.#store = store
    this.#messages = messages
    this.#writer = new RunWriter(connection)
    this.#statements = prepare(connection)
    this.#runs = store.all()
    this.#left = this.#writer.leftBehind()
    this.#lastNumber = this.#writer.newNumber() - 1
    this.#seenSeq = tail.nextSeq
  }

  /**
   * Whether a slice is to be done now.
   * @param isIdle whether nothing else waits; then also what is not urgent is done
   */
  isDue(isIdle: boolean): boolean {
    const { arriving, nextSeq } = this.#tail
    this.#owed += (nextSeq - this.#seenSeq) * ENTRIES_PER_EVENT * PACE
    this.#seenSeq = nextSeq
    if (this.isBehind) return true
    if (isIdle && arriving.length >= IDLE_EVENTS) return true
    if (!this.#hasWork) {
      this.#owed = 0
      return false
    }
    return isIdle || this.#owed >= SLICE_ENTRIES
  }

  /** Whether so many events wait that a slice must be done before the next group. */
  get isBehind(): boolean {
    return this.#tail.arriving.length >= RUN_EVENTS
  }

  get #hasWork(): boolean {
    const isArrived = this.#arrived !== undefined || this.#tail.indexing !== undefined
    return isArrived || this.#merge !== undefined || this.#mergeable !== undefined || this.#left.length > 0
  }

  /** Puts into runs what has arrived, until the rest is no burden. @throws what the engine throws */
  catchUp(): void {
    while (this.#arrived || this.isBehind) this.step(false)
  }

  /**
   * Takes out the runs of which every event was removed, and the spans that lie in them, inside a transaction of the caller;
   * not those that are being merged.
   * @returns what is to be done when that is on disk
   */
  dropEmptyRuns(): () => void {
    const merged = new Set(this.#merge?.merged)
    const empty = this.#runs.filter((run) => !merged.has(run) && !this.#statements.hasEvents.get(run))
    for (const run of empty) {
      this.#writer.deleteRun(run)
      this.#statements.deleteSpans.run(run)
    }
    if (empty.length > 0) this.#statements.deleteStretches.run()
    return () => {
      if (empty.length === 0) return
      this.#runs = this.#runs.filter((run) => !empty.includes(run))
      this.#messages.drop(empty)
      this.#left.push(...empty.map(({ run }) => run))
    }
  }

  /**
   * Does a slice of the work, in a transaction of its own.
   * @param isIdle whether nothing else waits
   * @throws what the engine throws; what was under way is then begun again by another indexer
   */
  step(isIdle: boolean): void {
    const until_ms = performance.now() + SLICE_MS
    // Pages of the indexes hold numbers alone; to overwrite each that is left would be as much to write as the new ones.
    this.#connection.pragma('secure_delete = OFF')
    let ended: (() => void) | undefined
    try {
      this.#connection.exec('BEGIN IMMEDIATE')
      ended = this.#work(this.#nextJob(isIdle), until_ms)
      this.#connection.exec('COMMIT')
    } finally {
      this.#connection.pragma('secure_delete = ON')
    }
    ended?.()
  }

  /** @returns what is to be done when all is on disk, where a run was finished */
  #work(job: Job | undefined, until_ms: number): (() => void) | undefined {
    let entries = 0
    while (performance.now() < until_ms) {
      if (!job) {
        const [number] = this.#left
        if (number === undefined) break
        if (!this.#writer.deleteSomePages(number)) this.#left.shift()
        continue
      }
      const { done, value } = job.work.next()
      entries += ENTRIES_AT_ONCE
      if (done) return this.#finish(job, value)
    }
    this.#owed = Math.max(0, this.#owed - entries)
    return undefined
  }

  #nextJob(isIdle: boolean): Job | undefined {
    this.#arrived ??= this.#newRun(isIdle ? IDLE_EVENTS : RUN_EVENTS)
    if (this.#arrived) return this.#arrived
    // So that the next run takes the room of those before, and the file does not grow for it.
    if (this.#left.length > 0) return undefined
    this.#merge ??= this.#newMerge()
    return this.#merge
  }

  /** @param least events that are worth a run */
  #newRun(least: number): Job | undefined {
    const { indexing, arriving } = this.#tail
    const segment = indexing ?? (arriving.length >= least ? this.#tail.beginIndexing() : undefined)
    if (!segment) return undefined
    const { firstSeq, length, keys } = segment
    const messages = keys.subarray(0, length).reduce((count, key) => count + Number(key !== -1), 0)
    return this.#newJob(
      { level: 0, first_seq: firstSeq, last_seq: firstSeq + length - 1, messages },
      [],
      (builder) => runOfSegment(segment, builder),
    )
  }

  /** The oldest runs that can become one. */
  get #mergeable(): Run[] | undefined {
    for (let level = 0; level < GREATEST_LEVEL; level += 1) {
      const runs = this.#runs.filter((run) => run.level === level)
      if (runs.length >= MERGED_RUNS) return runs.slice(-MERGED_RUNS).toReversed()
    }
    return undefined
  }

  #newMerge(): Job | undefined {
    const runs = this.#mergeable
    const [first] = runs ?? []
    const last = runs?.at(-1)
    if (!runs || !first || !last) return undefined
    const outline = {
      level: Math.min(first.level + 1, levelOf(last.last_seq - first.first_seq + 1)),
      first_seq: first.first_seq,
      last_seq: last.last_seq,
      messages: runs.reduce((sum, { messages }) => sum + messages, 0),
    }
    return this.#newJob(outline, runs, (builder) => mergeRuns(runs, this.#store, builder))
  }

  #newJob(
    outline: Pick<Run, 'level' | 'first_seq' | 'last_seq' | 'messages'>,
    merged: readonly Run[],
    begin: (builder: RunBuilder) => Generator<void, Run>,
  ): Job {
    this.#lastNumber += 1
    const builder = new RunBuilder(this.#writer, { run: this.#lastNumber, ...outline })
    return { work: begin(builder), builder, merged }
  }

  #finish({ merged, builder }: Job, run: Run): () => void {
    this.#writer.insertRun(run)
    for (const old of merged) this.#writer.deleteRun(old)
    if (merged.length === 0) this.#statements.indexed.run(run.last_seq)
    return () => {
      const numbers = new Set(merged.map(({ run }) => run))
      const kept = this.#runs.filter(({ run }) => !numbers.has(run))
      this.#runs = [...kept, run].sort((a, b) => b.first_seq - a.first_seq)
      this.#messages.replace(merged, run, builder.filter)
      this.#left.push(...numbers)
      if (merged.length === 0) {
        this.#tail.endIndexing()
        this.#arrived = undefined
      } else {
        this.#merge = undefined
      }
    }
  }
}

function levelOf(events: number): number {
  return LEVEL_EVENTS.filter((least) => events >= least).length
}

function prepare(connection: Connection) {
  return {
    indexed: connection.prepare<[number]>('UPDATE event_indexing SET indexed_seq = ?'),
    // Half of a span may be in another run.
    deleteSpans: connection.prepare<[Pick<Run, 'first_seq' | 'last_seq'>]>(
      `DELETE FROM event_spans
      WHERE span * ${SPAN_EVENTS} >= @first_seq AND span * ${SPAN_EVENTS} + ${SPAN_EVENTS - 1} <= @last_seq`,
    ),
    deleteStretches: connection.prepare(
      `DELETE FROM event_stretches WHERE NOT EXISTS (
        SELECT 1 FROM event_spans
        WHERE span BETWEEN stretch * ${STRETCH_EVENTS / SPAN_EVENTS}
          AND stretch * ${STRETCH_EVENTS / SPAN_EVENTS} + ${STRETCH_EVENTS / SPAN_EVENTS - 1}
      )`,
    ),
    hasEvents: connection.prepare<[Pick<Run, 'first_seq' | 'last_seq'>]>(
      'SELECT 1 FROM events WHERE seq BETWEEN @first_seq AND @last_seq LIMIT 1',
    ),
  }
}
