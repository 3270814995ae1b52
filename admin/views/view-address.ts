import type { Schemas } from '../../client/person.ts'
import { searchParameters } from '../parts/filters/search-parameters.ts'
import { viewerTimeZone } from '../parts/instants/time-zone.ts'

type ViewQuery = Schemas['ViewQuery']
type View = Schemas['View']

/** The chart of a view that has none. */
export const firstChart = 'report'

/** The address of the report that a view shows. It names the view, so that the report can say which one it is. */
export function reportAddress(workspaceId: string, { view_id, journey_id, query }: View): string {
  return `/w/${workspaceId}/journeys/${journey_id}?${parametersOf(query)}&view=${view_id}`
}

/** The parameters of a report's address that show what a view is about. */
export function parametersOf(query: ViewQuery): URLSearchParams {
  const { chart, last_days, step, step_order, time_zone: _, ...same } = query
  const isRange = same.entered_from !== undefined || same.entered_to !== undefined
  return searchParameters({
    ...same,
    // The order that reports are in without it is no filter of theirs.
    step_order: step_order === 'sequential' ? undefined : step_order,
    last: isRange ? undefined : last_days,
    [chart === 'step_times' ? 'to_step' : 'line']: step,
  })
}

/** What a report's address shows, as the query of a view. Parameters that cannot be read are left out. */
export function queryOf(search: URLSearchParams, chart: NonNullable<ViewQuery['chart']>): ViewQuery {
  const text = (name: string) => search.get(name) || undefined
  const number = (name: string) => (/^[1-9]\d{0,2}$/.test(text(name) ?? '') ? Number(text(name)) : undefined)
  const oneOf = <Word extends string>(name: string, words: readonly Word[]) =>
    words.find((word) => word === text(name))
  const [from, to] = [instantOf(text('entered_from')), instantOf(text('entered_to'))]
  const variables = search.getAll('variables').filter(Boolean)
  const trend = chart === 'trend'
  const query = {
    chart: chart === firstChart ? undefined : chart,
    last_days: from || to ? undefined : number('last'),
    entered_from: from,
    entered_to: to,
    customer_type: oneOf('customer_type', ['account', 'contact']),
    window: text('window'),
    first_step: number('first_step'),
    last_step: number('last_step'),
    step_order: oneOf('step_order', ['strict']),
    breakdown: text('breakdown'),
    touch: text('touch'),
    variables: variables.length > 0 ? variables : undefined,
    compare: oneOf('compare', ['previous_period', 'previous_year', 'custom']),
    compare_from: instantOf(text('compare_from')),
    compare_to: instantOf(text('compare_to')),
    by: trend ? oneOf('by', ['day', 'week', 'month']) : undefined,
    measure: trend ? oneOf('measure', ['of_enrolled', 'of_previous', 'count']) : undefined,
    step: trend ? number('line') : chart === 'step_times' ? number('to_step') : undefined,
    time_zone: viewerTimeZone(),
  }
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined))
}

function instantOf(text: string | undefined): string | undefined {
  const at = new Date(text ?? '')
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString()
}

/** What a view is about, in words. */
export const chartNames = {
  report: 'Funnel',
  trend: 'Conversion over time',
  step_times: 'Time between steps',
}
