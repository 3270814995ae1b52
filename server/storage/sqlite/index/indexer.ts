import type { Connection } from '../connection.ts'
import { mergeRuns } from './compaction.ts'
import type { Memtable } from './memtable.ts'
import { runOfSegment } from './memtable-flush.ts'
import type { MessageIndex } from './message-index.ts'
import { ENTRIES_AT_ONCE, type Run } from './run.ts'
import { RunBuilder } from './run-builder.ts'
import { type RunStore, RunWriter } from './run-store.ts'
import { SPAN_EVENTS, STRETCH_EVENTS } from './zone-map.ts'

/** Minimum events per run: the smaller the runs, the more of them a lookup must read. */
const RUN_EVENTS = 65_536

/** An idle store flushes the memtable without a full run; fewer events than this are no burden. */
const IDLE_EVENTS = 10_000

/**
 * Fan-in of compaction: this many adjacent runs of a level become one, usually of the next level; those of the last
 * level stay. Until the new one is complete, the file contains both: for the last level 21 bytes for each of three
 * million events.
 */
const MERGED_RUNS = 7
const GREATEST_LEVEL = 2

/** A run with fewer events stays on this level, however often it was merged: a quiet store makes many small runs. */
const LEVEL_EVENTS = [2 ** 18, 2 ** 21]

/** Work per event: six postings and one timeline entry, written to a run and merged twice. */
const ENTRIES_PER_EVENT = 7 * (1 + GREATEST_LEVEL)

/** The work done is this multiple of the work that arrives. */
const PACE = 2

/** Minimum entries of pending work for a slice, because each slice has a commit of its own. */
const SLICE_ENTRIES = 30_000

/** Maximum time of a slice without its commit, which takes about as long. */
const SLICE_MS = 4

type Job = {
  work: Generator<void, Run>
  builder: RunBuilder
  /** The runs that the new one replaces; empty: it is made from the older segment of the memtable. */
  merged: readonly Run[]
}

/**
 * Flushes the memtable and compacts runs, in slices between groups of writes. An interrupted run is started again after
 * a restart; pages of no run are then removed.
 */
export class Indexer {
  readonly #connection: Connection
  readonly #memtable: Memtable
  readonly #messages: MessageIndex
  readonly #store: RunStore
  readonly #writer: RunWriter
  readonly #statements: ReturnType<typeof prepare>
  /** All runs, the latest events first. */
  #runs: readonly Run[]
  /** A flush goes before a compaction in progress. */
  #arrived: Job | undefined
  #merge: Job | undefined
  /** Numbers with pages that belong to no run. */
  readonly #left: number[]
  #lastNumber: number
  /** Pending work in entries, for what has arrived. */
  #owed = 0
  #seenSeq: number

  constructor(
    connection: Connection,
    { memtable, store, messages }: { memtable: Memtable; store: RunStore; messages: MessageIndex },
  ) {
    this.#connection = connection
    this.#memtable = memtable
    this.#store = store
    this.#messages = messages
    this.#writer = new RunWriter(connection)
    this.#statements = prepare(connection)
    this.#runs = store.all()
    this.#left = this.#writer.leftBehind()
    this.#lastNumber = this.#writer.newNumber() - 1
    this.#seenSeq = memtable.nextSeq
  }

  /**
   * Whether a slice is due now.
   * @param isIdle whether nothing else is waiting; then also work that is not urgent is done
   */
  isDue(isIdle: boolean): boolean {
    const { arriving, nextSeq } = this.#memtable
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

  /** Whether the backlog is so long that a slice must come before the next group (backpressure). */
  get isBehind(): boolean {
    return this.#memtable.arriving.length >= RUN_EVENTS
  }

  get #hasWork(): boolean {
    const isArrived = this.#arrived !== undefined || this.#memtable.indexing !== undefined
    return isArrived || this.#merge !== undefined || this.#mergeable !== undefined || this.#left.length > 0
  }

  /** Flushes the memtable until the rest is no burden. @throws what SQLite throws */
  catchUp(): void {
    while (this.#arrived || this.isBehind) this.step(false)
  }

  /**
   * Drops runs of which every event was removed, and their zone map, in the caller's transaction; not those that are
   * being merged.
   * @returns what to do when that is committed
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
   * Does a slice of work, in its own transaction.
   * @param isIdle whether nothing else is waiting
   * @throws what SQLite throws; another indexer then starts the unfinished run again
   */
  step(isIdle: boolean): void {
    const until_ms = performance.now() + SLICE_MS
    // Pages of the indexes contain only numbers; overwriting those that become free would double the writes.
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

  /** @returns what to do when the slice is committed, if a run was completed */
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
    // First, so that the next run reuses the space and the file does not grow.
    if (this.#left.length > 0) return undefined
    this.#merge ??= this.#newMerge()
    return this.#merge
  }

  /** @param least minimum events for a run */
  #newRun(least: number): Job | undefined {
    const { indexing, arriving } = this.#memtable
    const segment = indexing ?? (arriving.length >= least ? this.#memtable.beginIndexing() : undefined)
    if (!segment) return undefined
    const { firstSeq, length, keys } = segment
    const messages = keys.subarray(0, length).reduce((count, key) => count + Number(key !== -1), 0)
    return this.#newJob(
      { level: 0, first_seq: firstSeq, last_seq: firstSeq + length - 1, messages },
      [],
      (builder) => runOfSegment(segment, builder),
    )
  }

  /** The oldest runs that can be merged. */
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
        this.#memtable.endIndexing()
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
    // The other half of a span may be in another run.
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
