import { existsSync, type Stats, statSync } from 'node:fs'
import { InUse } from '../../../in-use.ts'
import { isSameFile } from '../../same-file.ts'
import { type Connection, takeLock, takeServerLock, targetOf } from '../connection.ts'

/** The lock of the only server on a store, held as long as that is open. */
export class ServerLock {
  readonly #path: string
  #lock: Connection
  /** The locked file. */
  #file: Stats

  /**
   * @throws {InUse} if another process holds it
   * @throws {CannotOpen} see `takeServerLock`
   */
  constructor(path: string) {
    const lock = takeServerLock(path)
    if (!lock) throw inUse(path)
    this.#lock = lock
    this.#path = targetOf(path)
    this.#file = statSync(this.#lockPath)
  }

  /**
   * Takes the lock again if its file was removed or replaced: another server would not find it.
   * @throws {InUse} if another process was first
   * @throws {CannotOpen}
   */
  keep(): void {
    const file = statSync(this.#lockPath, { throwIfNoEntry: false })
    // Nothing is created where the store is not.
    if (isSameFile(file, this.#file) || !existsSync(this.#path)) return
    const lock = takeLock(this.#path)
    if (!lock) throw inUse(this.#path)
    this.#lock.close()
    this.#lock = lock
    this.#file = statSync(this.#lockPath)
  }

  close(): void {
    this.#lock.close()
  }

  get #lockPath(): string {
    return `${this.#path}.lock`
  }
}

function inUse(path: string): InUse {
  const advice = 'Stop it, or give this one another DATABASE_URL.'
  return new InUse(`Another Cairn server is running on ${path}. ${advice}`)
}
