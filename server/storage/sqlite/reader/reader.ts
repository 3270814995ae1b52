import { once } from 'node:events'
import type { Worker } from 'node:worker_threads'
import type { Reading } from '../../database.ts'
import type { CountedEvents } from '../../events/event-store.ts'
import type { EventSliceRequest, Slice } from '../../exports/exports.ts'
import { ListTurns } from '../../lists/list-queue.ts'
import type { ListReads } from '../../storage.ts'
import { startThread } from '../../threads/thread.ts'
import { threadModule } from '../../threads/thread-module.ts'
import { errorOf, Unavailable } from '../../unavailable.ts'
import type { TailRing } from '../index/memtable.ts'
import type { Statement } from '../statement.ts'
import type { EventsRequest } from './event-reader.ts'
import type { ReaderRequest, ReaderResult, ReaderThreadData, ReaderWork } from './reader-thread.ts'

/** Lists of so many workspaces are read at a time, each in a thread that is started when it is first needed. */
const LIST_THREADS = 2

/** More waiting look-ups than this are refused. */
const WAITING_LOOK_UPS = 1_000

/** Rows of a statement, an answer as JSON, a slice of an export, or counts. */
type Read = unknown[] | Uint8Array | Slice | CountedEvents

type Work = {
  work: ReaderWork
  resolve: (read: Read) => void
  reject: (error: Error) => void
}

type ReaderOptions = {
  /** A file that the writer has opened before. */
  path: string
  /** Which events the writer has not indexed yet. */
  ring: TailRing
  onDeath: (error: Error) => void
}

/**
 * Reads in threads of its own, each statement in the state of the last commit before it began. What ingestion and
 * signing in look up has a thread to itself; what is read for lists has others, and takes turns.
 */
export class Reader {
  readonly #options: ReaderOptions
  readonly #lookUpThread: Worker
  /** All that run. */
  readonly #threads = new Set<Worker>()
  readonly #idleListThreads: Worker[] = []
  readonly #waitingLookUps: Work[] = []
  /** No more at a time than there may be threads. */
  readonly #lists = new ListTurns(LIST_THREADS)
  readonly #current = new Map<Worker, Work>()
  #closed: Unavailable['reason'] | undefined

  private constructor(options: ReaderOptions) {
    this.#options = options
    this.#lookUpThread = this.#start({ isForLists: false })
  }

  /** @throws {Error} where the file cannot be opened to read */
  static async open(options: ReaderOptions): Promise<Reader> {
    const reader = new Reader(options)
    // The first message says that the file is open; a thread that cannot open it ends with an error.
    await once(reader.#lookUpThread, 'message')
    return reader
  }

  #start({ isForLists }: { isForLists: boolean }): Worker {
    const { path, ring } = this.#options
    const workerData: ReaderThreadData = { path, ring: ring.buffer, isForLists }
    const thread = startThread(threadModule('reader-thread', import.meta.url), { workerData })
    this.#threads.add(thread)
    let isOpen = false
    thread.on('message', (result: ReaderResult) => {
      if (result === 'opened') isOpen = true
      else this.#settle(thread, result)
    })
    const end = (error: Error) => {
      // One more file may not be open where many connections are. The list is refused, and the next one tries again.
      if (isForLists && !isOpen) this.#lose(thread, error)
      else this.#die(error)
    }
    thread.on('error', end)
    thread.on('exit', () => end(new Error('a reading thread has ended')))
    return thread
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
    this.assertAvailable()
    return await this.lookUpWhileClosing(statement)
  }

  /** The same for what the store has taken and must finish, also after `refuseNew`. */
  async lookUpWhileClosing(statement: Statement): Promise<unknown[]> {
    const read = await new Promise<Read>((resolve, reject) => {
      if (this.#closed === 'storage_unavailable') throw new Unavailable(this.#closed)
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

  /** Reads a slice of an export of events, see `#list`. */
  async eventSlice(request: EventSliceRequest, reading: Reading): Promise<Slice> {
    return (await this.#list({ kind: 'event-slice', request }, reading)) as Slice
  }

  /** Counts events, see `#list`. */
  async countEvents(work: ReaderWork & { kind: 'count' }, reading: Reading): Promise<CountedEvents> {
    return (await this.#list(work, reading)) as CountedEvents
  }

  /** Reads how many events were sent, as the JSON of the contract's `Activity`, see `#list`. */
  async activity(work: ReaderWork & { kind: 'activity' }, reading: Reading): Promise<Uint8Array> {
    return (await this.#list(work, reading)) as Uint8Array
  }

  /**
   * Reads for a list, when it is its caller's turn, see `ListTurns`. A statement that runs when the caller goes is
   * finished for nobody: the driver cannot interrupt one, and ending its thread waits for it too.
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

  /** Refuses lists that wait, and from now on everything but `lookUpWhileClosing`. */
  refuseNew(): void {
    this.#closed ??= 'shutting_down'
    this.#lists.close(new Unavailable(this.#closed))
  }

  /** Refuses what waits, finishes what runs, and ends the threads. */
  async close(): Promise<void> {
    this.#closed ??= 'shutting_down'
    this.#refuseWaiting(new Unavailable(this.#closed))
    await Promise.all(
      Array.from(this.#threads, async (thread) => {
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

  #settle(thread: Worker, result: Exclude<ReaderResult, 'opened'>) {
    const work = this.#current.get(thread)
    this.#current.delete(thread)
    if ('failure' in result) work?.reject(errorOf(result.failure))
    else work?.resolve(result.read)
    if (thread === this.#lookUpThread) this.#lookUpNext()
  }

  /** Of a thread that could not open the file. */
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
