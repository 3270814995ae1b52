import { readdirSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fill, type OfEngines, type OnEngine, onEachEngine, type StartOnEngine } from './engines.ts'
import { databaseBytes } from './postgres/database.ts'
import { checkpoint, runLoad } from './processes.ts'
import { type Settings, say } from './settings.ts'
import type { Watched } from './watched.ts'
import { batchWindow, CONNECTIONS, initializeCustomers, untilIndexed } from './windows.ts'

/** Figures of this checkout and of the build it is compared with; lists have one number per slice. */
export type BuildFigures = {
  single_per_s: Of<number[]>
  /** Microseconds of processor time of the server. */
  single_cpu_us: Of<number[]>
  initialize_per_s: Of<number[]>
  /** Events per second, with a new store and after `settings.storedEvents` more events. */
  batch_per_s: { young: Of<number[]>; full: Of<number[]> }
  /** Bytes per event of the store and all files beside it. */
  bytes_per_event: Of<number>
  /** The longest time that a group of writes waited for indexing; null if a server does not report it. */
  indexing_pause_ms: Of<number | null>
}

type Build = 'now' | 'before'
type Of<Value> = Record<Build, Value>

/** Slices of a window. The two builds alternate, so that other load on the machine affects both. */
const SLICES = 5

type Options = { settings: Settings; watched: Watched }

/**
 * Compares this checkout with another one on each engine, alternately.
 * @throws {Error} if `settings.before` is missing
 */
export async function measureBuilds(folder: string, options: Options): Promise<OfEngines<BuildFigures>> {
  return await onEachEngine({ folder, ...options }, 'builds', (start) => measureOn(start, options))
}

async function measureOn(start: StartOnEngine, { settings, watched }: Options): Promise<BuildFigures> {
  const { before: checkout } = settings
  if (checkout === undefined) throw new Error('--only builds needs --before FOLDER')
  const builds = { now: await start('now'), before: await start('before', { checkout }) }
  const each = async (work: (build: Build, on: OnEngine) => Promise<void>, slice = 0) => {
    const order = (['now', 'before'] as const).toSorted(() => (slice % 2 === 0 ? 1 : -1))
    for (const build of order) await work(build, builds[build])
  }
  const figures: BuildFigures = {
    single_per_s: { now: [], before: [] },
    single_cpu_us: { now: [], before: [] },
    initialize_per_s: { now: [], before: [] },
    batch_per_s: { young: { now: [], before: [] }, full: { now: [], before: [] } },
    bytes_per_event: { now: Number.NaN, before: Number.NaN },
    indexing_pause_ms: { now: null, before: null },
  }
  const { engine } = builds.now
  const slices = Array.from({ length: settings.rounds * SLICES }, (_, slice) => slice + 1)
  const window = { seconds: settings.seconds / SLICES, warmUpSeconds: 0.5 }
  const job = { connections: CONNECTIONS, messageIds: 'mixed', ...window } as const
  const batches = async (age: 'young' | 'full', slice: number) => {
    await each(async (build, { server }) => {
      const { eventsPerSecond } = await batchWindow(
        server,
        { messageIds: 'mixed' },
        { ...settings, ...window },
      )
      figures.batch_per_s[age][build].push(eventsPerSecond)
      await untilIndexed(server)
    }, slice)
  }

  await each(async (_, { server }) => {
    await initializeCustomers(server)
    // Not counted: V8 is still compiling.
    await runLoad(server, { ...job, kind: 'single', seconds: settings.seconds })
  })
  for (const slice of slices) {
    say(`${engine}: both builds, slice ${slice}`)
    await each(async (build, { server }) => {
      const cpu_us = server.cpu_us()
      const single = await runLoad(server, { ...job, kind: 'single' })
      figures.single_cpu_us[build].push((server.cpu_us() - cpu_us) / single.stored)
      figures.single_per_s[build].push(single.requestsPerSecond)
      const { requestsPerSecond } = await runLoad(server, { ...job, kind: 'initialize' })
      figures.initialize_per_s[build].push(requestsPerSecond)
    }, slice)
    await batches('young', slice)
  }
  await each(async (build, on) => {
    say(`${engine}: storing ${settings.storedEvents} more events, ${build}`)
    const bytes = await storedBytes(on)
    await fill(on.server, settings.storedEvents)
    figures.bytes_per_event[build] = ((await storedBytes(on)) - bytes) / settings.storedEvents
  })
  for (const slice of slices) {
    say(`${engine}: full stores, slice ${slice}`)
    await batches('full', slice)
  }
  await each(async (build, { server }) => {
    const part = `${build}, ${engine}`
    await watched.note(part, server)
    figures.indexing_pause_ms[build] = watched.parts[part]?.indexing_pause_ms ?? null
    await server.end()
  })
  return figures
}

/** Size of the stored data; on SQLite after a checkpoint. */
async function storedBytes({ databaseUrl, engine, server: { file } }: OnEngine): Promise<number> {
  if (engine === 'postgres') return await databaseBytes(databaseUrl)
  checkpoint(file)
  const beside = readdirSync(dirname(file)).filter((name) => name.startsWith(basename(file)))
  return beside.reduce((sum, name) => sum + statSync(join(dirname(file), name)).size, 0)
}
