import { EVENT_NAMES } from './data.ts'
import { fill, measureOnEach, type OfEngines } from './engines.ts'
import type { OrderedEvents, OrderedEventsOptions } from './ordered-events.ts'
import { pause, runLoad, runProgram, type Server } from './processes.ts'
import { send } from './requests.ts'
import { type Settings, say } from './settings.ts'
import type { Watched } from './watched.ts'
import { CONNECTIONS, initializeCustomers } from './windows.ts'

/** Figures of reports on a journey of four steps, with ten events per customer (`settings.storedEvents`). */
export type JourneyFigures = {
  enrolments: number
  /** Reports: without new events; after a change each; with filters, after a change each. */
  report_p99_ms: { unchanged: number; changed: number; filtered: number }
  /** The longest time from the response to an event until a report includes it, with ten events per second. */
  as_of_lag_ms: number
  /** Single events, one number per round: alone, and during continuous reports. */
  single_p99_ms: { alone: number[]; while_reporting: number[] }
  /** Time of a rebuild after a change of the steps, and of one statement that reads the same events in order. */
  recompute_s: number
  ordered_events_s: number
}

const EVENTS_PER_CUSTOMER = 10

/** Number of timed reports of each kind. */
const REPORTS = 60

/** Number of events for which the time until the report includes them is measured. */
const FOLLOWED_EVENTS = 50

/** Time limit of a rebuild. */
const RECOMPUTED_WAIT_MS = 1_800_000

type Options = { settings: Settings; watched: Watched }

/** Measures reports on each engine. */
export async function measureJourneys(folder: string, options: Options): Promise<OfEngines<JourneyFigures>> {
  return await measureOnEach({ folder, ...options }, 'journeys', (databaseUrl, server) =>
    measureOn(databaseUrl, server, options),
  )
}

async function measureOn(databaseUrl: string, server: Server, { settings, watched }: Options) {
  const enrolments = settings.storedEvents / EVENTS_PER_CUSTOMER
  say(`a journey with ${enrolments} customers and ${settings.storedEvents} events`)
  const journey = new Journey(server)
  await journey.setSteps(EVENT_NAMES)
  await initializeCustomers(server, enrolments)
  await fill(server, settings.storedEvents)
  await journey.untilCounted()

  say('reports: without new events, after each event, with filters')
  const report_p99_ms = {
    unchanged: await journey.p99_ms(() => ''),
    changed: await journey.p99_ms(() => '', { isChanged: true }),
    filtered: await journey.p99_ms(filter, { isChanged: true }),
  }
  const as_of_lag_ms = await journey.greatestLag_ms()
  const single_p99_ms = await singlesBesideReports(server, settings)
  await journey.untilCounted()

  say('rebuilding the report for other steps')
  const began_ms = performance.now()
  await journey.setSteps(EVENT_NAMES.toReversed())
  await journey.untilCounted()
  const recompute_s = (performance.now() - began_ms) / 1000
  await watched.note(`reports, ${databaseUrl.split(':')[0]}`, server)
  await server.end()
  const options: OrderedEventsOptions = { databaseUrl }
  const { seconds } = await runProgram<OrderedEvents>('server', 'ordered-events.ts', options)
  return { enrolments, report_p99_ms, as_of_lag_ms, single_p99_ms, recompute_s, ordered_events_s: seconds }
}

async function singlesBesideReports(server: Server, { rounds, seconds, warmUpSeconds }: Settings) {
  const window = { messageIds: 'mixed', seconds, warmUpSeconds } as const
  const single = { ...window, kind: 'single', connections: CONNECTIONS } as const
  const figures: JourneyFigures['single_p99_ms'] = { alone: [], while_reporting: [] }
  for (let round = 1; round <= rounds; round += 1) {
    say(`reporting while writing, round ${round}`)
    figures.alone.push((await runLoad(server, single)).p99_ms)
    const [, beside] = await Promise.all([
      runLoad(server, { ...window, kind: 'report', connections: 1 }),
      runLoad(server, single),
    ])
    figures.while_reporting.push(beside.p99_ms)
  }
  return figures
}

/** One of three filters, by number; the one by time differs each time. */
function filter(number: number): string {
  const entered = `entered_from=${new Date(Date.now() - 1000 * (3600 + number)).toISOString()}`
  return ['?customer_type=contact', '?window=PT1H', `?${entered}`][number % 3] as string
}

type Report = { as_of: string | null; recomputing: object | null; steps: { event_id: string }[] }

/** The only journey of a server, accessed through the API. */
export class Journey {
  readonly #server: Server
  readonly #headers: Record<string, string>
  readonly #journeyId: string
  readonly #path: string
  #customerId = ''
  #changes = 0

  constructor(server: Server) {
    const [workspace] = server.workspaces
    this.#server = server
    this.#headers = { 'x-service-key': workspace?.key ?? '', 'content-type': 'application/json' }
    this.#journeyId = workspace?.journey_ids[0] ?? ''
    this.#path = `/journeys/${this.#journeyId}`
  }

  async setSteps(names: readonly string[]): Promise<void> {
    const steps = names.map((name) => ({ event_id: name, name }))
    await send(this.#server, 'PATCH', this.#path, { steps })
  }

  /** Waits until the report includes everything stored so far, for the configured steps. */
  async untilCounted(): Promise<void> {
    const since_ms = Date.now()
    const deadline_ms = performance.now() + RECOMPUTED_WAIT_MS
    while (!isIn(await this.#report(''), since_ms)) {
      if (performance.now() > deadline_ms) throw new Error('a report was not up to date in time')
      await pause(100)
    }
  }

  /** @param query returns the query of the report with this number */
  async p99_ms(query: (number: number) => string, { isChanged = false } = {}): Promise<number> {
    const times: number[] = []
    for (let number = 0; number < REPORTS; number += 1) {
      if (isChanged) await this.change()
      const began_ms = performance.now()
      await this.#report(query(number))
      times.push(performance.now() - began_ms)
    }
    times.sort((a, b) => a - b)
    return times[Math.floor(0.99 * (times.length - 1))] ?? Number.NaN
  }

  /** Requests a report, which may be refused. */
  async time(query: string): Promise<{ status: number; ms: number }> {
    const began_ms = performance.now()
    const reply = await fetch(`${this.#server.url}/v1${this.#path}/report${query}`, {
      headers: this.#headers,
    })
    const text = await reply.text()
    if (!reply.ok && reply.status !== 409)
      throw new Error(`a report was answered with ${reply.status}: ${text}`)
    return { status: reply.status, ms: performance.now() - began_ms }
  }

  async greatestLag_ms(): Promise<number> {
    let greatest_ms = 0
    for (let number = 0; number < FOLLOWED_EVENTS; number += 1) {
      await this.send()
      const answered_ms = Date.now()
      while (!isIn(await this.#report(''), answered_ms)) await pause(5)
      greatest_ms = Math.max(greatest_ms, Date.now() - answered_ms)
      await pause(100)
    }
    return greatest_ms
  }

  /** Sends an event of the first step, always of the same customer. */
  async send(): Promise<void> {
    this.#customerId ||= await this.#initialize('user-0')
    await this.#reach(this.#customerId)
  }

  async saveView(query: object): Promise<void> {
    const view = { name: 'Bench', journey_id: this.#journeyId, visibility: 'workspace', query }
    await send(this.#server, 'POST', '/views', view)
  }

  /**
   * Changes the report, and waits until it is counted: a new customer has reached the first step.
   * @param name of the customer, differs for each `Journey` of a store
   */
  async change(name = 'late'): Promise<void> {
    this.#changes += 1
    await this.#reach(await this.#initialize(`${name}-${this.#changes}`))
    const since_ms = Date.now()
    // Of nobody, so that no other answer is cached.
    while (!isIn(await this.#report('?entered_to=1970-01-02T00:00:00Z'), since_ms)) await pause(20)
  }

  async #initialize(client_customer_id: string): Promise<string> {
    const customer = { client_customer_id, customer_type: 'contact', customer_name: 'Ada' }
    const body = { journey_id: this.#journeyId, ...customer }
    return (await send(this.#server, 'POST', '/customers/initialize', body)).customer_id
  }

  async #reach(customer_id: string) {
    const event = { journey_id: this.#journeyId, customer_id, event_id: EVENT_NAMES[0] }
    await send(this.#server, 'POST', '/events/create', event)
  }

  async #report(query: string): Promise<Report> {
    return await send(this.#server, 'GET', `${this.#path}/report${query}`)
  }
}

function isIn({ as_of, recomputing }: Report, since_ms: number): boolean {
  return recomputing === null && as_of !== null && Date.parse(as_of) >= since_ms
}
