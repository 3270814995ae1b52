import type { Worker } from 'node:worker_threads'
import type { Disk } from '../../storage.ts'
import { startThread } from '../../threads/thread.ts'
import { threadModule } from '../../threads/thread-module.ts'
import { BUSY_MS, type Connection, LOG_KEPT_BYTES, measureDisk, measureLog, targetOf } from '../connection.ts'

const MIB = 1024 * 1024

/**
 * With less room than this on its disk, when all of the log has been moved into the file, a store takes no more: other
 * programs need some too. On a small disk a part of it.
 */
const FLOOR_BYTES = 64 * MIB
const FLOOR_PART = 0.05

/**
 * With a longer log a store takes no more until whoever reads for so long is done: each read looks through it, and after
 * a crash it is read whole before anything is served. On a small disk a part of it.
 */
const LIMIT_BYTES = 4096 * MIB
const LIMIT_PART = 0.25

/** So much the writer moves into the file itself, in some ten milliseconds. More is moved by a thread beside it. */
const MOVED_INLINE_BYTES = 8 * MIB

/** On a small disk so much may be all the room that there is. */
const GROWN_BYTES = 4 * MIB

/** With so many pages in the log the engine moves them after a commit (its default). */
const MOVED_AFTER_PAGES = 1000

/**
 * The write-ahead log of a store. What is committed is in the log first, and is moved into the file now and then. That
 * stops at what the oldest reader sees, so that the log grows while something reads for long, and never shrinks by
 * itself.
 */
export class WriteAheadLog {
  readonly #path: string
  /** When it was last looked at. */
  #log_bytes = 0
  /** Moves what would take the writer too long; started when there is so much. */
  #mover: { thread: Worker; isIdle: boolean } | undefined
  /** When all that were started have closed the file. */
  #moversExited: Promise<unknown> = Promise.resolve()

  constructor(path: string) {
    this.#path = targetOf(path)
  }

  /** Whether the log takes much more than when it was last looked at, and should be looked at again soon. */
  get hasGrown(): boolean {
    return measureLog(this.#path) > this.#log_bytes + GROWN_BYTES
  }

  /**
   * Has moved what is due, and cuts the log off where it takes too much room and nobody reads in it. To be called between
   * transactions.
   */
  tend(connection: Connection): Disk {
    const disk = this.#measure(connection)
    const isMuch = disk.unmoved_bytes > MOVED_INLINE_BYTES
    // Else the first commit after a long reader would move all of it.
    connection.pragma(`wal_autocheckpoint = ${isMuch ? 0 : MOVED_AFTER_PAGES}`)
    if (isMuch) this.#move()
    else this.#endMover()
    if (isMuch || (disk.refusing === null && disk.log_bytes <= LOG_KEPT_BYTES)) return disk
    cutOff(connection)
    return this.#measure(connection)
  }

  /** Moves the rest and makes the log empty. @returns whether that could be done: not while somebody reads in it */
  cutOff(connection: Connection): boolean {
    // The thread beside it moves much, while the writer goes on.
    if (this.#measure(connection).unmoved_bytes > MOVED_INLINE_BYTES) {
      this.#move()
      return false
    }
    cutOff(connection)
    return measureLog(this.#path) === 0
  }

  /** Waits until nothing else has the file open: the last one to close it empties the log. */
  async close(): Promise<void> {
    this.#endMover()
    await this.#moversExited
  }

  #measure(connection: Connection): Disk {
    const [{ log, checkpointed }] = connection.pragma('wal_checkpoint(NOOP)') as [Checkpoint]
    const page_bytes = Number(connection.pragma('page_size', { simple: true }))
    const used_bytes = Math.max(log, 0) * page_bytes
    const unmoved_bytes = Math.max(log - checkpointed, 0) * page_bytes
    const log_bytes = measureLog(this.#path)
    this.#log_bytes = log_bytes
    const measured = measureDisk(this.#path)
    if (!measured) return { log_bytes, unmoved_bytes, free_bytes: null, refusing: null }
    const { bytes, free_bytes } = measured
    const hasRoom = free_bytes - unmoved_bytes >= Math.min(FLOOR_BYTES, bytes * FLOOR_PART)
    const isLong = used_bytes > Math.min(LIMIT_BYTES, bytes * LIMIT_PART)
    return { log_bytes, unmoved_bytes, free_bytes, refusing: hasRoom ? (isLong ? 'log' : null) : 'disk' }
  }

  #move() {
    this.#mover ??= this.#startMover()
    if (!this.#mover.isIdle) return
    this.#mover.isIdle = false
    this.#mover.thread.postMessage('move')
  }

  #startMover() {
    const thread = startThread(threadModule('checkpoint-thread', import.meta.url), {
      workerData: { path: this.#path },
    })
    const mover = { thread, isIdle: true }
    const exited = new Promise((resolve) => thread.once('exit', resolve))
    this.#moversExited = Promise.all([this.#moversExited, exited])
    thread.on('message', () => {
      mover.isIdle = true
    })
    // The next look starts another.
    thread.on('error', () => {
      if (this.#mover === mover) this.#mover = undefined
    })
    return mover
  }

  #endMover() {
    this.#mover?.thread.postMessage('close')
    this.#mover = undefined
  }
}

type Checkpoint = { log: number; checkpointed: number }

/** Moves the rest and makes the log empty, unless somebody reads in it: then the next look tries again. */
function cutOff(connection: Connection) {
  connection.pragma('busy_timeout = 0')
  try {
    connection.pragma('wal_checkpoint(TRUNCATE)')
  } catch {
    // On a full disk there is no room to move it to.
  } finally {
    connection.pragma(`busy_timeout = ${BUSY_MS}`)
  }
}
