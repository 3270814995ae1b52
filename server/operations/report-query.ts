import type { components } from '../../generated/contract.ts'
import type { OperationRequest } from '../contract.ts'
import { duration_ms } from '../domain/durations.ts'
import { variableFilter } from '../domain/event-values.ts'
import { instant_ms } from '../domain/instants.ts'
import { previousPeriod, previousYear } from '../domain/periods.ts'
import { Problem } from '../problems.ts'
import type {
  Breakdown,
  BrokenDown,
  ComparedReport,
  EntryPeriod,
  StandingFilter,
  Touch,
} from '../storage/standings/standings.ts'

type Schemas = components['schemas']

/** The filters that all reports have. */
export type FilterQuery = {
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

/** What the storage is asked, from what a request asks. */
export function filterOf(query: FilterQuery): StandingFilter {
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

export function brokenDown(query: FilterQuery & { breakdown?: Schemas['Breakdown'] }): BrokenDown {
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

function touchOf(touch: Schemas['Touch']): Touch {
  return touch === 'first' || touch === 'last' ? touch : Number(touch)
}

function breakdownOf(text: Schemas['Breakdown']): Breakdown {
  if (text === 'customer_type') return { by: text }
  return { by: 'variable', name: text.slice('variable:'.length) }
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
