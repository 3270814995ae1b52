import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../domain/durations.ts'
import { type Groups, listedGroups } from './breakdown.ts'
import type { CountOptions } from './journey-report.ts'
import { EntryTest, JourneyPart, type PageWalk } from './page-walk.ts'
import type { TimesReader } from './standing-times.ts'
import type { BrokenDown, JourneyTimes, StepTimes } from './standings.ts'
import { StepTimesCount } from './step-times.ts'

/** Durations that people find easy to read. */
const ROUND_MS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 20, 30].map((seconds) => seconds * SECOND_MS),
  ...[1, 2, 5, 10, 20, 30].map((minutes) => minutes * MINUTE_MS),
  ...[1, 2, 4, 8, 12].map((hours) => hours * HOUR_MS),
  ...[1, 2, 3, 5, 7, 14, 30, 60, 90, 180, 365].map((days) => days * DAY_MS),
]

/** Limit of equal ranges, besides one open range for all longer times. */
const EVEN_RANGES = 24

/**
 * If the slowest times exceed most times by more than this factor, equal ranges would put most of them in the first.
 */
const WIDE = 10

/** Counts how long a step took, and builds its histogram. @param filter.step from 1 */
export async function countTimes(
  walk: PageWalk,
  filter: BrokenDown & { step: number },
  groups: Groups,
  { steps, broken }: Pick<CountOptions, 'steps' | 'broken'>,
): Promise<Pick<JourneyTimes, 'times' | 'ranges' | 'groups'>> {
  const step = filter.step - 1
  const part = new JourneyPart(filter, steps, broken)
  const entry = new EntryTest(filter, part)
  const window_ms = filter.window_ms ?? Number.POSITIVE_INFINITY
  const each = (take: (time_ms: number, group: number) => void) => (page: TimesReader) => {
    while (page.next()) {
      if (!entry.passes(page) || part.first + part.reachedWithin(page, window_ms) <= step) continue
      const group = groups.of(page)
      if (group >= 0) take(page.gaps_ms[step] as number, group)
    }
  }
  const whole = new StepTimesCount(1)
  const ofGroups = groups.groups.map(() => new StepTimesCount(1))
  const span = { least_ms: Number.POSITIVE_INFINITY, greatest_ms: 0 }
  if (step < part.first) return { times: whole.times(0), ranges: [], groups: filter.breakdown ? [] : null }
  await walk.each(
    each((time_ms, group) => {
      whole.count(0, time_ms)
      ofGroups[group]?.count(0, time_ms)
      if (time_ms < span.least_ms) span.least_ms = time_ms
      if (time_ms > span.greatest_ms) span.greatest_ms = time_ms
    }),
  )
  const look = each((time_ms, group) => {
    whole.look(0, time_ms)
    ofGroups[group]?.look(0, time_ms)
  })
  while ([whole, ...ofGroups].filter((count) => count.endWalk()).length > 0) await walk.each(look)
  const times = whole.times(0)
  if (times.n === 0) return { times, ranges: [], groups: filter.breakdown ? [] : null }

  const starts_ms = rangeStarts(times, span)
  const counts = new Float64Array(starts_ms.length)
  const countsOf = ofGroups.map(() => new Float64Array(starts_ms.length))
  await walk.each(
    each((time_ms, group) => {
      const range = lastUpTo(starts_ms, time_ms)
      counts[range] = (counts[range] as number) + 1
      const ofGroup = countsOf[group]
      if (ofGroup) ofGroup[range] = (ofGroup[range] as number) + 1
    }),
  )
  const ranges = Array.from(counts, (count, range) => {
    return { from_ms: starts_ms[range] ?? 0, to_ms: starts_ms[range + 1] ?? null, count }
  })
  const numbers = ofGroups.map((count, group) => {
    return { times: count.times(0), counts: [...(countsOf[group] ?? [])] }
  })
  const enrolled = ({ times: { n } }: { times: StepTimes }) => ({ now: n, inAll: n })
  return { times, ranges, groups: filter.breakdown ? listedGroups(groups, numbers, enrolled) : null }
}

/** Starts of the ranges, ascending; the first is at or before the shortest time. */
function rangeStarts(
  { median_ms, p90_ms }: StepTimes,
  { least_ms, greatest_ms }: { least_ms: number; greatest_ms: number },
): Float64Array {
  const [middle_ms, slow_ms] = [median_ms ?? 0, p90_ms ?? 0]
  if (slow_ms - least_ms > WIDE * (middle_ms - least_ms)) return unevenStarts(least_ms, greatest_ms)
  // The slowest tenth may be far away, and is shown in a few ranges and an open one.
  const wanted_ms = (slow_ms + (slow_ms - least_ms) / 4 - least_ms) / (EVEN_RANGES - 1)
  const width_ms =
    ROUND_MS.find((round_ms) => round_ms >= wanted_ms) ?? Math.ceil(wanted_ms / DAY_MS) * DAY_MS
  const first = Math.floor(least_ms / width_ms)
  const last = Math.min(first + EVEN_RANGES, Math.floor(greatest_ms / width_ms))
  return Float64Array.from({ length: last - first + 1 }, (_, range) => (first + range) * width_ms)
}

/** Each range begins at a round duration, so ranges get wider. */
function unevenStarts(least_ms: number, greatest_ms: number): Float64Array {
  const all_ms = Float64Array.of(0, ...ROUND_MS)
  return all_ms.subarray(lastUpTo(all_ms, least_ms), lastUpTo(all_ms, greatest_ms) + 1)
}

/** The index of the last start at or before a time; starts are ascending. */
function lastUpTo(starts_ms: Float64Array, time_ms: number): number {
  let [low, high] = [0, starts_ms.length - 1]
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if ((starts_ms[middle] as number) <= time_ms) low = middle
    else high = middle - 1
  }
  return low
}
