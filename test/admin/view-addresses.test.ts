// engines: none (opens no store)

import { describe, expect, it } from 'vitest'
import { instantText } from '../../admin/parts/instants/instant-text.ts'
import { parametersOf, queryOf } from '../../admin/views/view-address.ts'
import { sayingOf } from '../../admin/views/view-saying.ts'
import type { Schemas } from '../../client/person.ts'

describe('A view', () => {
  const address = (text: string, chart: 'report' | 'trend' | 'step_times' = 'report') => {
    const { time_zone: _, ...query } = queryOf(new URLSearchParams(text), chart)
    return query
  }
  const [from, to] = ['2026-01-01T00:00:00.000Z', '2026-02-01T00:00:00.000Z']

  it.each([
    ['last=30', 'report', { last_days: 30 }],
    ['last=0&step_order=sequential&customer_type=person', 'report', {}],
    [`last=30&entered_from=${from}`, 'report', { entered_from: from }],
    [`last=30&entered_to=${to}`, 'report', { entered_to: to }],
    ['by=week&measure=count&line=2&to_step=3', 'report', {}],
    [
      'by=week&measure=count&line=2&to_step=3',
      'trend',
      { chart: 'trend', by: 'week', measure: 'count', step: 2 },
    ],
    ['by=week&measure=count&line=2&to_step=3', 'step_times', { chart: 'step_times', step: 3 }],
    ['variables=plan:pro&variables=&variables=seats:1', 'report', { variables: ['plan:pro', 'seats:1'] }],
    [
      'first_step=2&last_step=3&step_order=strict',
      'report',
      { first_step: 2, last_step: 3, step_order: 'strict' },
    ],
  ] as const)('of a report at %s as %s has its filters', (text, chart, query) => {
    expect(address(text, chart)).toEqual(query)
  })

  it.each([
    { chart: 'trend', by: 'month', measure: 'of_previous', step: 2, last_days: 90 },
    { chart: 'step_times', step: 2, entered_from: from, entered_to: to },
    {
      customer_type: 'account',
      window: 'P7D',
      breakdown: 'variable:plan',
      touch: 'last',
      variables: ['plan:a:b'],
    },
    { compare: 'custom', compare_from: from, compare_to: to, step_order: 'strict' },
  ] as Schemas['ViewQuery'][])('is the same after it was opened: %j', (query) => {
    expect(address(`${parametersOf(query)}`, query.chart)).toEqual(query)
  })

  it('sets no filter for the order that reports have without it, nor days beside a period', () => {
    expect(`${parametersOf({ step_order: 'sequential', last_days: 30, entered_to: to })}`).toBe(
      `entered_to=${encodeURIComponent(to)}`,
    )
  })

  it.each([
    [{}, ['Funnel', 'all time']],
    [{ chart: 'trend', last_days: 1 }, ['Conversion over time', 'last 1 day']],
    [{ entered_to: to }, ['Funnel', `before ${instantText(new Date(to))}`]],
    [{ last_days: 30, customer_type: 'contact' }, ['Funnel', 'last 30 days', 'contacts']],
    [
      { window: 'PT36H', first_step: 2, last_step: 3, step_order: 'strict' },
      ['Funnel', 'all time', 'within 1d 12h', 'from step 2', 'to step 3', 'in strict order'],
    ],
    [
      { variables: ['plan:a:b'], breakdown: 'variable:plan', compare: 'previous_year' },
      ['Funnel', 'all time', 'plan is a:b', 'by plan', 'compared with a year earlier'],
    ],
    [{ breakdown: 'customer_type' }, ['Funnel', 'all time', 'by customer type']],
  ] as [Schemas['ViewQuery'], string[]][])('says what it shows: %j', (query, words) => {
    expect(sayingOf(query)).toEqual(words)
  })
})
