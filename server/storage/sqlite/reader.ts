import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { FairQueue } from '../../domain/fair-queue.ts'
import type { ListReads, Reading } from '../storage.ts'
import { Unavailable } from '../unavailable.ts'
import type { EventsRequest } from './event-reader.ts'
import type { ReaderRequest, ReaderResult, ReaderThreadData, ReaderWork } from './reader-thread.ts'
import type { Statement } from './statement.ts'
import type { TailRing } from './tail.ts'
import { threadModule } from './thread-module.ts'
import { errorOf } from './writer.ts'

/** Lists of so many workspaces are read at a time. */
const LIST_THREADS = 2

/** More waiting look-ups than this are refused. */
const WAITING_LOOK_UPS = 1_000

/** At the 50 ms that a page takes at most, as many lists of one caller may wait as its deadline lets through. */
const WAITING_LISTS = { perCaller: 100, inAll: 1_000 }

/** What is not read for a list by then is refused: whoever asked has lost patience, and others wait behind it. */
const LIST_DEADLINE_MS = 5_000

/** How a read for a list can end. */
type ListEnd = keyof Omit<ListReads, 'waiting'>

/** Rows of a statement, or a page of events as JSON. */
type Read = unknown[] | Uint8Array

type Waiting = {
  work: ReaderWork
  resolve: (read: Read) => void
  reject: (error: Error) => void
}
type WaitingList = Waiting & { owner: Reading }

/** Threads that read, and whence they take what they do next. */
type Lane<Item extends Waiting> = {
  idle: Worker[]
  current: Map<Worker, Item>
  begin: () => Item | undefined
  end: (item: Item) => void
}

/**
 * Reads in threads of its own, each statement in the state of the last commit before it began. What ingestion and
 * signing in look up has a thread to itself; what is read for lists has others, and takes turns.
 */
export class Reader {
  readonly #threads: readonly Worker[]
  readonly #waitingLookUps: Waiting[] = []
  readonly #waitingLists = new FairQueue<WaitingList>(WAITING_LISTS)
  readonly #lookUps: Lane<Waiting>
  readonly #lists: Lane<WaitingList>
  readonly #ended: Record<ListEnd, number> = { answered: 0, refused: 0, overdue: 0, abandoned: 0 }
  #closed: Unavailable['reason'] | undefined

  private constructor(lookUpThread: Worker, listThreads: Worker[], onDeath: (error: Error) => void) {
    this.#threads = [lookUpThread, ...listThreads]
    this.#lookUps = {
      idle: [lookUpThread],
      current: new Map(),
      begin: () => this.#waitingLookUps.shift(),
      end: () => {},
    }
    this.#lists = {
      idle: [...listThreads],
      current: new Map(),
      begin: () => this.#waitingLists.begin(),
      end: (item) => this.#waitingLists.end(item),
    }
    lookUpThread.on('message', (result: ReaderResult) => settle(this.#lookUps, lookUpThread, result))
    for (const thread of listThreads) {
      thread.on('message', (result: ReaderResult) => settle(this.#lists, thread, result))
    }
    for (const thread of this.#threads) {
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
    return { waiting: this.#waitingLists.size, ...this.#ended }
  }

  /** Reads what must never wait for a list: a few rows, found by their keys. */
  async lookUp(statement: Statement): Promise<unknown[]> {
    const read = await new Promise<Read>((resolve, reject) => {
      this.assertAvailable()
      this.#waitingLookUps.push({ work: { kind: 'statement', statement }, resolve, reject })
      dispatch(this.#lookUps)
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

  /**
   * Reads for a list, when it is its caller's turn.
   * @throws {Unavailable} `overloaded` where too much waits, or it is not done by its deadline
   * @throws the reason of the signal once the caller has gone. A statement that runs by then is finished for nobody:
   *   the driver cannot interrupt one, and ending its thread waits for it too.
   */
  #list(work: ReaderWork, reading: Reading): Promise<Read> {
    return new Promise((resolve, reject) => {
      if (this.#closed) throw new Unavailable(this.#closed)
      const { signal } = reading
      let isOver = false
      const end = (how: ListEnd, tell: () => void) => {
        if (isOver) return
        isOver = true
        clearTimeout(deadline)
        signal.removeEventListener('abort', abandon)
        this.#waitingLists.delete(waiting)
        this.#ended[how] += 1
        tell()
      }
      const refuse = (how: ListEnd) => end(how, () => reject(new Unavailable('overloaded')))
      const abandon = () => end('abandoned', () => reject(signal.reason))
      const deadline = setTimeout(() => refuse('overdue'), LIST_DEADLINE_MS)
      const waiting: WaitingList = {
        work,
        owner: reading,
        resolve: (read) => end('answered', () => resolve(read)),
        reject: (error) => end('answered', () => reject(error)),
      }
      signal.addEventListener('abort', abandon)
      if (signal.aborted) abandon()
      else if (this.#waitingLists.add(waiting)) dispatch(this.#lists)
      else refuse('refused')
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

  #refuseWaiting(error: Error) {
    for (const { reject } of [...this.#waitingLookUps.splice(0), ...this.#waitingLists.items()]) reject(error)
  }

  #die(error: Error, onDeath: (error: Error) => void) {
    if (this.#closed) return
    this.#closed = 'storage_unavailable'
    const unavailable = new Unavailable(this.#closed, error)
    const current = [...this.#lookUps.current.values(), ...this.#lists.current.values()]
    for (const { reject } of current) reject(unavailable)
    this.#refuseWaiting(unavailable)
    onDeath(error)
  }
}

function dispatch<Item extends Waiting>({ idle, current, begin }: Lane<Item>) {
  const thread = idle.at(-1)
  const next = thread && begin()
  if (!thread || !next) return
  idle.pop()
  current.set(thread, next)
  thread.postMessage(next.work satisfies ReaderRequest)
}

function settle<Item extends Waiting>(lane: Lane<Item>, thread: Worker, result: ReaderResult) {
  const item = lane.current.get(thread)
  lane.current.delete(thread)
  lane.idle.push(thread)
  if (item) lane.end(item)
  if ('failure' in result) item?.reject(errorOf(result.failure))
  else item?.resolve(result.read)
  dispatch(lane)
}
