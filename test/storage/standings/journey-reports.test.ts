// engines: none (opens no store)

import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { JourneyReports } from '../../../server/storage/standings/journey-reports.ts'
import { StandingPage } from '../../../server/storage/standings/standing-page.ts'
import type { PageRow } from '../../../server/storage/standings/standing-store.ts'
import type { StandingFilter } from '../../../server/storage/standings/standings.ts'
import { StrictOrderTooLarge } from '../../../server/storage/standings/strict-order.ts'
import { BreakdownTooLarge } from '../../../server/storage/standings/variable-labels.ts'
import { instants, journeys, key, plans } from '../../fixtures/standings/arbitraries.ts'
import {
  type ModelStanding,
  modelEntered,
  modelGroups,
  modelIsOpen,
  modelOrdered,
  modelReaches,
  modelReport,
  modelStandings,
  modelSteps,
  modelStepTimes,
  modelTimes,
  modelValue,
} from '../../fixtures/standings/model.ts'
import { casesToTry } from '../../fixtures/thoroughness.ts'
import { memoryStandings } from './memory-standings.ts'

const NAMES = ['one', 'two', 'three', 'four']
const JOURNEY = { journey: key(1), event_ids: NAMES }
const { signal } = new AbortController()

const filters: fc.Arbitrary<StandingFilter> = fc.record(
  {
    entered_from_ms: instants,
    entered_to_ms: instants,
    customer_type: fc.constantFrom('account' as const, 'contact' as const),
    window_ms: fc.oneof(fc.nat(8), fc.nat(1e15)),
    first_step: fc.integer({ min: 1, max: 5 }),
    last_step: fc.integer({ min: 1, max: 5 }),
    step_order: fc.constantFrom('sequential' as const, 'strict' as const),
  },
  { requiredKeys: [], noNullPrototype: true },
)

const sum = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0)

/** Pages of customers who have each reached the first step with an event of their own. */
function pagesOf(customers: readonly string[]) {
  const rows = Array.from({ length: Math.ceil(customers.length / 64) }, (_, index) => {
    const page = new StandingPage()
    for (const customer of customers.slice(index * 64, (index + 1) * 64)) {
      const reached = [{ at_ms: 0, id: customer }]
      page.set(customer, { customer_type: 'account', entered_ms: 0, reached, early: [] })
    }
    return page.rows()
  })
  return rows.flat()
}

/** How a reader yields pages, which may change. */
function yieldingPages(rows: () => readonly PageRow[]) {
  const after = async (_journey: string, _generation: number, after: string | null, limit: number) =>
    rows()
      .filter(({ first }) => after === null || first > after)
      .slice(0, limit)
  return { times: after, pages: after }
}

const cases = { numRuns: casesToTry({ inCi: 500, elsewhere: 100 }) }

describe('a report of a journey', () => {
  it('has the numbers that are counted one by one', async () => {
    const asked = fc.tuple(journeys(NAMES, { customers: 70 }), filters, instants)
    await fc.assert(
      fc.asyncProperty(asked, async ([journey, filter, asOf_ms]) => {
        const reader = memoryStandings(journey, NAMES, asOf_ms)
        const report = await new JourneyReports().report(reader, JOURNEY, filter, signal)
        const expected = modelReport(modelOrdered(journey, NAMES, filter), NAMES, filter, asOf_ms)
        const state = { as_of_ms: asOf_ms, recomputing: null, event_ids: NAMES }
        expect(report).toEqual({ ...expected, ...state, groups: null, comparison: null })
      }),
      cases,
    )
  })

  it('has the numbers of each group and of a compared period, counted one by one', async () => {
    const periods = fc.record({ entered_from_ms: instants, entered_to_ms: instants })
    const asked = fc.tuple(journeys(NAMES, { customers: 70 }), filters, instants, periods)
    await fc.assert(
      fc.asyncProperty(asked, async ([journey, filter, asOf_ms, compared]) => {
        const reader = memoryStandings(journey, NAMES, asOf_ms)
        const query = { ...filter, compared, breakdown: { by: 'customer_type' } } as const
        const { groups, comparison } = await new JourneyReports().report(reader, JOURNEY, query, signal)
        const standings = modelOrdered(journey, NAMES, filter)
        const numbersOf = (some: typeof standings) => {
          const other = modelReport(some, NAMES, { ...filter, ...compared }, asOf_ms)
          return { ...modelReport(some, NAMES, filter, asOf_ms), comparison: other }
        }
        const expected = (['account', 'contact'] as const).map((type) => ({
          ...numbersOf(standings.filter(({ customer_type }) => customer_type === type)),
          group: { kind: 'value', value: type, values: 1 },
        }))
        const there = expected.filter(({ enrolled, comparison }) => enrolled + comparison.enrolled > 0)
        expect(groups).toEqual(there.sort((one, other) => other.enrolled - one.enrolled))
        expect(comparison).toEqual(numbersOf(standings).comparison)
      }),
      cases,
    )
  })

  it('has the numbers of each value of a variable, counted one by one', async () => {
    const touches = fc.constantFrom(undefined, 'first' as const, 'last' as const, 1, 2, 5)
    const wanted = fc.constantFrom('team', '5', 'true', '', 'plan-7')
    const asked = fc.tuple(
      journeys(NAMES, { customers: 70, variables: plans }),
      filters,
      instants,
      touches,
      fc.option(wanted, { nil: undefined, freq: 3 }),
    )
    await fc.assert(
      fc.asyncProperty(asked, async ([journey, filter, asOf_ms, touch, value]) => {
        const reader = memoryStandings(journey, NAMES, asOf_ms)
        const query = {
          ...filter,
          ...(touch !== undefined && { touch }),
          ...(value !== undefined && { variables: [{ name: 'plan', value }] }),
        }
        const whole = new Map(modelStandings(journey, NAMES).map((one) => [one.customer, one]))
        // Whatever the order: the event of the last step is that of the last one in any order.
        const planOf = (standing: ModelStanding) =>
          modelValue(whole.get(standing.customer) ?? standing, journey.events, { name: 'plan', touch })
        const standings = modelOrdered(journey, NAMES, filter).filter(
          (standing) => value === undefined || String(planOf(standing)) === value,
        )
        const reports = new JourneyReports()
        const compared = { entered_from_ms: -3, entered_to_ms: 3 }
        const ofPeriod = modelEntered(standings, filter)
        const numbersOf = (some: readonly ModelStanding[]) => ({
          ...modelReport(some, NAMES, filter, asOf_ms),
          comparison: modelReport(some, NAMES, { ...filter, ...compared }, asOf_ms),
        })
        for (const breakdown of [undefined, { by: 'variable', name: 'plan' } as const]) {
          const options = { ...query, compared, ...(breakdown && { breakdown }) }
          const report = await reports.report(reader, JOURNEY, options, signal)
          expect(report).toMatchObject(numbersOf(standings))
          if (!breakdown) continue
          const ranked = modelGroups(ofPeriod, planOf)
          // Those of the compared period alone are ranked after them, in the order of values.
          const groups = report.groups ?? []
          const listed = ranked.filter(({ standings }) => standings.length > 0)
          const enrolled = groups.filter((group) => group.enrolled > 0)
          const counts = listed.map(({ group, standings }) => [group.kind, group.value, standings.length])
          expect(enrolled.map(({ group, enrolled }) => [group.kind, group.value, enrolled])).toEqual(counts)
          for (const { group, ...numbers } of groups) {
            if (group.kind === 'other') continue
            const plan = group.kind === 'not_set' ? undefined : group.value
            expect(numbers).toEqual(numbersOf(standings.filter((standing) => planOf(standing) === plan)))
          }
          expect(sum(groups.map(({ enrolled }) => enrolled))).toBe(report.enrolled)
          const others = groups.map(({ comparison }) => comparison?.enrolled ?? 0)
          expect(sum(others)).toBe(report.comparison?.enrolled)
        }
      }),
      cases,
    )
  })

  it('of a variable is the same whatever was read for reports before', async () => {
    const subset = fc.array(fc.boolean(), { minLength: 1, maxLength: 12 })
    const changes = fc.array(fc.tuple(subset, filters), { minLength: 2, maxLength: 4 })
    const touches = fc.constantFrom('first' as const, 'last' as const, 2)
    const asked = fc.tuple(
      journeys(NAMES, { customers: 70, variables: plans }),
      changes,
      touches,
      fc.boolean(),
      fc.boolean(),
    )
    await fc.assert(
      fc.asyncProperty(asked, async ([{ enrolments, events }, changes, touch, isFiltered, isAhead]) => {
        const reports = new JourneyReports()
        for (const [version, [isThere, filter]] of changes.entries()) {
          const some = events.filter((_, index) => isThere[index % isThere.length])
          const reader = memoryStandings({ enrolments, events: some }, NAMES, 12)
          reader.journey = async () => ({ generation: 1, event_ids: NAMES, version, building: null })
          const query = {
            ...filter,
            touch,
            breakdown: { by: 'variable', name: 'plan' },
            compared: { entered_from_ms: -3, entered_to_ms: 3 },
            ...(isFiltered && { variables: [{ name: 'plan', value: 'team' }] }),
          } as const
          if (isAhead)
            await reports.readAhead(reader, JOURNEY, { filter: query, after: null, room: 1 }, signal)
          const report = await reports.report(reader, JOURNEY, query, signal)
          expect(report).toEqual(await new JourneyReports().report(reader, JOURNEY, query, signal))
        }
      }),
      { numRuns: casesToTry({ inCi: 150, elsewhere: 50 }) },
    )
  })

  it('of a variable reads again only the events behind pages that have changed', async () => {
    const customers = Array.from({ length: 640 }, (_, index) => key(index))
    let rows = pagesOf(customers)
    let version = 1
    let read = 0
    const reader = {
      ...memoryStandings({ enrolments: [], events: [] }, NAMES, 12),
      journey: async () => ({ generation: 1, event_ids: NAMES, version, building: null }),
      ...yieldingPages(() => rows),
      variables: async (events: readonly string[]) => {
        read += events.length
        return events.map(() => '{"plan":"team"}')
      },
    }
    const reports = new JourneyReports()
    const ask = async (names: readonly string[], period: { entered_from_ms?: number } = {}) => {
      read = 0
      for (const name of names) {
        const query = { breakdown: { by: 'variable', name }, ...period } as const
        await reports.report(reader, JOURNEY, query, signal)
      }
      return read
    }
    expect(await ask(['plan'])).toBe(640)
    expect(await ask(['plan'], { entered_from_ms: 1 })).toBe(0)
    version = 2
    expect(await ask(['plan'])).toBe(0)
    version = 3
    rows = pagesOf(customers.slice(0, 639))
    expect(await ask(['plan'])).toBe(63)
    version = 4
    expect(await ask(['plan', 'seats', 'plan'])).toBe(639)
    // The sixteen that were used last are kept.
    version = 5
    expect(await ask(Array.from({ length: 16 }, (_, index) => `name-${index}`))).toBe(16 * 639)
    expect(await ask(['seats', 'name-15'])).toBe(639)
  })

  it('of a variable reads nothing that was read ahead, part by part', async () => {
    const rows = pagesOf(Array.from({ length: 20_000 }, (_, index) => key(index)))
    let passed_ms = 0
    let read = 0
    const reader = {
      ...memoryStandings({ enrolments: [], events: [] }, NAMES, 12),
      ...yieldingPages(() => rows),
      variables: async (events: readonly string[]) => {
        read += events.length
        passed_ms += 60
        return events.map(() => '{"plan":"team"}')
      },
    }
    const now = vi.spyOn(performance, 'now').mockImplementation(() => passed_ms)
    onTestFinished(() => now.mockRestore())
    const reports = new JourneyReports()
    const filter = { breakdown: { by: 'variable', name: 'plan' } } as const
    const ahead = (after: string | null, room = 1) =>
      reports.readAhead(reader, JOURNEY, { filter, after, room }, signal)
    let part = await ahead(null)
    const parts = [part]
    while (part.next !== null) {
      part = await ahead(part.next)
      parts.push(part)
    }
    expect(parts.length).toBeGreaterThan(1)
    expect(sum(parts.map(({ unread }) => unread))).toBe(20_000)
    expect(read).toBe(20_000)
    expect(part.share).toBe(rows.length / 65_536)
    expect((await reports.report(reader, JOURNEY, filter, signal)).enrolled).toBe(20_000)
    expect(read).toBe(20_000)
    expect((await ahead(null)).unread).toBe(0)
    // Without room nothing is kept.
    expect(await ahead(null, 0.0001)).toEqual({ next: null, unread: 0, share: null })
    read = 0
    await ahead(null)
    expect(read).toBeGreaterThan(0)
  })

  it('of a variable reads a bounded number of bytes at once, also if large texts follow many small ones', async () => {
    const rows = pagesOf(Array.from({ length: 12_000 }, (_, index) => key(index)))
    const large = JSON.stringify({ plan: 'team', text: 'x'.repeat(65_000) })
    let read = 0
    let most = 0
    const reader = {
      ...memoryStandings({ enrolments: [], events: [] }, NAMES, 12),
      ...yieldingPages(() => rows),
      variables: async (events: readonly string[]) => {
        const texts = events.map((_, index) => (read + index < 8_000 ? '{"plan":"team"}' : large))
        read += events.length
        most = Math.max(most, sum(texts.map(({ length }) => length)))
        return texts
      },
    }
    const filter = { breakdown: { by: 'variable', name: 'plan' } } as const
    expect((await new JourneyReports().report(reader, JOURNEY, filter, signal)).enrolled).toBe(12_000)
    expect(read).toBe(12_000)
    expect(most).toBeLessThanOrEqual(64 * 1024 * 1024)
  })

  it('keeps nothing ahead of one that needs no variables, or more values than there are labels', async () => {
    const rows = pagesOf(Array.from({ length: 65_001 }, (_, index) => key(index)))
    const reader = {
      ...memoryStandings({ enrolments: [], events: [] }, NAMES, 12),
      ...yieldingPages(() => rows),
      variables: async (events: readonly string[]) => events.map((plan) => JSON.stringify({ plan })),
    }
    const reports = new JourneyReports()
    const read = async (filter: Parameters<typeof reports.report>[2]) => {
      for (let after: string | null = null; ; ) {
        const part = await reports.readAhead(reader, JOURNEY, { filter, after, room: 2 }, signal)
        if (part.next === null) return part
        after = part.next
      }
    }
    expect(await read({ breakdown: { by: 'customer_type' } })).toEqual({ next: null, unread: 0, share: 0 })
    const tooLarge = { next: null, unread: 0, share: null }
    expect(await read({ breakdown: { by: 'variable', name: 'plan' } })).toEqual(tooLarge)
  })

  it('of a variable does not count values that nobody has any more', async () => {
    const customers = Array.from({ length: 13 }, (_, index) => key(index))
    let rows = pagesOf(customers)
    let version = 1
    const reader = {
      ...memoryStandings({ enrolments: [], events: [] }, NAMES, 12),
      journey: async () => ({ generation: 1, event_ids: NAMES, version, building: null }),
      ...yieldingPages(() => rows),
      variables: async (events: readonly string[]) => events.map((plan) => JSON.stringify({ plan })),
    }
    const reports = new JourneyReports()
    const values = async () => {
      const query = { breakdown: { by: 'variable', name: 'plan' } } as const
      const { groups } = await reports.report(reader, JOURNEY, query, signal)
      return groups?.map(({ group }) => group.values)
    }
    expect(await values()).toEqual([...Array(10).fill(1), 3])
    version = 2
    rows = pagesOf(customers.slice(2))
    expect(await values()).toEqual([...Array(10).fill(1), 1])
  })

  it('that was refused after reading for too long goes on from there when it is asked again', async () => {
    const customers = Array.from({ length: 20_000 }, (_, index) => key(index))
    const rows = pagesOf(customers)
    let passed_ms = 0
    let read = 0
    const reader = {
      ...memoryStandings({ enrolments: [], events: [] }, NAMES, 12),
      ...yieldingPages(() => rows),
      variables: async (events: readonly string[]) => {
        read += events.length
        if (read > 10_000) passed_ms += 3_600
        return events.map(() => '{"plan":"team"}')
      },
    }
    const now = vi.spyOn(performance, 'now').mockImplementation(() => passed_ms)
    onTestFinished(() => now.mockRestore())
    const reports = new JourneyReports()
    const query = { breakdown: { by: 'variable', name: 'plan' } } as const
    await expect(reports.report(reader, JOURNEY, query, signal)).rejects.toThrow(BreakdownTooLarge)
    passed_ms = 0
    read = -20_000
    expect((await reports.report(reader, JOURNEY, query, signal)).enrolled).toBe(20_000)
    expect(read).toBeLessThan(-10_000)
  })

  it('of a variable with more values than there are labels is refused', async () => {
    const customers = Array.from({ length: 65_001 }, (_, index) => key(index))
    let rows = pagesOf(customers)
    const reader = {
      ...memoryStandings({ enrolments: [], events: [] }, NAMES, 12),
      ...yieldingPages(() => rows),
      variables: async (events: readonly string[]) => events.map((plan) => JSON.stringify({ plan })),
    }
    const query = { breakdown: { by: 'variable', name: 'plan' } } as const
    const reports = new JourneyReports()
    await expect(reports.report(reader, JOURNEY, query, signal)).rejects.toThrow(BreakdownTooLarge)
    // Values that nobody has any more take no labels.
    rows = pagesOf(customers.slice(1))
    const { groups } = await reports.report(reader, JOURNEY, query, signal)
    expect(groups?.map(({ group }) => group.values)).toEqual([...Array(10).fill(1), 64_990])
  })

  it('counts the times of many steps and groups in several walks', async () => {
    const names = Array.from({ length: 100 }, (_, step) => `step-${step}`)
    const enrolments = (['account', 'contact'] as const).map((customer_type, index) => {
      return { customer: key(index), customer_type, at_ms: 0 }
    })
    const events = enrolments.flatMap(({ customer }, index) =>
      names.map((name, step) => ({ customer, name, at_ms: step * (index + 1), id: key(index * 100 + step) })),
    )
    const reader = memoryStandings({ enrolments, events }, names, 0)
    const journey = { journey: key(1), event_ids: names }
    const query = { breakdown: { by: 'customer_type' } } as const
    const { steps, groups } = await new JourneyReports().report(reader, journey, query, signal)
    const last = [steps, ...(groups ?? []).map((group) => group.steps)].map((steps) => steps.at(-1)?.times)
    expect(last).toEqual([
      { n: 2, median_ms: 1.5, p90_ms: 1.9 },
      { n: 1, median_ms: 1, p90_ms: 1 },
      { n: 1, median_ms: 2, p90_ms: 2 },
    ])
  })

  it('is not counted again until something has changed, or somebody who was waiting has dropped', async () => {
    const events = [{ customer: key(1), name: 'one', at_ms: 10, id: key(1) }]
    const enrolments = [{ customer: key(1), customer_type: 'account' as const, at_ms: 5 }]
    const reader = memoryStandings({ enrolments, events }, NAMES, 12)
    const reports = new JourneyReports()
    const second = async (asOf_ms: number) => {
      reader.asOf_ms = asOf_ms
      const { steps, as_of_ms } = await reports.report(reader, JOURNEY, { window_ms: 5 }, signal)
      const { waiting, dropped } = steps[1] ?? {}
      return { waiting, dropped, as_of_ms, reads: reader.reads }
    }
    expect(await second(12)).toEqual({ waiting: 1, dropped: 0, as_of_ms: 12, reads: 1 })
    expect(await second(15)).toEqual({ waiting: 1, dropped: 0, as_of_ms: 15, reads: 1 })
    expect(await second(16)).toEqual({ waiting: 0, dropped: 1, as_of_ms: 16, reads: 2 })
    expect(await second(99)).toEqual({ waiting: 0, dropped: 1, as_of_ms: 99, reads: 2 })
    reader.journey = async () => ({ generation: 1, event_ids: NAMES, version: 2, building: null })
    expect(await second(99)).toEqual({ waiting: 0, dropped: 1, as_of_ms: 99, reads: 3 })
  })

  it('is of the old steps during a rebuild for edited ones, and reports its progress', async () => {
    const reader = memoryStandings({ enrolments: [], events: [] }, NAMES, 12)
    const edited = { journey: key(1), event_ids: ['one', 'three'] }
    const reports = new JourneyReports()
    const begun = await reports.report(reader, edited, {}, signal)
    expect(begun).toMatchObject({ recomputing: { done: 0, total: 0 }, event_ids: NAMES })
    const building = { generation: 2, event_ids: edited.event_ids, upTo: key(7), done: 7, total: 9 }
    reader.journey = async () => ({ generation: 1, event_ids: NAMES, version: 1, building })
    const told = await reports.report(reader, edited, {}, signal)
    expect(told).toMatchObject({ recomputing: { done: 7, total: 9 }, event_ids: NAMES })
  })

  it('of a journey without standings has all steps, with nobody in them', async () => {
    const reader = memoryStandings({ enrolments: [], events: [] }, NAMES, 12)
    reader.journey = async () => undefined
    const report = await new JourneyReports().report(reader, JOURNEY, {}, signal)
    expect(report).toMatchObject({ as_of_ms: 12, recomputing: null, event_ids: NAMES, enrolled: 0 })
    expect(report.steps.map(({ reached }) => reached)).toEqual([0, 0, 0, 0])
  })

  it('ends when nobody waits for it any more', async () => {
    const gone = new AbortController()
    gone.abort(new Error('gone'))
    const reader = memoryStandings({ enrolments: [], events: [] }, NAMES, 12)
    await expect(new JourneyReports().report(reader, JOURNEY, {}, gone.signal)).rejects.toThrow('gone')
  })

  it('in strict order is read anew each time, because no standing changes with an event in between', async () => {
    const enrolments = [{ customer: key(1), customer_type: 'account' as const, at_ms: 0 }]
    const events = ['one', 'two', 'three'].map((name, index) => {
      return { customer: key(1), name, at_ms: 10 * (index + 1), id: key(index + 1) }
    })
    const reports = new JourneyReports()
    const reached = async (late: readonly { name: string; at_ms: number }[]) => {
      const all = [...events, ...late.map((event) => ({ ...event, customer: key(1), id: key(9) }))]
      const reader = memoryStandings({ enrolments, events: all }, NAMES, 99)
      const { steps } = await reports.report(reader, JOURNEY, { step_order: 'strict' }, signal)
      return steps.map(({ reached }) => reached)
    }
    expect(await reached([])).toEqual([1, 1, 1, 0])
    expect(await reached([{ name: 'one', at_ms: 25 }])).toEqual([1, 1, 0, 0])
    expect(await reached([{ name: 'two', at_ms: 25 }])).toEqual([1, 1, 1, 0])
  })

  it('in strict order is refused if the events take too long to read', async () => {
    const enrolments = [{ customer: key(1), customer_type: 'account' as const, at_ms: 0 }]
    const events = ['one', 'two'].map((name, index) => {
      return { customer: key(1), name, at_ms: 10 * (index + 1), id: key(index + 1) }
    })
    const reader = memoryStandings({ enrolments, events }, NAMES, 99)
    const now = vi.spyOn(performance, 'now')
    onTestFinished(() => now.mockRestore())
    reader.history.events = async function* () {
      now.mockReturnValue(Number.MAX_VALUE)
      yield []
    }
    const query = { step_order: 'strict' } as const
    await expect(new JourneyReports().report(reader, JOURNEY, query, signal)).rejects.toThrow(
      StrictOrderTooLarge,
    )
  })
})

describe('a trend of a journey', () => {
  it('has the numbers that are counted one by one', async () => {
    const starts = fc
      .uniqueArray(instants, { maxLength: 8 })
      .map((starts_ms) => starts_ms.toSorted((one, other) => one - other))
    const asked = fc.tuple(journeys(NAMES, { customers: 20 }), filters, instants, starts)
    await fc.assert(
      fc.asyncProperty(asked, async ([journey, filter, asOf_ms, starts_ms]) => {
        const reader = memoryStandings(journey, NAMES, asOf_ms)
        const query = { ...filter, starts_ms, breakdown: { by: 'customer_type' } } as const
        const trend = await new JourneyReports().trend(reader, JOURNEY, query, signal)
        const entered = modelEntered(modelOrdered(journey, NAMES, filter), filter)
        const { window_ms, first_step } = filter
        const steps = modelSteps(NAMES, filter)
        const cohortsOf = (some: typeof entered) =>
          starts_ms.slice(1).map((ends_ms, index) => {
            const starts = starts_ms[index] ?? Number.NaN
            const cohort = modelEntered(some, { entered_from_ms: starts, entered_to_ms: ends_ms })
            const isWaiting = cohort.some(
              (standing) =>
                steps.length > 0 &&
                !modelReaches(standing, steps.at(-1) ?? 0, filter) &&
                modelIsOpen(
                  standing,
                  { window_ms: window_ms ?? Number.POSITIVE_INFINITY, first_step },
                  asOf_ms,
                ),
            )
            return {
              starts_ms: starts,
              ends_ms,
              enrolled: cohort.length,
              reached: steps.map(
                (step) => cohort.filter((standing) => modelReaches(standing, step, filter)).length,
              ),
              incomplete: asOf_ms < ends_ms + (window_ms ?? 0) || (window_ms !== undefined && isWaiting),
            }
          })
        expect(trend.cohorts).toEqual(cohortsOf(entered))
        for (const { group, cohorts } of trend.groups ?? []) {
          expect(cohorts).toEqual(cohortsOf(entered.filter((one) => one.customer_type === group.value)))
        }
        const counted = (trend.groups ?? []).flatMap(({ cohorts }) => cohorts.map(({ enrolled }) => enrolled))
        const all = trend.cohorts.map(({ enrolled }) => enrolled)
        expect(sum(counted)).toBe(sum(all))
      }),
      cases,
    )
  })
})

describe('the times of a step', () => {
  it('are those of the customers who reach it within the part, the window and the order', async () => {
    const asked = fc.tuple(
      journeys(NAMES, { customers: 70 }),
      filters,
      instants,
      fc.integer({ min: 1, max: NAMES.length }),
    )
    await fc.assert(
      fc.asyncProperty(asked, async ([journey, filter, asOf_ms, step]) => {
        const reader = memoryStandings(journey, NAMES, asOf_ms)
        const { times } = await new JourneyReports().histogram(reader, JOURNEY, { ...filter, step }, signal)
        const entered = modelEntered(modelOrdered(journey, NAMES, filter), filter)
        const isIn = modelSteps(NAMES, filter).includes(step)
        expect(times).toEqual(modelTimes(isIn ? modelStepTimes(entered, step, filter) : []))
      }),
      cases,
    )
  })

  it('are counted in contiguous ranges that cover all of them', async () => {
    const spread = fc.oneof(fc.nat(20), fc.nat(1e5), fc.nat(1e9), fc.nat(1e13))
    const times = fc.tuple(spread, fc.array(fc.tuple(fc.nat(1000), spread), { minLength: 1, maxLength: 60 }))
    await fc.assert(
      fc.asyncProperty(times, async ([least, times]) => {
        const enrolments = times.map((_, index) => {
          const customer_type = index % 3 === 0 ? ('contact' as const) : ('account' as const)
          return { customer: key(index), customer_type, at_ms: 0 }
        })
        const events = times.map(([near, far], index) => {
          const at_ms = least + (index % 3 === 0 ? far : near)
          return { customer: key(index), name: 'one', at_ms, id: key(index) }
        })
        const reader = memoryStandings({ enrolments, events }, NAMES, 0)
        const query = { step: 1, breakdown: { by: 'customer_type' } } as const
        const told = await new JourneyReports().histogram(reader, JOURNEY, query, signal)
        const entered = modelStandings({ enrolments, events }, NAMES)
        const expected = modelStepTimes(entered, 1, {})
        expect(told.times).toEqual(modelTimes(expected))
        expect(told.ranges.length).toBeLessThanOrEqual(40)
        for (const [index, { from_ms, to_ms, count }] of told.ranges.entries()) {
          expect(to_ms).toBe(told.ranges[index + 1]?.from_ms ?? null)
          const isIn = (time_ms: number) =>
            time_ms >= from_ms && time_ms < (to_ms ?? Number.POSITIVE_INFINITY)
          expect(count).toBe(expected.filter(isIn).length)
        }
        expect(told.ranges.reduce((sum, { count }) => sum + count, 0)).toBe(expected.length)
        for (const { group, times, counts } of told.groups ?? []) {
          const some = entered.filter(({ customer_type }) => customer_type === group.value)
          expect(times).toEqual(modelTimes(modelStepTimes(some, 1, {})))
          expect(sum(counts)).toBe(times.n)
        }
        for (const [index, { count }] of told.ranges.entries()) {
          expect(sum((told.groups ?? []).map(({ counts }) => counts[index] ?? 0))).toBe(count)
        }
      }),
      { numRuns: casesToTry({ inCi: 300, elsewhere: 100 }) },
    )
  })
})
