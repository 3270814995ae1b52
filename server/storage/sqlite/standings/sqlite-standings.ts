import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { ListTurns } from '../../list-turns.ts'
import type { StandingsAnswers, StandingsQuery } from '../../standings/standings-query.ts'
import type { Standings } from '../../standings.ts'
import type { ListReads, Reading } from '../../storage.ts'
import { threadModule } from '../../thread-module.ts'
import { Unavailable } from '../../unavailable.ts'
import type { Failure } from '../statement.ts'
import type { TailRing } from '../tail.ts'
import { errorOf } from '../writer.ts'
import type { StandingsReply, StandingsRequest, StandingsThreadData } from './standings-thread.ts'

/** A thread that has ended is started again after so long. */
const RESTART_MS = 1_000

type Options = {
  path: string
  ring: TailRing
  now: () => number
  /** Called when nothing could be followed; it is tried again. */
  onFailure: (error: Error) => void
}

type Waiting = { resolve: (result: unknown) => void; reject: (error: Error) => void }

/**
 * The standings of a store, followed and read by a thread of its own. Whatever happens there, the store goes on: the thread
 * is started again, and the file made anew.
 */
export class SqliteStandings implements Standings {
  readonly #options: Options
  /** One at a time: all that are read take turns with following. */
  readonly #turns = new ListTurns(1)
  #thread: Worker
  #opened: Promise<unknown>
  #asking: Waiting | undefined
  #restart: NodeJS.Timeout | undefined
  #isClosed = false

  private constructor(options: Options) {
    this.#options = options
    this.#thread = this.#start()
    this.#opened = once(this.#thread, 'message').catch(() => {})
  }

  /** @param options.path a file that the writer has opened before */
  static async open(options: Options): Promise<SqliteStandings> {
    const standings = new SqliteStandings(options)
    await standings.#opened
    return standings
  }

  report: Standings['report'] = (workspaceId, journeyId, filter, reading) =>
    this.#ask({ kind: 'report', workspaceId, journeyId, filter }, reading)

  trend: Standings['trend'] = (workspaceId, journeyId, filter, reading) =>
    this.#ask({ kind: 'trend', workspaceId, journeyId, filter }, reading)

  histogram: Standings['histogram'] = (workspaceId, journeyId, filter, reading) =>
    this.#ask({ kind: 'histogram', workspaceId, journeyId, filter }, reading)

  customers: Standings['customers'] = (workspaceId, journeyId, filter, page, reading) =>
    this.#ask({ kind: 'customers', workspaceId, journeyId, filter, page }, reading)

  customerJourneys: Standings['customerJourneys'] = (workspaceId, customerId, page, reading) =>
    this.#ask({ kind: 'customerJourneys', workspaceId, customerId, page }, reading)

  statistics(): ListReads {
    return this.#turns.statistics()
  }

  /** Refuses what waits, ends what is being done where it can go on, and closes both files. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    clearTimeout(this.#restart)
    this.#turns.close(new Unavailable('shutting_down'))
    // A thread that has died has no identifier any more and will not say so again.
    if (this.#thread.threadId === -1) return
    const exited = once(this.#thread, 'exit')
    this.#thread.postMessage('close' satisfies StandingsRequest)
    await exited
  }

  async #ask<Kind extends StandingsQuery['kind']>(
    query: StandingsQuery & { kind: Kind },
    reading: Reading,
  ): Promise<StandingsAnswers[Kind]> {
    const result = await this.#turns.take(reading, (signal) => this.#answer(query, signal))
    return result as StandingsAnswers[Kind]
  }

  #answer(query: StandingsQuery, signal: AbortSignal): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#restart) throw new Unavailable('storage_unavailable')
      signal.addEventListener('abort', () => this.#thread.postMessage('abandon' satisfies StandingsRequest))
      this.#asking = { resolve, reject }
      this.#thread.postMessage({ query, now_ms: this.#options.now() } satisfies StandingsRequest)
    })
  }

  #start(): Worker {
    const { path, ring, now } = this.#options
    const workerData: StandingsThreadData = { path, ring: ring.buffer, now_ms: now() }
    const thread = new Worker(threadModule('standings-thread', import.meta.url), { workerData })
    let reason = new Error('the standings thread has ended')
    thread.on('message', (reply: StandingsReply) => this.#hear(reply))
    thread.on('error', (error) => {
      reason = error
    })
    thread.on('exit', () => this.#ended(reason))
    return thread
  }

  #hear(reply: StandingsReply) {
    if (reply.kind === 'failed') this.#fail(reply.failure)
    else if (reply.kind === 'answer') this.#asking?.resolve(reply.result)
    else if (reply.kind === 'refused') this.#asking?.reject(errorOf(reply.failure))
  }

  #fail(failure: Failure) {
    this.#options.onFailure(errorOf(failure))
  }

  #ended(reason: Error) {
    this.#asking?.reject(new Unavailable(this.#isClosed ? 'shutting_down' : 'storage_unavailable', reason))
    this.#asking = undefined
    if (this.#isClosed) return
    this.#options.onFailure(reason)
    this.#restart = setTimeout(() => {
      this.#restart = undefined
      this.#thread = this.#start()
    }, RESTART_MS)
    this.#restart.unref()
  }
}
