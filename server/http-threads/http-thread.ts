/** A thread that serves HTTP like the main thread where that is alone; what all have in common it calls there. */
import { type MessagePort, workerData } from 'node:worker_threads'
import { pino } from 'pino'
import type { Config } from '../config.ts'
import { loadContract } from '../contract.ts'
import type { Owner } from '../domain/fair-queue.ts'
import { KeyChanges } from '../http/callers/key-changes.ts'
import { HttpServer, type PATIENCE } from '../http/http-server.ts'
import { Attempts } from '../http/rates/attempts.ts'
import { RateLimiter } from '../http/rates/rate-limit.ts'
import { RecentMap } from '../http/rates/recent-map.ts'
import { SharedCounts, type SharedCountsMemory } from '../http/rates/shared-counts.ts'
import { GatheredLines, logOwnFaults } from '../log.ts'
import { engineOf } from '../storage/open.ts'
import { Calls } from './calls.ts'
import type { MainMethods } from './main-methods.ts'
import { threadStore } from './thread-store.ts'

/** What a thread is given. */
export type HttpThreadData = {
  port: MessagePort
  config: Omit<Config, 'publicUrl'> & { publicUrl: string | undefined }
  contractFile: string
  patience: typeof PATIENCE
  keyChanges: SharedArrayBuffer
  counts: SharedCountsMemory
  /** How many of these threads there are. */
  threads: number
}

/** What the main thread calls here. */
export type HttpThreadMethods = {
  listen: HttpServer['listen']
  refreshKeys: HttpServer['refreshKeys']
  samples: HttpServer['samples']
  /** Another thread has noted that somebody reads what was refused, or exports. */
  readerNoted: (name: string, noted_ms: number) => void
  close: () => Promise<void>
}

/** When a rate, a session or an enrolment is looked at, all threads have the clock of the machine. */
const now = Date.now

const data: HttpThreadData = workerData
const config: Config = {
  ...data.config,
  publicUrl: data.config.publicUrl ? new URL(data.config.publicUrl) : undefined,
}
const notedReaders = new RecentMap<number>(1_000)
const made = Promise.withResolvers<HttpServer>()

const calls: Calls<MainMethods> = new Calls<MainMethods>(data.port, {
  listen: async (...where) => (await made.promise).listen(...where),
  refreshKeys: async () => (await made.promise).refreshKeys(),
  samples: async () => (await made.promise).samples(),
  readerNoted: (name, noted_ms) => notedReaders.set(name, noted_ms),
  async close() {
    await (await made.promise).close()
    // Before the answer to this call, behind which the thread is ended.
    lines.flush()
  },
} satisfies HttpThreadMethods)

const lines = new GatheredLines({
  write: (written) => calls.tell('log', written),
  flushSync: () => calls.flush(),
})
const log = pino({ level: config.logLevel }, lines)
logOwnFaults(log)

const common = {
  storage: threadStore(calls, engineOf(config.databaseUrl)),
  keyChanges: new KeyChanges(data.keyChanges),
  passwords: {
    hash: (password: string) => calls.ask('hashPassword', password),
    matches: (password: string, hash: string | undefined) => calls.ask('matchesPassword', password, hash),
  },
  attempts: new Attempts({
    begin: (guesser) => calls.ask('beginGuess', guesser),
    end: (counted, end) => calls.ask('endGuess', counted, end),
  }),
  limiter: new RateLimiter({ defaultRate: config.rateLimit, now, counts: new SharedCounts(data.counts) }),
  notedReaders: {
    get: (name: string) => notedReaders.get(name),
    set(name: string, noted_ms: number) {
      notedReaders.set(name, noted_ms)
      calls.tell('noteReader', name, noted_ms)
    },
  },
  exports: {
    async enter(owner: Owner) {
      const place = await calls.ask('enterExport', owner)
      return () => calls.tell('leaveExport', place)
    },
  },
  exposition: () => calls.ask('exposition'),
}
const contract = await loadContract(new URL(data.contractFile))
const { patience, threads } = data
made.resolve(new HttpServer({ config, contract, common, log, now, patience, servers: threads }))
