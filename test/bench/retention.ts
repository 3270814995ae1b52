import { statSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { openDatabase } from '../../server/storage/open.ts'
import { removals } from '../../server/storage/removals/removals.ts'
import { BATCH_EVENTS } from './data.ts'
import { fill, type OfEngines, type OnEngine, onEachEngine, type StartOnEngine } from './engines.ts'
import { pause, restartCairn, runLoad, type Server, UNLIMITED } from './processes.ts'
import { send } from './requests.ts'
import { type Settings, say } from './settings.ts'
import type { Watched } from './watched.ts'
import { BATCH_CONNECTIONS, CONNECTIONS, initializeCustomers, untilIndexed } from './windows.ts'

/** Figures of a store whose events (`settings.storedEvents`) all expire while others arrive. */
export type RetentionFigures = {
  /** Events per second, one number per window: before anything expires, and during the removal. */
  events_per_s: Record<'single' | 'batch', { alone: number[]; while_ageing: number[] }>
  single_p99_ms: { alone: number[]; while_ageing: number[] }
  /** Duration of the removal, including the windows during it. */
  aged_s: number
  /**
   * Size of the file and its log when the removal begins, and when as many events have arrived as were removed; null on
   * PostgreSQL.
   */
  file_bytes: { before: number; after: number } | null
}

const DAY_MS = 86_400_000

/** How far the clock of the first server is behind; later the journey keeps events for half of this. */
const BEHIND_MS = 2 * DAY_MS

/** Time limit of the removal. */
const AGED_WAIT_MS = 3_600_000

type Options = { settings: Settings; watched: Watched }

/** Measures ingestion while other events expire, on each engine. */
export async function measureRetention(
  folder: string,
  options: Options,
): Promise<OfEngines<RetentionFigures>> {
  return await onEachEngine({ folder, ...options }, 'retention', (start) => measureOn(start, options))
}

async function measureOn(start: StartOnEngine, { settings, watched }: Options): Promise<RetentionFigures> {
  const { storedEvents, rounds } = settings
  const hook = pathToFileURL(join(import.meta.dirname, 'clock-behind.js'))
  hook.searchParams.set('ms', String(BEHIND_MS))
  const store = await start('store', { environment: { NODE_OPTIONS: `--import=${hook}` } })
  say(`${store.engine}: filling a store with ${storedEvents} events of two days ago`)
  await initializeCustomers(store.server)
  await fill(store.server, storedEvents)
  await store.server.end()

  const { file, workspaces } = store.server
  const environment = { ...UNLIMITED, DATABASE_URL: store.databaseUrl }
  const server = await restartCairn({ file, workspaces }, store.folder, environment)
  const figures: RetentionFigures = {
    events_per_s: { single: { alone: [], while_ageing: [] }, batch: { alone: [], while_ageing: [] } },
    single_p99_ms: { alone: [], while_ageing: [] },
    aged_s: 0,
    file_bytes: null,
  }
  let sent = 0
  const windows = async (which: 'alone' | 'while_ageing') => {
    for (const kind of ['single', 'batch'] as const) {
      const { requestsPerSecond, p99_ms, stored } = await runLoad(server, window(kind, settings))
      const each = kind === 'batch' ? BATCH_EVENTS : 1
      figures.events_per_s[kind][which].push(requestsPerSecond * each)
      if (kind === 'single') figures.single_p99_ms[which].push(p99_ms)
      sent += stored
      await untilIndexed(server)
    }
  }
  // Not counted: V8 is still compiling.
  for (const kind of ['single', 'batch'] as const)
    sent += (await runLoad(server, window(kind, settings))).stored
  const opened = await openDatabase(store.databaseUrl, { create: false })
  if (!opened) throw new Error('there is no store')
  const isAgeing = async () => (await removals(opened.db)).length > 0
  for (let round = 1; round <= rounds; round += 1) {
    say(`${store.engine}: events before others expire, round ${round}`)
    await windows('alone')
  }
  const before = fileBytes(store)
  sent = 0
  await keepFor(server, 1)
  while (!(await isAgeing())) await pause(10)
  const began_ms = performance.now()
  for (let round = 1; round <= rounds && (await isAgeing()); round += 1) {
    say(`${store.engine}: events while others expire, round ${round}`)
    await windows('while_ageing')
  }
  while (await isAgeing()) {
    if (performance.now() - began_ms > AGED_WAIT_MS)
      throw new Error('the expired events were not removed in time')
    await pause(100)
  }
  figures.aged_s = (performance.now() - began_ms) / 1000
  say(`${store.engine}: as many new events as have expired`)
  await fill(server, Math.max(1, Math.ceil((storedEvents - sent) / BATCH_EVENTS)) * BATCH_EVENTS)
  await watched.note(`retention, ${store.engine}`, server)
  await server.end()
  await opened.close()
  const after = fileBytes(store)
  if (before !== null && after !== null) figures.file_bytes = { before, after }
  return figures
}

function window(kind: 'single' | 'batch', { seconds, warmUpSeconds }: Settings) {
  const connections = kind === 'batch' ? BATCH_CONNECTIONS : CONNECTIONS
  return { kind, connections, messageIds: 'mixed', seconds, warmUpSeconds } as const
}

/** Sets the retention of the journey. */
async function keepFor(server: Server, retention_days: number) {
  await send(server, 'PATCH', `/journeys/${server.workspaces[0]?.journey_ids[0]}`, { retention_days })
}

function fileBytes({ server: { file } }: OnEngine): number | null {
  if (file === '') return null
  return statSync(file).size + (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0)
}
