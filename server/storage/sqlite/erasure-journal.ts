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
  /** By the names of workspace and customer. */
  readonly #noted: Map<string, NotedErasure>

  /** @param path of the store */
  constructor(path: string) {
    this.#path = erasuresPath(path)
    this.#noted = new Map(linesOf(this.#path).map((erasure) => [nameOf(erasure), erasure]))
  }

  has(customer: CustomerName): boolean {
    return this.#noted.has(nameOf(customer))
  }

  /** Those that a store does not have which has these: it is older than they are. */
  missingIn(stored: readonly CustomerName[]): NotedErasure[] {
    const names = new Set(stored.map(nameOf))
    return [...this.#noted].filter(([name]) => !names.has(name)).map(([, erasure]) => erasure)
  }

  /** Notes erasures, on disk when it returns; not those that are noted already. */
  note(erasures: readonly NotedErasure[]): void {
    const missing = erasures.filter((erasure) => !this.has(erasure))
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
    for (const erasure of missing) this.#noted.set(nameOf(erasure), erasure)
  }
}

type CustomerName = Pick<NotedErasure, 'workspace_id' | 'customer_id'>

/** A line that was cut short is left out. */
function linesOf(path: string): NotedErasure[] {
  if (!existsSync(path)) return []
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line): NotedErasure[] => {
      try {
        return line === '' ? [] : [JSON.parse(line)]
      } catch {
        return []
      }
    })
}

function nameOf({ workspace_id, customer_id }: CustomerName): string {
  return `${workspace_id} ${customer_id}`
}
