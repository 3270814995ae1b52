import type { KeyFilter } from './bloom-filter.ts'
import { postingKeys } from './posting-keys.ts'
import { postingsBelow } from './postings.ts'
import type { Run } from './run.ts'
import type { RunStore } from './run-store.ts'

type FilteredRun = { run: Run; filter: KeyFilter }

/** Where the writer looks up messages that are in a run: the filter of each run is in memory, 1.5 bytes a message. */
export class MessageIndex {
  readonly #store: RunStore
  #runs: readonly FilteredRun[]

  constructor(store: RunStore) {
    this.#store = store
    this.#runs = store.all().map((run) => ({ run, filter: store.readFilter(run) }))
  }

  /** Numbers of the events that have the key. */
  find(message_key: number): readonly number[] {
    const key = postingKeys.message(message_key)
    let found: number[] | undefined
    for (const { run, filter } of this.#runs) {
      if (!filter.mayHave(key)) continue
      for (const seq of postingsBelow(run, this.#store.readPage, { key, below: Number.POSITIVE_INFINITY })) {
        found ??= []
        found.push(seq)
      }
    }
    return found ?? NONE
  }

  /** Runs were removed. */
  drop(runs: readonly Run[]): void {
    const numbers = new Set(runs.map(({ run }) => run))
    this.#runs = this.#runs.filter(({ run }) => !numbers.has(run.run))
  }

  /** A run was written, in place of others or of none. */
  replace(merged: readonly Run[], run: Run, filter: KeyFilter): void {
    const numbers = new Set(merged.map(({ run }) => run))
    const kept = this.#runs.filter(({ run }) => !numbers.has(run.run))
    this.#runs = [{ run, filter }, ...kept]
  }
}

/** What nearly every look-up finds, made once. */
const NONE: readonly number[] = []
