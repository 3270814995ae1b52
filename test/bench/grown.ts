import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fill } from './engines.ts'
import { runLoad, type Server, startCairn, startPeer } from './processes.ts'
import { type Settings, say } from './settings.ts'
import type { Watched } from './watched.ts'
import { batchWindow, CONNECTIONS, expectStored, initializeCustomers } from './windows.ts'

/** Figures of full stores, ours and that of `fastify`; lists have one number per round. */
export type GrownFigures = {
  fill_events_per_s: Record<Grown, number>
  /** Events per second, one per request. */
  single: Record<Grown, number[]>
  /** Events per second. */
  batch: Record<Grown, number[]>
  /** First page of a customer's timeline while single events arrive. */
  timeline_p99_ms: { cairn: number[]; bare: number[] }
}

const GROWN = ['cairn', 'fastify'] as const
type Grown = (typeof GROWN)[number]

/** As most programs generate them: in no order, so that a unique index of them is written everywhere. */
const messageIds = 'v4'

/**
 * Fills a store of ours and one of `fastify` with the same number of events, in batches, and then measures both alternately.
 * @throws {Error} if a store does not contain what was acknowledged
 */
export async function measureGrown(
  folder: string,
  { settings, watched }: { settings: Settings; watched: Watched },
): Promise<GrownFigures> {
  const started: Server[] = []
  const start = async (name: Grown | 'bare') => {
    const inner = join(folder, name)
    mkdirSync(inner)
    const server = name === 'cairn' ? await startCairn(inner) : await startPeer(name, inner)
    started.push(server)
    await initializeCustomers(server)
    return server
  }
  const servers = { cairn: await start('cairn'), fastify: await start('fastify') }
  const bare = await start('bare')
  const figures: GrownFigures = {
    fill_events_per_s: { cairn: Number.NaN, fastify: Number.NaN },
    single: { cairn: [], fastify: [] },
    batch: { cairn: [], fastify: [] },
    timeline_p99_ms: { cairn: [], bare: [] },
  }
  const stored = { cairn: settings.storedEvents, fastify: settings.storedEvents }
  for (const name of GROWN) {
    say(`filling the store of ${name} with ${settings.storedEvents} events`)
    const begun = performance.now()
    await fill(servers[name], settings.storedEvents, messageIds)
    figures.fill_events_per_s[name] = settings.storedEvents / ((performance.now() - begun) / 1000)
  }
  for (let round = 1; round <= settings.rounds; round += 1) {
    for (const name of GROWN) {
      say(`full stores, round ${round}: ${name}`)
      const single = await runLoad(servers[name], singleWindow(settings))
      const batch = await batchWindow(servers[name], { messageIds }, settings)
      figures.single[name].push(single.requestsPerSecond)
      figures.batch[name].push(batch.eventsPerSecond)
      stored[name] += single.stored + batch.stored
    }
    for (const [name, server] of [['cairn', servers.cairn] as const, ['bare', bare] as const]) {
      const [timeline, single] = await Promise.all([
        runLoad(server, { ...singleWindow(settings), kind: 'timeline', connections: 1 }),
        runLoad(server, singleWindow(settings)),
      ])
      figures.timeline_p99_ms[name].push(timeline.p99_ms)
      if (name === 'cairn') stored.cairn += single.stored
    }
  }
  await watched.note('grown store', servers.cairn)
  for (const server of started) await server.end()
  for (const name of GROWN) expectStored(servers[name].file, { least: stored[name], most: stored[name] })
  for (const name of [...GROWN, 'bare']) rmSync(join(folder, name), { recursive: true })
  return figures
}

function singleWindow({ seconds, warmUpSeconds }: Settings) {
  return { kind: 'single', connections: CONNECTIONS, messageIds, seconds, warmUpSeconds } as const
}
