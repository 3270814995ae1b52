import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { argv } from 'node:process'
import { measurePeers, type PeerFigures, type PeerName } from './peers.ts'
import { isPinned, killAll } from './processes.ts'
import { median, readSettings, type Settings } from './settings.ts'
import { type FullStoreFigures, measureFullStore, medianQuotient } from './ten-million.ts'
import { Watched } from './watched.ts'

/** What is wanted of each figure; `least` where more is better, `most` where less is. */
const wanted = {
  single_vs_manual: { least: 8 },
  single_vs_fastify: { least: 1 },
  batch_vs_append_limit: { least: 0.4 },
  initialize_vs_manual: { least: 5 },
  bytes_per_event: { most: 160 },
  flat_10m: { least: 0.9 },
  flat_10m_uuid4: {},
  timeline_p99_ms: { most: 10 },
  reader_penalty: { most: 1.5 },
  indexing_pause_ms: { most: 50 },
  start_ms: { most: 1000 },
  rss_mb: { most: 400 },
} as const satisfies Record<string, { least?: number; most?: number }>

type RatioName = keyof typeof wanted
type Ratios = Partial<Record<RatioName, number | null>>

/** A rate this near to the load's own ceiling says more of the load than of the server. */
const CEILING_PART = 0.8

/** Memory file systems, on which a commit costs nothing: tmpfs, ramfs. */
const MEMORY_FILE_SYSTEMS = [0x01021994, 0x858458f6]

async function main(settings: Settings) {
  const parent = settings.folder ?? tmpdir()
  if (MEMORY_FILE_SYSTEMS.includes(statfsSync(parent).type)) {
    throw new Error(
      `${parent} is in memory, where a commit costs nothing; give a folder on a disk with --folder`,
    )
  }
  const folder = mkdtempSync(join(parent, 'cairn-bench-'))
  const started = performance.now()
  const watched = new Watched()
  try {
    const peers = settings.only === 'store' ? undefined : await measurePeers(folder, { settings, watched })
    const store =
      settings.only === 'peers' ? undefined : await measureFullStore(folder, { settings, watched })
    const report = {
      ratios: ratiosOf({ peers, store, watched }),
      does_not_count: peers ? nearCeiling(peers) : [],
      node: process.version,
      cpu: `${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown'}`,
      rounds: settings.rounds,
      quick: settings.isQuick,
      stored_events: settings.storedEvents,
      separate_cores: isPinned,
      minutes: (performance.now() - started) / 60_000,
      peers,
      store,
    }
    process.stdout.write(tableOf(report))
    if (settings.json !== undefined) writeFileSync(settings.json, `${JSON.stringify(report, null, 2)}\n`)
  } finally {
    killAll()
    rmSync(folder, { recursive: true, force: true })
  }
}

type Measured = { peers: PeerFigures | undefined; store: FullStoreFigures | undefined; watched: Watched }

function ratiosOf({ peers, store, watched }: Measured): Ratios {
  const bytes = [...(peers?.bytes_per_event ?? []), ...(store ? [store.bytes_per_event] : [])]
  return {
    ...(peers && peerRatios(peers)),
    // The larger of two: half UUIDv7 and half UUIDv4 in a young store, UUIDv7 in the full one.
    bytes_per_event: Math.max(...bytes),
    ...(store && {
      flat_10m: medianQuotient(store.flat.v7.full, store.flat.v7.empty),
      flat_10m_uuid4: medianQuotient(store.flat.v4.full, store.flat.v4.empty),
      timeline_p99_ms: median(store.timeline_p99_ms),
      reader_penalty: medianQuotient(store.single_p99_ms.while_listing, store.single_p99_ms.alone),
      start_ms: median(store.start_ms),
    }),
    indexing_pause_ms: watched.indexingPause_ms,
    rss_mb: watched.rss_mb,
  }
}

function peerRatios({
  requests_per_s: { cairn, manual, fastify },
  batch,
  append_limit,
}: PeerFigures): Ratios {
  return {
    single_vs_manual: medianQuotient(cairn.single, manual.single),
    single_vs_fastify: medianQuotient(cairn.single, fastify.single),
    batch_vs_append_limit: medianQuotient(batch, append_limit),
    initialize_vs_manual: medianQuotient(cairn.initialize, manual.initialize),
  }
}

/** The rates that lie within 20 % of what the load reaches against a server that stores nothing. */
function nearCeiling({ requests_per_s }: PeerFigures): string[] {
  const { bare, ...others } = requests_per_s
  return Object.entries(others).flatMap(([name, figures]) =>
    (['single', 'initialize'] as const)
      .filter((kind) => median(figures[kind]) > CEILING_PART * median(bare[kind]))
      .map((kind) => `${kind} of ${name}`),
  )
}

type Report = {
  ratios: Ratios
  does_not_count: string[]
  node: string
  cpu: string
  minutes: number
  rounds: number
  peers: PeerFigures | undefined
  store: FullStoreFigures | undefined
  separate_cores: boolean
}

function tableOf(report: Report): string {
  const { ratios, peers, store, does_not_count } = report
  const lines = [
    `\nNode ${report.node}, ${report.cpu}, ${report.rounds} round(s), ${report.minutes.toFixed(1)} minutes`,
  ]
  lines.push(
    `server and load ${report.separate_cores ? 'on a core each' : 'NOT on separate cores'}; log to a file\n`,
  )
  if (peers) {
    lines.push('a second, median    single events   p99 ms   initializations')
    for (const name of Object.keys(peers.requests_per_s) as PeerName[]) {
      const { single, single_p99_ms, initialize } = peers.requests_per_s[name]
      const label = name === 'bare' ? 'bare (the ceiling)' : name
      const cells = [whole(median(single)).padStart(14), median(single_p99_ms).toFixed(1).padStart(9)]
      lines.push(`${label.padEnd(19)}${cells.join('')}${whole(median(initialize)).padStart(18)}`)
    }
    for (const what of does_not_count) {
      lines.push(`${what} is within 20 % of the load's own ceiling: what follows from it does not count`)
    }
    lines.push(`\nevents a second in batches of 1,000: ${whole(median(peers.batch))}`)
    lines.push(`append_limit: ${whole(median(peers.append_limit))}`)
  }
  if (store) {
    const { flat } = store
    lines.push(`\nfilling the store: ${whole(store.fill_events_per_s)} events a second`)
    for (const ids of ['v7', 'v4'] as const) {
      const [empty, full] = [whole(median(flat[ids].empty)), whole(median(flat[ids].full))]
      lines.push(
        `batches with UUID${ids}: ${empty} events a second in an empty store, ${full} in the full one`,
      )
    }
    lines.push(`pages a second of a full listing while writing: ${whole(median(store.listing_pages_per_s))}`)
  }
  lines.push('', `${'figure'.padEnd(24)}${'measured'.padStart(10)}   wanted`)
  for (const [name, want] of Object.entries(wanted) as [RatioName, { least?: number; most?: number }][]) {
    if (name in ratios) lines.push(figureLine(name, ratios[name] ?? null, want))
  }
  return `${lines.join('\n')}\n`
}

function figureLine(
  name: RatioName,
  value: number | null,
  { least, most }: { least?: number; most?: number },
) {
  const measured = value === null ? 'unknown' : value.toFixed(2)
  const want = least !== undefined ? `≥ ${least}` : most !== undefined ? `≤ ${most}` : ''
  const isMissed =
    value === null || (least !== undefined && value < least) || (most !== undefined && value > most)
  return `${name.padEnd(24)}${measured.padStart(10)}   ${want}${want && isMissed ? '   missed' : ''}`
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en')
}

process.once('exit', killAll)
const settings = readSettings(argv.slice(2))
if (settings) await main(settings)
