import { mkdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { CUSTOMERS } from './data.ts'
import {
  checkpoint,
  countCustomers,
  runLoad,
  runProgram,
  type Server,
  startCairn,
  startPeer,
} from './processes.ts'
import { type Settings, say } from './settings.ts'
import type { Watched } from './watched.ts'
import {
  batchWindow,
  CONNECTIONS,
  expectStored,
  initializeCustomers,
  startCairnWithCustomers,
  untilIndexed,
} from './windows.ts'

/** Requests per second, one number per round. */
type RequestFigures = {
  single: number[]
  initialize: number[]
  single_p99_ms: number[]
  /** Processor time of the server per event, in microseconds; other load on the machine hardly affects it. */
  single_cpu_us: number[]
}

export type PeerName = 'cairn' | 'manual' | 'fastify' | 'bare'

export type PeerFigures = {
  requests_per_s: Record<PeerName, RequestFigures>
  /** Events per second. */
  batch: number[]
  /** The same load against `bare`. */
  batch_ceiling: number[]
  append_limit: number[]
  bytes_per_event: number[]
}

const NAMES: PeerName[] = ['cairn', 'manual', 'fastify', 'bare']

/**
 * Measures our server and the peers alternately, each time on a new store.
 * @throws {Error} if a store does not contain what was acknowledged
 */
export async function measurePeers(
  folder: string,
  { settings, watched }: { settings: Settings; watched: Watched },
): Promise<PeerFigures> {
  const empty = (): RequestFigures => ({ single: [], initialize: [], single_p99_ms: [], single_cpu_us: [] })
  const figures: PeerFigures = {
    requests_per_s: { cairn: empty(), manual: empty(), fastify: empty(), bare: empty() },
    batch: [],
    batch_ceiling: [],
    append_limit: [],
    bytes_per_event: [],
  }
  for (let round = 1; round <= settings.rounds; round += 1) {
    for (const name of NAMES) {
      say(`single events and initializations, round ${round}: ${name}`)
      await inFolder(folder, async (folder) => {
        const server = name === 'cairn' ? await startCairn(folder) : await startPeer(name, folder)
        await measureRequests(server, { name, settings, figures: figures.requests_per_s[name] })
        if (name === 'cairn') await watched.note('single', server)
        if (name === 'bare') {
          figures.batch_ceiling.push(
            (await batchWindow(server, { messageIds: 'mixed' }, settings)).eventsPerSecond,
          )
        }
        await server.end()
      })
    }
    say(`batches, round ${round}: cairn`)
    await inFolder(folder, async (folder) => {
      const { eventsPerSecond, bytesPerEvent } = await measureBatches(folder, { settings, watched })
      figures.batch.push(eventsPerSecond)
      figures.bytes_per_event.push(bytesPerEvent)
    })
    say(`batches, round ${round}: append_limit`)
    await inFolder(folder, async (folder) => {
      const file = join(folder, 'peer.db')
      const { seconds } = settings
      type Printed = { eventsPerSecond: number; stored: number }
      const limit = await runProgram<Printed>('server', 'append-limit.ts', { file, seconds })
      expectStored(file, { least: limit.stored, most: limit.stored })
      figures.append_limit.push(limit.eventsPerSecond)
    })
  }
  return figures
}

async function measureRequests(
  server: Server,
  { name, settings, figures }: { name: PeerName; settings: Settings; figures: RequestFigures },
) {
  const { seconds, warmUpSeconds } = settings
  const window = { connections: CONNECTIONS, messageIds: 'mixed', seconds, warmUpSeconds } as const
  await initializeCustomers(server)
  const cpu_us = server.cpu_us()
  const single = await runLoad(server, { ...window, kind: 'single' })
  figures.single_cpu_us.push((server.cpu_us() - cpu_us) / single.stored)
  const initialize = await runLoad(server, { ...window, kind: 'initialize' })
  figures.single.push(single.requestsPerSecond)
  figures.single_p99_ms.push(single.p99_ms)
  figures.initialize.push(initialize.requestsPerSecond)
  if (name === 'bare') return
  expectStored(server.file, { least: single.stored, most: single.stored })
  const customers = countCustomers(server.file)
  if (customers !== CUSTOMERS + initialize.initialized) {
    throw new Error(
      `a store contains ${customers} customers; ${initialize.initialized} new ones were acknowledged`,
    )
  }
}

/** Measures batches on a new store, and the disk space per event after indexing and a checkpoint. */
async function measureBatches(
  folder: string,
  { settings, watched }: { settings: Settings; watched: Watched },
) {
  const server = await startCairnWithCustomers(folder)
  checkpoint(server.file)
  const emptyBytes = statSync(server.file).size
  const { eventsPerSecond, stored } = await batchWindow(server, { messageIds: 'mixed' }, settings)
  await untilIndexed(server)
  await watched.note('batch', server)
  await server.end()
  checkpoint(server.file)
  expectStored(server.file, { least: stored, most: stored })
  return { eventsPerSecond, bytesPerEvent: (statSync(server.file).size - emptyBytes) / stored }
}

async function inFolder(folder: string, work: (folder: string) => Promise<void>) {
  const inner = join(folder, 'round')
  mkdirSync(inner)
  await work(inner)
  rmSync(inner, { recursive: true })
}
