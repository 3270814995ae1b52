import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Activity } from '../activity.ts'
import { ListTurns } from '../list-turns.ts'
import type { ListReads, Reading } from '../storage.ts'
import { threadModule } from '../thread-module.ts'
import { errorOf, Unavailable } from '../unavailable.ts'
import type { EventsRequest } from './event-reader.ts'
import type { ReaderRequest, ReaderResult, ReaderThreadData, ReaderWork } from './reader-thread.ts'
import type { Statement } from './statement.ts'
import type { TailRing } from './tail.ts'

/** Lists of so many workspaces are read at a time. */
const LIST_THREADS = 2

/** More waiting look-ups than this are refused. */
const WAITING_LOOK_UPS = 1_000

/** Rows of a statement, a page of events as JSON, or counts. */
type Read = unknown[] | Uint8Array | Activity

type Work = {
  work: ReaderWork
  resolve: (read: Read) => void
  reject: (error: Error) => void
}

/**
 * Reads in threads of its own, each statement in the state of the last commit before it began. What ingestion and
 * signing in look up has a thread to itself; what is read for lists has others, and takes turns.
 */
export class Reader {
  readonly #lookUpThread: Worker
  readonly #threads: readonly Worker[]
  readonly #idleListThreads: Worker[]
  readonly #waitingLookUps: Work[] = []
  /** As many at a time as there are threads, so that one is idle when a turn begins. */
  readonly #lists = new ListTurns(LIST_THREADS)
  readonly #current = new Map<Worker, Work>()
  #closed: Unavailable['reason'] | undefined

  private constructor(lookUpThread: Worker, listThreads: Worker[], onDeath: (error: Error) => void) {
    this.#lookUpThread = lookUpThread
    this.#threads = [lookUpThread, ...listThreads]
    this.#idleListThreads = [...listThreads]
    for (const thread of this.#threads) {
      thread.on('message', (result: ReaderResult) => this.#settle(thread, result))
      thread.on('error', (error) => this.#die(error, onDeath))
      thread.on('exit', () => this.#die(new Error('a reading thread has ended'), onDeath))
    }
  }

  /**
   * @param options.path a file that the writer has opened before
   * @param options.ring which events the writer has not indexed yet
   * @throws {Error} where it cannot be opened to read
   */
  static async open(options: {
    path: string
    ring: TailRing
    onDeath: (error: Error) => void
  }): Promise<Reader> {
    const { path, ring, onDeath } = options
    const start = (isForLists: boolean) => {
      const workerData: ReaderThreadData = { path, ring: ring.buffer, isForLists }
      return new Worker(threadModule('reader-thread', import.meta.url), { workerData })
    }
    const lookUpThread = start(false)
    const listThreads = Array.from({ length: LIST_THREADS }, () => start(true))
    // The first message says that the file is open; a thread that cannot open it ends with an error.
    await Promise.all([lookUpThread, ...listThreads].map((thread) => once(thread, 'message')))
    return new Reader(lookUpThread, listThreads, onDeath)
  }

  /** @throws {Unavailable} where a look-up would be refused */
  assertAvailable(): void {
    if (this.#closed) throw new Unavailable(this.#closed)
    if (this.#waitingLookUps.length >= WAITING_LOOK_UPS) throw new Unavailable('overloaded')
  }

  statistics(): ListReads {
    return this.#lists.statistics()
  }

  /** Reads what must never wait for a list: a few rows, found by their keys. */
  async lookUp(statement: Statement): Promise<unknown[]> {
    const read = await new Promise<Read>((resolve, reject) => {
      this.assertAvailable()
      this.#waitingLookUps.push({ work: { kind: 'statement', statement }, resolve, reject })
      this.#lookUpNext()
    })
    return read as unknown[]
  }

  /** Reads rows of a list, see `#list`. */
  async rows(statement: Statement, reading: Reading): Promise<unknown[]> {
    return (await this.#list({ kind: 'statement', statement }, reading)) as unknown[]
  }

  /** Reads a page of events, as the JSON of the contract's `EventPage`, see `#list`. */
  async events(request: EventsRequest, reading: Reading): Promise<Uint8Array> {
    return (await this.#list({ kind: 'events', request }, reading)) as Uint8Array
  }

  /** Reads how many events were sent, see `#list`. */
  async activity(work: ReaderWork & { kind: 'activity' }, reading: Reading): Promise<Activity> {
    return (await this.#list(work, reading)) as Activity
  }

  /**
   * Reads for a list, when it is its caller's turn, see `ListTurns`. A statement that runs when the caller goes is
   * finished for nobody: the driver cannot interrupt one, and ending its thread waits for it too.
   */
  #list(work: ReaderWork, reading: Reading): Promise<Read> {
    return this.#lists.take(reading, async () => {
      const thread = this.#idleListThreads.pop()
      if (!thread) throw new Error('more lists have a turn than there are threads')
      try {
        return await new Promise<Read>((resolve, reject) => this.#run(thread, { work, resolve, reject }))
      } finally {
        this.#idleListThreads.push(thread)
      }
    })
  }

  /** Refuses what waits, finishes what runs, and ends the threads. */
  async close(): Promise<void> {
    this.#closed ??= 'shutting_down'
    this.#refuseWaiting(new Unavailable(this.#closed))
    await Promise.all(
      this.#threads.map(async (thread) => {
        // A thread that has died has no identifier any more and will not say so again.
        if (thread.threadId === -1) return
        const exited = once(thread, 'exit')
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

  #settle(thread: Worker, result: ReaderResult) {
    const work = this.#current.get(thread)
    this.#current.delete(thread)
    if ('failure' in result) work?.reject(errorOf(result.failure))
    else work?.resolve(result.read)
    if (thread === this.#lookUpThread) this.#lookUpNext()
  }

  #refuseWaiting(error: Unavailable) {
    for (const { reject } of this.#waitingLookUps.splice(0)) reject(error)
    this.#lists.close(error)
  }

  #die(error: Error, onDeath: (error: Error) => void) {
    if (this.#closed) return
    this.#closed = 'storage_unavailable'
    const unavailable = new Unavailable(this.#closed, error)
    for (const { reject } of this.#current.values()) reject(unavailable)
    this.#refuseWaiting(unavailable)
    onDeath(error)
  }
}
