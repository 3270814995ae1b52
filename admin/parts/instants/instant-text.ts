import { day_ms, hour_ms, minute_ms } from './lengths.ts'

const locale = 'en-GB'
const ofDay = { day: 'numeric', month: 'short', year: 'numeric' } as const
const ofMonth = { month: 'short', year: 'numeric' } as const
const toMinute = { hour: '2-digit', minute: '2-digit' } as const

const formats = {
  day: new Intl.DateTimeFormat(locale, ofDay),
  dayInUtc: new Intl.DateTimeFormat(locale, { ...ofDay, timeZone: 'UTC' }),
  shortDay: new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short' }),
  shortInstant: new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', ...toMinute }),
  month: new Intl.DateTimeFormat(locale, ofMonth),
  monthInUtc: new Intl.DateTimeFormat(locale, { ...ofMonth, timeZone: 'UTC' }),
  minute: new Intl.DateTimeFormat(locale, toMinute),
  second: new Intl.DateTimeFormat(locale, { ...toMinute, second: '2-digit' }),
  exact: new Intl.DateTimeFormat(locale, {
    ...ofDay,
    ...toMinute,
    second: '2-digit',
    fractionalSecondDigits: 3,
  }),
  millisecond: new Intl.DateTimeFormat(locale, {
    ...toMinute,
    second: '2-digit',
    fractionalSecondDigits: 3,
  }),
  instant: new Intl.DateTimeFormat(locale, { ...ofDay, ...toMinute }),
  instantToSecond: new Intl.DateTimeFormat(locale, { ...ofDay, ...toMinute, second: '2-digit' }),
}

/** A day in the viewer's time zone, or in UTC: `20 Nov 2026`. */
export function dayText(instant: Date, zone?: 'UTC'): string {
  return (zone ? formats.dayInUtc : formats.day).format(instant)
}

/** A day without its year: `20 Nov`. */
export function shortDayText(instant: Date): string {
  return formats.shortDay.format(instant)
}

/** An instant without its year: `20 Nov, 09:30`. */
export function shortInstantText(instant: Date): string {
  return formats.shortInstant.format(instant)
}

/** A month in the viewer's time zone, or in UTC: `Nov 2026`. */
export function monthText(instant: Date, zone?: 'UTC'): string {
  return (zone ? formats.monthInUtc : formats.month).format(instant)
}

/** A time of day: `09:30`. */
export function clockText(instant: Date): string {
  return formats.minute.format(instant)
}

/** An instant in the viewer's time zone: `20 Nov 2026, 09:30`, with seconds unless they are 0. */
export function instantText(instant: Date): string {
  return (instant.getSeconds() === 0 ? formats.instant : formats.instantToSecond).format(instant)
}

/** A time of day to the second: `09:30:05`. */
export function secondsText(instant: Date): string {
  return formats.second.format(instant)
}

/** A time of day to the millisecond: `09:30:05.123`. */
export function millisecondsText(instant: Date): string {
  return formats.millisecond.format(instant)
}

/** An instant in the viewer's time zone, to the millisecond: `20 Nov 2026, 09:30:05.123`. */
export function exactText(instant: Date): string {
  return formats.exact.format(instant)
}

const relative = new Intl.RelativeTimeFormat('en')

/** An instant relative to now, in the largest unit that fits, of which it counts whole ones: `5 minutes ago`, `in 1 day`, `now`. */
export function relativeText(instant: Date, now_ms = Date.now()): string {
  const ms = instant.getTime() - now_ms
  const [unit, length] =
    Math.abs(ms) >= day_ms
      ? (['day', day_ms] as const)
      : Math.abs(ms) >= hour_ms
        ? (['hour', hour_ms] as const)
        : (['minute', minute_ms] as const)
  const count = Math.trunc(ms / length)
  return count === 0 ? 'now' : relative.format(count, unit)
}
