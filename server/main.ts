import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Logger } from 'pino'
import type { Config } from './config.ts'
import { type Contract, loadContract } from './contract.ts'
import { AnswerCompression } from './http/answers/answer-compression.ts'
import { UnreadAnswers } from './http/answers/unread-answers.ts'
import { createApp } from './http/app.ts'
import { Callers } from './http/callers/callers.ts'
import { Credentials } from './http/callers/credentials.ts'
import { ExportPlaces } from './http/export-places.ts'
import { HEAD_BYTES, refuseMalformed } from './http/malformed-http.ts'
import { OpenConnections } from './http/open-connections.ts'
import { Attempts } from './http/rates/attempts.ts'
import { GuessesHere } from './http/rates/guesses-here.ts'
import { RateLimiter } from './http/rates/rate-limit.ts'
import { RecentMap } from './http/rates/recent-map.ts'
import { Turns } from './http/rates/turns.ts'
import { BodyPlaces } from './http/request-body.ts'
import { Metrics } from './metrics.ts'
import { Passwords } from './passwords.ts'
import { browserUrl, firstSetupLink } from './setup-link.ts'
import { openStorage } from './storage/open.ts'
import type { Disk } from './storage/storage.ts'
import { version } from './version.ts'

export const contractFile = new URL('../openapi.yaml', import.meta.url)

/** How long a connection without a request is kept. */
const KEEP_ALIVE_MS = 65_000

/**
 * A sender that takes longer for the head of a request, or for all of it, is cut off: it may only be holding a place
 * (contract: `request_timeout`). How often is looked; Node's 30 s would make 90 of the 60.
 */
const PATIENCE = { head_ms: 20_000, request_ms: 60_000, check_ms: 1_000 }

/** A server that listens. */
export type RunningServer = {
  /** For example `http://127.0.0.1:3000`. */
  url: string
  /** Where a browser finds it. */
  siteUrl: string
  /** A one-time link that creates the first person; where there is any data, there is none. A secret. */
  setupLink: string | undefined
  /** Refuses new work, finishes what was taken, and closes the store. */
  stop(): Promise<void>
  /** Rejects when the server can no longer work. */
  died: Promise<never>
}

export type ServerOptions = {
  config: Config
  log: Logger
  /** Milliseconds since 1970. */
  now?: () => number
  /** How long a sender may take. */
  patience?: typeof PATIENCE
  /** The contract, where it has been loaded already. */
  contract?: Contract
}

/**
 * Opens the store and listens.
 * @throws {Error} with a message for the operator where either is not possible
 */
export async function startServer({
  config,
  log,
  now = Date.now,
  patience = PATIENCE,
  contract: loaded,
}: ServerOptions): Promise<RunningServer> {
  const died = Promise.withResolvers<never>()
  // Nobody need wait for it.
  died.promise.catch(() => {})
  let isStopping = false
  const contract = loaded ?? (await loadContract(contractFile))
  const metrics = new Metrics(version)
  let credentials: Credentials | undefined
  const storage = await openStorage({
    url: config.databaseUrl,
    now,
    onKeyChange: () => credentials?.forget(),
    onOutsideChange: () => credentials?.refresh(),
    onDeath: died.reject,
    onGroup: (group) => metrics.groupEnded(group),
    onIndexingFailure: (error) => log.error({ err: error }, 'could not fill the indexes of events'),
    onDisk: (disk) => logDisk(log, disk),
    refusalLimits: config.refusals,
    erasuresFile: config.erasuresFile,
    onRefusalsFailure: (error) => log.warn({ err: error }, 'could not keep what was refused'),
    onRemovalFailure: (error) =>
      log.warn({ err: error }, 'could not remove what is to be gone; trying again'),
  })
  credentials = new Credentials({
    storage,
    now,
    onError: (error) => log.warn({ err: error }, 'could not note when a key was last used'),
    onLookUp: () => metrics.keyLookedUp(),
  })
  const limiter = new RateLimiter({ defaultRate: config.rateLimit, now })
  const app = createApp({
    contract,
    storage,
    callers: new Callers({
      credentials,
      storage,
      publicUrl: config.publicUrl,
      now,
      onError: (error) => log.warn({ err: error }, 'could not note when a session was last used'),
    }),
    passwords: new Passwords(),
    attempts: new Attempts({ now, counts: storage.guesses ?? new GuessesHere() }),
    allowed: config,
    publicUrl: config.publicUrl,
    trustedProxies: config.trustedProxies,
    limiter,
    turns: new Turns(),
    notedReaders: new RecentMap(1_000),
    exports: new ExportPlaces(),
    bodies: new BodyPlaces({ onSlow: () => metrics.peerCut('body') }),
    answers: new UnreadAnswers(),
    compression: new AnswerCompression(),
    metrics,
    metricsToken: config.metricsToken,
    log,
    logAddresses: config.logAddresses,
    now,
    isStopping: () => isStopping,
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
  const connections = new OpenConnections(server)
  refuseMalformed(server, { log, metrics, logAddresses: config.logAddresses })
  let siteUrl: string
  let setupLink: string | undefined
  try {
    await listen(server, config)
    const { port } = server.address() as AddressInfo
    siteUrl = browserUrl(config, port)
    setupLink = await firstSetupLink(storage, { baseUrl: siteUrl, now_ms: now() })
  } catch (error) {
    server.close()
    await storage.close()
    throw error
  }
  return {
    url: urlOf(server, config.host),
    siteUrl,
    setupLink,
    died: died.promise,
    async stop() {
      isStopping = true
      await connections.close()
      await storage.close()
      log.flush()
    },
  }
}

/** Says why writes are refused, and when they are taken again. */
function logDisk(log: Logger, { refusing, ...bytes }: Disk) {
  if (refusing === null) log.info(bytes, 'writes are taken again')
  else log.error(bytes, `writes are refused: ${WHY_REFUSED[refusing]}`)
}

const WHY_REFUSED = {
  disk: 'the disk is nearly full; make room on it',
  log: 'something has read the store for so long that the log has reached its limit; let a backup end, or end it',
}

async function listen(server: Server, { host, port }: Config): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const reason = error.code === 'EADDRINUSE' ? 'the port is in use; set PORT to another' : error.message
      reject(new Error(`Cannot listen on ${host}:${port}: ${reason}`))
    })
    server.listen(port, host, resolve)
  })
}

function urlOf(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
