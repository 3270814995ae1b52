import type { Logger } from 'pino'
import type { Config } from './config.ts'
import { type Contract, loadContract } from './contract.ts'
import { contractFile } from './contract-file.ts'
import { Passwords } from './http/callers/passwords.ts'
import { HttpServer, PATIENCE } from './http/http-server.ts'
import { Attempts } from './http/rates/attempts.ts'
import { ChangeQueue } from './http/rates/change-queue.ts'
import { ExportSlots } from './http/rates/export-slots.ts'
import { RateLimiter } from './http/rates/rate-limit.ts'
import { RecentMap } from './http/rates/recent-map.ts'
import { SharedViews } from './http/rates/shared-views.ts'
import { isReady, sharedLook } from './http/readiness.ts'
import { Metrics } from './metrics/metrics.ts'
import { ServedMetrics } from './metrics/served-metrics.ts'
import { ViewsAhead } from './operations/views-ahead.ts'
import { browserUrl, firstSetupLink } from './setup-link.ts'
import { isFile, openStorage } from './storage/open.ts'
import { makeErasuresFile } from './storage/removals/erasure-journal.ts'
import type { Disk } from './storage/storage.ts'
import { version } from './version.ts'
import type { Resolve } from './webhooks/name-lookups.ts'
import { RequestSender } from './webhooks/safe-request.ts'
import { openSecretBox } from './webhooks/secret-box.ts'
import { WebhookWork } from './webhooks/webhook-work.ts'
import { Webhooks } from './webhooks/webhooks.ts'

/** A running server. */
export type RunningServer = {
  /** For example `http://127.0.0.1:3000`. */
  url: string
  /** The URL for browsers. */
  siteUrl: string
  /** A one-time link that creates the first person; undefined once there is any data. A secret. */
  setupLink: string | undefined
  /** Refuses new work, finishes the requests in flight, and closes the store. */
  stop(): Promise<void>
  /** Rejects when the server can no longer operate. */
  died: Promise<never>
}

export type ServerOptions = {
  config: Config
  log: Logger
  /** Milliseconds since 1970. */
  now?: () => number
  /** Time limits for slow senders. */
  patience?: typeof PATIENCE
  /** Called when everything is ready, before the first request can arrive. */
  beforeListening?: () => void
  /** The contract, if it is already loaded. */
  contract?: Contract
  /** Opens the store. */
  open?: typeof openStorage
  /** Looks up the hosts of webhooks; by default the resolver of the system. */
  resolve?: Resolve
}

/**
 * Opens the store and starts to listen.
 * @throws {Error} with a message for the operator if either fails
 */
export async function startServer({
  config,
  log,
  now = Date.now,
  patience = PATIENCE,
  beforeListening,
  contract: loaded,
  open = openStorage,
  resolve,
}: ServerOptions): Promise<RunningServer> {
  const died = Promise.withResolvers<never>()
  // Prevents an unhandled rejection if nothing awaits it.
  died.promise.catch(() => {})
  const metrics = new Metrics(version)
  const contract = loaded ?? (await loadContract(contractFile))
  let server: HttpServer | undefined
  let work: WebhookWork | undefined
  // Now and not only at the first erasure, so that a problem is noticed.
  if (config.erasuresFile !== undefined) makeErasuresFile(config.erasuresFile)
  const storage = await open({
    url: config.databaseUrl,
    now,
    onMigration: (begun) => log.info(begun, 'migrating the store'),
    onAdvice: (advice) => log.warn(advice),
    onKeyChange: () => server?.forgetKeys(),
    onOutsideChange: () => server?.refreshKeys(),
    onDeath: died.reject,
    onGroup: (group) => {
      metrics.groupEnded(group)
      work?.noteArrival(group.rows)
    },
    onIndexingFailure: (error) => log.error({ err: error }, 'could not index events'),
    onDisk: (disk) => logDisk(log, disk),
    refusalLimits: config.refusals,
    erasuresFile: config.erasuresFile,
    onRefusalsFailure: (error) => log.warn({ err: error }, 'could not save or delete rejected requests'),
    onRemovalFailure: (error) => log.warn({ err: error }, 'could not delete removed data; retrying'),
  })
  const sender = new RequestSender({ allow: config.webhookAllow, ...(resolve && { resolve }) })
  const sending = { storage, sender, secrets: openSecretBox(config), now, version }
  work = new WebhookWork({
    ...sending,
    isShared: !isFile(config.databaseUrl),
    onFailure: (error, webhook_id) =>
      log.warn({ err: error, webhook_id }, 'could not serve a webhook; retrying'),
  })
  const views = new ViewsAhead({
    storage,
    now,
    onFailure: (error, view_id) =>
      log.warn({ err: error, view_id }, 'could not read ahead for saved views; retrying'),
  })
  const begin = () => work?.begin()
  const webhooks = work.statistics()
  const served = new ServedMetrics(contract.routes.map(({ operationId }) => operationId))
  const assertWritable = sharedLook(() => storage.assertWritable())
  const passwords = new Passwords()
  const changes = new ChangeQueue()
  server = new HttpServer({
    config,
    contract,
    storage,
    passwords,
    changes,
    attempts: new Attempts({ now, counts: storage.guesses }),
    limiter: new RateLimiter({ defaultRate: config.rateLimit, now }),
    exports: new ExportSlots(),
    notedReaders: new RecentMap<number>(1_000),
    sharedViews: new SharedViews(),
    metrics: served,
    webhooks: new Webhooks({ ...sending, begin }),
    assertWritable,
    exposition: async () => {
      const ready = await isReady(assertWritable)
      const stored = storage.statistics()
      return metrics.exposition(served, {
        storage: { ...stored, waitingTransactions: stored.waitingTransactions + changes.waiting },
        passwords: passwords.statistics(),
        webhooks,
        views,
        ready,
      })
    },
    log,
    now,
    patience,
  })
  let port: number
  let siteUrl: string
  let setupLink: string | undefined
  try {
    beforeListening?.()
    port = await server.listen(config)
    siteUrl = browserUrl(config, port)
    setupLink = await firstSetupLink(storage, { baseUrl: siteUrl, now_ms: now() })
  } catch (error) {
    await server.close()
    await Promise.all([work.close(), views.close()])
    await storage.close()
    throw error
  }
  return {
    url: urlOf(config.host, port),
    siteUrl,
    setupLink,
    died: died.promise,
    async stop() {
      await server.close()
      await Promise.all([work.close(), views.close()])
      await storage.close()
      log.flush()
    },
  }
}

/** Logs when writes start to be refused, and when they are accepted again. */
function logDisk(log: Logger, { refusing, ...bytes }: Disk) {
  if (refusing === null) log.info(bytes, 'accepting writes again')
  else log.error(bytes, `refusing writes: ${WHY_REFUSED[refusing]}`)
}

const WHY_REFUSED = {
  disk: 'the disk is nearly full; free up space',
  log: 'a long read, such as a backup, has kept the write-ahead log from being truncated; let it finish or stop it',
  files:
    'a file of the store (.db, .db-wal or .db-shm) was removed or replaced while it was open; ' +
    'stop the server, put back what is missing, and start it again',
}

function urlOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
