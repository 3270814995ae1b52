import { PostingReader } from './postings.ts'
import { ENTRIES_AT_ONCE, type Run } from './run.ts'
import type { RunBuilder } from './run-builder.ts'
import type { RunStore } from './run-store.ts'
import { isBefore, TimelineCursor } from './timeline.ts'

/**
 * Writes what several runs hold into one. Yields again and again, so that the caller can put it off.
 * @param runs that follow each other, the one with the earliest events first
 */
export function* mergeRuns(runs: readonly Run[], store: RunStore, builder: RunBuilder): Generator<void, Run> {
  yield* mergePostings(runs, store, builder)
  yield* mergeTimelines(runs, store, builder)
  return yield* builder.finish()
}

function* mergePostings(runs: readonly Run[], store: RunStore, builder: RunBuilder): Generator<void> {
  const cursors = runs.map((run) => new PostingCursor(run, store))
  let entries = 0
  while (true) {
    let key = Number.POSITIVE_INFINITY
    for (const cursor of cursors) if (cursor.key < key) key = cursor.key
    if (key === Number.POSITIVE_INFINITY) return
    for (const cursor of cursors) {
      // More than once where its postings go on on the next page.
      while (cursor.key === key) {
        for (let seq = cursor.nextSeq(); seq !== -1; seq = cursor.nextSeq()) {
          builder.addPosting(key, seq)
          entries += 1
          if (entries % ENTRIES_AT_ONCE === 0) yield
        }
        cursor.nextKey()
      }
    }
  }
}

function* mergeTimelines(runs: readonly Run[], store: RunStore, builder: RunBuilder): Generator<void> {
  const cursors = runs.map((run) => new TimelineCursor(run, store.readPage))
  for (const cursor of cursors) cursor.next()
  let entries = 0
  while (true) {
    let least = cursors[0] as TimelineCursor
    for (const cursor of cursors) {
      if (cursor.customer > least.customer) continue
      if (cursor.customer < least.customer || isBefore(cursor, least)) least = cursor
    }
    if (least.customer === Number.POSITIVE_INFINITY) return
    builder.addToTimeline(least.customer, least.at_ms, least.seq)
    least.next()
    entries += 1
    if (entries % ENTRIES_AT_ONCE === 0) yield
  }
}

/** Reads all postings of a run, key by key; behind the last the key is infinite. */
class PostingCursor {
  readonly #run: Run
  readonly #store: RunStore
  #page = 0
  #reader: PostingReader | undefined
  key = 0

  constructor(run: Run, store: RunStore) {
    this.#run = run
    this.#store = store
    this.nextKey()
  }

  nextSeq(): number {
    return this.#reader?.nextSeq() ?? -1
  }

  nextKey(): void {
    const first = this.#run.postings.firsts[this.#page]
    if (this.#reader?.nextKey()) {
      this.key = this.#reader.key
    } else if (first === undefined) {
      this.key = Number.POSITIVE_INFINITY
    } else {
      const page = this.#store.readPage(this.#run, 'postings', this.#page)
      this.#page += 1
      this.#reader = new PostingReader(page, this.#run, first)
      this.nextKey()
    }
  }
}
