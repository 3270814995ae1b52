import { mkdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { BATCH_EVENTS, type Breadth, type MessageIds } from './data.ts'
import { checkpoint, pause, restartCairn, runLoad, type Server } from './processes.ts'
import { type Settings, say } from './settings.ts'
import type { Watched } from './watched.ts'
import {
  BATCH_CONNECTIONS,
  batchWindow,
  CONNECTIONS,
  expectStored,
  startCairnWithCustomers,
  untilIndexed,
} from './windows.ts'

/** Contents of the stores, and of the requests to them. */
const KINDS = {
  v7: { messageIds: 'v7', breadth: 'narrow' },
  v4: { messageIds: 'v4', breadth: 'narrow' },
  wide: { messageIds: 'mixed', breadth: 'wide' },
} as const satisfies Record<string, { messageIds: MessageIds; breadth: Breadth }>

export type Kind = keyof typeof KINDS
type Events = (typeof KINDS)[Kind]

/** Figures of stores that hold ten million events each (`settings.storedEvents`). */
export type FullStoreFigures = {
  /** The time includes indexing. */
  fill_events_per_s: Record<Kind, number>
  bytes_per_event: Record<Kind, number>
  flat: Record<Kind, FlatFigures>
  /** The longest gap between two responses to senders of single events, over all connections; one number per round. */
  ack_gap_ms: Record<Kind, number[]>
  timeline_p99_ms: number[]
  single_p99_ms: { alone: number[]; while_listing: number[] }
  listing_pages_per_s: number[]
  start_ms: number[]
}

/** Batch throughput in events per second; one number per round. */
type FlatFigures = { empty: number[]; full: number[] }

type Options = { settings: Settings; watched: Watched }
type Full = { store: Pick<Server, 'file' | 'workspaces'>; server: Server; stored: number }

/**
 * Fills stores through the API and measures them, one after another.
 * @throws {Error} if one does not contain what was acknowledged
 */
export async function measureFullStores(folder: string, options: Options): Promise<FullStoreFigures> {
  const each = <Value>(value: () => Value): Record<Kind, Value> => ({
    v7: value(),
    v4: value(),
    wide: value(),
  })
  const figures: FullStoreFigures = {
    fill_events_per_s: each(() => Number.NaN),
    bytes_per_event: each(() => Number.NaN),
    flat: each(() => ({ empty: [], full: [] })),
    ack_gap_ms: each(() => []),
    timeline_p99_ms: [],
    single_p99_ms: { alone: [], while_listing: [] },
    listing_pages_per_s: [],
    start_ms: [],
  }
  for (const kind of Object.keys(KINDS) as Kind[]) {
    const inner = join(folder, kind)
    mkdirSync(inner)
    const full = await filled(inner, kind, figures, options)
    await measureFlat(inner, kind, full, figures, options)
    if (kind === 'v7') {
      await measureReading(full, figures, options)
      await measureStarts(inner, full, figures, options)
    }
    await options.watched.note(`full store, ${kind}`, full.server)
    await full.server.end()
    expectStored(full.store.file, { least: full.stored, most: full.stored })
    rmSync(inner, { recursive: true })
  }
  return figures
}

/** Sends batches alternately to an empty store and the full one, and single events to the full one. */
async function measureFlat(
  folder: string,
  kind: Kind,
  full: Full,
  figures: FullStoreFigures,
  { settings, watched }: Options,
) {
  for (let round = 1; round <= settings.rounds; round += 1) {
    say(`${kind}, round ${round}: batches to an empty store, then to the full one`)
    figures.flat[kind].empty.push(await emptyWindow(folder, KINDS[kind], { settings, watched }))
    const window = await batchWindow(full.server, KINDS[kind], settings)
    figures.flat[kind].full.push(window.eventsPerSecond)
    const single = await runLoad(full.server, { ...singleWindow(settings), ...KINDS[kind] })
    figures.ack_gap_ms[kind].push(single.longestGap_ms)
    full.stored += window.stored + single.stored
    await untilIndexed(full.server)
  }
}

function singleWindow({ warmUpSeconds, seconds }: Settings) {
  return { kind: 'single', connections: CONNECTIONS, messageIds: 'mixed', warmUpSeconds, seconds } as const
}

async function measureReading(full: Full, figures: FullStoreFigures, { settings }: Options) {
  const { server } = full
  const single = singleWindow(settings)
  const reading = { ...single, connections: 1 }
  for (let round = 1; round <= settings.rounds; round += 1) {
    say(`reading while writing, round ${round}`)
    const [timeline, written] = await Promise.all([
      runLoad(server, { ...reading, kind: 'timeline' }),
      runLoad(server, single),
    ])
    const alone = await runLoad(server, single)
    const [listing, whileListing] = await Promise.all([
      runLoad(server, { ...reading, kind: 'listing' }),
      runLoad(server, single),
    ])
    full.stored += written.stored + alone.stored + whileListing.stored
    figures.timeline_p99_ms.push(timeline.p99_ms)
    figures.single_p99_ms.alone.push(alone.p99_ms)
    figures.single_p99_ms.while_listing.push(whileListing.p99_ms)
    figures.listing_pages_per_s.push(listing.requestsPerSecond)
  }
}

/** Measures the duration of a start after the server was killed during batches. */
async function measureStarts(
  folder: string,
  full: Full,
  figures: FullStoreFigures,
  { settings, watched }: Options,
) {
  for (let round = 1; round <= settings.rounds; round += 1) {
    say(`kill -9 under load and restart, round ${round}`)
    const load = runLoad(full.server, {
      ...singleWindow(settings),
      kind: 'batch',
      connections: BATCH_CONNECTIONS,
      messageIds: 'v4',
      mayLoseServer: true,
    })
    await pause((settings.warmUpSeconds + settings.seconds / 2) * 1000)
    await watched.note('full store, v7', full.server)
    await full.server.end('SIGKILL')
    full.stored += (await load).stored
    full.server = await restartCairn(full.store, folder)
    figures.start_ms.push(full.server.start_ms)
    // A batch may be stored although its response was lost.
    const most = full.stored + BATCH_CONNECTIONS * BATCH_EVENTS
    full.stored = expectStored(full.store.file, { least: full.stored, most })
  }
}

/** Fills a store, closes it to measure its size, and starts a server on it again. */
async function filled(
  folder: string,
  kind: Kind,
  figures: FullStoreFigures,
  { settings, watched }: Options,
): Promise<Full> {
  const { messageIds, breadth } = KINDS[kind]
  say(`${kind}: filling a store with ${settings.storedEvents} events`)
  const empty = await startCairnWithCustomers(folder, breadth)
  await empty.end()
  checkpoint(empty.file)
  const emptyBytes = statSync(empty.file).size
  const store = { file: empty.file, workspaces: empty.workspaces }

  const filling = await restartCairn(store, folder)
  const begun = performance.now()
  const fill = await runLoad(filling, {
    kind: 'batch',
    connections: BATCH_CONNECTIONS,
    breadth,
    messageIds,
    warmUpSeconds: 0,
    seconds: 0,
    requests: settings.storedEvents / BATCH_EVENTS,
  })
  await untilIndexed(filling)
  figures.fill_events_per_s[kind] = fill.stored / ((performance.now() - begun) / 1000)
  await watched.note(`fill, ${kind}`, filling)
  await filling.end()
  checkpoint(store.file)
  expectStored(store.file, { least: fill.stored, most: fill.stored })
  figures.bytes_per_event[kind] = (statSync(store.file).size - emptyBytes) / fill.stored
  return { store, server: await restartCairn(store, folder), stored: fill.stored }
}

/**
 * Batch throughput of a store without events. The window on the full store follows immediately, with the same length,
 * warm-up, load and core, so that other load on the machine affects both.
 */
async function emptyWindow(folder: string, events: Events, { settings, watched }: Options): Promise<number> {
  const inner = join(folder, 'empty')
  mkdirSync(inner)
  const server = await startCairnWithCustomers(inner, events.breadth)
  const { eventsPerSecond, stored } = await batchWindow(server, events, settings)
  await watched.note('empty store', server)
  await server.end()
  expectStored(server.file, { least: stored, most: stored })
  rmSync(inner, { recursive: true })
  return eventsPerSecond
}
