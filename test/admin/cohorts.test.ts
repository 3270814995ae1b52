// engines: none (opens no store)

import { describe, expect, it } from 'vitest'
import { measured, perPeriod, sinceFirstEntry, type Trend } from '../../admin/reports/cohorts.ts'

/** A trend in which so many customers entered in each period, a third of whom reached the first step. */
function trendOf(...entered: number[]): Trend {
  const cohorts = entered.map((enrolled, index) => ({
    starts_at: new Date(Date.UTC(2026, 0, index + 1)).toISOString(),
    ends_at: new Date(Date.UTC(2026, 0, index + 2)).toISOString(),
    enrolled,
    reached: [enrolled / 3],
    complete: true,
  }))
  const group = { kind: 'value', value: 'team', values: 1 } as const
  return {
    by: 'day',
    time_zone: 'UTC',
    journey_id: 'jrn_01jd3zc4s7e9qv6x0m2n5b8wtr',
    steps: [],
    as_of: null,
    events_since: null,
    recomputing: null,
    cohorts,
    groups: [{ group, cohorts }],
  }
}

describe('A trend', () => {
  it('begins with the first period in which anybody entered, for all and for each group', () => {
    const { cohorts, groups } = sinceFirstEntry(trendOf(0, 0, 30, 0, 60))
    expect(cohorts.map(({ enrolled }) => enrolled)).toEqual([30, 0, 60])
    expect(groups?.map(({ cohorts }) => cohorts.length)).toEqual([3])
    expect(sinceFirstEntry(trendOf(0, 0)).cohorts).toHaveLength(2)
  })

  it('counts customers per period since the first of them entered', () => {
    expect([perPeriod(trendOf(0, 0, 30, 0, 60)), perPeriod(trendOf(0, 0)), perPeriod(trendOf())]).toEqual([
      30, 0, 0,
    ])
  })
})

describe('A measure of a cohort', () => {
  const cohort = { enrolled: 8, reached: [4, 2, 0, 0] }

  it.each([
    ['count', [4, 2, 0, 0]],
    ['of_enrolled', [0.5, 0.25, 0, 0]],
    ['of_previous', [0.5, 0.5, 0, null]],
  ] as const)('%s has its own base at each step', (measure, values) => {
    expect(cohort.reached.map((_, index) => measured(cohort, index + 1, measure))).toEqual(values)
  })
})
