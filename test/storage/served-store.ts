import { once } from 'node:events'
import { pino } from 'pino'
import { onTestFinished } from 'vitest'
import { createWorkspace } from '../../server/cli/init.ts'
import { AnswerCompression } from '../../server/http/answers/answer-compression.ts'
import { UnreadAnswers } from '../../server/http/answers/unread-answers.ts'
import { createApp } from '../../server/http/app.ts'
import { Callers } from '../../server/http/callers/callers.ts'
import { Credentials } from '../../server/http/callers/credentials.ts'
import { ExportPlaces } from '../../server/http/export-places.ts'
import { Attempts, GuessLedger } from '../../server/http/rates/attempts.ts'
import { GuessesHere } from '../../server/http/rates/guesses-here.ts'
import { RateLimiter } from '../../server/http/rates/rate-limit.ts'
import { RecentMap } from '../../server/http/rates/recent-map.ts'
import { Turns } from '../../server/http/rates/turns.ts'
import { BodyPlaces } from '../../server/http/request-body.ts'
import { Metrics } from '../../server/metrics.ts'
import { Passwords } from '../../server/passwords.ts'
import { ServedMetrics } from '../../server/served-metrics.ts'
import { sharedContract } from '../cairn.ts'
import { openStoreForTest, type Store } from './store.ts'

/** A store within reach of the test, behind HTTP. Both end with the test. */
export type ServedStore = {
  store: Store
  /** Without the base path. */
  url: string
  workspace: Awaited<ReturnType<typeof createWorkspace>>
}

export async function serveStoreForTest(): Promise<ServedStore> {
  const metrics = new Metrics('1.0.0')
  const served = new ServedMetrics()
  const store = await openStoreForTest({ onGroup: (group) => metrics.groupEnded(group) })
  const workspace = await createWorkspace(store.databaseUrl, {
    workspace: 'Example Ltd',
    journey: 'Onboarding',
  })
  const app = createApp({
    contract: await sharedContract(),
    storage: store,
    callers: new Callers({
      credentials: new Credentials({ storage: store, now: Date.now, onError: () => {} }),
      storage: store,
      publicUrl: undefined,
      now: Date.now,
      onError: () => {},
    }),
    passwords: new Passwords(),
    attempts: new Attempts(new GuessLedger({ now: Date.now, counts: new GuessesHere() })),
    allowed: { rateLimitMax: 0, accounts: 'invitation' },
    publicUrl: undefined,
    trustedProxies: [],
    bodies: new BodyPlaces({ onSlow: () => {} }),
    answers: new UnreadAnswers(),
    compression: new AnswerCompression(),
    limiter: new RateLimiter({ defaultRate: 0, now: Date.now }),
    turns: new Turns(),
    notedReaders: new RecentMap(1_000),
    exports: new ExportPlaces(),
    metrics: served,
    metricsToken: undefined,
    exposition: async () => metrics.exposition(store.statistics(), [await served.samples()]),
    log: pino({ level: 'silent' }),
    logAddresses: true,
    now: Date.now,
    isStopping: () => false,
  })
  const server = app.listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  return { store, url: `http://127.0.0.1:${port}`, workspace }
}
