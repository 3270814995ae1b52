// engines: none (opens no store)

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  advance,
  type EarliestEvent,
  enrolled,
  enrolledAt,
  outOfOrder,
  type Standing,
  type StandingEvent,
  StandingFold,
} from '../../server/domain/journey-standing.ts'
import { arrivals, inTime, journeys, key } from '../fixtures/standings/arbitraries.ts'
import { type ModelStanding, modelStandings } from '../fixtures/standings/model.ts'
import { casesToTry } from '../fixtures/thoroughness.ts'

const NAMES = ['one', 'two', 'three', 'four']
const STEPS = new Map(NAMES.map((name, step) => [name, step]))
const CUSTOMER = key(1)

/** Journeys of one customer. */
const journey = journeys(NAMES, { customers: 1 })

/** Applies events; look-ups are answered from `stored`, and recorded. */
function take(
  standing: Standing,
  events: readonly StandingEvent[],
  stored: readonly StandingEvent[],
  asked: EarliestEvent[] = [],
): Standing {
  const course = advance(standing, events, STEPS)
  let turn = course.next()
  while (!turn.done) {
    const { step, from_ms, to_ms } = turn.value
    asked.push(turn.value)
    const found = inTime(stored).find(
      ({ name, at_ms }) => name === NAMES[step] && at_ms >= from_ms && at_ms < to_ms,
    )
    turn = course.next(found)
  }
  return turn.value
}

/** A standing in the form of the model. */
function told({ customer_type, entered_ms, reached }: Standing, out_of_order: number[]): ModelStanding {
  return { customer: CUSTOMER, customer_type, entered_ms, reached: [...reached], out_of_order }
}

const asModel = (standing: Standing) =>
  told(
    standing,
    outOfOrder(standing).map((step) => step + 1),
  )

function event(name: string, at_ms: number, id = 1): StandingEvent {
  return { name, at_ms, id: key(id) }
}

describe('a standing', () => {
  it('equals the one computed from scratch, whatever the order of events, some of them twice', () => {
    const arriving = journey.chain((journey) => fc.tuple(fc.constant(journey), arrivals(journey.events)))
    fc.assert(
      fc.property(arriving, fc.boolean(), ([journey, slices], isAhead) => {
        const [enrolment] = journey.enrolments
        let standing = enrolled(enrolment?.customer_type ?? 'account', enrolment?.at_ms ?? 0)
        const arrived: StandingEvent[] = []
        for (const slice of slices) {
          arrived.push(...slice)
          // Some may be stored already that are followed only later.
          standing = take(standing, slice, isAhead ? journey.events : arrived)
        }
        expect(asModel(standing)).toEqual(modelStandings(journey, NAMES)[0])
      }),
      { numRuns: casesToTry({ inCi: 5_000, elsewhere: 1_000 }) },
    )
  })

  it('is the same if all events are applied at once in the order of time', () => {
    fc.assert(
      fc.property(journey, (journey) => {
        const [enrolment] = journey.enrolments
        const fold = new StandingFold(
          enrolled(enrolment?.customer_type ?? 'account', enrolment?.at_ms ?? 0),
          STEPS,
        )
        // Events with equal timestamps in descending key order.
        const events = journey.events.toReversed().sort((one, other) => one.at_ms - other.at_ms)
        for (const event of events) fold.add(event)
        expect(asModel(fold.standing())).toEqual(modelStandings(journey, NAMES)[0])
      }),
      { numRuns: casesToTry({ inCi: 5_000, elsewhere: 1_000 }) },
    )
  })

  it('continues from a computation in the order of time', () => {
    const halves = journey.chain((journey) =>
      fc.tuple(fc.constant(journey), fc.subarray([...journey.events]), arrivals(journey.events)),
    )
    fc.assert(
      fc.property(halves, ([journey, folded, slices]) => {
        const [enrolment] = journey.enrolments
        const fold = new StandingFold(
          enrolled(enrolment?.customer_type ?? 'account', enrolment?.at_ms ?? 0),
          STEPS,
        )
        for (const event of inTime(folded)) fold.add(event)
        let standing = fold.standing()
        for (const slice of slices) standing = take(standing, slice, journey.events)
        expect(asModel(standing)).toEqual(modelStandings(journey, NAMES)[0])
      }),
      { numRuns: casesToTry({ inCi: 2_000, elsewhere: 300 }) },
    )
  })

  it('is the same object if events change nothing', () => {
    fc.assert(
      fc.property(journey, ({ enrolments, events }) => {
        const at_ms = enrolments[0]?.at_ms ?? 0
        const standing = take(enrolled('contact', at_ms), events, events)
        expect(take(standing, events, events)).toBe(standing)
        expect(enrolledAt(standing, at_ms)).toBe(standing)
      }),
    )
  })

  it('starts at the earlier of the enrolment and the first event', () => {
    const standing = take(enrolled('account', 5), [event('detour', 3)], [])
    expect(standing.entered_ms).toBe(3)
    expect(enrolledAt(standing, 2).entered_ms).toBe(2)
    expect(enrolledAt(standing, 4)).toBe(standing)
  })

  it('counts an earlier event once the previous step moves before it', () => {
    const stored: StandingEvent[] = []
    let standing = enrolled('account', 0)
    for (const late of [event('one', 5, 1), event('two', 6, 2), event('two', 3, 3), event('one', 2, 4)]) {
      stored.push(late)
      standing = take(standing, [late], stored)
    }
    expect(standing.reached).toEqual([
      { at_ms: 2, id: key(4) },
      { at_ms: 3, id: key(3) },
    ])
  })

  it('orders events of one instant by step', () => {
    const events = [event('three', 7, 1), event('two', 7, 2), event('one', 7, 3)]
    const standing = take(enrolled('account', 0), events, events)
    expect(standing.reached).toEqual([
      { at_ms: 7, id: key(3) },
      { at_ms: 7, id: key(2) },
      { at_ms: 7, id: key(1) },
    ])
  })
})

describe('the look-ups of a standing', () => {
  it('is nothing if events arrive in the order of their steps, or move steps to earlier instants', () => {
    const asked: EarliestEvent[] = []
    let standing = enrolled('account', 0)
    for (const at_ms of [100, 90, 80]) {
      for (const [name, step] of STEPS) standing = take(standing, [event(name, at_ms + step)], [], asked)
    }
    expect(standing.reached.map(({ at_ms }) => at_ms)).toEqual([80, 81, 82, 83])
    expect(asked).toEqual([])
  })

  it('never overlaps for one step', () => {
    const arriving = journey.chain((journey) => fc.tuple(fc.constant(journey), arrivals(journey.events)))
    fc.assert(
      fc.property(arriving, ([{ enrolments, events }, slices]) => {
        const asked: EarliestEvent[] = []
        let standing = enrolled('account', enrolments[0]?.at_ms ?? 0)
        for (const slice of slices) standing = take(standing, slice, events, asked)
        for (const step of STEPS.values()) {
          const ranges = asked.filter((range) => range.step === step)
          for (const [index, range] of ranges.slice(1).entries()) {
            expect(range.to_ms).toBeLessThanOrEqual(ranges[index]?.from_ms ?? Number.NaN)
          }
        }
      }),
      { numRuns: casesToTry({ inCi: 2_000, elsewhere: 300 }) },
    )
  })
})
