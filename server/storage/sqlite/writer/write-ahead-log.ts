import { existsSync, type Stats, statSync } from 'node:fs'
import type { Worker } from 'node:worker_threads'
import { isSameFile } from '../../same-file.ts'
import type { Disk } from '../../storage.ts'
import { startThread } from '../../threads/thread.ts'
import { threadModule } from '../../threads/thread-module.ts'
import {
  BUSY_MS,
  type Connection,
  hasItsFiles,
  LOG_KEPT_BYTES,
  measureDisk,
  measureLog,
  targetOf,
} from '../connection.ts'

const MIB = 1024 * 1024

/**
 * With less free disk space than this, after the whole log has been checkpointed, a store refuses writes: other
 * programs need some space too. On a small disk it is a share of the disk.
 */
const FLOOR_BYTES = 64 * MIB
const FLOOR_PART = 0.05

/**
 * With a longer log than this a store refuses writes until the reader that blocks the checkpoint is done: every read
 * searches the log, and after a crash all of it is read before anything is served. On a small disk it is a share of the
 * disk.
 */
const LIMIT_BYTES = 4096 * MIB
const LIMIT_PART = 0.25

/**
 * The writer itself checkpoints up to this much, in some ten milliseconds. A separate thread checkpoints more than
 * that.
 */
const INLINE_CHECKPOINT_BYTES = 8 * MIB

/** On a small disk this may be all the free space there is. */
const GROWN_BYTES = 4 * MIB

/** Number of pages in the log after which SQLite runs a checkpoint at a commit (its default). */
const CHECKPOINT_AFTER_PAGES = 1000

/**
 * The write-ahead log of a store. Commits go to the log first; a checkpoint moves them into the file from time to time.
 * It stops at what the oldest reader sees, so the log grows during a long read, and it never shrinks by itself.
 */
export class WriteAheadLog {
  readonly #path: string
  /** The file of the store when its first connection opened it. */
  readonly #file: Stats
  /** Size when it was last checked. */
  #log_bytes = 0
  #lacksFiles = false
  /** Whether other connections had the log open when the writer closed its own; the last one to close removes it. */
  #isKept = false
  /** The thread for checkpoints that would take the writer too long; started on first use. */
  #checkpointThread: { thread: Worker; isIdle: boolean } | undefined
  /** Resolves when all of these threads have closed the file. */
  #threadsExited: Promise<unknown> = Promise.resolve()

  /** @param path of the store, which is opened now */
  constructor(path: string) {
    this.#path = targetOf(path)
    this.#file = statSync(this.#path)
  }

  /** Whether the log is much larger than when it was last checked, so that it should be checked again soon. */
  get hasGrown(): boolean {
    return measureLog(this.#path) > this.#log_bytes + GROWN_BYTES
  }

  /** Whether the log was removed, so that it must be checked before anything is written. An open store has one. */
  get isGone(): boolean {
    return !existsSync(`${this.#path}-wal`)
  }

  /** Whether the last check missed a file of the store: what is committed then would vanish with the process. */
  get lacksFiles(): boolean {
    return this.#lacksFiles
  }

  /** Notes that the writer has closed its connection, and perhaps opens another. */
  writerClosed() {
    this.#isKept = !this.isGone
  }

  /** Whether a writer that opens the store gets the same file and the same log as before. */
  get isReopenable(): boolean {
    return this.#isKept ? this.hasItsFiles : this.#hasItsFile()
  }

  /**
   * Runs a checkpoint if it is due, and truncates the log if it is too large and has no reader. Call between
   * transactions.
   */
  checkpoint(connection: Connection): Disk {
    const disk = this.#measure(connection)
    if (disk.refusing === 'files') {
      // What was acknowledged is then in the file, if only the log was removed; and whatever opens another file of this name
      // finds no log that belongs to the first one. A separate thread would open that other file.
      truncate(connection)
      return this.#measure(connection)
    }
    const isMuch = disk.unmoved_bytes > INLINE_CHECKPOINT_BYTES
    // Otherwise the first commit after a long read would checkpoint all of it.
    connection.pragma(`wal_autocheckpoint = ${isMuch ? 0 : CHECKPOINT_AFTER_PAGES}`)
    if (isMuch) this.#checkpointInThread()
    else this.#endThread()
    if (isMuch || (disk.refusing === null && disk.log_bytes <= LOG_KEPT_BYTES)) return disk
    truncate(connection)
    return this.#measure(connection)
  }

  /** Checkpoints the rest and truncates the log. @returns false if a reader prevents it */
  truncate(connection: Connection): boolean {
    const { unmoved_bytes, refusing } = this.#measure(connection)
    // The separate thread checkpoints large amounts while the writer continues.
    if (unmoved_bytes > INLINE_CHECKPOINT_BYTES && refusing !== 'files') {
      this.#checkpointInThread()
      return false
    }
    truncate(connection)
    return measureLog(this.#path) === 0
  }

  /** State of the log and its disk while the store lacks a file, without a connection. */
  measureWithoutFiles(): Disk {
    const { free_bytes = null } = measureDisk(this.#path) ?? {}
    return { log_bytes: measureLog(this.#path), unmoved_bytes: 0, free_bytes, refusing: 'files' }
  }

  /** Waits until nothing else has the file open: the last connection to close it truncates the log. */
  async close(): Promise<void> {
    this.#endThread()
    await this.#threadsExited
  }

  #measure(connection: Connection): Disk {
    const [{ log, checkpointed }] = connection.pragma('wal_checkpoint(NOOP)') as [Checkpoint]
    const page_bytes = Number(connection.pragma('page_size', { simple: true }))
    const used_bytes = Math.max(log, 0) * page_bytes
    const unmoved_bytes = Math.max(log - checkpointed, 0) * page_bytes
    const log_bytes = measureLog(this.#path)
    this.#log_bytes = log_bytes
    this.#lacksFiles = !this.hasItsFiles
    if (this.#lacksFiles) return { ...this.measureWithoutFiles(), unmoved_bytes }
    const measured = measureDisk(this.#path)
    if (!measured) return { log_bytes, unmoved_bytes, free_bytes: null, refusing: null }
    const { bytes, free_bytes } = measured
    const hasRoom = free_bytes - unmoved_bytes >= Math.min(FLOOR_BYTES, bytes * FLOOR_PART)
    const isLong = used_bytes > Math.min(LIMIT_BYTES, bytes * LIMIT_PART)
    return { log_bytes, unmoved_bytes, free_bytes, refusing: hasRoom ? (isLong ? 'log' : null) : 'disk' }
  }

  /** Whether the files that connections have opened still have their names. */
  get hasItsFiles(): boolean {
    return hasItsFiles(this.#path, this.#file)
  }

  #hasItsFile(): boolean {
    return isSameFile(statSync(this.#path, { throwIfNoEntry: false }), this.#file)
  }

  #checkpointInThread() {
    this.#checkpointThread ??= this.#startThread()
    if (!this.#checkpointThread.isIdle) return
    this.#checkpointThread.isIdle = false
    this.#checkpointThread.thread.postMessage('checkpoint')
  }

  #startThread() {
    const thread = startThread(threadModule('checkpoint-thread', import.meta.url), {
      workerData: { path: this.#path },
    })
    const checkpointThread = { thread, isIdle: true }
    const exited = new Promise((resolve) => thread.once('exit', resolve))
    this.#threadsExited = Promise.all([this.#threadsExited, exited])
    thread.on('message', () => {
      checkpointThread.isIdle = true
    })
    // The next check starts another.
    thread.on('error', () => {
      if (this.#checkpointThread === checkpointThread) this.#checkpointThread = undefined
    })
    return checkpointThread
  }

  #endThread() {
    this.#checkpointThread?.thread.postMessage('close')
    this.#checkpointThread = undefined
  }
}

type Checkpoint = { log: number; checkpointed: number }

/** Checkpoints the rest and truncates the log, unless there is a reader: then the next check tries again. */
function truncate(connection: Connection) {
  connection.pragma('busy_timeout = 0')
  try {
    connection.pragma('wal_checkpoint(TRUNCATE)')
  } catch {
    // A full disk has no space for the checkpoint.
  } finally {
    connection.pragma(`busy_timeout = ${BUSY_MS}`)
  }
}
