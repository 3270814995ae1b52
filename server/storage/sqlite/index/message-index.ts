import type { KeyFilter } from './bloom-filter.ts'
import { postingKeys } from './posting-keys.ts'
import { postingsBelow } from './postings.ts'
import type { Run } from './run.ts'
import type { RunStore } from './run-store.ts'

type FilteredRun = { run: Run; filter: KeyFilter }

/** Looks up messages in runs for the writer. The Bloom filter of each run is in memory, 1.5 bytes per message. */
export class MessageIndex {
  readonly #store: RunStore
  #runs: readonly FilteredRun[]

  constructor(store: RunStore) {
    this.#store = store
    this.#runs = store.all().map((run) => ({ run, filter: store.readFilter(run) }))
  }

  /** Returns the numbers of the events with the key. */
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

  /** Call it when runs were dropped. */
  drop(runs: readonly Run[]): void {
    const numbers = new Set(runs.map(({ run }) => run))
    this.#runs = this.#runs.filter(({ run }) => !numbers.has(run.run))
  }

  /** Call it when a run was written, which replaces others or none. */
  replace(merged: readonly Run[], run: Run, filter: KeyFilter): void {
    const numbers = new Set(merged.map(({ run }) => run))
    const kept = this.#runs.filter(({ run }) => !numbers.has(run.run))
    this.#runs = [{ run, filter }, ...kept]
  }
}

/** The result of nearly every lookup, allocated once. */
const NONE: readonly number[] = []
