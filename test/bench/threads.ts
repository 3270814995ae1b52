import { type OfEngines, onEachEngine, type StartOnEngine } from './engines.ts'
import { runLoad, type Server } from './processes.ts'
import { type Settings, say } from './settings.ts'
import type { Watched } from './watched.ts'
import { batchWindow, CONNECTIONS, initializeCustomers } from './windows.ts'

/** Figures of servers with one thread for HTTP and with two; lists have one number for each slice. */
export type ThreadFigures = {
  single_per_s: Of<number[]>
  single_p99_ms: Of<number[]>
  /** Microseconds of processor time of the server. */
  single_cpu_us: Of<number[]>
  initialize_per_s: Of<number[]>
  /** Events a second. */
  batch_per_s: Of<number[]>
  rss_mb: Of<number | null>
}

const THREADS = ['one', 'two'] as const
type Of<Value> = Record<(typeof THREADS)[number], Value>

/** A window is cut in so many, which take turns: what else the machine does then falls on both. */
const SLICES = 5

type Options = { settings: Settings; watched: Watched }

/** Compares one thread for HTTP with two, on all cores; the load has one of them too. */
export async function measureThreads(folder: string, options: Options): Promise<OfEngines<ThreadFigures>> {
  return await onEachEngine({ folder, ...options }, 'threads', (start) => measureOn(start, options))
}

async function measureOn(start: StartOnEngine, { settings, watched }: Options): Promise<ThreadFigures> {
  const startWith = async (threads: number): Promise<Server> => {
    const environment = { CAIRN_HTTP_THREADS: String(threads) }
    return (await start(`threads-${threads}`, { environment, core: 'any' })).server
  }
  const servers = { one: await startWith(1), two: await startWith(2) }
  const figures: ThreadFigures = {
    single_per_s: { one: [], two: [] },
    single_p99_ms: { one: [], two: [] },
    single_cpu_us: { one: [], two: [] },
    initialize_per_s: { one: [], two: [] },
    batch_per_s: { one: [], two: [] },
    rss_mb: { one: null, two: null },
  }
  const window = { seconds: settings.seconds / SLICES, warmUpSeconds: 0.5 }
  const job = { connections: CONNECTIONS, messageIds: 'mixed', ...window } as const
  for (const name of THREADS) {
    await initializeCustomers(servers[name])
    // Not counted: code is compiled meanwhile.
    await runLoad(servers[name], { ...job, kind: 'single', seconds: settings.seconds })
  }
  for (let slice = 1; slice <= settings.rounds * SLICES; slice += 1) {
    say(`one thread for HTTP and two, slice ${slice}`)
    for (const name of slice % 2 === 0 ? THREADS : THREADS.toReversed()) {
      const server = servers[name]
      const cpu_us = server.cpu_us()
      const single = await runLoad(server, { ...job, kind: 'single' })
      figures.single_cpu_us[name].push((server.cpu_us() - cpu_us) / single.stored)
      figures.single_per_s[name].push(single.requestsPerSecond)
      figures.single_p99_ms[name].push(single.p99_ms)
      const { requestsPerSecond } = await runLoad(server, { ...job, kind: 'initialize' })
      figures.initialize_per_s[name].push(requestsPerSecond)
      const batches = await batchWindow(server, { messageIds: 'mixed' }, { ...settings, ...window })
      figures.batch_per_s[name].push(batches.eventsPerSecond)
    }
  }
  for (const name of THREADS) {
    figures.rss_mb[name] = servers[name].peakMemory_mb()
    await watched.note(`${name} for HTTP`, servers[name])
    await servers[name].end()
  }
  return figures
}
