import type { Context, Operation, OperationId, OperationRequest } from '../contract.ts'
import { instant_ms, instantOrNull, instantText } from '../domain/instants.ts'
import { fittingPage, pageOf } from '../domain/paging.ts'
import { periodsBefore, periodsOf } from '../domain/periods.ts'
import { Problem } from '../problems.ts'
import type { ReadingDatabase } from '../storage/database.ts'
import { eventsSince } from '../storage/removals/retention.ts'
import { StrictOrderTooLarge } from '../storage/standings/strict-order.ts'
import { BreakdownTooLarge } from '../storage/standings/variable-labels.ts'
import { customersWith } from '../storage/tables/customers.ts'
import { findJourney } from '../storage/tables/journeys.ts'
import {
  comparisonOf,
  differences,
  namedSteps,
  othersThan,
  partOf,
  reportSteps,
  stateOf,
} from './report-numbers.ts'
import { brokenDown, filterOf, reportFilter } from './report-query.ts'

/** An operation that needs no caller: links to views use it too. */
type ReportOperation<Id extends OperationId> = (
  request: OperationRequest<Id>,
  context: Pick<Context, 'storage' | 'reading' | 'now'>,
) => ReturnType<Operation<Id>>

/** Number of periods in a trend if the request sets no start. */
const TREND_PERIODS = { day: 30, week: 26, month: 24 }

/** Maximum cohorts: enough for a year of days. */
const MOST_COHORTS = 400

/** With groups, each of which has all cohorts with all steps. */
const MOST_COHORTS_BROKEN_DOWN = 100

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

async function sinceOf(db: ReadingDatabase, workspaceId: string, journeyId: string) {
  const since_ms = await eventsSince(db, workspaceId, journeyId)
  return { events_since: instantOrNull(since_ms) }
}
