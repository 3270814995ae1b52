import { instantText } from '../domain/instants.ts'
import { periodsBefore } from '../domain/periods.ts'
import type { ViewQuery } from '../storage/tables/views.ts'

/** The filters and groups of the reports that a view shows at an instant. */
export function filterOf(query: ViewQuery, now_ms: number) {
  const { last_days, entered_from, entered_to, customer_type, window, time_zone: zone = 'UTC' } = query
  const { first_step, last_step, step_order, breakdown, touch, variables } = query
  const isRange = entered_from !== undefined || entered_to !== undefined
  const first_ms =
    last_days === undefined || isRange
      ? undefined
      : periodsBefore(now_ms, last_days - 1, { unit: 'day', zone })
  return {
    ...(first_ms !== undefined && { entered_from: instantText(first_ms) }),
    ...(entered_from !== undefined && { entered_from }),
    ...(entered_to !== undefined && { entered_to }),
    ...(customer_type && { customer_type }),
    ...(window !== undefined && { window }),
    ...(first_step !== undefined && { first_step }),
    ...(last_step !== undefined && { last_step }),
    ...(step_order !== undefined && { step_order }),
    ...(breakdown !== undefined && { breakdown }),
    ...(touch !== undefined && { touch }),
    ...(variables !== undefined && { variables }),
  }
}

/** What the report of a view is compared with. A period without an end is compared up to the end of today. */
export function comparisonOf(query: ViewQuery, now_ms: number) {
  const { compare, compare_from, compare_to, entered_to, time_zone: zone = 'UTC' } = query
  if (compare === undefined) return {}
  const tomorrow_ms = periodsBefore(now_ms, -1, { unit: 'day', zone })
  return {
    compare,
    ...(compare_from !== undefined && { compare_from }),
    ...(compare_to !== undefined && { compare_to }),
    ...(entered_to === undefined && compare !== 'custom' && { entered_to: instantText(tomorrow_ms) }),
  }
}
