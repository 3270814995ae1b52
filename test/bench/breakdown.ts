import { EVENT_NAMES } from './data.ts'
import { fill, type OfEngines, type OnEngine, onEachEngine } from './engines.ts'
import { Journey } from './journeys.ts'
import { median } from './median.ts'
import { pause, restartCairn, type Server, UNLIMITED } from './processes.ts'
import { type Settings, say } from './settings.ts'
import type { Watched } from './watched.ts'
import { initializeCustomers } from './windows.ts'

/**
 * Times of reports of a journey of four steps, with ten events per customer (`settings.storedEvents`), each after a change,
 * so that no answer is cached; null if a report was refused as too large.
 */
export type BreakdownFigures = {
  enrolments: number
  /** The first report of each kind. It reads the variables that those before it have not read. */
  first_ms: Times
  /** The medians of all others. */
  report_ms: Times
  /** After a restart: how long the server read ahead for a view by a variable, and then the first report of that view. */
  restarted: { ahead_ms: number; first_ms: number }
}

const QUERIES = {
  plain: '',
  customer_type: '?breakdown=customer_type',
  /** A thousand values. */
  variable: '?breakdown=variable:seats',
  last: '?breakdown=variable:seats&touch=last',
  compared: '?breakdown=variable:seats&compare=previous_year',
  filtered: '?variables=seats:5',
  strict: '?step_order=strict',
} as const
type ReportKind = keyof typeof QUERIES
type Times = Record<ReportKind, number | null>
const KINDS = Object.keys(QUERIES) as ReportKind[]

/** Number of timed reports of each kind per round, besides the first. */
const REPORTS = 5

const EVENTS_PER_CUSTOMER = 10

const TOO_LARGE = 409

/** Time limit of reading ahead. */
const AHEAD_WAIT_MS = 600_000

type Options = { settings: Settings; watched: Watched }

/** Measures breakdowns of reports, and filters by variables, on each engine. */
export async function measureBreakdown(
  folder: string,
  options: Options,
): Promise<OfEngines<BreakdownFigures>> {
  return await onEachEngine({ folder, ...options }, 'breakdown', async (start) =>
    measureOn(await start('store'), options),
  )
}

async function measureOn(on: OnEngine, { settings, watched }: Options): Promise<BreakdownFigures> {
  const { engine, server } = on
  const enrolments = settings.storedEvents / EVENTS_PER_CUSTOMER
  say(`a journey with ${enrolments} customers and ${settings.storedEvents} events`)
  const journey = new Journey(server)
  await journey.setSteps(EVENT_NAMES)
  await initializeCustomers(server, enrolments)
  await fill(server, settings.storedEvents)
  await journey.untilCounted()

  const times = Object.fromEntries(KINDS.map((kind) => [kind, []])) as unknown as Record<ReportKind, number[]>
  const refused = new Set<ReportKind>()
  const ask = async (kind: ReportKind) => {
    await journey.change()
    const { status, ms } = await journey.time(withPeriod(QUERIES[kind]))
    if (status === TOO_LARGE) refused.add(kind)
    return ms
  }
  const ofEach = (ms: (kind: ReportKind) => number) =>
    Object.fromEntries(KINDS.map((kind) => [kind, refused.has(kind) ? null : ms(kind)])) as Times
  say('breakdowns, the first of each kind')
  const first = new Map<ReportKind, number>()
  for (const kind of KINDS) first.set(kind, await ask(kind))
  const first_ms = ofEach((kind) => first.get(kind) ?? Number.NaN)
  refused.clear()
  for (let number = 1; number <= settings.rounds * REPORTS; number += 1) {
    say(`breakdowns, number ${number}`)
    for (const kind of KINDS) times[kind].push(await ask(kind))
  }
  await journey.saveView({ breakdown: 'variable:seats' })
  await watched.note(`breakdowns, ${engine}`, server)
  await server.end()
  const report_ms = ofEach((kind) => median(times[kind]))
  return { enrolments, first_ms, report_ms, restarted: await measureRestarted(on, enrolments) }
}

async function measureRestarted({ databaseUrl, folder, server }: OnEngine, enrolments: number) {
  say('a saved view after a restart')
  const settings = { ...UNLIMITED, DATABASE_URL: databaseUrl }
  const restarted = await restartCairn(server, folder, settings)
  const began_ms = performance.now()
  while ((await readAhead(restarted)) < enrolments) {
    if (performance.now() - began_ms > AHEAD_WAIT_MS) throw new Error('the view was not read ahead in time')
    await pause(20)
  }
  const ahead_ms = performance.now() - began_ms
  const journey = new Journey(restarted)
  await journey.change('after-restart')
  const { ms } = await journey.time(QUERIES.variable)
  await restarted.end()
  return { ahead_ms, first_ms: ms }
}

async function readAhead(server: Server): Promise<number> {
  return (await server.metric('cairn_view_enrolments_read_total')) ?? 0
}

/** A comparison needs a period; all customers entered in it. */
function withPeriod(query: string): string {
  if (!query.includes('compare=')) return query
  const day_ms = 86_400_000
  const at = (ms: number) => new Date(Date.now() + ms).toISOString()
  return `${query}&entered_from=${at(-day_ms)}&entered_to=${at(day_ms)}`
}
