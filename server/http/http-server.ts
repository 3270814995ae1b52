import { createServer } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import type { Config } from '../config.ts'
import { EventChecks } from '../operations/event-checks.ts'
import { ViolationTally } from '../operations/violation-tally.ts'
import { checkedDefinitions } from '../storage/tables/event-definitions.ts'
import { AnswerCompression } from './answers/answer-compression.ts'
import { UnreadAnswers } from './answers/unread-answers.ts'
import { type AppOptions, createApp } from './app.ts'
import { Callers } from './callers/callers.ts'
import { Credentials } from './callers/credentials.ts'
import { expressMessages } from './express-messages.ts'
import { ListeningSockets, type Where } from './listening-sockets.ts'
import { HEAD_BYTES, refuseMalformed } from './malformed-http.ts'
import { connectionLimit, OpenConnections } from './open-connections.ts'
import { LoopScheduler } from './rates/loop-scheduler.ts'
import { BodyMemory } from './request-body.ts'

/** Keep-alive timeout of an idle connection. */
const KEEP_ALIVE_MS = 65_000

/**
 * Timeouts for the head of a request and for the whole request; after that the client is disconnected, because it may
 * only be occupying memory (contract: `request_timeout`). `check_ms` is the interval of the check; Node's default of 30
 * s would turn 60 s into 90.
 */
export const PATIENCE = { head_ms: 20_000, request_ms: 60_000, check_ms: 1_000 }

export type HttpServerOptions = Pick<
  AppOptions,
  | 'contract'
  | 'storage'
  | 'passwords'
  | 'changes'
  | 'attempts'
  | 'limiter'
  | 'exports'
  | 'notedReaders'
  | 'sharedViews'
  | 'webhooks'
  | 'metrics'
  | 'exposition'
  | 'assertWritable'
  | 'log'
  | 'now'
> & {
  config: Config
  /** Time limits for slow senders. */
  patience: typeof PATIENCE
}

/** Serves the application over HTTP. */
export class HttpServer {
  readonly #listening: ListeningSockets
  readonly #connections: OpenConnections
  readonly #credentials: Credentials
  readonly #violationTally: ViolationTally
  #isStopping = false

  constructor({ config, patience, ...others }: HttpServerOptions) {
    const { storage, metrics, log, now } = others
    const { publicUrl, logAddresses } = config
    this.#credentials = new Credentials({
      storage,
      now,
      onError: (error) => log.warn({ err: error }, 'could not record when a key was last used'),
      onLookUp: () => metrics.keyLookedUp(),
    })
    this.#violationTally = new ViolationTally({
      db: storage.db,
      now,
      onFailure: (error) => log.warn({ err: error }, 'could not count violations of definitions'),
    })
    const app = createApp({
      ...others,
      callers: new Callers({
        credentials: this.#credentials,
        storage,
        publicUrl,
        now,
        onError: (error) => log.warn({ err: error }, 'could not record when a session was last used'),
      }),
      eventChecks: new EventChecks({
        load: (workspaceId) => checkedDefinitions(storage.db, workspaceId),
        pause: setImmediate,
        now,
      }),
      violationTally: this.#violationTally,
      allowed: config,
      publicUrl,
      trustedProxies: config.trustedProxies,
      scheduler: new LoopScheduler(),
      bodies: new BodyMemory({ onSlow: () => metrics.peerCut('body') }),
      answers: new UnreadAnswers(),
      compression: new AnswerCompression(),
      metricsToken: config.metricsToken,
      logAddresses,
      isStopping: () => this.#isStopping,
    })
    const options = {
      maxHeaderSize: HEAD_BYTES,
      // Longer than those of proxies and clients, so that the server does not close a connection that a request is
      // being sent on.
      keepAliveTimeout: KEEP_ALIVE_MS,
      headersTimeout: patience.head_ms,
      requestTimeout: patience.request_ms,
      connectionsCheckingInterval: patience.check_ms,
      // The app refuses such a request itself, with a reason.
      requireHostHeader: false,
      ...expressMessages(app),
    }
    const server = createServer(options, app)
    this.#listening = new ListeningSockets(server)
    this.#connections = new OpenConnections(server, this.#listening, {
      limit: connectionLimit(),
      onFull: (open) =>
        log.warn({ open }, 'closing new connections: too many are open; raise the limit of open files'),
    })
    refuseMalformed(server, { log, metrics, logAddresses })
  }

  /**
   * @returns the port
   * @throws {Error} with a message for the operator
   */
  async listen(where: Where): Promise<number> {
    return await this.#listening.listen(where)
  }

  /** To be called when this process has changed keys. */
  forgetKeys(): void {
    this.#credentials.forget()
  }

  /** To be called when another process may have changed keys. */
  async refreshKeys(): Promise<void> {
    await this.#credentials.refresh()
  }

  /** Refuses new work and finishes the requests in flight. */
  async close(): Promise<void> {
    this.#isStopping = true
    await this.#connections.close()
    await this.#violationTally.close()
  }
}
