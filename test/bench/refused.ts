import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createWorkspace } from '../../server/cli/init.ts'
import { type OfEngines, onEachEngine, type StartOnEngine } from './engines.ts'
import { restartCairn, runLoad, type Server } from './processes.ts'
import { type Settings, say } from './settings.ts'
import type { Watched } from './watched.ts'
import { CONNECTIONS, initializeCustomers } from './windows.ts'

/** Figures of the cost of keeping rejected requests, and of its effect on neighbours; lists have one number per slice. */
export type RefusedFigures = {
  /** Single events per second, on a server that keeps rejected requests and on one that keeps none. */
  requests_per_s: Record<Mix, { kept: number[]; not_kept: number[] }>
  /** Ordinary senders beside a key of another workspace at its full rate, whose events are stored or rejected. */
  neighbour_p99_ms: { stored: number[]; refused: number[] }
}

/** All accepted, or one in ten rejected. */
type Mix = keyof typeof REFUSED_EVERY
const REFUSED_EVERY = { accepted: undefined, one_in_ten: 10 }

/** Slices of a window. The two servers alternate, so that other load on the machine affects both. */
const SLICES = 5

/** As beside hostile callers: below the rate limit of a key, and a small part of what one core can process. */
const ORDINARY = { kind: 'single', connections: 16, mostRequestsPerSecond: 320, messageIds: 'mixed' } as const

/** Nearly the full rate of a key. */
const FULL_RATE = { ...ORDINARY, mostRequestsPerSecond: 450 } as const

type Options = { settings: Settings; watched: Watched }

/** Measures the cost of keeping rejected requests, on each engine. */
export async function measureRefused(folder: string, options: Options): Promise<OfEngines<RefusedFigures>> {
  return await onEachEngine({ folder, ...options }, 'refused', (start) => measureOn(start, options))
}

async function measureOn(start: StartOnEngine, { settings, watched }: Options): Promise<RefusedFigures> {
  const figures: RefusedFigures = {
    requests_per_s: { accepted: { kept: [], not_kept: [] }, one_in_ten: { kept: [], not_kept: [] } },
    neighbour_p99_ms: { stored: [], refused: [] },
  }
  const kept = await start('kept')
  const servers = {
    kept: kept.server,
    not_kept: (await start('not-kept', { environment: { CAIRN_REFUSALS_DAYS: '0' } })).server,
  }
  for (const server of Object.values(servers)) await initializeCustomers(server)
  const { warmUpSeconds, rounds } = settings
  const seconds = settings.seconds / SLICES
  const window = { kind: 'single', connections: CONNECTIONS, messageIds: 'mixed' } as const
  // Not counted: V8 is still compiling.
  for (const server of Object.values(servers))
    await runLoad(server, { ...window, seconds: settings.seconds, warmUpSeconds })
  for (let slice = 1; slice <= rounds * SLICES; slice += 1) {
    for (const [mix, refusedEvery] of Object.entries(REFUSED_EVERY) as [Mix, number | undefined][]) {
      say(`${kept.engine}: ${mix}, with rejected requests kept and without, slice ${slice}`)
      const order = (['kept', 'not_kept'] as const).toSorted(() => (slice % 2 === 0 ? -1 : 1))
      for (const which of order) {
        const job = { ...window, ...(refusedEvery && { refusedEvery }), seconds, warmUpSeconds: 0.5 }
        const { requestsPerSecond } = await runLoad(servers[which], job)
        figures.requests_per_s[mix][which].push(requestsPerSecond)
      }
    }
  }
  await servers.not_kept.end()
  await watched.note(`refused, ${kept.engine}`, servers.kept)
  await servers.kept.end()
  await measureNeighbours(kept, figures, settings)
  return figures
}

/** Measures ordinary senders beside a key at its full rate, with the default limits. */
async function measureNeighbours(
  { databaseUrl, engine, folder, server: ended }: Awaited<ReturnType<StartOnEngine>>,
  { neighbour_p99_ms }: RefusedFigures,
  { rounds, seconds, warmUpSeconds }: Settings,
) {
  const { file, workspaces } = ended
  const server = await restartCairn({ file, workspaces }, folder, { DATABASE_URL: databaseUrl })
  const made = await createWorkspace(databaseUrl, { workspace: 'At full rate', journey: 'Onboarding' })
  const inner = join(folder, 'neighbour')
  mkdirSync(inner)
  const greedy: Server = {
    ...server,
    workspaces: [{ key: made.secret_key, journey_ids: [made.journey_id] }],
    subjectsFile: join(inner, 'subjects.json'),
  }
  // Few, because this load has no pauses and more would exceed the rate limit.
  await initializeCustomers(greedy, 100)
  // Not counted: V8 is still compiling.
  await runLoad(server, { ...ORDINARY, seconds, warmUpSeconds })
  const window = { seconds: seconds / SLICES, warmUpSeconds: 0.5 }
  for (let slice = 1; slice <= rounds * SLICES; slice += 1) {
    say(`${engine}: ordinary senders beside a key whose events are stored or rejected, slice ${slice}`)
    for (const which of (['stored', 'refused'] as const).toSorted(() => (slice % 2 === 0 ? -1 : 1))) {
      const refusedEvery = which === 'refused' ? { refusedEvery: 1 } : {}
      const [ordinary] = await Promise.all([
        runLoad(server, { ...ORDINARY, ...window }),
        runLoad(greedy, { ...FULL_RATE, ...window, ...refusedEvery }),
      ])
      neighbour_p99_ms[which].push(ordinary.p99_ms)
    }
  }
  await server.end()
}
