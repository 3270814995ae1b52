import { once } from 'node:events'
import { existsSync } from 'node:fs'
import type { Worker } from 'node:worker_threads'
import { type CompiledQuery, Kysely } from 'kysely'
import type { Reading } from '../../database.ts'
import { ListQueue } from '../../lists/list-queue.ts'
import type { RefusalTable, RefusalTables } from '../../refusals/refusal-table.ts'
import { startThread } from '../../threads/thread.ts'
import { threadModule } from '../../threads/thread-module.ts'
import { errorOf, Unavailable } from '../../unavailable.ts'
import type { Statement } from '../statement.ts'
import { ThreadDialect } from '../thread-dialect.ts'
import { refusalsPath } from './refusals-file.ts'
import type { RefusalsReply, RefusalsRequest, RefusalsThreadData } from './refusals-thread.ts'

type Waiting = { resolve: (rows: unknown[][]) => void; reject: (error: Error) => void }

/**
 * The refusals of a store, in a separate file next to it. A flood of refusals therefore loads neither the writer nor
 * the write-ahead log that ingestion waits for; the file can be deleted at any time; and backups and copies do not
 * contain it, so that what customers sent is deleted everywhere when its retention ends.
 *
 * Its thread starts with the first refusal, or the first request for refusals, and again if it has died.
 */
export class SqliteRefusalTable implements RefusalTable {
  readonly compiler = this.#database(() =>
    Promise.reject(new Error('read through the queue of lists instead')),
  )
  readonly #path: string
  readonly #listQueue = new ListQueue(1)
  readonly #waiting = new Map<number, Waiting>()
  #thread: Worker | undefined
  #number = 0
  #isClosed = false

  /** @param path of the store */
  constructor(path: string) {
    this.#path = refusalsPath(path)
  }

  lists(reading: Reading): Kysely<RefusalTables> {
    return this.#database((statement) =>
      this.#listQueue.take(reading, async () => (await this.#ask([statement]))[0] ?? []),
    )
  }

  run: RefusalTable['run'] = async <Row>(statements: readonly CompiledQuery<Row>[]) => {
    const asked = statements.map(({ sql, parameters }) => ({ sql, parameters }))
    return (await this.#ask(asked)) as Row[][]
  }

  mayHaveRows(): boolean {
    return existsSync(this.#path)
  }

  truncateLog: RefusalTable['truncateLog'] = async () => {
    const [[truncation] = []] = (await this.#ask('truncate-log')) as { busy: number }[][]
    return truncation?.busy === 0
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#listQueue.close(new Unavailable('shutting_down'))
    const thread = this.#thread
    if (!thread) return
    const exited = once(thread, 'exit')
    thread.postMessage('close' satisfies RefusalsRequest)
    await exited
  }

  #database(read: (statement: Statement) => Promise<unknown[]>): Kysely<RefusalTables> {
    return new Kysely<RefusalTables>({ dialect: new ThreadDialect({ read }) })
  }

  #ask(statements: readonly Statement[] | 'truncate-log'): Promise<unknown[][]> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) throw new Unavailable('shutting_down')
      this.#thread ??= this.#start()
      this.#number += 1
      this.#waiting.set(this.#number, { resolve, reject })
      this.#thread.postMessage({ number: this.#number, statements } satisfies RefusalsRequest)
    })
  }

  #start(): Worker {
    const workerData: RefusalsThreadData = { path: this.#path }
    const thread = startThread(threadModule('refusals-thread', import.meta.url), { workerData })
    // The queue is short, and a stopping server closes the thread.
    thread.unref()
    let reason = new Error('the thread of refusals has ended')
    thread.on('message', ({ number, result }: RefusalsReply) => {
      const waiting = this.#waiting.get(number)
      this.#waiting.delete(number)
      if ('failure' in result) waiting?.reject(errorOf(result.failure))
      else waiting?.resolve(result.rows)
    })
    thread.on('error', (error) => {
      reason = error
    })
    thread.on('exit', () => {
      this.#thread = undefined
      for (const { reject } of this.#waiting.values()) reject(new Unavailable('storage_unavailable', reason))
      this.#waiting.clear()
    })
    return thread
  }
}
