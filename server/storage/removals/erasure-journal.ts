import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import type { Database } from '../database.ts'
import { FILE_MODE, makePrivate } from '../private-file.ts'
import { commandLine } from '../tables/audit-log.ts'
import { eraseAgain, findErasure, type NotedErasure } from './erasures.ts'
import type { RemovalStore } from './removal-store.ts'
import type { Removal } from './removals.ts'

type CustomerName = Pick<NotedErasure, 'workspace_id' | 'customer_id'>

/** Transactions of all servers take turns; none waits long for one of so many. */
const ERASED_AT_ONCE = 100

/**
 * The erasures of a store, line by line as JSON, outside of it: it is only ever added to, and no backup puts it back. Who
 * was erased is in it as in the store, by an opaque identifier and a keyed digest. More than one process may add to it.
 */
export class ErasureJournal {
  readonly #path: string
  /** By the names of workspace and customer. */
  readonly #noted: Map<string, NotedErasure>

  /**
   * @param path of the file, which is made with the first erasure
   * @throws {Error} of the file system
   */
  constructor(path: string) {
    this.#path = path
    this.#noted = new Map(linesOf(path).map((erasure) => [nameOf(erasure), erasure]))
  }

  /** Erases again whom a store still has that is older than the journal, and notes whom the journal does not have. */
  async reconcile(
    db: Database,
    removals: Pick<RemovalStore, 'removeCustomer'>,
    now_ms: number,
  ): Promise<void> {
    const stored = await db.selectFrom('erasures').selectAll().execute()
    const names = new Set(stored.map(nameOf))
    const missing = [...this.#noted].flatMap(([name, noted]) => (names.has(name) ? [] : noted))
    for (let from = 0; from < missing.length; from += ERASED_AT_ONCE) {
      await db.transaction().execute(async (db) => {
        for (const noted of missing.slice(from, from + ERASED_AT_ONCE)) {
          await eraseAgain(db, removals, noted, commandLine(now_ms))
        }
      })
    }
    // Those of a store that was copied, or whose process was killed before it noted them.
    this.#note(stored)
  }

  /** Notes for whom a removal is, where it is an erasure: on disk before anything of it is gone. */
  async noteRemoval(db: Database, { kind, workspace_id, subject_id: customer_id }: Removal): Promise<void> {
    if (kind !== 'customer' || this.#noted.has(nameOf({ workspace_id, customer_id }))) return
    const erasure = await findErasure(db, workspace_id, customer_id)
    if (erasure) this.#note([erasure])
  }

  /** On disk when it returns. Those that are noted already are not noted again. */
  #note(erasures: readonly NotedErasure[]) {
    const missing = erasures.filter((erasure) => !this.#noted.has(nameOf(erasure)))
    if (missing.length === 0) return
    makePrivate(this.#path)
    const lines = missing.map(({ workspace_id, customer_id, own_digest, erased_ms }) =>
      JSON.stringify({ workspace_id, customer_id, own_digest, erased_ms }),
    )
    const file = openSync(this.#path, 'a', FILE_MODE)
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
