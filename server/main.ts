import type { Logger } from 'pino'
import type { Config } from './config.ts'
import { type Contract, loadContract } from './contract.ts'
import { KeyChanges } from './http/callers/key-changes.ts'
import { ExportPlaces } from './http/export-places.ts'
import { HttpServer, PATIENCE, type Serving } from './http/http-server.ts'
import { Attempts, GuessLedger } from './http/rates/attempts.ts'
import { GuessesHere } from './http/rates/guesses-here.ts'
import { RateLimiter } from './http/rates/rate-limit.ts'
import { RecentMap } from './http/rates/recent-map.ts'
import { HttpThreads } from './http-threads/http-threads.ts'
import type { MainParts } from './http-threads/main-methods.ts'
import { putLines } from './log.ts'
import { Metrics } from './metrics.ts'
import { Passwords } from './passwords.ts'
import { browserUrl, firstSetupLink } from './setup-link.ts'
import { openStorage } from './storage/open.ts'
import type { Disk } from './storage/storage.ts'
import { version } from './version.ts'

export const contractFile = new URL('../openapi.yaml', import.meta.url)

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
  contract,
}: ServerOptions): Promise<RunningServer> {
  const died = Promise.withResolvers<never>()
  // Nobody need wait for it.
  died.promise.catch(() => {})
  const keyChanges = new KeyChanges()
  const metrics = new Metrics(version)
  const ready = await prepare({ config, log, now, patience, contract, keyChanges, onDeath: died.reject })
  let serving: Serving | undefined
  const storage = await openStorage({
    url: config.databaseUrl,
    now,
    onKeyChange: () => keyChanges.made(),
    onOutsideChange: () => serving?.refreshKeys(),
    onDeath: died.reject,
    onGroup: (group) => metrics.groupEnded(group),
    onIndexingFailure: (error) => log.error({ err: error }, 'could not fill the indexes of events'),
    onDisk: (disk) => logDisk(log, disk),
    refusalLimits: config.refusals,
    erasuresFile: config.erasuresFile,
    onRefusalsFailure: (error) => log.warn({ err: error }, 'could not keep what was refused'),
    onRemovalFailure: (error) =>
      log.warn({ err: error }, 'could not remove what is to be gone; trying again'),
  }).catch(async (error) => {
    await ready.end()
    throw error
  })
  serving = ready.serve({
    storage,
    passwords: new Passwords(),
    guesses: new GuessLedger({ now, counts: storage.guesses ?? new GuessesHere() }),
    exports: new ExportPlaces(),
    exposition: async () => metrics.exposition(storage.statistics(), (await serving?.samples()) ?? []),
    log: (lines) => putLines(log, lines),
  })
  let port: number
  let siteUrl: string
  let setupLink: string | undefined
  try {
    port = await serving.listen(config)
    siteUrl = browserUrl(config, port)
    setupLink = await firstSetupLink(storage, { baseUrl: siteUrl, now_ms: now() })
  } catch (error) {
    await serving.close()
    await storage.close()
    throw error
  }
  return {
    url: urlOf(config.host, port),
    siteUrl,
    setupLink,
    died: died.promise,
    async stop() {
      await serving.close()
      await storage.close()
      log.flush()
    },
  }
}

type Preparing = Required<Omit<ServerOptions, 'contract'>> & {
  contract: Contract | undefined
  keyChanges: KeyChanges
  onDeath: (error: Error) => void
}

/** Makes ready what serves HTTP, this thread or others, until there is a store to serve. */
async function prepare({ contract: loaded, ...options }: Preparing): Promise<{
  serve: (parts: MainParts) => Serving
  end: () => Promise<void>
}> {
  const { config, log, now, patience, keyChanges } = options
  if (config.httpThreads > 1) {
    return await HttpThreads.start({ ...options, count: config.httpThreads, contractFile })
  }
  const contract = loaded ?? (await loadContract(contractFile))
  return {
    serve({ guesses, ...parts }) {
      const common = {
        ...parts,
        keyChanges,
        attempts: new Attempts(guesses),
        limiter: new RateLimiter({ defaultRate: config.rateLimit, now }),
        notedReaders: new RecentMap<number>(1_000),
      }
      return new HttpServer({ config, contract, common, log, now, patience, servers: 1 })
    },
    async end() {},
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

function urlOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
