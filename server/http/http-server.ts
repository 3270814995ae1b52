import { createServer } from 'node:http'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import type { Contract } from '../contract.ts'
import { ServedMetrics, type ServedSamples } from '../served-metrics.ts'
import type { ServedStorage } from '../storage/storage.ts'
import { AnswerCompression } from './answers/answer-compression.ts'
import { UnreadAnswers } from './answers/unread-answers.ts'
import { type AppOptions, createApp } from './app.ts'
import { Callers } from './callers/callers.ts'
import { Credentials } from './callers/credentials.ts'
import type { KeyChanges } from './callers/key-changes.ts'
import { ListeningSockets, type Where } from './listening-sockets.ts'
import { HEAD_BYTES, refuseMalformed } from './malformed-http.ts'
import { OpenConnections } from './open-connections.ts'
import { Turns } from './rates/turns.ts'
import { BodyPlaces } from './request-body.ts'

/** How long a connection without a request is kept. */
const KEEP_ALIVE_MS = 65_000

/**
 * A sender that takes longer for the head of a request, or for all of it, is cut off: it may only be holding a place
 * (contract: `request_timeout`). How often is looked; Node's 30 s would make 90 of the 60.
 */
export const PATIENCE = { head_ms: 20_000, request_ms: 60_000, check_ms: 1_000 }

/** What all that serve HTTP in this process have in common, so that a caller gets no more of it from two than from one. */
export type Common = Pick<
  AppOptions,
  'passwords' | 'attempts' | 'limiter' | 'exports' | 'notedReaders' | 'exposition'
> & {
  storage: ServedStorage
  keyChanges: KeyChanges
}

export type HttpServerOptions = {
  config: Config
  contract: Contract
  common: Common
  log: Logger
  /** Milliseconds since 1970. */
  now: () => number
  /** How long a sender may take. */
  patience: typeof PATIENCE
  /** So many of these share the memory for bodies and answers. */
  servers: number
}

/** What serves HTTP: this thread, or others. */
export type Serving = {
  /**
   * @returns the port
   * @throws {Error} with a message for the operator
   */
  listen(where: Where): Promise<number>
  /** Another program may have changed keys. */
  refreshKeys(): void
  /** What requests have come to, of each thread that serves them. */
  samples(): Promise<ServedSamples[]>
  /** Refuses new work, and finishes what was taken. */
  close(): Promise<void>
}

/** One server of the application, in the thread that it is made in. */
export class HttpServer implements Serving {
  readonly #listening: ListeningSockets
  readonly #connections: OpenConnections
  readonly #credentials: Credentials
  readonly #metrics = new ServedMetrics()
  #isStopping = false

  constructor({ config, contract, common, log, now, patience, servers }: HttpServerOptions) {
    const { storage, keyChanges, ...others } = common
    const metrics = this.#metrics
    const { publicUrl, logAddresses } = config
    this.#credentials = new Credentials({
      storage,
      changes: keyChanges,
      now,
      onError: (error) => log.warn({ err: error }, 'could not note when a key was last used'),
      onLookUp: () => metrics.keyLookedUp(),
    })
    const app = createApp({
      ...others,
      contract,
      storage,
      callers: new Callers({
        credentials: this.#credentials,
        storage,
        publicUrl,
        now,
        onError: (error) => log.warn({ err: error }, 'could not note when a session was last used'),
      }),
      allowed: config,
      publicUrl,
      trustedProxies: config.trustedProxies,
      turns: new Turns(),
      bodies: new BodyPlaces({ onSlow: () => metrics.peerCut('body'), among: servers }),
      answers: new UnreadAnswers({ among: servers }),
      compression: new AnswerCompression(),
      metrics,
      metricsToken: config.metricsToken,
      log,
      logAddresses,
      now,
      isStopping: () => this.#isStopping,
    })
    const options = {
      maxHeaderSize: HEAD_BYTES,
      // Longer than proxies and clients keep theirs: whoever closes first must not be the one that is being sent to.
      keepAliveTimeout: KEEP_ALIVE_MS,
      headersTimeout: patience.head_ms,
      requestTimeout: patience.request_ms,
      connectionsCheckingInterval: patience.check_ms,
      // The application refuses it, with a reason.
      requireHostHeader: false,
    }
    const server = createServer(options, app)
    this.#listening = new ListeningSockets(server)
    this.#connections = new OpenConnections(server, this.#listening)
    refuseMalformed(server, { log, metrics, logAddresses })
  }

  /** @param options.isShared whether other threads of this process listen there too */
  async listen(where: Where, options = { isShared: false }): Promise<number> {
    return await this.#listening.listen(where, options)
  }

  refreshKeys(): void {
    this.#credentials.refresh()
  }

  async samples(): Promise<ServedSamples[]> {
    return [await this.#metrics.samples()]
  }

  async close(): Promise<void> {
    this.#isStopping = true
    await this.#connections.close()
  }
}
