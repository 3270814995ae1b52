import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { ListTurns } from '../../list-turns.ts'
import type { StandingsAnswers, StandingsQuery } from '../../standings/standings-query.ts'
import type { Standings } from '../../standings.ts'
import type { ListReads, Reading } from '../../storage.ts'
import { threadModule } from '../../thread-module.ts'
import { Unavailable } from '../../unavailable.ts'
import type { Failure, StandingsReply, StandingsRequest, StandingsThreadData } from './standings-thread.ts'

/** How many reports are read at a time, each of another workspace. */
const READERS = 2

/** A thread that has ended is started again after so long. */
const RESTART_MS = 1_000

type Options = {
  url: string
  /** Called when nothing could be followed; it is tried again. */
  onFailure: (error: Error) => void
}

type Waiting = { resolve: (answer: unknown) => void; reject: (error: Error) => void }

/**
 * The standings of a database, followed and read by a thread of each serving process. Whatever happens there, the process
 * goes on: the thread is started again.
 */
export class PostgresStandings implements Standings {
  readonly #options: Options
  readonly #turns = new ListTurns(READERS)
  readonly #asking = new Map<number, Waiting>()
  #thread: Worker | undefined
  #asked = 0
  #connections = 0
  #restart: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(options: Options) {
    this.#options = options
    this.#thread = this.#start()
  }

  /** Connections of the thread. */
  get openConnections(): number {
    return this.#connections
  }

  statistics(): ListReads {
    return this.#turns.statistics()
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

  /** Refuses what waits; what is being read or followed is ended before the thread ends. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    clearTimeout(this.#restart)
    this.#turns.close(new Unavailable('shutting_down'))
    const thread = this.#thread
    if (!thread) return
    const exited = once(thread, 'exit')
    thread.postMessage({ kind: 'close' } satisfies StandingsRequest)
    await exited
  }

  async #ask<Kind extends StandingsQuery['kind']>(
    query: StandingsQuery & { kind: Kind },
    reading: Reading,
  ): Promise<StandingsAnswers[Kind]> {
    const answer = await this.#turns.take(reading, (signal) => this.#answer(query, signal))
    return answer as StandingsAnswers[Kind]
  }

  #answer(query: StandingsQuery, signal: AbortSignal): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const thread = this.#thread
      if (!thread) throw new Unavailable('storage_unavailable')
      this.#asked += 1
      const number = this.#asked
      this.#asking.set(number, { resolve, reject })
      thread.postMessage({ kind: 'query', number, query } satisfies StandingsRequest)
      const cancel = () => thread.postMessage({ kind: 'cancel', number } satisfies StandingsRequest)
      signal.addEventListener('abort', cancel, { once: true })
    })
  }

  #start(): Worker {
    const workerData: StandingsThreadData = { url: this.#options.url, readers: READERS }
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
    if (reply.kind === 'connections') this.#connections = reply.connections
    else if (reply.kind === 'failed') this.#options.onFailure(errorOf(reply.failure))
    else {
      const asking = this.#asking.get(reply.number)
      this.#asking.delete(reply.number)
      if (reply.kind === 'answer') asking?.resolve(reply.answer)
      else asking?.reject(errorOf(reply.failure))
    }
  }

  #ended(reason: Error) {
    this.#thread = undefined
    this.#connections = 0
    const unavailable = new Unavailable(this.#isClosed ? 'shutting_down' : 'storage_unavailable', reason)
    for (const { reject } of this.#asking.values()) reject(unavailable)
    this.#asking.clear()
    if (this.#isClosed) return
    this.#options.onFailure(reason)
    this.#restart = setTimeout(() => {
      this.#thread = this.#start()
    }, RESTART_MS)
    this.#restart.unref()
  }
}

function errorOf({ message, reason }: Failure): Error {
  const error = new Error(message)
  return reason ? new Unavailable(reason, error) : error
}
