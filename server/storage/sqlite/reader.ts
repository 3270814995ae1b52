import { Worker } from 'node:worker_threads'
import { Unavailable } from '../unavailable.ts'
import type { ReaderRequest } from './reader-thread.ts'
import type { Statement, StatementResult } from './statement.ts'
import { errorOf } from './writer.ts'

/** Two, so that one long list does not hold up the look-up of a key. */
const THREADS = 2

/** More waiting statements than this are refused. */
const WAITING_STATEMENTS = 1_000

type Waiting = { statement: Statement; resolve: (rows: unknown[]) => void; reject: (error: Error) => void }

/** Reads in threads of its own, each statement in the state of the last commit before it began. */
export class Reader {
  readonly #idle: Worker[] = []
  readonly #threads: Worker[] = []
  readonly #current = new Map<Worker, Waiting>()
  readonly #waiting: Waiting[] = []
  #closed: Unavailable['reason'] | undefined

  /** @param path a file that the writer has opened before */
  constructor(path: string, onDeath: (error: Error) => void) {
    for (let count = 0; count < THREADS; count += 1) {
      const thread = new Worker(new URL('./reader-thread.ts', import.meta.url), { workerData: { path } })
      thread.on('message', (result: StatementResult) => this.#settle(thread, result))
      thread.on('error', (error) => {
        this.#closed = 'storage_unavailable'
        const unavailable = new Unavailable(this.#closed, error)
        this.#current.get(thread)?.reject(unavailable)
        for (const { reject } of this.#waiting.splice(0)) reject(unavailable)
        onDeath(error)
      })
      this.#threads.push(thread)
      this.#idle.push(thread)
    }
  }

  /** @throws {Unavailable} where a statement would be refused */
  assertAvailable(): void {
    if (this.#closed) throw new Unavailable(this.#closed)
    if (this.#waiting.length >= WAITING_STATEMENTS) throw new Unavailable('overloaded')
  }

  run(statement: Statement): Promise<unknown[]> {
    return new Promise((resolve, reject) => {
      this.assertAvailable()
      this.#waiting.push({ statement, resolve, reject })
      this.#dispatch()
    })
  }

  /** Refuses what waits, finishes what runs, and ends the threads. */
  async close(): Promise<void> {
    this.#closed ??= 'shutting_down'
    for (const { reject } of this.#waiting.splice(0)) reject(new Unavailable(this.#closed))
    await Promise.all(
      this.#threads.map((thread) => {
        const exited = new Promise((resolve) => thread.once('exit', resolve))
        thread.postMessage('close' satisfies ReaderRequest)
        return exited
      }),
    )
  }

  #dispatch() {
    const thread = this.#waiting.length > 0 ? this.#idle.pop() : undefined
    const next = thread && this.#waiting.shift()
    if (!thread || !next) return
    this.#current.set(thread, next)
    thread.postMessage(next.statement satisfies ReaderRequest)
  }

  #settle(thread: Worker, result: StatementResult) {
    const current = this.#current.get(thread)
    this.#current.delete(thread)
    this.#idle.push(thread)
    if ('failure' in result) current?.reject(errorOf(result.failure))
    else current?.resolve(result.rows)
    this.#dispatch()
  }
}
