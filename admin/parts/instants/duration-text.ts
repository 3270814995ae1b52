import { day_ms, hour_ms, minute_ms, second_ms } from './lengths.ts'

/** From the largest, each with the smaller unit that is shown next to it. */
const units = [
  { unit: 'day', ms: day_ms, next: 'hour', nextMs: hour_ms },
  { unit: 'hour', ms: hour_ms, next: 'minute', nextMs: minute_ms },
  { unit: 'minute', ms: minute_ms, next: 'second', nextMs: second_ms },
] as const

/** A duration in at most two units: `2d 3h`, `4m 10s`, `5.2s`, `840ms`. */
export function durationText(ms: number): string {
  if (ms < second_ms) return inUnit(Math.round(ms), 'millisecond')
  if (ms < 10 * second_ms) return inUnit(ms / second_ms, 'second')
  for (const { unit, ms: length, next, nextMs } of units) {
    // Rounded first: 59m 59.8s is 1h.
    const parts = Math.round(ms / nextMs)
    const perUnit = length / nextMs
    if (parts < perUnit) continue
    const whole = Math.floor(parts / perUnit)
    const rest = parts % perUnit
    return rest === 0 || whole >= 100 ? inUnit(whole, unit) : `${inUnit(whole, unit)} ${inUnit(rest, next)}`
  }
  return inUnit(Math.round(ms / second_ms), 'second')
}

function inUnit(count: number, unit: 'day' | 'hour' | 'minute' | 'second' | 'millisecond'): string {
  return count.toLocaleString('en', {
    style: 'unit',
    unit,
    unitDisplay: 'narrow',
    maximumFractionDigits: 1,
  })
}

/** The contract's pattern, with its maximum numbers of digits. */
const iso = /^P(?=.)(?:(\d{1,4})W|(?:(\d{1,5})D)?(?:T(?=.)(?:(\d{1,6})H)?(?:(\d{1,8})M)?(?:(\d{1,9})S)?)?)$/

/** The length in milliseconds of an ISO 8601 duration such as `P7D`; undefined if it is not one. */
export function lengthOf(duration: string): number | undefined {
  const parts = iso.exec(duration)
  if (!parts) return undefined
  const lengths = [7 * day_ms, day_ms, hour_ms, minute_ms, second_ms]
  return lengths.reduce((sum, length, index) => sum + length * Number(parts[index + 1] ?? 0), 0)
}

const typed =
  /^\s*(?:(\d{1,4})\s*w(?:eeks?)?)?\s*(?:(\d{1,5})\s*d(?:ays?)?)?\s*(?:(\d{1,6})\s*h(?:ours?)?)?\s*(?:(\d{1,8})\s*m(?:in(?:utes?)?)?)?\s*$/i

/** A typed duration, `36 h` or `2d 12h`, as an ISO 8601 duration; undefined if it is not one. */
export function durationOf(text: string): string | undefined {
  if (lengthOf(text.trim())) return text.trim()
  const [weeks = 0, days = 0, hours = 0, minutes = 0] = (typed.exec(text) ?? [])
    .slice(1)
    .map((n) => Number(n ?? 0))
  if (weeks + days + hours + minutes === 0) return undefined
  const time = `${hours ? `${hours}H` : ''}${minutes ? `${minutes}M` : ''}`
  const wholeDays = weeks * 7 + days
  return `P${wholeDays ? `${wholeDays}D` : ''}${time && `T${time}`}`
}
