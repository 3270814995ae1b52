import type { Schemas } from '../../client/person.ts'
import { durationText, lengthOf } from '../parts/instants/duration-text.ts'
import { instantText } from '../parts/instants/instant-text.ts'
import { countOf } from '../parts/number-text.ts'
import { isolated } from '../parts/visible-name.ts'
import { chartNames, firstChart } from './view-address.ts'

/** What a view shows, in words. */
export function sayingOf(query: Schemas['ViewQuery']): string[] {
  const { chart = firstChart, last_days, entered_from, entered_to, customer_type, window } = query
  const { first_step, last_step, step_order, breakdown, variables, compare } = query
  const text = (at: string) => instantText(new Date(at))
  const range =
    entered_from || entered_to
      ? [entered_from && `from ${text(entered_from)}`, entered_to && `before ${text(entered_to)}`]
          .filter(Boolean)
          .join(' ')
      : last_days && `last ${countOf(last_days, 'day')}`
  const limit_ms = lengthOf(window ?? '')
  return [
    chartNames[chart],
    range || 'all time',
    customer_type && `${customer_type}s`,
    limit_ms && `within ${durationText(limit_ms)}`,
    first_step && `from step ${first_step}`,
    last_step && `to step ${last_step}`,
    step_order === 'strict' && 'in strict order',
    ...(variables ?? []).map((filter) => filter.split(/:(.*)/s, 2).map(isolated).join(' is ')),
    breakdown &&
      `by ${isolated(breakdown.replace(/^variable:/, '').replace(/^customer_type$/, 'customer type'))}`,
    compare && comparedNames[compare],
  ].filter((word) => typeof word === 'string')
}

const comparedNames = {
  previous_period: 'compared with the period before',
  previous_year: 'compared with a year earlier',
  custom: 'compared with another period',
}
