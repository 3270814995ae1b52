import type { Reading } from '../database.ts'
import { ListQueue } from '../lists/list-queue.ts'
import type { ListReads } from '../storage.ts'
import { errorOf, type Failure, Unavailable } from '../unavailable.ts'
import type { Standings } from './standings.ts'
import type { StandingsAnswers, StandingsQuery } from './standings-query.ts'
import { StrictOrderTooLarge } from './strict-order.ts'
import { BreakdownTooLarge } from './variable-labels.ts'

/** Messages to the thread. @typeParam Other engine-specific queries */
export type StandingsRequest<Other = never> =
  /** `now_ms` is the time of sending, by the clock of the main thread. */
  | { kind: 'query'; number: number; query: StandingsQuery | Other; now_ms: number }
  /** Nobody waits for the answer any more. */
  | { kind: 'cancel'; number: number }
  | { kind: 'close' }

/** Messages from the thread. */
export type StandingsReply =
  | { kind: 'opened' }
  | { kind: 'answer'; number: number; answer: unknown }
  | { kind: 'refused'; number: number; failure: Failure }
  /** See `BreakdownTooLarge` and `StrictOrderTooLarge`. */
  | { kind: 'tooLarge'; number: number; what: 'breakdown' | 'strictOrder' }
  /** Following failed and will be retried. */
  | { kind: 'failed'; failure: Failure }
  | { kind: 'connections'; connections: number }

/** The part of `Worker` that is used. */
export type StandingsThread<Other = never> = {
  postMessage(request: StandingsRequest<Other>): void
  on(event: 'message', listener: (reply: StandingsReply) => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'exit', listener: () => void): unknown
}

/** Delay before a thread that has ended is restarted. */
const RESTART_MS = 1_000

type Options<Other> = {
  /** Starts the engine's thread, which receives requests and sends replies. */
  start: () => StandingsThread<Other>
  /** How many reports are read concurrently, each of another workspace. */
  readers: number
  now: () => number
  /** Called when following fails; it is retried. */
  onFailure: (error: Error) => void
}

type Waiting = { resolve: (answer: unknown) => void; reject: (error: Error) => void }

/**
 * The standings of a store, followed and read by a thread of their own. A failure there does not end the process: the
 * thread is restarted.
 */
export class ThreadStandings<Other = never> implements Standings {
  readonly #options: Options<Other>
  readonly #listQueue: ListQueue
  readonly #asking = new Map<number, Waiting>()
  readonly #opened = Promise.withResolvers<void>()
  readonly #ended = Promise.withResolvers<void>()
  #thread: StandingsThread<Other> | undefined
  #asked = 0
  #connections = 0
  #restart: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(options: Options<Other>) {
    this.#options = options
    this.#listQueue = new ListQueue(options.readers)
    this.#thread = this.#start()
  }

  /** Resolves when the first thread has sent a message, or has ended. */
  get opened(): Promise<void> {
    return this.#opened.promise
  }

  /** Connections of the thread; SQLite files need none. */
  get openConnections(): number {
    return this.#connections
  }

  statistics(): ListReads {
    return this.#listQueue.statistics()
  }

  report: Standings['report'] = (workspaceId, journeyId, filter, reading) =>
    this.#ask({ kind: 'report', workspaceId, journeyId, filter }, reading)

  readAhead: Standings['readAhead'] = (workspaceId, journeyId, ahead, reading) =>
    this.#ask({ kind: 'readAhead', workspaceId, journeyId, ahead }, reading)

  trend: Standings['trend'] = (workspaceId, journeyId, filter, reading) =>
    this.#ask({ kind: 'trend', workspaceId, journeyId, filter }, reading)

  histogram: Standings['histogram'] = (workspaceId, journeyId, filter, reading) =>
    this.#ask({ kind: 'histogram', workspaceId, journeyId, filter }, reading)

  customers: Standings['customers'] = (workspaceId, journeyId, filter, page, reading) =>
    this.#ask({ kind: 'customers', workspaceId, journeyId, filter, page }, reading)

  customerJourneys: Standings['customerJourneys'] = (workspaceId, customerId, page, reading) =>
    this.#ask({ kind: 'customerJourneys', workspaceId, customerId, page }, reading)

  /** Refuses queued work; reads and steps in progress finish before the thread ends. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    clearTimeout(this.#restart)
    this.#listQueue.close(new Unavailable('shutting_down'))
    if (!this.#thread) return
    this.#thread.postMessage({ kind: 'close' })
    await this.#ended.promise
  }

  async #ask<Kind extends StandingsQuery['kind']>(
    query: StandingsQuery & { kind: Kind },
    reading: Reading,
  ): Promise<StandingsAnswers[Kind]> {
    return (await this.ask(query, reading)) as StandingsAnswers[Kind]
  }

  /** Queues a query for the thread, see `ListQueue`. */
  protected ask(query: StandingsQuery | Other, reading: Reading): Promise<unknown> {
    return this.#listQueue.take(reading, (signal) => this.#answer(query, signal))
  }

  #answer(query: StandingsQuery | Other, signal: AbortSignal): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const thread = this.#thread
      if (!thread) throw new Unavailable('storage_unavailable')
      this.#asked += 1
      const number = this.#asked
      this.#asking.set(number, { resolve, reject })
      thread.postMessage({ kind: 'query', number, query, now_ms: this.#options.now() })
      const cancel = () => thread.postMessage({ kind: 'cancel', number })
      signal.addEventListener('abort', cancel, { once: true })
    })
  }

  #start(): StandingsThread<Other> {
    const thread = this.#options.start()
    let reason = new Error('the standings thread has ended')
    thread.on('message', (reply) => this.#hear(reply))
    thread.on('error', (error) => {
      reason = error
    })
    thread.on('exit', () => this.#end(reason))
    return thread
  }

  #hear(reply: StandingsReply) {
    this.#opened.resolve()
    if (reply.kind === 'opened') return
    if (reply.kind === 'connections') this.#connections = reply.connections
    else if (reply.kind === 'failed') this.#options.onFailure(errorOf(reply.failure))
    else {
      const asking = this.#asking.get(reply.number)
      this.#asking.delete(reply.number)
      if (reply.kind === 'answer') asking?.resolve(reply.answer)
      else if (reply.kind === 'tooLarge')
        asking?.reject(reply.what === 'breakdown' ? new BreakdownTooLarge() : new StrictOrderTooLarge())
      else asking?.reject(errorOf(reply.failure))
    }
  }

  #end(reason: Error) {
    this.#opened.resolve()
    this.#thread = undefined
    this.#connections = 0
    const unavailable = new Unavailable(this.#isClosed ? 'shutting_down' : 'storage_unavailable', reason)
    for (const { reject } of this.#asking.values()) reject(unavailable)
    this.#asking.clear()
    if (this.#isClosed) return this.#ended.resolve()
    this.#options.onFailure(reason)
    this.#restart = setTimeout(() => {
      this.#thread = this.#start()
    }, RESTART_MS)
    this.#restart.unref()
  }
}
