import type { BareExport, BareExportOptions } from './bare-export.ts'
import { fill, measureOnEach, type OfEngines } from './engines.ts'
import type { ExportRead, ExportReaderOptions } from './export-reader.ts'
import { runLoad, runProgram, type Server } from './processes.ts'
import { type Settings, say } from './settings.ts'
import type { Watched } from './watched.ts'
import { CONNECTIONS, initializeCustomers } from './windows.ts'

/** Figures of exports of all events of a full store (`settings.storedEvents`); lists have one number per round. */
export type ExportFigures = {
  exported_s: number[]
  /** A minimal program that reads the same rows and builds the same lines. */
  bare_s: number[]
  /** Single events: alone, and during continuous exports. */
  single_p99_ms: { alone: number[]; while_exporting: number[] }
}

type Options = { settings: Settings; watched: Watched }

/** Measures exports on each engine. */
export async function measureExports(folder: string, options: Options): Promise<OfEngines<ExportFigures>> {
  return await measureOnEach({ folder, ...options }, 'exports', (databaseUrl, server) =>
    measureOn(databaseUrl, server, options),
  )
}

async function measureOn(databaseUrl: string, server: Server, { settings, watched }: Options) {
  const engine = databaseUrl.split(':')[0]
  say(`exports on ${engine}: a store with ${settings.storedEvents} events`)
  await initializeCustomers(server)
  await fill(server, settings.storedEvents)
  const figures: ExportFigures = {
    exported_s: [],
    bare_s: [],
    single_p99_ms: { alone: [], while_exporting: [] },
  }
  const reading = { url: server.url, key: server.workspaces[0]?.key ?? '' }
  const exports = (seconds: number) =>
    runProgram<ExportRead>('load', 'export-reader.ts', { ...reading, seconds } satisfies ExportReaderOptions)
  // A first read, not timed: it comes from the disk, whichever program does it.
  await bare(databaseUrl)
  for (let round = 1; round <= settings.rounds; round += 1) {
    say(`an export and the minimal program, round ${round}`)
    const exported = await exports(0)
    const same = await bare(databaseUrl)
    if (exported.events !== same.events) {
      throw new Error(`an export has ${exported.events} events; the store contains ${same.events}`)
    }
    say(`export: ${exported.seconds.toFixed(2)} s; minimal program: ${same.seconds.toFixed(2)} s`)
    figures.exported_s.push(exported.seconds)
    figures.bare_s.push(same.seconds)
  }
  const { seconds, warmUpSeconds } = settings
  const single = {
    kind: 'single',
    connections: CONNECTIONS,
    messageIds: 'mixed',
    seconds,
    warmUpSeconds,
  } as const
  for (let round = 1; round <= settings.rounds; round += 1) {
    say(`exporting while writing, round ${round}`)
    figures.single_p99_ms.alone.push((await runLoad(server, single)).p99_ms)
    const [beside] = await Promise.all([runLoad(server, single), exports(warmUpSeconds + seconds)])
    figures.single_p99_ms.while_exporting.push(beside.p99_ms)
  }
  await watched.note(`exports, ${engine}`, server)
  await server.end()
  return figures
}

async function bare(databaseUrl: string): Promise<BareExport> {
  return await runProgram<BareExport>('server', 'bare-export.ts', { databaseUrl } satisfies BareExportOptions)
}
