import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import type { Database } from '../database.ts'
import { FILE_MODE, makePrivate } from '../private-file.ts'
import { commandLine } from '../tables/audit-log.ts'
import { eraseAgain, findErasure, type NotedErasure } from './erasures.ts'
import type { RemovalStore } from './removal-store.ts'
import type { Removal } from './removals.ts'

type CustomerName = Pick<NotedErasure, 'workspace_id' | 'customer_id'>

/** Maximum per transaction: the transactions of all servers run one after the other, and none should wait long. */
const ERASED_AT_ONCE = 100

/**
 * The erasures of a store, one JSON line each, in a file outside of it. The file is append-only, and no backup replaces
 * it. An erased customer is in it as in the store, by an opaque identifier and a keyed digest. Several processes may
 * append to it.
 */
export class ErasureJournal {
  readonly #path: string
  /** By workspace and customer. */
  readonly #noted: Map<string, NotedErasure>

  /**
   * @param path of the file, which is created with the first erasure
   * @throws {Error} from the file system
   */
  constructor(path: string) {
    this.#path = path
    this.#noted = new Map(linesOf(path).map((erasure) => [nameOf(erasure), erasure]))
  }

  /** Erases again the customers that an older store still has, and adds to the journal what it lacks. */
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
    // Those of a store that was copied, or of a process that was killed before it wrote them.
    this.#note(stored)
  }

  /** Records a removal that is an erasure: on disk before any of its data is removed. */
  async noteRemoval(db: Database, { kind, workspace_id, subject_id: customer_id }: Removal): Promise<void> {
    if (kind !== 'customer' || this.#noted.has(nameOf({ workspace_id, customer_id }))) return
    const erasure = await findErasure(db, workspace_id, customer_id)
    if (erasure) this.#note([erasure])
  }

  /** Appends those that are missing; on disk when it returns. */
  #note(erasures: readonly NotedErasure[]) {
    const missing = erasures.filter((erasure) => !this.#noted.has(nameOf(erasure)))
    if (missing.length === 0) return
    makePrivate(this.#path)
    const lines = missing.map(({ workspace_id, customer_id, own_digest, erased_ms }) =>
      JSON.stringify({ workspace_id, customer_id, own_digest, erased_ms }),
    )
    const file = openSync(this.#path, 'a', FILE_MODE)
    try {
      // Starts with a line end, so that an earlier incomplete line stays separate.
      writeSync(file, `\n${lines.join('\n')}\n`)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    for (const erasure of missing) this.#noted.set(nameOf(erasure), erasure)
  }
}

/** Skips incomplete lines. */
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
