import type { Schemas } from '../../client/person.ts'
import { type Filters, given, type ListFilters, useFilters } from '../parts/filters/filters.ts'
import { searchParameters } from '../parts/filters/search-parameters.ts'
import { reportListReaders, reportReaders } from './report-readers.ts'

type ReportFilterName = keyof ReturnType<typeof reportReaders>

/** The filters of a report, kept in the address. */
export type ReportFilters = Filters<ReportFilterName> & ListFilters<{ readonly variables: readonly string[] }>

/** The query of every operation about the customers of a journey. */
export type ReportQuery = {
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

/** The query of those that count by group. */
export type ChartQuery = ReportQuery & { breakdown?: Schemas['Breakdown'] }

/** The query of the report, which can be compared with another period. */
export type ComparedQuery = ChartQuery & {
  compare?: Schemas['ComparedPeriod']
  compare_from?: string
  compare_to?: string
}

type Values = Readonly<Record<ReportFilterName, string>>

/**
 * The filters of a report, and the queries that they result in.
 * @param steps how many steps the journey has
 */
export function useReportFilters(steps: number) {
  const filters = useFilters(reportReaders(steps), reportListReaders)
  const { values, lists } = filters
  const { customer_type, window, touch, breakdown } = values
  const query: ReportQuery = {
    ...periodOf(values),
    ...given({ customer_type, window, touch }),
    ...partOf(values),
    ...(lists.variables.length > 0 && { variables: [...lists.variables] }),
  }
  const chartQuery: ChartQuery = { ...query, ...given({ breakdown }) }
  const reportQuery: ComparedQuery = { ...chartQuery, ...comparisonOf(values) }
  return { ...filters, query, chartQuery, reportQuery }
}

function periodOf({
  last,
  entered_from,
  entered_to,
}: Values): Pick<ReportQuery, 'entered_from' | 'entered_to'> {
  const isPreset = last && !entered_from && !entered_to
  return isPreset ? { entered_from: midnight(1 - Number(last)) } : given({ entered_from, entered_to })
}

/** Midnight in the viewer's time zone, a number of days after the one at the start of today. */
function midnight(days: number): string {
  const today = new Date()
  return new Date(today.getFullYear(), today.getMonth(), today.getDate() + days).toISOString()
}

function partOf({
  first_step,
  last_step,
  step_order,
}: Values): Pick<ReportQuery, 'first_step' | 'last_step' | 'step_order'> {
  return {
    ...(first_step && { first_step: Number(first_step) }),
    ...(last_step && { last_step: Number(last_step) }),
    ...(step_order === 'strict' && { step_order }),
  }
}

/**
 * The comparison that is asked for; nothing if a period that it needs is not set (`isComparisonOpen`). A period without an end
 * is compared up to the end of today, so that its length does not change while somebody looks.
 */
function comparisonOf(values: Values): Omit<ComparedQuery, keyof ChartQuery> & { entered_to?: string } {
  const { compare, compare_from, compare_to } = values
  if (!compare || isComparisonOpen(values)) return {}
  if (compare === 'custom') return { compare, compare_from, compare_to }
  return { compare: compare as Schemas['ComparedPeriod'], entered_to: values.entered_to || midnight(1) }
}

/** Whether a comparison is chosen and a period that it needs is not. */
export function isComparisonOpen({
  compare,
  compare_from,
  compare_to,
  last,
  entered_from,
  entered_to,
}: Values): boolean {
  if (compare === 'custom') return !compare_from || !compare_to
  return compare !== '' && !entered_from && (!last || entered_to !== '')
}

/** The filters of a report as the query string of a link, with further parameters; '' for none. */
export function searchOf(
  query: ReportQuery & Record<string, string | number | string[] | undefined>,
): string {
  const search = String(searchParameters(query))
  return search && `?${search}`
}
