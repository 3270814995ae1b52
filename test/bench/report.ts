import type { BreakdownFigures } from './breakdown.ts'
import type { BuildFigures } from './builds.ts'
import type { DefinitionFigures } from './definitions.ts'
import type { OfEngines } from './engines.ts'
import type { ExportFigures } from './exports.ts'
import type { FullStoreFigures, Kind } from './full-stores.ts'
import type { GrownFigures } from './grown.ts'
import type { HostileFigures } from './hostile.ts'
import type { JourneyFigures } from './journeys.ts'
import type { KilledWebhookFigures } from './killed-webhooks.ts'
import type { Machine } from './machine.ts'
import { median } from './median.ts'
import type { PeerFigures, PeerName } from './peers.ts'
import type { PostgresFigures } from './postgres/measure.ts'
import type { Profiled, ProfileFigures } from './profile.ts'
import type { RefusedFigures } from './refused.ts'
import type { RetentionFigures } from './retention.ts'
import type { Watched } from './watched.ts'
import type { WebhookFigures } from './webhooks.ts'

/** The targets of the figures; `least` if more is better, `most` if less is. */
const wanted = {
  single_vs_manual: { least: 12 },
  single_vs_fastify: { least: 1.1 },
  single_vs_fastify_10m: { least: 1.5 },
  batch_vs_fastify_10m: { least: 1 },
  batch_vs_append_limit: { least: 0.3 },
  initialize_vs_manual: { least: 7 },
  initialize_vs_fastify: { least: 0.8 },
  bytes_per_event: { most: 130 },
  flat_10m: { least: 0.9 },
  flat_10m_uuid4: { least: 0.7 },
  flat_10m_wide: { least: 0.7 },
  timeline_p99_ms: { most: 10 },
  timeline_vs_bare: { most: 2 },
  reader_penalty: { most: 1.5 },
  indexing_pause_ms: { most: 50 },
  ack_gap_ms: { most: 50 },
  start_ms: { most: 1000 },
  rss_mb: { most: 400 },
  hostile_p99_ratio: { most: 5 },
  hostile_floor_ratio: {},
  hostile_refused: { most: 0 },
  hostile_rss_mb: { most: 500 },
  pg_single_vs_manual: { least: 6 },
  pg_batch_vs_limit: { least: 0.6 },
  pg_two_replicas_vs_one: { least: 0.9 },
  pg_timeline_vs_bare: { most: 3 },
  pg_bytes_per_event: { most: 260 },
  report_ms: { most: 50 },
  report_changed_ms: { most: 300 },
  report_filtered_ms: { most: 500 },
  breakdown_first_ms: { most: 1000 },
  breakdown_ms: { most: 500 },
  breakdown_view_ms: { most: 1000 },
  as_of_lag_ms: { most: 1000 },
  reporting_penalty: { most: 1.5 },
  recompute_vs_sql: { most: 5 },
  export_vs_bare: { least: 0.5 },
  pg_breakdown_first_ms: {},
  pg_breakdown_ms: {},
  pg_breakdown_view_ms: {},
  pg_export_vs_bare: { least: 0.5 },
  exporting_penalty: { most: 1.5 },
  pg_exporting_penalty: { most: 1.5 },
  keeping_refusals: { least: 0.95 },
  keeping_one_in_ten: { least: 0.95 },
  refused_neighbour: { most: 1.2 },
  pg_keeping_refusals: { least: 0.95 },
  pg_keeping_one_in_ten: { least: 0.95 },
  pg_refused_neighbour: { most: 1.2 },
  defined_single: { least: 0.9 },
  defined_batch: { least: 0.9 },
  pg_defined_single: { least: 0.9 },
  pg_defined_batch: { least: 0.9 },
  told_single: { least: 0.9 },
  messages_per_s: { least: 2000 },
  messages_alone_per_s: { least: 2000 },
  pg_told_single: { least: 0.9 },
  pg_messages_per_s: { least: 2000 },
  pg_messages_alone_per_s: { least: 2000 },
  ageing_single: { least: 0.9 },
  ageing_batch: { least: 0.9 },
  aged_file: { most: 1.2 },
  pg_ageing_single: { least: 0.9 },
  pg_ageing_batch: { least: 0.9 },
  now_single: { least: 0.95 },
  now_initialize: { least: 0.95 },
  now_batch: { least: 0.95 },
  now_flat: { least: 0.95 },
  now_bytes: { most: 1.05 },
  now_pause: { most: 1.05 },
  pg_now_single: { least: 0.95 },
  pg_now_initialize: { least: 0.95 },
  pg_now_batch: { least: 0.95 },
  pg_now_flat: { least: 0.95 },
  pg_now_bytes: { most: 1.05 },
} as const satisfies Record<string, { least?: number; most?: number }>

type RatioName = keyof typeof wanted
type Ratios = Partial<Record<RatioName, number | null>>

/** A rate this close to the load's own limit says more about the load than about the server. */
const CEILING_PART = 0.8

/** What was measured; a part that was not is undefined. */
export type Parts = {
  peers: PeerFigures | undefined
  store: FullStoreFigures | undefined
  hostile: HostileFigures | undefined
  postgres: PostgresFigures | undefined
  journeys: OfEngines<JourneyFigures> | undefined
  profile: Record<Profiled, ProfileFigures> | undefined
  exports: OfEngines<ExportFigures> | undefined
  refused: OfEngines<RefusedFigures> | undefined
  retention: OfEngines<RetentionFigures> | undefined
  builds: OfEngines<BuildFigures> | undefined
  grown: GrownFigures | undefined
  definitions: OfEngines<DefinitionFigures> | undefined
  webhooks: OfEngines<WebhookFigures> | undefined
  killedWebhooks: OfEngines<KilledWebhookFigures> | undefined
  breakdown: OfEngines<BreakdownFigures> | undefined
}

/** The named figures of a run; null if the server does not report one. */
export function ratiosOf({
  peers,
  store,
  hostile,
  postgres,
  journeys,
  exports,
  refused,
  retention,
  builds,
  grown,
  definitions,
  webhooks,
  breakdown,
  watched,
}: Parts & { watched: Watched }): Ratios {
  const bytes = [
    ...(peers?.bytes_per_event ?? []),
    ...(store ? [store.bytes_per_event.v7, store.bytes_per_event.v4] : []),
  ]
  return {
    ...(peers && peerRatios(peers)),
    // The largest of a young store with mixed `message_id`s, and the full ones with UUIDv7 and with UUIDv4.
    ...(bytes.length > 0 && { bytes_per_event: Math.max(...bytes) }),
    ...(store && {
      flat_10m: medianQuotient(store.flat.v7.full, store.flat.v7.empty),
      flat_10m_uuid4: medianQuotient(store.flat.v4.full, store.flat.v4.empty),
      flat_10m_wide: medianQuotient(store.flat.wide.full, store.flat.wide.empty),
      ack_gap_ms: Math.max(...Object.values(store.ack_gap_ms).map(median)),
      timeline_p99_ms: median(store.timeline_p99_ms),
      reader_penalty: medianQuotient(store.single_p99_ms.while_listing, store.single_p99_ms.alone),
      start_ms: median(store.start_ms),
    }),
    ...((peers ?? store) && { indexing_pause_ms: watched.indexing_pause_ms, rss_mb: watched.rss_mb }),
    ...(hostile && hostileRatios(hostile)),
    ...(postgres && postgresRatios(postgres)),
    ...(journeys?.sqlite && journeyRatios(journeys.sqlite)),
    ...(exports && ofEach(exports, exportRatios)),
    ...(refused && ofEach(refused, refusedRatios)),
    ...(retention && ofEach(retention, retentionRatios)),
    ...(builds && ofEach(builds, buildRatios)),
    ...(grown && grownRatios(grown)),
    ...(definitions && ofEach(definitions, definitionRatios)),
    ...(webhooks && ofEach(webhooks, webhookRatios)),
    ...(breakdown &&
      ofEach(breakdown, ({ first_ms, report_ms, restarted }) => ({
        breakdown_first_ms: first_ms.variable ?? Number.POSITIVE_INFINITY,
        breakdown_ms: report_ms.variable ?? Number.POSITIVE_INFINITY,
        breakdown_view_ms: restarted.first_ms,
      }))),
  }
}

function grownRatios({ single, batch, timeline_p99_ms }: GrownFigures): Ratios {
  return {
    single_vs_fastify_10m: medianQuotient(single.cairn, single.fastify),
    batch_vs_fastify_10m: medianQuotient(batch.cairn, batch.fastify),
    timeline_vs_bare: medianQuotient(timeline_p99_ms.cairn, timeline_p99_ms.bare),
  }
}

function hostileRatios({ single_p99_ms, refused, rss_mb }: HostileFigures): Ratios {
  return {
    hostile_p99_ratio: medianQuotient(single_p99_ms.beside, single_p99_ms.alone),
    hostile_floor_ratio: medianQuotient(single_p99_ms.bare, single_p99_ms.alone),
    hostile_refused: refused,
    hostile_rss_mb: rss_mb,
  }
}

function postgresRatios(figures: PostgresFigures): Ratios {
  const { single, batch, limit, timeline_p99_ms, bytes_per_event } = figures
  return {
    pg_single_vs_manual: medianQuotient(single.cairn, single.manual),
    pg_batch_vs_limit: medianQuotient(batch, limit),
    pg_two_replicas_vs_one: medianQuotient(single.two_replicas, single.cairn),
    pg_timeline_vs_bare: medianQuotient(timeline_p99_ms.cairn, timeline_p99_ms.bare),
    pg_bytes_per_event: bytes_per_event,
  }
}

function journeyRatios(figures: JourneyFigures): Ratios {
  const { report_p99_ms, as_of_lag_ms, single_p99_ms, recompute_s, ordered_events_s } = figures
  return {
    report_ms: report_p99_ms.unchanged,
    report_changed_ms: report_p99_ms.changed,
    report_filtered_ms: report_p99_ms.filtered,
    as_of_lag_ms,
    reporting_penalty: medianQuotient(single_p99_ms.while_reporting, single_p99_ms.alone),
    recompute_vs_sql: recompute_s / ordered_events_s,
  }
}

function exportRatios({ bare_s, exported_s, single_p99_ms }: ExportFigures): Ratios {
  return {
    export_vs_bare: medianQuotient(bare_s, exported_s),
    exporting_penalty: medianQuotient(single_p99_ms.while_exporting, single_p99_ms.alone),
  }
}

function refusedRatios({ requests_per_s, neighbour_p99_ms }: RefusedFigures): Ratios {
  const { accepted, one_in_ten } = requests_per_s
  return {
    keeping_refusals: medianQuotient(accepted.kept, accepted.not_kept),
    keeping_one_in_ten: medianQuotient(one_in_ten.kept, one_in_ten.not_kept),
    refused_neighbour: medianQuotient(neighbour_p99_ms.refused, neighbour_p99_ms.stored),
  }
}

function definitionRatios({ single, batch }: DefinitionFigures): Ratios {
  return {
    defined_single: medianQuotient(single.requests_per_s.defined, single.requests_per_s.free),
    defined_batch: medianQuotient(batch.requests_per_s.defined, batch.requests_per_s.free),
  }
}

function webhookRatios({ events_per_s, messages_per_s, alone_messages_per_s }: WebhookFigures): Ratios {
  return {
    told_single: medianQuotient(events_per_s.told, events_per_s.alone),
    messages_per_s: median(messages_per_s),
    messages_alone_per_s: median(alone_messages_per_s),
  }
}

function retentionRatios({ events_per_s: { single, batch }, file_bytes }: RetentionFigures): Ratios {
  return {
    ageing_single: median(single.while_ageing) / median(single.alone),
    ageing_batch: median(batch.while_ageing) / median(batch.alone),
    ...(file_bytes && { aged_file: file_bytes.after / file_bytes.before }),
  }
}

function buildRatios(figures: BuildFigures): Ratios {
  const { single_per_s, initialize_per_s, batch_per_s, bytes_per_event, indexing_pause_ms } = figures
  const { young, full } = batch_per_s
  const { now, before } = indexing_pause_ms
  return {
    now_single: medianQuotient(single_per_s.now, single_per_s.before),
    now_initialize: medianQuotient(initialize_per_s.now, initialize_per_s.before),
    now_batch: medianQuotient(young.now, young.before),
    now_flat: median(full.now) / median(young.now) / (median(full.before) / median(young.before)),
    now_bytes: bytes_per_event.now / bytes_per_event.before,
    // Not on PostgreSQL, which updates its indexes with each event.
    ...(now !== null && before !== null && { now_pause: now / before }),
  }
}

/** The named figures of each engine measured; on PostgreSQL the names begin with `pg_`. */
function ofEach<Figures>(
  { sqlite, postgres }: OfEngines<Figures>,
  ratiosOf: (figures: Figures) => Ratios,
): Ratios {
  const named = Object.entries(postgres ? ratiosOf(postgres) : {}).map(([name, value]) => [
    `pg_${name}`,
    value,
  ])
  return { ...(sqlite && ratiosOf(sqlite)), ...Object.fromEntries(named) }
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
    initialize_vs_fastify: medianQuotient(cairn.initialize, fastify.initialize),
  }
}

/** Names of the rates within 20 % of what the load reaches against a server that stores nothing. */
export function nearCeiling({ requests_per_s, batch, batch_ceiling }: PeerFigures): string[] {
  const { bare, ...others } = requests_per_s
  const isNear = (rates: number[], ceiling: number[]) => median(rates) > CEILING_PART * median(ceiling)
  const near = Object.entries(others).flatMap(([name, figures]) =>
    (['single', 'initialize'] as const)
      .filter((kind) => isNear(figures[kind], bare[kind]))
      .map((kind) => `${kind} of ${name}`),
  )
  return isNear(batch, batch_ceiling) ? [...near, 'batch of cairn'] : near
}

type Report = Parts & {
  ratios: Ratios
  does_not_count: string[]
  node: string
  cpu: string
  minutes: number
  rounds: number
  separate_cores: boolean
  load_average: number
  machine: Machine
}

/** The speed of the machine. */
export function machineLine({ bare_requests_per_s, fsync_ms }: Machine): string {
  return `bare: ${whole(bare_requests_per_s)} requests per second; fsync: ${fsync_ms.toFixed(2)} ms`
}

/** The report as text. */
export function tableOf(report: Report): string {
  const {
    ratios,
    peers,
    store,
    hostile,
    postgres,
    journeys,
    profile,
    exports,
    refused,
    retention,
    builds,
    grown,
    definitions,
    webhooks,
    killedWebhooks,
    breakdown,
    machine,
    does_not_count,
  } = report
  const lines = [
    `\nNode ${report.node}, ${report.cpu}, ${report.rounds} round(s), ${report.minutes.toFixed(1)} minutes`,
  ]
  lines.push(machineLine(machine))
  lines.push(
    `server and load ${report.separate_cores ? 'on separate cores' : 'NOT on separate cores'}; log to a file\n`,
  )
  if (report.load_average > 0.3) {
    lines.push(
      `The machine was not idle before the start (load average ${report.load_average.toFixed(1)}).\n`,
    )
  }
  if (peers) {
    lines.push('per second, median  single events   p99 ms   CPU µs   initializations')
    for (const name of Object.keys(peers.requests_per_s) as PeerName[]) {
      const { single, single_p99_ms, single_cpu_us, initialize } = peers.requests_per_s[name]
      const label = name === 'bare' ? 'bare (load limit)' : name
      const cells = [
        whole(median(single)).padStart(14),
        median(single_p99_ms).toFixed(1).padStart(9),
        whole(median(single_cpu_us)).padStart(9),
      ]
      lines.push(`${label.padEnd(19)}${cells.join('')}${whole(median(initialize)).padStart(18)}`)
    }
    for (const what of does_not_count) {
      lines.push(`${what} is within 20 % of the load's own limit: ignore the figures that are based on it`)
    }
    lines.push(`\nevents per second in batches of 1,000: ${whole(median(peers.batch))}`)
    lines.push(`bare (load limit): ${whole(median(peers.batch_ceiling))}`)
    lines.push(`append_limit: ${whole(median(peers.append_limit))}`)
  }
  if (store) {
    lines.push('')
    for (const kind of Object.keys(store.flat) as Kind[]) {
      const { empty, full } = store.flat[kind]
      lines.push(
        `${kind}: filled at ${whole(store.fill_events_per_s[kind])} events per second, ${store.bytes_per_event[kind].toFixed(0)} bytes per event`,
        `  batches: ${whole(median(empty))} events per second into an empty store, ${whole(median(full))} into the full one`,
        `  longest gap between responses: ${store.ack_gap_ms[kind].map((gap) => gap.toFixed(0)).join(', ')} ms`,
      )
    }
    lines.push(
      `listing all events while writing: ${whole(median(store.listing_pages_per_s))} pages per second`,
    )
  }
  if (hostile) lines.push(...hostileLines(hostile))
  if (postgres) lines.push(...postgresLines(postgres))
  if (journeys) lines.push(...eachEngine(journeys, journeyLines))
  if (profile) lines.push(...profileLines(profile))
  if (exports) lines.push(...eachEngine(exports, exportLines))
  if (refused) lines.push(...eachEngine(refused, refusedLines))
  if (retention) lines.push(...eachEngine(retention, retentionLines))
  if (builds) lines.push(...eachEngine(builds, buildLines))
  if (grown) lines.push(...grownLines(grown))
  if (definitions) lines.push(...eachEngine(definitions, definitionLines))
  if (webhooks) lines.push(...eachEngine(webhooks, webhookLines))
  if (killedWebhooks) lines.push(...eachEngine(killedWebhooks, killedWebhookLines))
  if (breakdown) lines.push(...eachEngine(breakdown, breakdownLines))
  lines.push('', `${'figure'.padEnd(24)}${'measured'.padStart(10)}   target`)
  for (const [name, want] of Object.entries(wanted) as [RatioName, { least?: number; most?: number }][]) {
    if (name in ratios) lines.push(figureLine(name, ratios[name] ?? null, want))
  }
  return `${lines.join('\n')}\n`
}

/** The lines of each engine measured. */
function eachEngine<Figures>(
  { sqlite, postgres }: OfEngines<Figures>,
  linesOf: (engine: string, figures: Figures) => string[],
): string[] {
  return [...(sqlite ? linesOf('SQLite', sqlite) : []), ...(postgres ? linesOf('PostgreSQL', postgres) : [])]
}

/** The cost of one event per stage, with a column per profiled kind, ordered by the cost of a single event. */
function profileLines(profile: Record<Profiled, ProfileFigures>): string[] {
  const kinds = Object.keys(profile) as Profiled[]
  const table = (title: string, account: (figures: ProfileFigures) => Map<string, number>) => {
    const stages = new Set(kinds.flatMap((kind) => [...account(profile[kind]).keys()]))
    const rows = [...stages].map((stage) => {
      return { stage, spent: kinds.map((kind) => account(profile[kind]).get(stage) ?? 0) }
    })
    rows.sort((a, b) => (b.spent[0] ?? 0) - (a.spent[0] ?? 0))
    const sums = kinds.map((_, index) => rows.reduce((sum, { spent }) => sum + (spent[index] ?? 0), 0))
    return [
      '',
      `${title.padEnd(40)}${kinds.map((kind) => kind.padStart(12)).join('')}`,
      ...[...rows, { stage: 'total', spent: sums }].map(({ stage, spent }) => {
        return `${stage.padEnd(40)}${spent.map((one) => one.toFixed(1).padStart(12)).join('')}`
      }),
    ]
  }
  const plain = kinds.map((kind) => profile[kind].cpu_us.toFixed(1).padStart(12)).join('')
  return [
    ...table('CPU µs per event', ({ stages }) => stages),
    `${'without the profiler'.padEnd(40)}${plain}`,
    ...table('bytes allocated per event', ({ allocated }) => allocated),
  ]
}

function hostileLines({ single_p99_ms, refusals, callers }: HostileFigures): string[] {
  const { alone, beside, bare } = single_p99_ms
  const lines = [
    `p99 of single events: ${median(alone).toFixed(1)} ms alone, ${median(beside).toFixed(1)} ms beside hostile callers`,
    `  beside the same callers of a server that does nothing: ${median(bare).toFixed(1)} ms`,
    ...refusals.map((refusal) => `unexpected response: ${refusal}`),
    '',
    `${'hostile callers'.padEnd(24)}${'requests'.padStart(10)}   outcomes`,
  ]
  for (const [name, { requests, answers }] of Object.entries(callers)) {
    const counts = Object.entries(answers).map(([answer, count]) => `${answer}: ${whole(count)}`)
    lines.push(`${name.padEnd(24)}${whole(requests).padStart(10)}   ${counts.join(', ')}`)
  }
  return lines
}

function postgresLines({ single, single_p99_ms, batch, limit, timeline_p99_ms, ...full }: PostgresFigures) {
  const { cairn, two_replicas, manual } = single
  return [
    `single events per second: ${whole(median(cairn))} (p99 ${median(single_p99_ms.cairn).toFixed(1)} ms)`,
    `  two replicas: ${whole(median(two_replicas))}`,
    `  manual: ${whole(median(manual))} (p99 ${median(single_p99_ms.manual).toFixed(1)} ms)`,
    `events per second in batches of 1,000: ${whole(median(batch))}; pg_limit: ${whole(median(limit))}`,
    `full store: filled at ${whole(full.fill_events_per_s)} events per second`,
    ...full.relation_bytes
      .filter(([, bytes]) => bytes >= 1)
      .map(([name, bytes]) => `  ${name.padEnd(48)}${bytes.toFixed(1).padStart(6)} bytes per event`),
    `  p99 of a customer's page under load: ${median(timeline_p99_ms.cairn).toFixed(1)} ms; bare: ${median(timeline_p99_ms.bare).toFixed(1)} ms`,
  ]
}

function journeyLines(engine: string, figures: JourneyFigures) {
  const { enrolments, report_p99_ms, as_of_lag_ms, single_p99_ms, recompute_s, ordered_events_s } = figures
  const { unchanged, changed, filtered } = report_p99_ms
  const ms = (value: number) => `${value.toFixed(1)} ms`
  return [
    `reports of ${whole(enrolments)} customers on ${engine}:`,
    `  p99 without new events ${ms(unchanged)}, after each event ${ms(changed)}, with filters ${ms(filtered)}`,
    `  a report includes an event after ${ms(as_of_lag_ms)} at most`,
    `  p99 of single events: ${ms(median(single_p99_ms.alone))} alone, ${ms(median(single_p99_ms.while_reporting))} beside reports`,
    `  rebuilt in ${recompute_s.toFixed(1)} s; one statement reads the same events in ${ordered_events_s.toFixed(1)} s`,
  ]
}

function exportLines(engine: string, { exported_s, bare_s, single_p99_ms }: ExportFigures) {
  const s = (values: number[]) => `${median(values).toFixed(1)} s`
  const ms = (values: number[]) => `${median(values).toFixed(1)} ms`
  const { alone, while_exporting } = single_p99_ms
  return [
    `an export of all events on ${engine}: ${s(exported_s)}; bare: ${s(bare_s)}`,
    `  p99 of single events: ${ms(alone)} alone, ${ms(while_exporting)} beside exports`,
  ]
}

function refusedLines(engine: string, { requests_per_s, neighbour_p99_ms }: RefusedFigures) {
  const { accepted, one_in_ten } = requests_per_s
  const rates = ({ kept, not_kept }: { kept: number[]; not_kept: number[] }) =>
    `${whole(median(kept))} with rejected requests kept, ${whole(median(not_kept))} without`
  const ms = (values: number[]) => `${median(values).toFixed(1)} ms`
  return [
    `single events per second on ${engine}: ${rates(accepted)}; one in ten rejected: ${rates(one_in_ten)}`,
    `  p99 of ordinary senders beside a key whose events are stored ${ms(neighbour_p99_ms.stored)}, rejected ${ms(neighbour_p99_ms.refused)}`,
  ]
}

function definitionLines(engine: string, { single, batch }: DefinitionFigures) {
  const text = ({ requests_per_s, cpu_us }: DefinitionFigures['single']) => {
    const [defined, free] = [median(cpu_us.defined), median(cpu_us.free)]
    const rates = `${whole(median(requests_per_s.defined))} requests per second with a definition of ten fields, ${whole(median(requests_per_s.free))} without`
    return `${rates}; processor time of an event ${defined.toFixed(1)} and ${free.toFixed(1)} µs`
  }
  return [`single events on ${engine}: ${text(single)}`, `  batches: ${text(batch)}`]
}

function webhookLines(
  engine: string,
  { events_per_s, messages_per_s, alone_messages_per_s }: WebhookFigures,
) {
  const rates = `${whole(median(events_per_s.told))} single events per second on ${engine} while a webhook is told, ${whole(median(events_per_s.alone))} while it is disabled`
  return [
    rates,
    `  messages per second: ${whole(median(messages_per_s))} beside them, ${whole(median(alone_messages_per_s))} afterwards`,
  ]
}

function killedWebhookLines(
  engine: string,
  { minutes, kills, wanted, received, drained_s }: KilledWebhookFigures,
) {
  return [
    `webhooks on ${engine}: in ${minutes} minutes the server was killed ${kills.server} times and the receiver ${kills.receiver} times`,
    `  all ${whole(wanted)} messages have arrived, in ${whole(received)} requests; the last ${drained_s.toFixed(0)} s after the last kill`,
  ]
}

function breakdownLines(engine: string, { enrolments, first_ms, report_ms, restarted }: BreakdownFigures) {
  const line = (times: typeof report_ms) =>
    Object.entries(times)
      .map(([kind, ms]) => (ms === null ? `${kind} refused` : `${kind} ${ms.toFixed(0)} ms`))
      .join(', ')
  return [
    `reports of ${whole(enrolments)} customers on ${engine}: ${line(report_ms)}`,
    `  the first of each: ${line(first_ms)}`,
    `  the first of a saved view after a restart: ${restarted.first_ms.toFixed(0)} ms, after reading ahead for ${restarted.ahead_ms.toFixed(0)} ms`,
  ]
}

function retentionLines(engine: string, figures: RetentionFigures) {
  const { events_per_s, single_p99_ms, aged_s, file_bytes } = figures
  const rates = ({ alone, while_ageing }: { alone: number[]; while_ageing: number[] }) =>
    `${whole(median(alone))} alone, ${whole(median(while_ageing))} while others expire`
  const lines = [
    `single events per second on ${engine}: ${rates(events_per_s.single)}; in batches: ${rates(events_per_s.batch)}`,
    `  p99 of single events ${median(single_p99_ms.alone).toFixed(1)} ms alone, ${median(single_p99_ms.while_ageing).toFixed(1)} ms while others expire`,
    `  all were removed after ${aged_s.toFixed(0)} s, including ${events_per_s.single.while_ageing.length} round(s) of windows`,
  ]
  if (!file_bytes) return lines
  const megabytes = (bytes: number) => `${whole(bytes / 1e6)} MB`
  const { before, after } = file_bytes
  return [...lines, `  the file: ${megabytes(before)} before, ${megabytes(after)} after as many new events`]
}

function buildLines(engine: string, figures: BuildFigures) {
  const { single_per_s, single_cpu_us, initialize_per_s, batch_per_s, bytes_per_event } = figures
  const both = ({ now, before }: { now: number[]; before: number[] }) =>
    `${whole(median(now))} now, ${whole(median(before))} before`
  const { now, before } = figures.indexing_pause_ms
  const pause = (ms: number | null) => (ms === null ? 'unknown' : `${ms.toFixed(0)} ms`)
  return [
    `on ${engine}, per second: single events ${both(single_per_s)}; initializations ${both(initialize_per_s)}`,
    `  events in batches ${both(batch_per_s.young)}; into a full store ${both(batch_per_s.full)}`,
    `  processor time of a single event in µs: ${both(single_cpu_us)}`,
    `  bytes per event: ${whole(bytes_per_event.now)} now, ${whole(bytes_per_event.before)} before`,
    `  longest wait for indexing: ${pause(now)} now, ${pause(before)} before`,
  ]
}

function grownLines({ fill_events_per_s, single, batch, timeline_p99_ms }: GrownFigures) {
  const both = (figures: { cairn: number[]; fastify: number[] }) =>
    `${whole(median(figures.cairn))}; fastify: ${whole(median(figures.fastify))}`
  const { cairn, bare } = timeline_p99_ms
  return [
    `full stores, single events per second: ${both(single)}`,
    `  events per second in batches of 1,000: ${both(batch)}`,
    `  filled at ${whole(fill_events_per_s.cairn)} events per second; fastify: ${whole(fill_events_per_s.fastify)}`,
    `  p99 of a customer's page under load: ${median(cairn).toFixed(1)} ms; bare: ${median(bare).toFixed(1)} ms`,
  ]
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

/** The median of the quotients of two series, round by round. */
function medianQuotient(a: number[], b: number[]): number {
  return median(a.map((value, round) => value / (b[round] ?? Number.NaN)))
}
