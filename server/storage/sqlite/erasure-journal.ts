import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import type { NotedErasure } from '../removals/erasures.ts'
import { ERASURES, makePrivate } from './private-files.ts'

/** The file beside a store in which its erasures are noted, so that they are done again when an older store is put back. */
export function erasuresPath(path: string): string {
  return path + ERASURES
}

/**
 * The erasures of a store, line by line as JSON, outside of it: it is only ever added to, and no backup puts it back. Who
 * was erased is in it as in the store, by an opaque identifier and a keyed digest.
 */
export class ErasureJournal {
  readonly #path: string
  readonly #noted: Set<string>

  /** @param path of the store */
  constructor(path: string) {
    this.#path = erasuresPath(path)
    this.#noted = new Set(this.read().map(nameOf))
  }

  /** All that were noted; a line that was cut short is left out. */
  read(): NotedErasure[] {
    if (!existsSync(this.#path)) return []
    return readFileSync(this.#path, 'utf8')
      .split('\n')
      .flatMap((line): NotedErasure[] => {
        try {
          return line === '' ? [] : [JSON.parse(line)]
        } catch {
          return []
        }
      })
  }

  /** Notes erasures, on disk when it returns; not those that are noted already. */
  note(erasures: readonly NotedErasure[]): void {
    const missing = erasures.filter((erasure) => !this.#noted.has(nameOf(erasure)))
    if (missing.length === 0) return
    makePrivate(this.#path)
    const lines = missing.map(({ workspace_id, customer_id, own_digest, erased_ms }) =>
      JSON.stringify({ workspace_id, customer_id, own_digest, erased_ms }),
    )
    const file = openSync(this.#path, 'a', 0o600)
    try {
      // A line that was cut short before stays one of its own.
      writeSync(file, `\n${lines.join('\n')}\n`)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    for (const erasure of missing) this.#noted.add(nameOf(erasure))
  }
}

function nameOf({ workspace_id, customer_id }: Pick<NotedErasure, 'workspace_id' | 'customer_id'>): string {
  return `${workspace_id} ${customer_id}`
}
