import { mkdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { BATCH_EVENTS, type MessageIds } from './data.ts'
import { checkpoint, pause, restartCairn, runLoad } from './processes.ts'
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

/** Figures of one store that holds ten million events (`settings.storedEvents`). */
export type FullStoreFigures = {
  /** Until all are in the indexes. */
  fill_events_per_s: number
  bytes_per_event: number
  flat: { v7: FlatFigures; v4: FlatFigures }
  timeline_p99_ms: number[]
  single_p99_ms: { alone: number[]; while_listing: number[] }
  listing_pages_per_s: number[]
  start_ms: number[]
}

/** Batch throughput, events a second, round by round. */
export type FlatFigures = { empty: number[]; full: number[] }

/**
 * Fills a store through the API with events whose `message_id`s are UUIDv7, and measures it.
 * @throws {Error} where it does not hold what was acknowledged
 */
export async function measureFullStore(
  folder: string,
  { settings, watched }: { settings: Settings; watched: Watched },
): Promise<FullStoreFigures> {
  const full = await filled(folder, { settings, watched })
  const { store } = full
  let { server, stored } = full

  const flat = { v7: { empty: [], full: [] }, v4: { empty: [], full: [] } } as FullStoreFigures['flat']
  for (const messageIds of ['v7', 'v4'] as const) {
    for (let round = 1; round <= settings.rounds; round += 1) {
      say(`batches with UUID${messageIds}, round ${round}: an empty store, then the full one`)
      flat[messageIds].empty.push(await emptyWindow(folder, { messageIds, settings, watched }))
      const window = await batchWindow(server, messageIds, settings)
      stored += window.stored
      flat[messageIds].full.push(window.eventsPerSecond)
      await untilIndexed(server)
    }
  }

  const single = {
    kind: 'single',
    connections: CONNECTIONS,
    messageIds: 'mixed',
    warmUpSeconds: settings.warmUpSeconds,
    seconds: settings.seconds,
  } as const
  const reading = { ...single, connections: 1 } as const
  const figures = { timeline_p99_ms: [], alone: [], while_listing: [], listing_pages_per_s: [] } as Record<
    'timeline_p99_ms' | 'alone' | 'while_listing' | 'listing_pages_per_s',
    number[]
  >
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
    stored += written.stored + alone.stored + whileListing.stored
    figures.timeline_p99_ms.push(timeline.p99_ms)
    figures.alone.push(alone.p99_ms)
    figures.while_listing.push(whileListing.p99_ms)
    figures.listing_pages_per_s.push(listing.requestsPerSecond)
  }
  expectStored(store.file, { least: stored, most: stored })

  const start_ms: number[] = []
  for (let round = 1; round <= settings.rounds; round += 1) {
    say(`kill -9 under load, and a start, round ${round}`)
    const load = runLoad(server, {
      ...single,
      kind: 'batch',
      connections: BATCH_CONNECTIONS,
      messageIds: 'v4',
      mayLoseServer: true,
    })
    await pause((settings.warmUpSeconds + settings.seconds / 2) * 1000)
    await watched.note('full store', server)
    await server.end('SIGKILL')
    stored += (await load).stored
    server = await restartCairn(store, folder)
    start_ms.push(server.start_ms)
    // A batch may have been stored whose answer was lost.
    const most = stored + BATCH_CONNECTIONS * BATCH_EVENTS
    stored = expectStored(store.file, { least: stored, most })
  }
  await watched.note('full store', server)
  await server.end()
  return {
    fill_events_per_s: full.eventsPerSecond,
    bytes_per_event: full.bytesPerEvent,
    flat,
    timeline_p99_ms: figures.timeline_p99_ms,
    single_p99_ms: { alone: figures.alone, while_listing: figures.while_listing },
    listing_pages_per_s: figures.listing_pages_per_s,
    start_ms,
  }
}

/** A store with all its events, closed once to see its size, and a server on it. */
async function filled(folder: string, { settings, watched }: { settings: Settings; watched: Watched }) {
  say(`filling a store with ${settings.storedEvents} events`)
  const empty = await startCairnWithCustomers(folder)
  await empty.end()
  checkpoint(empty.file)
  const emptyBytes = statSync(empty.file).size

  const filling = await restartCairn(empty, folder)
  const begun = performance.now()
  const fill = await runLoad(filling, {
    kind: 'batch',
    connections: BATCH_CONNECTIONS,
    messageIds: 'v7',
    warmUpSeconds: 0,
    seconds: 0,
    requests: settings.storedEvents / BATCH_EVENTS,
  })
  await untilIndexed(filling)
  const seconds = (performance.now() - begun) / 1000
  await watched.note('fill', filling)
  await filling.end()
  checkpoint(empty.file)
  expectStored(empty.file, { least: fill.stored, most: fill.stored })
  return {
    store: { file: empty.file, key: empty.key, journey_id: empty.journey_id },
    server: await restartCairn(empty, folder),
    stored: fill.stored,
    eventsPerSecond: fill.stored / seconds,
    bytesPerEvent: (statSync(empty.file).size - emptyBytes) / fill.stored,
  }
}

/**
 * Batch throughput of a store without events. Windows on the full store are as long, have the same warm-up, load and
 * processor, and follow at once, so that whatever slows the machine meanwhile meets both.
 */
async function emptyWindow(
  folder: string,
  { messageIds, settings, watched }: { messageIds: MessageIds; settings: Settings; watched: Watched },
): Promise<number> {
  const inner = join(folder, 'empty')
  mkdirSync(inner)
  const server = await startCairnWithCustomers(inner)
  const { eventsPerSecond, stored } = await batchWindow(server, messageIds, settings)
  await watched.note('empty store', server)
  await server.end()
  expectStored(server.file, { least: stored, most: stored })
  rmSync(inner, { recursive: true })
  return eventsPerSecond
}
