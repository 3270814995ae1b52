import { PostingReader } from './postings.ts'
import { ENTRIES_AT_ONCE, type Run } from './run.ts'
import type { RunBuilder } from './run-builder.ts'
import type { RunStore } from './run-store.ts'
import { isBefore, TimelineCursor } from './timeline.ts'

/**
 * Compaction: merges several runs into one. A generator that yields often, so that the caller can pause it.
 * @param runs adjacent ones, the earliest events first
 */
export function* mergeRuns(runs: readonly Run[], store: RunStore, builder: RunBuilder): Generator<void, Run> {
  const postings = runs.map((run) => new PostingCursor(run, store))
  while (!mergePostings(postings, builder)) yield
  const timelines = runs.map((run) => new TimelineCursor(run, store.readPage))
  for (const timeline of timelines) timeline.next()
  while (!mergeTimelines(timelines, builder)) yield
  return yield* builder.finish()
}

/**
 * Merges the next postings. Not a generator, whose state would be allocated on the heap again for each entry, 1.7 kB
 * per event.
 * @returns whether none are left
 */
function mergePostings(cursors: readonly PostingCursor[], builder: RunBuilder): boolean {
  let left = ENTRIES_AT_ONCE
  while (true) {
    let key = Number.POSITIVE_INFINITY
    for (const cursor of cursors) if (cursor.key < key) key = cursor.key
    if (key === Number.POSITIVE_INFINITY) return true
    for (const cursor of cursors) {
      // Repeats if its postings continue on the next page.
      while (cursor.key === key) {
        for (let seq = cursor.nextSeq(); seq !== -1; seq = cursor.nextSeq()) {
          builder.addPosting(key, seq)
          left -= 1
          if (left === 0) return false
        }
        cursor.nextKey()
      }
    }
  }
}

/** Merges the next entries. @returns whether none are left */
function mergeTimelines(cursors: readonly TimelineCursor[], builder: RunBuilder): boolean {
  for (let left = ENTRIES_AT_ONCE; left > 0; left -= 1) {
    let least = cursors[0] as TimelineCursor
    for (const cursor of cursors) {
      if (cursor.customer > least.customer) continue
      if (cursor.customer < least.customer || isBefore(cursor, least)) least = cursor
    }
    if (least.customer === Number.POSITIVE_INFINITY) return true
    builder.addToTimeline(least.customer, least.at_ms, least.seq)
    least.next()
  }
  return false
}

/** Reads all postings of a run, key by key; after the last the key is infinite. */
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
