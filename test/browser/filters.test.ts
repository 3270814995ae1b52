// engines: none (opens no store)

import { describe, expect, it } from 'vitest'
import { merged } from '../../admin/events/live.ts'
import { barsOf, countedSlices, firstReceived, occurredWithin, spanNow } from '../../admin/events/span.ts'
import { hasVariable, variablesText } from '../../admin/events/variables-text.ts'
import { code, duration, instant, oneOf, stepNumber, text } from '../../admin/parts/filters/filter-readers.ts'
import { instantText } from '../../admin/parts/instants/instant-text.ts'
import { parametersOf, queryOf } from '../../admin/views/view-address.ts'
import { sayingOf } from '../../admin/views/view-saying.ts'
import type { Schemas } from '../../client/person.ts'

describe('A filter in the address', () => {
  it.each([
    [text, '🙂'.repeat(255), true],
    [text, 'x'.repeat(256), false],
    [text, 'a\0', false],
    [oneOf(['1h', '7d']), '7d', true],
    [oneOf(['1h', '7d']), '2h', false],
    [instant, '1900-01-01T00:00:00Z', true],
    [instant, '1899-12-31T23:59:59Z', false],
    [instant, '1900-01-01T00:00:00+00:01', false],
    [instant, '2026-02-29T00:00:00Z', false],
    [instant, '2026-11-20', false],
    [duration, 'P7D', true],
    [duration, 'PT0S', false],
    [code, 'customer_not_found', true],
    [code, 'x'.repeat(65), false],
    [stepNumber(3), '3', true],
    [stepNumber(3), '4', false],
    [stepNumber(3), '0', false],
    [stepNumber(3), '01', false],
  ])('is read, or not, in case %#', (reader, value, isRead) => {
    expect(reader.read(value) !== undefined).toBe(isRead)
  })
})

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** A span that ended `ago` ago. */
function spanOf(length: number, ago: number) {
  const toMs = Date.now() - ago
  const [received_from, received_to] = [new Date(toMs - length).toISOString(), new Date(toMs).toISOString()]
  return { fromMs: toMs - length, toMs, query: { received_from, received_to }, text: '' }
}

describe('A span of events', () => {
  it.each([
    [hour, 0, 'minute', 1],
    [6 * hour, 0, 'minute', 6],
    [6 * hour + minute, 0, 'hour', 1],
    // Minutes are kept for eight days.
    [hour, 7 * day, 'minute', 1],
    [hour, 8 * day, 'hour', 1],
    [7 * day, 0, 'hour', 3],
    [40 * day, 0, 'hour', 16],
    [41 * day, 0, 'day', 1],
    [400 * day, 0, 'day', 7],
    [1, 0, 'minute', 1],
  ])('of %i ms that ended %i ms ago is counted by the %s, %i in a bar', (length, ago, by, perBar) => {
    const span = spanOf(length, ago)
    const bars = barsOf(span)
    expect([bars.by, bars.bar_ms / bars.period_ms]).toEqual([by, perBar])
    expect(bars.start).toBeLessThanOrEqual(span.fromMs)
    expect(bars.start % bars.period_ms).toBe(0)
    expect(bars.start + bars.count * bars.bar_ms).toBeGreaterThanOrEqual(span.toMs)
    expect(bars.start + (bars.count - 1) * bars.bar_ms).toBeLessThan(span.toMs)
    expect(bars.count).toBeLessThanOrEqual(61)
  })

  it('is counted in parts that fit into a response, since there was anything', () => {
    const to = firstReceived + 3000 * day + hour
    const slices = countedSlices(0, to, day)
    expect(slices[0]?.from).toBe(firstReceived)
    expect(slices.at(-1)?.to).toBe(to)
    expect(slices.map(({ from, to }) => (to - from) / day)).toEqual([1440, 1440, 120 + 1 / 24])
    expect(slices.slice(1).map(({ from }) => from)).toEqual(slices.slice(0, -1).map(({ to }) => to))
    expect(countedSlices(to, to, day)).toEqual([])
  })

  it('stays as it is with an end, also by the time of occurrence', () => {
    const span = spanOf(hour, day)
    expect(spanNow(span)).toBe(span)
    const { received_from: occurred_from, received_to: occurred_to } = span.query
    expect(occurredWithin(span)).toEqual({ occurred_from, occurred_to })
    expect(occurredWithin({ ...span, query: { received_from: occurred_from } })).toEqual({ occurred_from })
  })
})

describe('A filter by a variable', () => {
  const variables = { plan: 'Pro', seats: 12, address: { city: 'Praha' }, empty: '' }

  it.each([
    ['plan=Pro', true],
    ['plan=pro', false],
    ['plan=Pro ', false],
    ['seats=12', true],
    ['seats=1', false],
    ['empty=', true],
    ['missing=', false],
    ['toString=', false],
    ['address={"city":"Praha"}', true],
    ['PRAHA', true],
    ['praha', true],
    ['Brno', false],
    ['=Pro', false],
  ])('finds an event, or not: %s', (wanted, isFound) => {
    expect(hasVariable(variables, wanted)).toBe(isFound)
  })

  it('finds a text, and nothing in an event without variables', () => {
    expect([hasVariable('plan=Pro', 'PLAN=pro'), hasVariable(null, 'a')]).toEqual([true, false])
    expect([variables, 'text', null].map(variablesText)).toEqual([
      'plan Pro · seats 12 · address {"city":"Praha"} · empty ',
      'text',
      '',
    ])
  })
})

describe('Live events', () => {
  it('are listed once, the latest first', () => {
    const event = (id: string) => ({ id }) as Schemas['Event']
    const all = merged([event('c'), event('b')], [event('b'), event('a')])
    expect(all.map(({ id }) => id)).toEqual(['c', 'b', 'a'])
  })
})

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
