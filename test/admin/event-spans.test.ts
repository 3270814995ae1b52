// engines: none (opens no store)

import { describe, expect, it } from 'vitest'
import { merged } from '../../admin/events/live.ts'
import { barsOf, countedSlices, firstReceived, occurredWithin, spanNow } from '../../admin/events/span.ts'
import { hasVariable, variablesText } from '../../admin/events/variables-text.ts'
import type { Schemas } from '../../client/person.ts'

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
