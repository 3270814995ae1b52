import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { Unavailable } from '../unavailable.ts'
import type { EventRows, EventsRequest } from './event-reader.ts'
import type { ReaderResult, ReaderWork } from './reader-thread.ts'
import type { Statement } from './statement.ts'
import type { TailRing } from './tail.ts'
import { errorOf } from './writer.ts'

/** Two, so that one long list does not hold up the look-up of a key. */
const THREADS = 2

/** More waiting statements than this are refused. */
const WAITING_STATEMENTS = 1_000

type Waiting = { work: ReaderWork; resolve: (read: never) => void; reject: (error: Error) => void }

/** Reads in threads of its own, each statement in the state of the last commit before it began. */
export class Reader {
  readonly #threads: readonly Worker[]
  readonly #idle: Worker[]
  readonly #current = new Map<Worker, Waiting>()
  readonly #waiting: Waiting[] = []
  #closed: Unavailable['reason'] | undefined

  private constructor(threads: Worker[], onDeath: (error: Error) => void) {
    this.#threads = threads
    this.#idle = [...threads]
    for (const thread of threads) {
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
    const url = new URL('./reader-thread.ts', import.meta.url)
    const threads = Array.from(
      { length: THREADS },
      () => new Worker(url, { workerData: { path, ring: ring.buffer } }),
    )
    // The first message says that the file is open; a thread that cannot open it ends with an error.
    await Promise.all(threads.map((thread) => once(thread, 'message')))
    return new Reader(threads, onDeath)
  }

  /** @throws {Unavailable} where a statement would be refused */
  assertAvailable(): void {
    if (this.#closed) throw new Unavailable(this.#closed)
    if (this.#waiting.length >= WAITING_STATEMENTS) throw new Unavailable('overloaded')
  }

  run(statement: Statement): Promise<unknown[]> {
    return this.#read({ kind: 'statement', statement })
  }

  events(request: EventsRequest): Promise<EventRows> {
    return this.#read({ kind: 'events', request })
  }

  #read<Read>(work: ReaderWork): Promise<Read> {
    return new Promise((resolve, reject) => {
      this.assertAvailable()
      this.#waiting.push({ work, resolve, reject })
      this.#dispatch()
    })
  }

  /** Refuses what waits, finishes what runs, and ends the threads. */
  async close(): Promise<void> {
    this.#closed ??= 'shutting_down'
    for (const { reject } of this.#waiting.splice(0)) reject(new Unavailable(this.#closed))
    await Promise.all(
      this.#threads.map(async (thread) => {
        // A thread that has died has no identifier any more and will not say so again.
        if (thread.threadId === -1) return
        const exited = once(thread, 'exit')
        thread.postMessage('close')
        await exited
      }),
    )
  }

  #dispatch() {
    const thread = this.#waiting.length > 0 ? this.#idle.pop() : undefined
    const next = thread && this.#waiting.shift()
    if (!thread || !next) return
    this.#current.set(thread, next)
    thread.postMessage(next.work)
  }

  #die(error: Error, onDeath: (error: Error) => void) {
    if (this.#closed) return
    this.#closed = 'storage_unavailable'
    const unavailable = new Unavailable(this.#closed, error)
    for (const { reject } of [...this.#current.values(), ...this.#waiting.splice(0)]) reject(unavailable)
    onDeath(error)
  }

  #settle(thread: Worker, result: ReaderResult) {
    const current = this.#current.get(thread)
    this.#current.delete(thread)
    this.#idle.push(thread)
    if ('failure' in result) current?.reject(errorOf(result.failure))
    else current?.resolve(result.read as never)
    this.#dispatch()
  }
}
