import { Temporal } from 'temporal-polyfill'
import { Problem } from '../problems.ts'
import { boundedInstant } from './instants.ts'

/** Calendar periods; weeks start on Monday. */
export type PeriodUnit = 'day' | 'week' | 'month'

/** A time span; the end is exclusive. */
export type Span = { from_ms: number; to_ms: number }

type PeriodOptions = {
  unit: PeriodUnit
  /** A name of the IANA time zone database. */
  zone: string
  /** Maximum number of periods; more are refused. */
  most: number
}

/**
 * Returns the start instants of the periods that a span touches, at least one, followed by the end of the last. When
 * clocks change, a day has 23 or 25 hours; a day that the zone skipped is left out.
 *
 * @throws {Problem} `time_zone_unknown`, `too_many_periods`
 */
export function periodsOf({ from_ms, to_ms }: Span, { unit, zone, most }: PeriodOptions): number[] {
  const first = firstDay(zonedDay(from_ms, zone), unit)
  const starts = [start_ms(first, zone)]
  for (let count = 1; starts.length === 1 || (starts.at(-1) as number) < to_ms; count += 1) {
    const next_ms = start_ms(first.add({ [`${unit}s`]: count }), zone)
    // Pacific/Apia had no 30 December 2011: that day starts when the next one does.
    if (next_ms === starts.at(-1)) continue
    if (starts.length > most) throw new Problem('too_many_periods')
    starts.push(next_ms)
  }
  return starts
}

/**
 * Returns the start of the day that is `count` periods before an instant.
 * @throws {Problem} `time_zone_unknown`
 */
export function periodsBefore(
  ms: number,
  count: number,
  { unit, zone }: Omit<PeriodOptions, 'most'>,
): number {
  return start_ms(zonedDay(ms, zone).subtract({ [`${unit}s`]: count }), zone)
}

/** Returns the period of equal length that ends where a period starts. */
export function previousPeriod({ from_ms, to_ms }: Span): Span {
  return { from_ms: boundedInstant(from_ms - (to_ms - from_ms)), to_ms: from_ms }
}

/** Returns the same period a calendar year earlier, in UTC; a year before 29 February is 28 February. */
export function previousYear({ from_ms, to_ms }: Span): Span {
  const yearBefore = (ms: number) => {
    const instant = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO('UTC')
    return boundedInstant(instant.subtract({ years: 1 }).epochMilliseconds)
  }
  return { from_ms: yearBefore(from_ms), to_ms: yearBefore(to_ms) }
}

/** @throws {Problem} `time_zone_unknown` */
export function assertTimeZone(zone: string): void {
  zonedDay(0, zone)
}

/**
 * Every name of the database starts with a letter; offsets and dates with an offset, which Temporal accepts too, do
 * not.
 */
const ZONE_NAME = /^[A-Za-z]/

/** Names from ICU, which Node accepts too: ambiguous abbreviations. */
const OF_ICU = /^(SystemV\/.*|A[CEGRS]T|B[ES]T|C[ANST]T|CTT|E[AC]T|I[ES]T|JST|MIT|N[ES]T|P[LNRS]T|SST|VST)$/i

function zonedDay(ms: number, zone: string): Temporal.PlainDate {
  if (!ZONE_NAME.test(zone) || OF_ICU.test(zone)) throw new Problem('time_zone_unknown')
  try {
    return Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone).toPlainDate()
  } catch {
    throw new Problem('time_zone_unknown')
  }
}

function firstDay(day: Temporal.PlainDate, unit: PeriodUnit): Temporal.PlainDate {
  if (unit === 'week') return day.subtract({ days: day.dayOfWeek - 1 })
  return unit === 'month' ? day.with({ day: 1 }) : day
}

/** Returns midnight, or the first instant of the day if clocks change at midnight. */
function start_ms(day: Temporal.PlainDate, zone: string): number {
  return day.toZonedDateTime(zone).epochMilliseconds
}
