// engines: none (opens no store)

import { describe, expect, it } from 'vitest'
import type { Standing } from '../../../server/domain/journey-standing.ts'
import { KnownStandings } from '../../../server/storage/standings/known-standings.ts'

const names = Array.from({ length: 40 }, (_, step) => `step-${step}`)
const hashOf = (name: string) => Number(name.split('-')[1])
const at = (at_ms: number) => ({ at_ms, id: '0000000001' })

function noted(standing: Partial<Standing>, hash = hashOf) {
  const known = new KnownStandings<number, number>({ nameOf: hash, customer_bytes: 40 })
  const journey = known.of(1, names, JSON.stringify(names))
  known.note(1, 7, { customer_type: 'contact', entered_ms: 100, reached: [], early: [], ...standing })
  return {
    known,
    changesNothing: (name: number, at_ms: number, customer = 7) =>
      journey.changesNothing({ customer, name, at_ms }),
  }
}

describe('the cache', () => {
  it('is cleared once the journeys in it need too much memory, even without customers', () => {
    const known = new KnownStandings<number, number>({ nameOf: hashOf, customer_bytes: 40 })
    const first = known.of(0, names, 'state')
    expect(known.of(0, names, 'state')).toBe(first)
    for (let journey = 1; journey <= 10_000; journey += 1) known.of(journey, names, 'state')
    expect(known.of(0, names, 'state')).not.toBe(first)
  })
})

describe('a cached standing', () => {
  it('shows that a later event of a reached step changes nothing', () => {
    const { changesNothing } = noted({ reached: [at(100), at(120)] })
    expect([119, 120, 121].map((at_ms) => changesNothing(1, at_ms))).toEqual([false, false, true])
    expect(changesNothing(2, 500)).toBe(false)
  })

  it('shows that an early step stays early, even beyond the thirty-second step', () => {
    const { changesNothing } = noted({ reached: [at(100)], early: [2, 31, 39] })
    expect([2, 3, 31, 32, 39].map((step) => changesNothing(step, 500))).toEqual([
      true,
      false,
      true,
      false,
      true,
    ])
    // It reaches the next step.
    expect(changesNothing(1, 500)).toBe(false)
  })

  it('no longer shows as early what was early before', () => {
    const { known, changesNothing } = noted({ reached: [at(100)], early: [2, 39] })
    known.note(1, 7, { customer_type: 'contact', entered_ms: 100, reached: [at(100)], early: [] })
    expect([2, 39].map((step) => changesNothing(step, 500))).toEqual([false, false])
  })

  it('shows that other events change nothing unless they are before the entry', () => {
    const { changesNothing } = noted({})
    expect([changesNothing(99, 100), changesNothing(99, 99), changesNothing(99, 100, 8)]).toEqual([
      true,
      false,
      false,
    ])
  })

  it('is separate for each of many customers', () => {
    const { known, changesNothing } = noted({})
    for (let customer = 1; customer <= 1_000; customer += 1) {
      const reached = [at(100 + customer)]
      known.note(1, customer, { customer_type: 'account', entered_ms: customer, reached, early: [] })
    }
    for (const customer of [1, 64, 65, 999, 1_000]) {
      expect(changesNothing(0, 100 + customer, customer)).toBe(false)
      expect(changesNothing(0, 101 + customer, customer)).toBe(true)
      expect(changesNothing(50, customer - 1, customer)).toBe(false)
      expect(changesNothing(50, customer, customer)).toBe(true)
    }
  })

  it('shows nothing if two steps cannot be distinguished, or steps were edited', () => {
    const { changesNothing } = noted({ reached: [at(100)] }, () => 5)
    expect([changesNothing(5, 500), changesNothing(6, 500)]).toEqual([false, false])
    const { known } = noted({ reached: [at(100)] })
    const edited = known.of(1, ['step-1'], '["step-1"]')
    expect(edited.changesNothing({ customer: 7, name: 0, at_ms: 500 })).toBe(false)
  })

  it('advances from one state of a journey to the next, and from no other', () => {
    const { known } = noted({ reached: [at(100)] })
    const state = JSON.stringify(names)
    const isKnown = (of: string) =>
      known.of(1, names, of).changesNothing({ customer: 7, name: 0, at_ms: 500 })
    known.advance({ journey: 1, event_ids: names, from: state, to: 'second', standings: [] })
    expect(isKnown('second')).toBe(true)
    const standing: Standing = { customer_type: 'contact', entered_ms: 100, reached: [], early: [2] }
    const standings = [{ customer: 7, standing }]
    known.advance({ journey: 1, event_ids: names, from: 'first', to: 'third', standings })
    expect(isKnown('second')).toBe(true)
    known.advance({ journey: 1, event_ids: names, from: 'second', to: 'third', standings })
    expect(isKnown('third')).toBe(false)
    known.advance({ journey: 2, event_ids: names, from: undefined, to: 'first', standings })
    const other = known.of(2, names, 'first')
    expect(other.changesNothing({ customer: 7, name: 2, at_ms: 500 })).toBe(true)
  })
})
