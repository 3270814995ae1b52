// engines: none (opens no store)

import { describe, expect, it } from 'vitest'
import { breakdownFinding, comparisonFinding } from '../../admin/reports/finding.ts'
import { groupLabel } from '../../admin/reports/group-label.ts'
import type { Schemas } from '../../client/person.ts'
import { shareDifference } from '../../server/domain/share-intervals.ts'

const names = ['Signed up', 'Chose a plan', 'Paid']

type Counts = { enrolled: number; reached: number[] }

function stepsOf({ enrolled, reached }: Counts): Schemas['JourneyReportStep'][] {
  return reached.map((count, index) => ({
    step: index + 1,
    event_id: names[index] ?? '',
    name: names[index] ?? '',
    reached: count,
    of_enrolled: enrolled === 0 ? null : count / enrolled,
    of_previous: null,
    not_reached: 0,
    waiting: null,
    dropped: null,
    out_of_order: 0,
    times: { n: 0, median_ms: null, p90_ms: null },
  }))
}

function differencesOf(one: Counts, other: Counts): Schemas['ShareDifference'][] {
  return one.reached.map((part, step) => {
    if (one.enrolled === 0 || other.enrolled === 0) return null
    const { difference, low, high } = shareDifference(
      { part, whole: one.enrolled },
      { part: other.reached[step] ?? 0, whole: other.enrolled },
    )
    return { of_enrolled: difference, low, high, within_chance: low <= 0 && high >= 0 }
  })
}

function sumOf(all: readonly Counts[]): Counts {
  const enrolled = all.reduce((sum, counts) => sum + counts.enrolled, 0)
  const reached = names.map((_, step) => all.reduce((sum, counts) => sum + (counts.reached[step] ?? 0), 0))
  return { enrolled, reached }
}

/** The report of groups, each named by its value, by `other` or by `not_set`. */
function brokenDown(groups: Record<string, Counts>) {
  const all = Object.values(groups)
  /** The sum of the others with a value, or of those without. */
  const comparedWith = (counts: Counts) => {
    const others = all.filter((other) => other !== counts)
    const withValue = others.filter((other) => other !== groups.not_set)
    return sumOf(withValue.length > 0 ? withValue : others)
  }
  return {
    enrolled: sumOf(all).enrolled,
    steps: stepsOf(sumOf(all)),
    comparison: null,
    groups: Object.entries(groups).map(([value, counts]) => {
      const kind = value === 'other' || value === 'not_set' ? value : 'value'
      return {
        group: { kind, value: kind === 'value' ? value : null, values: kind === 'other' ? 7 : 1 } as const,
        enrolled: counts.enrolled,
        steps: stepsOf(counts),
        differences: differencesOf(counts, comparedWith(counts)),
        comparison: null,
      }
    }),
  }
}

function compared(now: Counts, before: Counts) {
  return {
    enrolled: now.enrolled,
    steps: stepsOf(now),
    groups: null,
    comparison: {
      entered_from: '2026-10-01T00:00:00.000Z',
      entered_to: '2026-11-01T00:00:00.000Z',
      enrolled: before.enrolled,
      steps: stepsOf(before),
      differences: differencesOf(now, before),
    },
  }
}

describe('what a breakdown says', () => {
  const plan = (groups: Record<string, Counts>) => breakdownFinding(brokenDown(groups), 'variable:plan')

  it('is the largest difference that is not within chance, and how the last step does', () => {
    const team = { enrolled: 1000, reached: [1000, 620, 210] }
    const free = { enrolled: 1000, reached: [1000, 500, 200] }
    expect(plan({ team, free })).toBe(
      '“team” converts 12 points better at step 2 (Chose a plan) than “free”: 62% against 50%. At the last step, the difference is within chance.',
    )
    expect(plan({ team: { ...team, reached: [1000, 620, 250] }, free })).toContain(
      'At the last step, it is 5 points better.',
    )
  })

  it('names the step at which most of the difference appears', () => {
    const contacts = { enrolled: 400, reached: [400, 120, 80] }
    const accounts = { enrolled: 400, reached: [400, 280, 250] }
    expect(breakdownFinding(brokenDown({ contact: contacts, account: accounts }), 'customer_type')).toBe(
      'Accounts convert 43 points better at step 3 (Paid) than contacts: 63% against 20%. Most of it appears at step 2 (Chose a plan).',
    )
  })

  it('names no step at which less than half of the difference appears', () => {
    const now = { enrolled: 1000, reached: [950, 890, 820] }
    const before = { enrolled: 1000, reached: [900, 800, 700] }
    expect(comparisonFinding(compared(now, before))).toBe(
      'This period converts 12 points better at step 3 (Paid) than the compared period: 82% against 70%.',
    )
  })

  it('is about a value rather than about what others have in common', () => {
    const [many, some, few] = [90, 75, 10].map((count) => ({ enrolled: 100, reached: [100, count, count] }))
    if (!many || !some || !few) throw new Error('a group is missing')
    expect(plan({ team: some, other: many, not_set: few })).toMatch(
      /^“team” converts 15 points worse at step 3 \(Paid\) than customers with other values: 75% against 90%\. Most of it /,
    )
    expect(plan({ team: many, other: { ...many }, not_set: few })).toMatch(
      /^Customers without a value convert 80 points worse at step 3 \(Paid\) than all others: 10% against 90%\./,
    )
  })

  it('compares values with each other, and with customers without one if there is no other', () => {
    const [many, some, few] = [90, 60, 10].map((count) => ({ enrolled: 100, reached: [100, count, count] }))
    if (!many || !some || !few) throw new Error('a group is missing')
    expect(plan({ team: many, solo: some, free: { ...some }, not_set: few })).toMatch(
      /^“team” converts 30 points better at step 3 \(Paid\) than all others with a value: 90% against 60%\./,
    )
    expect(plan({ team: many, free: some, not_set: few })).toMatch(
      /^“team” converts 30 points better at step 3 \(Paid\) than “free”: 90% against 60%\./,
    )
    expect(plan({ team: many, not_set: few })).toMatch(
      /^“team” converts 80 points better at step 3 \(Paid\) than customers without a value: 90% against 10%\./,
    )
  })

  it('is within chance if no difference is clear, and nothing of one group or none', () => {
    const [one, other] = [52, 50].map((count) => ({ enrolled: 100, reached: [100, count, count] }))
    if (!one || !other) throw new Error('a group is missing')
    expect(plan({ team: one, free: other })).toMatch(/^Within chance: /)
    expect(plan({ team: one })).toBe('All customers are in one group: “team”.')
    expect(breakdownFinding(compared(one, other), 'variable:plan')).toBe('')
  })
})

describe('what a comparison says', () => {
  const month = (share: number) => ({ enrolled: 1000, reached: [1000, 1000 * share, 1000 * share] })

  it.each([
    [
      month(0.46),
      month(0.4),
      /^This period converts 6 points better at step 3 \(Paid\) .*: 46% against 40%\. Most of it appears at step 2/,
    ],
    [month(0.4), month(0.46), /^This period converts 6 points worse at step 3 /],
    [month(0.41), month(0.4), /^Within chance: the two periods differ by no more than chance explains\.$/],
    [month(0.4), { enrolled: 0, reached: [0, 0, 0] }, /^Nobody entered in the compared period/],
    [{ enrolled: 0, reached: [0, 0, 0] }, month(0.4), /^Nobody entered in this period/],
  ])('is whether the period is better, worse or within chance', (now, before, sentence) => {
    expect(comparisonFinding(compared(now, before))).toMatch(sentence)
  })
})

describe('the name of a group', () => {
  it.each([
    ['team', 'team'],
    ['', 'Empty text'],
    [5, '5'],
    ['5', '"5"'],
    [-1.5, '-1.5'],
    ['-1.5', '"-1.5"'],
    ['1e21', '"1e21"'],
    ['5 seats', '5 seats'],
    [true, 'true'],
    ['true', '"true"'],
    ['truest', 'truest'],
  ])('tells a text from a number or a boolean: %j', (value, label) => {
    expect(groupLabel({ kind: 'value', value, values: 1 }, 'variable:plan')).toBe(label)
  })
})
