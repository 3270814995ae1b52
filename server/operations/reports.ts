import type { components } from '../../generated/contract.ts'
import type { Context, Operation, OperationId, OperationRequest } from '../contract.ts'
import type { Position } from '../domain/cursors.ts'
import { duration_ms } from '../domain/durations.ts'
import { variableFilter } from '../domain/event-values.ts'
import { instant_ms, instantOrNull, instantText } from '../domain/instants.ts'
import { fittingPage, pageOf } from '../domain/paging.ts'
import { periodsBefore, periodsOf, previousPeriod, previousYear } from '../domain/periods.ts'
import { shareDifference } from '../domain/share-intervals.ts'
import { Problem } from '../problems.ts'
import type { ReadingDatabase } from '../storage/database.ts'
import { settledIfSoon } from '../storage/exports/export-walk.ts'
import { eventsSince } from '../storage/removals/retention.ts'
import type {
  Breakdown,
  BrokenDown,
  ComparedNumbers,
  ComparedReport,
  CustomerJourney,
  EntryPeriod,
  PartNumbers,
  StandingFilter,
  StandingsState,
  StepNumbers,
  Touch,
} from '../storage/standings/standings.ts'
import { StrictOrderTooLarge } from '../storage/standings/strict-order.ts'
import { BreakdownTooLarge } from '../storage/standings/variable-labels.ts'
import { customersWith, findCustomer } from '../storage/tables/customers.ts'
import { findJourney, journeysWith } from '../storage/tables/journeys.ts'
import { customerNotFound } from './customer-not-found.ts'

type Schemas = components['schemas']
type Step = Schemas['JourneyStep']
type FilterQuery = {
  entered_from?: string
  entered_to?: string
  customer_type?: Schemas['CustomerType']
  window?: string
  first_step?: number
  last_step?: number
  step_order?: Schemas['StepOrder']
  touch?: Schemas['Touch']
  variables?: string[]
}

/** An operation that needs no caller: links to views use it too. */
type ReportOperation<Id extends OperationId> = (
  request: OperationRequest<Id>,
  context: Pick<Context, 'storage' | 'reading' | 'now'>,
) => ReturnType<Operation<Id>>

/** The steps of a report, and the number of the first. */
type Part = { steps: readonly Step[]; first: number }

/** Number of periods in a trend if the request sets no start. */
const TREND_PERIODS = { day: 30, week: 26, month: 24 }

/** Maximum cohorts: enough for a year of days. */
const MOST_COHORTS = 400

/** With groups, each of which has all cohorts with all steps. */
const MOST_COHORTS_BROKEN_DOWN = 100

/** Maximum journeys per page: each comes with all its steps, perhaps a hundred with long names. */
const MOST_JOURNEYS = 50

export const getJourneyReport: ReportOperation<'getJourneyReport'> = async (
  request,
  { storage, reading },
) => {
  const { workspaceId, path, query } = request
  const filter = reportFilter(query)
  const { compared } = filter
  const [journey, since, numbers] = await Promise.all([
    findJourney(storage.db, workspaceId, path.journey_id),
    sinceOf(storage.db, workspaceId, path.journey_id),
    unlessTooLarge(storage.standings.report(workspaceId, path.journey_id, filter, reading)),
  ])
  if (!journey || !numbers) throw new Problem('journey_not_found')
  const { journey_id } = journey
  const part = { steps: partOf(namedSteps(numbers, journey.steps), query), first: query.first_step ?? 1 }
  const groups = numbers.groups?.map(({ group, ...ofGroup }, _, all) => ({
    group,
    enrolled: ofGroup.enrolled,
    steps: reportSteps(part, ofGroup),
    differences: differences(ofGroup, othersThan(group, all)),
    comparison: comparisonOf(part, ofGroup, compared),
  }))
  const body = {
    journey_id,
    enrolled: numbers.enrolled,
    steps: reportSteps(part, numbers),
    groups: groups ?? null,
    comparison: comparisonOf(part, numbers, compared),
    ...since,
    ...stateOf(numbers),
  }
  return { status: 200, body }
}

export const getJourneyTrend: ReportOperation<'getJourneyTrend'> = async (request, context) => {
  const { workspaceId, path, query } = request
  const { storage, reading, now } = context
  const { by: unit = 'day', time_zone: zone = 'UTC', entered_from, entered_to, ...others } = query
  const to_ms = entered_to === undefined ? now() : instant_ms(entered_to)
  const from_ms =
    entered_from === undefined
      ? periodsBefore(to_ms, TREND_PERIODS[unit], { unit, zone })
      : instant_ms(entered_from)
  const most = query.breakdown === undefined ? MOST_COHORTS : MOST_COHORTS_BROKEN_DOWN
  const starts_ms = periodsOf({ from_ms, to_ms }, { unit, zone, most })
  const filter = { ...brokenDown(others), starts_ms }
  const [journey, since, trend] = await Promise.all([
    findJourney(storage.db, workspaceId, path.journey_id),
    sinceOf(storage.db, workspaceId, path.journey_id),
    unlessTooLarge(storage.standings.trend(workspaceId, path.journey_id, filter, reading)),
  ])
  if (!journey || !trend) throw new Problem('journey_not_found')
  const cohorts = trend.cohorts.map(({ starts_ms, ends_ms, enrolled, reached, incomplete }) => ({
    starts_at: instantText(starts_ms),
    ends_at: instantText(ends_ms),
    enrolled,
    reached: [...reached],
    complete: !incomplete,
  }))
  const groups = trend.groups?.map(({ group, cohorts }) => ({
    group,
    cohorts: cohorts.map(({ enrolled, reached }) => ({ enrolled, reached: [...reached] })),
  }))
  const steps = partOf(namedSteps(trend, journey.steps), query)
  const { journey_id } = journey
  return {
    status: 200,
    body: { journey_id, steps, cohorts, groups: groups ?? null, ...since, ...stateOf(trend) },
  }
}

export const getJourneyStepTimes: ReportOperation<'getJourneyStepTimes'> = async (
  request,
  { storage, reading },
) => {
  const { workspaceId, path, query } = request
  const { step, ...others } = query
  const filter = { ...brokenDown(others), step }
  const [since, found] = await Promise.all([
    sinceOf(storage.db, workspaceId, path.journey_id),
    unlessTooLarge(storage.standings.histogram(workspaceId, path.journey_id, filter, reading)),
  ])
  if (!found) throw new Problem('journey_not_found')
  const { times, ranges } = found
  const groups = found.groups?.map(({ counts, ...group }) => ({ ...group, counts: [...counts] })) ?? null
  const { journey_id } = path
  const body = { journey_id, step, times, classes: [...ranges], groups, ...since, ...stateOf(found) }
  return { status: 200, body }
}

export const listJourneyCustomers: Operation<'listJourneyCustomers'> = async (request, context) => {
  const { workspaceId, path, query } = request
  const { storage, reading } = context
  const { reached, not_reached, standing, out_of_order } = query
  if (standing !== undefined && query.window === undefined) throw new Problem('window_missing')
  const filter = {
    ...filterOf(query),
    ...(reached !== undefined && { reached }),
    ...(not_reached !== undefined && { not_reached }),
    ...(standing !== undefined && { standing }),
    ...(out_of_order !== undefined && { out_of_order }),
  }
  const page = pageOf(query, 'cus')
  const found = await unlessTooLarge(
    storage.standings.customers(workspaceId, path.journey_id, filter, page, reading),
  )
  if (!found) throw new Problem('journey_not_found')
  const ids = found.rows.map(({ customer_id }) => customer_id)
  const customers = await customersWith(storage.lists(reading), workspaceId, ids)
  const rows = found.rows.flatMap(({ customer_id, entered_ms, reached, out_of_order }) => {
    const customer = customers.get(customer_id)
    if (!customer) return []
    const { client_customer_id, customer_type, customer_name } = customer
    const row = {
      customer_id,
      client_customer_id,
      customer_type,
      customer_name,
      entered_at: instantText(entered_ms),
      reached: reached.length,
      reached_at: reached.map(({ at_ms }) => instantText(at_ms)),
      out_of_order: [...out_of_order],
    }
    return { row, position: { ms: entered_ms, id: customer_id } }
  })
  return { status: 200, body: fittingPage({ rows, next: found.next }) }
}

export const listCustomerJourneys: Operation<'listCustomerJourneys'> = async (request, context) => {
  const { workspaceId, path, query } = request
  const { storage, reading } = context
  const { limit, ...page } = pageOf(query, 'jrn')
  const few = { ...page, limit: Math.min(limit, MOST_JOURNEYS) }
  const [customer, found] = await Promise.all([
    findCustomer(storage.db, workspaceId, path.customer_id),
    storage.standings.customerJourneys(workspaceId, path.customer_id, few, reading),
  ])
  if (!customer) throw customerNotFound(path.customer_id)
  const journeys = await namedStandings(context, workspaceId, found.rows)
  const rows = journeys.map((row) => ({ row, position: { ms: 0, id: row.journey_id } }))
  return { status: 200, body: fittingPage({ rows, next: found.next }) }
}

/** Yields all journeys of a customer, page by page, as far as reports are up to date. */
export async function* allCustomerJourneys(
  context: Context,
  workspaceId: string,
  customerId: string,
): AsyncGenerator<Schemas['CustomerJourney'][]> {
  const { storage, reading } = context
  const read = async (after?: Position) => {
    const page = { limit: MOST_JOURNEYS, ...(after && { after }) }
    const found = await storage.standings.customerJourneys(workspaceId, customerId, page, reading)
    return { ...found, caughtUp_ms: found.as_of_ms ?? Number.NEGATIVE_INFINITY }
  }
  let found = await settledIfSoon(await storage.clock_ms(reading), reading.signal, read)
  yield await namedStandings(context, workspaceId, found.rows)
  while (found.next) {
    found = await read(found.next)
    yield await namedStandings(context, workspaceId, found.rows)
  }
}

async function namedStandings(
  { storage, reading }: Context,
  workspaceId: string,
  standings: readonly CustomerJourney[],
): Promise<Schemas['CustomerJourney'][]> {
  const ids = standings.map(({ journey_id }) => journey_id)
  const journeys = await journeysWith(storage.lists(reading), workspaceId, ids)
  return standings.flatMap((standing) => {
    const journey = journeys.get(standing.journey_id)
    return journey ? [customerJourney(standing, journey)] : []
  })
}

function filterOf(query: FilterQuery): StandingFilter {
  const { entered_from, entered_to, customer_type, window, first_step, last_step, touch, variables } = query
  const { step_order } = query
  return {
    ...(entered_from !== undefined && { entered_from_ms: instant_ms(entered_from) }),
    ...(entered_to !== undefined && { entered_to_ms: instant_ms(entered_to) }),
    ...(customer_type !== undefined && { customer_type }),
    ...(window !== undefined && { window_ms: duration_ms(window) }),
    ...(first_step !== undefined && { first_step }),
    ...(last_step !== undefined && { last_step }),
    ...(step_order !== undefined && { step_order }),
    ...(touch !== undefined && { touch: touchOf(touch) }),
    ...(variables !== undefined && { variables: variables.map(variableFilter) }),
  }
}

function touchOf(touch: Schemas['Touch']): Touch {
  return touch === 'first' || touch === 'last' ? touch : Number(touch)
}

function brokenDown(query: FilterQuery & { breakdown?: Schemas['Breakdown'] }): BrokenDown {
  return {
    ...filterOf(query),
    ...(query.breakdown !== undefined && { breakdown: breakdownOf(query.breakdown) }),
  }
}

/** What the storage is asked for a report. @throws {Problem} `compared_period_missing` */
export function reportFilter(query: OperationRequest<'getJourneyReport'>['query']): ComparedReport {
  const compared = comparedPeriod(query)
  return { ...brokenDown(query), ...(compared && { compared }) }
}

function breakdownOf(text: Schemas['Breakdown']): Breakdown {
  if (text === 'customer_type') return { by: text }
  return { by: 'variable', name: text.slice('variable:'.length) }
}

/** Waits for what is read for a report. @throws {Problem} `breakdown_too_large`, `strict_order_too_large` */
async function unlessTooLarge<Numbers>(reading: Promise<Numbers>): Promise<Numbers> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof BreakdownTooLarge) throw new Problem('breakdown_too_large')
    if (error instanceof StrictOrderTooLarge) throw new Problem('strict_order_too_large')
    throw error
  }
}

/** @throws {Problem} `compared_period_missing` */
function comparedPeriod({
  compare,
  entered_from,
  entered_to,
  compare_from,
  compare_to,
}: OperationRequest<'getJourneyReport'>['query']): Required<EntryPeriod> | undefined {
  if (compare === undefined) return undefined
  const [from, to] = compare === 'custom' ? [compare_from, compare_to] : [entered_from, entered_to]
  if (from === undefined || to === undefined) throw new Problem('compared_period_missing')
  const span = { from_ms: instant_ms(from), to_ms: instant_ms(to) }
  const spans = {
    custom: () => span,
    previous_period: () => previousPeriod(span),
    previous_year: () => previousYear(span),
  }
  const { from_ms, to_ms } = spans[compare]()
  return { entered_from_ms: from_ms, entered_to_ms: to_ms }
}

async function sinceOf(db: ReadingDatabase, workspaceId: string, journeyId: string) {
  const since_ms = await eventsSince(db, workspaceId, journeyId)
  return { events_since: instantOrNull(since_ms) }
}

function stateOf({ as_of_ms, recomputing }: StandingsState) {
  return { as_of: instantOrNull(as_of_ms), recomputing }
}

/** Returns the steps that the numbers belong to. A step that was removed since has the name of its event. */
function namedSteps({ event_ids }: StandingsState, configured: readonly Step[]): Step[] {
  const names = new Map(configured.map(({ event_id, name }) => [event_id, name]))
  return event_ids.map((event_id) => ({ event_id, name: names.get(event_id) ?? event_id }))
}

/** Returns the steps that were asked for. */
function partOf(steps: readonly Step[], { first_step = 1, last_step }: FilterQuery): Step[] {
  return steps.slice(first_step - 1, last_step)
}

function reportSteps({ steps, first }: Part, numbers: PartNumbers): Schemas['JourneyReportStep'][] {
  return numbers.steps.map((step, index) => {
    return {
      step: first + index,
      ...(steps[index] as Step),
      ...reportStep(step, numbers.steps[index - 1], numbers.enrolled),
    }
  })
}

function comparisonOf(
  part: Part,
  numbers: ComparedNumbers,
  compared: Required<EntryPeriod> | undefined,
): Schemas['JourneyComparison'] {
  const { comparison } = numbers
  if (!comparison || !compared) return null
  return {
    entered_from: instantText(compared.entered_from_ms),
    entered_to: instantText(compared.entered_to_ms),
    enrolled: comparison.enrolled,
    steps: reportSteps(part, comparison),
    differences: differences(numbers, comparison),
  }
}

/** Numbers of which the shares are compared. */
type Shares = { enrolled: number; steps: readonly { reached: number }[] }
type GroupShares = Shares & { group: Schemas['BreakdownGroup'] }

/** Returns the numbers that those of a group are compared with (contract: `differences`). */
function othersThan(own: Schemas['BreakdownGroup'], groups: readonly GroupShares[]): Shares {
  const others = groups.filter(({ group }) => group !== own)
  const withValue = others.filter(({ group, enrolled }) => group.kind !== 'not_set' && enrolled > 0)
  return sumOf(withValue.length > 0 ? withValue : others)
}

function sumOf(all: readonly Shares[]): Shares {
  const [first] = all
  return {
    enrolled: all.reduce((sum, { enrolled }) => sum + enrolled, 0),
    steps: (first?.steps ?? []).map((_, step) => ({
      reached: all.reduce((sum, { steps }) => sum + (steps[step]?.reached ?? 0), 0),
    })),
  }
}

/** Returns by step how much the shares of enrolled customers differ. */
function differences(one: Shares, other: Shares): Schemas['ShareDifference'][] {
  return one.steps.map(({ reached }, step) => {
    if (one.enrolled === 0 || other.enrolled === 0) return null
    const { difference, low, high } = shareDifference(
      { part: reached, whole: one.enrolled },
      { part: other.steps[step]?.reached ?? 0, whole: other.enrolled },
    )
    return { of_enrolled: difference, low, high, within_chance: low <= 0 && high >= 0 }
  })
}

function reportStep(step: StepNumbers, before: StepNumbers | undefined, enrolled: number) {
  const { reached, waiting, dropped, out_of_order, times } = step
  const candidates = before ? before.reached : enrolled
  return {
    reached,
    of_enrolled: share(reached, enrolled),
    of_previous: share(reached, candidates),
    not_reached: candidates - reached,
    waiting,
    dropped,
    out_of_order,
    times,
  }
}

function share(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole
}

function customerJourney(standing: CustomerJourney, journey: Schemas['Journey']): Schemas['CustomerJourney'] {
  const { journey_id, name, status } = journey
  const steps = namedSteps(standing, journey.steps).map((step, index) => {
    const filled = standing.reached[index]
    return {
      step: index + 1,
      ...step,
      reached_at: filled ? instantText(filled.at_ms) : null,
      reached_by: filled?.id ?? null,
      out_of_order: standing.out_of_order.includes(index + 1),
    }
  })
  const entered_at = instantText(standing.entered_ms)
  return { journey_id, name, status, entered_at, steps, ...stateOf(standing) }
}
