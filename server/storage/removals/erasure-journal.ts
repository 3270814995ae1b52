import { readFileSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { Database } from '../database.ts'
import { errorText } from '../file-errors.ts'
import { inTransaction } from '../in-transaction.ts'
import { FILE_MODE, makePrivateFile, syncFile } from '../private-file.ts'
import { type FileIdentity, isSameFile } from '../same-file.ts'
import { commandLine } from '../tables/audit-log.ts'
import { eraseAgain, findErasure } from './erasures.ts'
import type { NotedErasure, RemovalStore } from './removal-store.ts'
import type { Removal } from './removals.ts'

/**
 * Creates the file of `CAIRN_ERASURES_FILE` if it does not exist.
 * @throws {Error} with a message for the operator if its folder is missing, as that of a disk which is not mounted is; if it is
 *   something that keeps nothing, such as /dev/null; or if it cannot be written
 */
export function makeErasuresFile(path: string) {
  const folder = dirname(resolve(path))
  if (!statSync(folder, { throwIfNoEntry: false })) {
    const advice = 'Create it or mount its disk, or correct CAIRN_ERASURES_FILE'
    throw new Error(`the folder ${folder} of CAIRN_ERASURES_FILE does not exist. ${advice}`)
  }
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === false) {
    throw new Error(`CAIRN_ERASURES_FILE must be a file, but ${path} is something else`)
  }
  try {
    makePrivateFile(path)
  } catch (error) {
    throw new Error(`Cannot write the file of CAIRN_ERASURES_FILE: ${errorText(error)}`, { cause: error })
  }
}

type CustomerName = Pick<NotedErasure, 'workspace_id' | 'customer_id'>

/** Maximum per transaction: the transactions of all servers run one after the other, and none should wait long. */
const ERASED_AT_ONCE = 100

/** Maximum read by one statement, whose time is limited. */
const READ_AT_ONCE = 5_000

/**
 * The erasures of a store, one JSON line each, in a file outside of it. The file is append-only, and no backup replaces
 * it. An erased customer is in it as in the store, by an opaque identifier and a keyed digest. Several processes may
 * append to it.
 */
export class ErasureJournal {
  readonly #path: string
  /** By workspace and customer. */
  readonly #noted: Map<string, NotedErasure>
  /** What the next append writes, by the same names. */
  #waiting = new Map<string, NotedErasure>()
  /** The next append, if it has not started yet. */
  #next: Promise<void> | undefined
  /** Never rejects. */
  #previous: Promise<void> = Promise.resolve()
  #isFolderSynced = false
  /** The file that has what was noted; undefined if there was none. */
  #file: FileIdentity | undefined

  /**
   * @param path of the file, which is created with the first erasure; its folder must exist
   * @throws {Error} with a message for the operator if the file cannot be read, or is a SQLite database
   */
  constructor(path: string) {
    this.#path = path
    this.#file = statSync(path, { throwIfNoEntry: false })
    this.#noted = new Map(linesOf(path).map((erasure) => [nameOf(erasure), erasure]))
  }

  /** The erasures that were recorded. */
  get noted(): Iterable<NotedErasure> {
    return this.#noted.values()
  }

  /** Erases again the customers that an older store still has, and adds to the journal what it lacks. */
  async reconcile(
    db: Database,
    removals: Pick<RemovalStore, 'removeCustomer'>,
    now_ms: number,
  ): Promise<void> {
    const names = new Set<string>()
    let last: NotedErasure | undefined
    do {
      const stored = await erasuresAfter(db, last)
      for (const erasure of stored) names.add(nameOf(erasure))
      // Those of a store that was copied, or of a process that was killed before it wrote them.
      await this.note(stored)
      last = stored.at(-1)
    } while (last)
    const missing = [...this.#noted].flatMap(([name, noted]) => (names.has(name) ? [] : noted))
    for (let from = 0; from < missing.length; from += ERASED_AT_ONCE) {
      await inTransaction(db, async (db) => {
        for (const noted of missing.slice(from, from + ERASED_AT_ONCE)) {
          await eraseAgain(db, removals, noted, commandLine(now_ms))
        }
      })
    }
  }

  /** Records a removal that is an erasure: on disk before any of its data is removed. */
  async noteRemoval(db: Database, { kind, workspace_id, subject_id: customer_id }: Removal): Promise<void> {
    if (kind !== 'customer' || this.#noted.has(nameOf({ workspace_id, customer_id }))) return
    const erasure = await findErasure(db, workspace_id, customer_id)
    if (erasure) await this.note([erasure])
  }

  /**
   * Appends those that are missing; on disk when it resolves. Concurrent calls share an append, and its failure.
   * @throws {Error} from the file system. Nothing of the append counts as recorded then, and a later call repeats it.
   */
  async note(erasures: readonly NotedErasure[]): Promise<void> {
    const missing = erasures.filter((erasure) => !this.#noted.has(nameOf(erasure)))
    if (missing.length === 0) return
    for (const erasure of missing) this.#waiting.set(nameOf(erasure), erasure)
    if (!this.#next) {
      this.#next = this.#previous.then(() => this.#append())
      this.#previous = this.#next.catch(() => {})
    }
    await this.#next
  }

  async #append() {
    // Some may have been written by the append before.
    const missing = [...this.#waiting].filter(([name]) => !this.#noted.has(name))
    this.#waiting = new Map()
    this.#next = undefined
    if (missing.length === 0) return
    makePrivateFile(this.#path)
    const file = await open(this.#path, 'a', FILE_MODE)
    try {
      const identity = await file.stat()
      // The file was moved, or its disk is not mounted: this one lacks what was noted before.
      const isOther = !isSameFile(identity, this.#file)
      if (isOther) this.#isFolderSynced = false
      const lines = [...(isOther ? this.#missingHere() : []), ...missing].map(
        ([, { workspace_id, customer_id, own_digest, erased_ms }]) =>
          JSON.stringify({ workspace_id, customer_id, own_digest, erased_ms }),
      )
      // Starts with a line end, so that an earlier incomplete line stays separate.
      const bytes = Buffer.from(`\n${lines.join('\n')}\n`)
      const { bytesWritten } = await file.write(bytes)
      // The rest is not written separately: another process may have appended since, in the middle of the line.
      if (bytesWritten < bytes.length)
        throw new Error(`only ${bytesWritten} of ${bytes.length} bytes were written to ${this.#path}`)
      await file.sync()
      this.#file = identity
    } finally {
      await file.close()
    }
    if (!this.#isFolderSynced) syncFile(dirname(this.#path))
    this.#isFolderSynced = true
    for (const [name, erasure] of missing) this.#noted.set(name, erasure)
  }

  /** What was noted and is not in the file. */
  #missingHere() {
    const names = new Set(linesOf(this.#path).map(nameOf))
    return [...this.#noted].filter(([name]) => !names.has(name))
  }
}

async function erasuresAfter(db: Database, last: CustomerName | undefined): Promise<NotedErasure[]> {
  let query = db
    .selectFrom('erasures')
    .selectAll()
    .orderBy('workspace_id')
    .orderBy('customer_id')
    .limit(READ_AT_ONCE)
  if (last) {
    const { workspace_id, customer_id } = last
    query = query.where(({ eb, refTuple, tuple }) =>
      eb(refTuple('workspace_id', 'customer_id'), '>', tuple(workspace_id, customer_id)),
    )
  }
  return await query.execute()
}

/** Skips lines that are incomplete, or no erasures. */
function linesOf(path: string): NotedErasure[] {
  return textOf(path)
    .split('\n')
    .flatMap((line): NotedErasure[] => {
      try {
        const erasure: NotedErasure | null = JSON.parse(line)
        return erasure?.customer_id ? [erasure] : []
      } catch {
        return []
      }
    })
}

/** Returns the text of the file; empty if it does not exist. */
function textOf(path: string): string {
  let text: string
  try {
    text = statSync(path, { throwIfNoEntry: false }) ? readFileSync(path, 'utf8') : ''
  } catch (error) {
    throw new Error(`Cannot read the file of erasures ${path}: ${errorText(error)}`, { cause: error })
  }
  // Perhaps the store itself, whose next checkpoint overwrites or cuts off what was appended.
  if (!text.startsWith('SQLite format 3\0')) return text
  throw new Error(`The file of erasures ${path} is a SQLite database. Choose another CAIRN_ERASURES_FILE.`)
}

function nameOf({ workspace_id, customer_id }: CustomerName): string {
  return `${workspace_id} ${customer_id}`
}
