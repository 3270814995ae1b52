import { once } from 'node:events'
import { statSync } from 'node:fs'
import type { Worker } from 'node:worker_threads'
import type { Reading } from '../../database.ts'
import type { CountedEvents, CustomerActivity } from '../../events/event-store.ts'
import type { EventSliceRequest, Slice } from '../../exports/exports.ts'
import { ListQueue } from '../../lists/list-queue.ts'
import type { FileIdentity } from '../../same-file.ts'
import type { ListReads } from '../../storage.ts'
import { startThread } from '../../threads/thread.ts'
import { threadModule } from '../../threads/thread-module.ts'
import { errorOf, Unavailable } from '../../unavailable.ts'
import type { MemtableRing } from '../index/memtable.ts'
import type { Statement } from '../statement.ts'
import type { EventsRequest } from './event-reader.ts'
import type { ReaderRequest, ReaderResult, ReaderThreadData, ReaderWork } from './reader-thread.ts'

/** How many lists are read concurrently, each in a thread that is started on first use. */
const LIST_THREADS = 2

/** Limit of queued look-ups; beyond it they are refused (load shedding). */
const WAITING_LOOK_UPS = 1_000

/** Rows of a statement, a response body as JSON, a slice of an export, or counts. */
type Read = unknown[] | Uint8Array | Slice | CountedEvents | Map<string, CustomerActivity>

type Work = {
  work: ReaderWork
  resolve: (read: Read) => void
  reject: (error: Error) => void
}

type ReaderOptions = {
  /** A file that the writer has already opened. */
  path: string
  /** The events that the writer has not indexed yet. */
  ring: MemtableRing
  onDeath: (error: Error) => void
}

/**
 * A pool of reader threads. Each statement reads a snapshot: the last commit before it began. Look-ups for ingestion
 * and sign-in have a thread of their own; lists share the others and are queued fairly by caller and workspace.
 */
export class Reader {
  readonly #options: ReaderOptions
  readonly #file: FileIdentity
  readonly #lookUpThread: Worker
  /** All running threads. */
  readonly #threads = new Set<Worker>()
  readonly #idleListThreads: Worker[] = []
  readonly #waitingLookUps: Work[] = []
  /** Admits no more lists at a time than there are threads for them. */
  readonly #lists = new ListQueue(LIST_THREADS)
  readonly #current = new Map<Worker, Work>()
  #closed: Unavailable['reason'] | undefined

  private constructor(options: ReaderOptions) {
    this.#options = options
    const { ino, dev } = statSync(options.path)
    this.#file = { ino, dev }
    this.#lookUpThread = this.#start({ isForLists: false })
  }

  /** @throws {Error} if the file cannot be opened for reading */
  static async open(options: ReaderOptions): Promise<Reader> {
    const reader = new Reader(options)
    // The first message reports that the file is open; a thread that cannot open it ends with an error.
    await once(reader.#lookUpThread, 'message')
    return reader
  }

  #start({ isForLists }: { isForLists: boolean }): Worker {
    const { path, ring } = this.#options
    const workerData: ReaderThreadData = { path, file: this.#file, ring: ring.buffer, isForLists }
    const thread = startThread(threadModule('reader-thread', import.meta.url), { workerData })
    this.#threads.add(thread)
    let isOpen = false
    thread.on('message', (result: ReaderResult) => {
      if (result === 'opened') isOpen = true
      else this.#settle(thread, result)
    })
    const end = (error: Error) => {
      // Opening one more file can fail when the process has many connections. Only this list is refused; the next
      // retries.
      if (isForLists && !isOpen) this.#lose(thread, error)
      else this.#die(error)
    }
    thread.on('error', end)
    thread.on('exit', () => end(new Error('a reading thread has ended')))
    return thread
  }

  /** @throws {Unavailable} if a look-up would be refused */
  assertAvailable(): void {
    if (this.#closed) throw new Unavailable(this.#closed)
    if (this.#waitingLookUps.length >= WAITING_LOOK_UPS) throw new Unavailable('overloaded')
  }

  statistics(): ListReads {
    return this.#lists.statistics()
  }

  /** Reads a few rows by key; never queued behind a list. */
  async lookUp(statement: Statement): Promise<unknown[]> {
    this.assertAvailable()
    return await this.lookUpWhileClosing(statement)
  }

  /** Like `lookUp`, for work that the store has accepted and must finish; works after `refuseNew` too. */
  async lookUpWhileClosing(statement: Statement): Promise<unknown[]> {
    const read = await new Promise<Read>((resolve, reject) => {
      if (this.#closed === 'storage_unavailable') throw new Unavailable(this.#closed)
      this.#waitingLookUps.push({ work: { kind: 'statement', statement }, resolve, reject })
      this.#lookUpNext()
    })
    return read as unknown[]
  }

  /** Reads rows of a list; see `#list`. */
  async rows(statement: Statement, reading: Reading): Promise<unknown[]> {
    return (await this.#list({ kind: 'statement', statement }, reading)) as unknown[]
  }

  /** Reads a page of events as the JSON of the API's `EventPage`; see `#list`. */
  async events(request: EventsRequest, reading: Reading): Promise<Uint8Array> {
    return (await this.#list({ kind: 'events', request }, reading)) as Uint8Array
  }

  /** Reads a slice of an export of events; see `#list`. */
  async eventSlice(request: EventSliceRequest, reading: Reading): Promise<Slice> {
    return (await this.#list({ kind: 'event-slice', request }, reading)) as Slice
  }

  /** Counts events; see `#list`. */
  async countEvents(work: ReaderWork & { kind: 'count' }, reading: Reading): Promise<CountedEvents> {
    return (await this.#list(work, reading)) as CountedEvents
  }

  /** Reads the activity of customers; see `#list`. */
  async customerActivity(
    work: ReaderWork & { kind: 'customer-activity' },
    reading: Reading,
  ): Promise<Map<string, CustomerActivity>> {
    return (await this.#list(work, reading)) as Map<string, CustomerActivity>
  }

  /** Reads event counts as the JSON of the API's `Activity`; see `#list`. */
  async activity(work: ReaderWork & { kind: 'activity' }, reading: Reading): Promise<Uint8Array> {
    return (await this.#list(work, reading)) as Uint8Array
  }

  /**
   * Queues a list read, see `ListQueue`. A statement that is running when the caller
   * disconnects is finished and its result dropped: the driver cannot interrupt a statement, and terminating the thread
   * would wait for it as well.
   */
  #list(work: ReaderWork, reading: Reading): Promise<Read> {
    return this.#lists.take(reading, async () => {
      const thread = this.#idleListThreads.pop() ?? this.#start({ isForLists: true })
      try {
        return await new Promise<Read>((resolve, reject) => this.#run(thread, { work, resolve, reject }))
      } finally {
        if (this.#threads.has(thread)) this.#idleListThreads.push(thread)
      }
    })
  }

  /** Refuses queued lists and, from now on, everything except `lookUpWhileClosing`. */
  refuseNew(): void {
    this.#closed ??= 'shutting_down'
    this.#lists.close(new Unavailable(this.#closed))
  }

  /** Refuses queued work, finishes running work, and ends the threads. */
  async close(): Promise<void> {
    this.#closed ??= 'shutting_down'
    this.#refuseWaiting(new Unavailable(this.#closed))
    await Promise.all(
      Array.from(this.#threads, async (thread) => {
        // A thread that has already died has no identifier and will not emit `exit` again.
        if (thread.threadId === -1) return
        // Also of one that fails to open meanwhile: `once` would reject.
        const exited = new Promise((resolve) => thread.once('exit', resolve))
        thread.postMessage('close' satisfies ReaderRequest)
        await exited
      }),
    )
  }

  #lookUpNext() {
    if (this.#current.has(this.#lookUpThread)) return
    const next = this.#waitingLookUps.shift()
    if (next) this.#run(this.#lookUpThread, next)
  }

  #run(thread: Worker, work: Work) {
    this.#current.set(thread, work)
    thread.postMessage(work.work satisfies ReaderRequest)
  }

  #settle(thread: Worker, result: Exclude<ReaderResult, 'opened'>) {
    const work = this.#current.get(thread)
    this.#current.delete(thread)
    if ('failure' in result) work?.reject(errorOf(result.failure))
    else work?.resolve(result.read)
    if (thread === this.#lookUpThread) this.#lookUpNext()
  }

  /** Called for a thread that could not open the file. */
  #lose(thread: Worker, error: Error) {
    this.#threads.delete(thread)
    this.#current.get(thread)?.reject(new Unavailable('storage_unavailable', error))
    this.#current.delete(thread)
  }

  #refuseWaiting(error: Unavailable) {
    for (const { reject } of this.#waitingLookUps.splice(0)) reject(error)
    this.#lists.close(error)
  }

  #die(error: Error) {
    if (this.#closed) return
    this.#closed = 'storage_unavailable'
    const unavailable = new Unavailable(this.#closed, error)
    for (const { reject } of this.#current.values()) reject(unavailable)
    this.#refuseWaiting(unavailable)
    this.#options.onDeath(error)
  }
}
