import type { Schemas } from '../../client/person.ts'
import { limitSeries } from '../parts/charts/chart-series.ts'
import { dayText, monthText } from '../parts/instants/instant-text.ts'
import { countText, shareText } from '../parts/number-text.ts'

export type By = 'day' | 'week' | 'month'
type Periods = { by: By; time_zone: string }
export type Trend = Schemas['JourneyTrend'] & Periods
export type Cohort = Schemas['JourneyCohort']
export type Measure = 'of_enrolled' | 'of_previous' | 'count'
/** The numbers of a cohort, or of a group in it. */
type Counts = Pick<Cohort, 'enrolled' | 'reached'>

/** Without the empty cohorts at the beginning, before the first customer entered. */
export function sinceFirstEntry(trend: Trend): Trend {
  const first = Math.max(
    trend.cohorts.findIndex(({ enrolled }) => enrolled > 0),
    0,
  )
  const groups = trend.groups?.map((group) => ({ ...group, cohorts: group.cohorts.slice(first) })) ?? null
  return { ...trend, cohorts: trend.cohorts.slice(first), groups }
}

/** Customers per cohort on average, since the first one entered. */
export function perPeriod(trend: Trend): number {
  const { cohorts } = sinceFirstEntry(trend)
  return cohorts.reduce((sum, { enrolled }) => sum + enrolled, 0) / Math.max(cohorts.length, 1)
}

/**
 * How long customers may take from entering the journey to each step: the sum of the 90th percentiles of the times between
 * the steps.
 */
export function timesTo(steps: Schemas['JourneyReport']['steps']): number[] {
  let sum_ms = 0
  return steps.map(({ times: { p90_ms } }) => {
    sum_ms += p90_ms ?? 0
    return sum_ms
  })
}

/** What a chart of a trend draws. */
export type Figure = {
  trend: Trend
  measure: Measure
  /** The only step that is drawn, by its place from 1; 0 for all. */
  line: number
  /** How long customers may take to each step; undefined if there is a conversion window. */
  takes_ms: readonly number[] | undefined
  /** Whether it begins at a later step than the first: then those who reached that one count as entered. */
  isLater: boolean
}

/**
 * The only step of a trend that is drawn, by its place in the part of the journey; 0 for all, if their lines can be
 * distinguished.
 * @param steps how many steps the part has
 * @param place the one that is asked for; the last if there is none
 */
export function lineOf(steps: number, place: number, breakdown: string | undefined): number {
  if (steps < limitSeries && breakdown === undefined) return 0
  return place >= 1 && place <= steps ? place : steps
}

/**
 * Whether a cohort's number of customers who reached a step is comparable with an earlier cohort's: with a conversion window,
 * all windows are over; without one, 90% of those who will reach the step have had the time to.
 */
export function isSettled({ complete, ends_at }: Cohort, step: number, { trend, takes_ms }: Figure): boolean {
  if (!complete || !takes_ms) return complete
  const asOf_ms = trend.as_of === null ? Date.now() : Date.parse(trend.as_of)
  return Date.parse(ends_at) + (takes_ms[step - 1] ?? 0) <= asOf_ms
}

/** The value of a measure for a step; null if nobody could reach it. */
export function measured(cohort: Counts, step: number, measure: Measure): number | null {
  const count = cohort.reached[step - 1] ?? 0
  if (measure === 'count') return count
  const whole = wholeOf(cohort, step, measure)
  return whole === 0 ? null : count / whole
}

/** The denominator of a measure for a step. */
export function wholeOf({ enrolled, reached }: Counts, step: number, measure: Measure): number {
  return measure === 'of_previous' && step > 1 ? (reached[step - 2] ?? 0) : enrolled
}

/** A count, with its share if the measure is a share. */
export function cellText(cohort: Counts, step: number, measure: Measure): string {
  const count = countText(cohort.reached[step - 1] ?? 0)
  const value = measured(cohort, step, measure)
  if (measure === 'count') return count
  return value === null ? count : `${count} (${shareText(value)})`
}

/** The name of a cohort: its first day, or its month. */
export function cohortText({ starts_at }: Cohort, { by, time_zone }: Periods): string {
  const start = new Date(starts_at)
  // Otherwise a day that starts in UTC would be shown as the previous day in America.
  const zone = time_zone === 'UTC' ? 'UTC' : undefined
  return by === 'month' ? monthText(start, zone) : dayText(start, zone)
}

/** `on 6 Nov 2026`, `in the week of 2 Nov 2026`, `in Nov 2026`. */
export function inPeriod(cohort: Cohort, periods: Periods): string {
  const before = { day: 'on', week: 'in the week of', month: 'in' }[periods.by]
  return `${before} ${cohortText(cohort, periods)}`
}
