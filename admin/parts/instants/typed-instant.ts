import { minute_ms } from './lengths.ts'

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

const named = /^(?<day>\d{1,2})\.?\s*(?<month>\p{L}{3,9})\.?,?\s*(?<year>\d{4})$/u
const ordered = /^(?<year>\d{4})-(?<month>\d{1,2})-(?<day>\d{1,2})$/
const dotted = /^(?<day>\d{1,2})\.\s*(?<month>\d{1,2})\.\s*(?<year>\d{4})$/
const clock = /^(?<text>.*?)(?:(?:\s*,\s*|\s+|T)(?<hour>\d{1,2}):(?<minute>\d{2})(?::(?<second>\d{2}))?)?$/s

/**
 * Parses a typed instant in the viewer's time zone: `20 Nov 2026, 09:30`, `2026-11-20 09:30`, `20.11.2026`, `yesterday 9:00`;
 * without a time, the start of the day. Undefined if it is not an instant, or the order of day and month is ambiguous
 * (`11/12/2026`).
 */
export function instantOf(text: string): Date | undefined {
  const { text: dayPart = '', hour = '0', minute = '0', second = '0' } = clock.exec(text.trim())?.groups ?? {}
  const day = dayOf(dayPart.trim().toLowerCase())
  if (!day) return undefined
  const [year, month, date] = day
  const at = new Date(0)
  at.setFullYear(year, month, date)
  at.setHours(Number(hour), Number(minute), Number(second))
  // 30 February and 25:00 would roll over to another day.
  const isReal =
    at.getMonth() === month &&
    at.getDate() === date &&
    Number(hour) < 24 &&
    Number(minute) < 60 &&
    Number(second) < 60
  return isReal ? at : undefined
}

function dayOf(text: string): [year: number, month: number, day: number] | undefined {
  const now = new Date()
  if (text === 'today') return [now.getFullYear(), now.getMonth(), now.getDate()]
  if (text === 'yesterday') {
    const before = new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1)
    return [before.getFullYear(), before.getMonth(), before.getDate()]
  }
  const {
    year,
    month = '',
    day,
  } = (named.exec(text) ?? ordered.exec(text) ?? dotted.exec(text))?.groups ?? {}
  const index = /^\d/.test(month) ? Number(month) - 1 : months.indexOf(month.slice(0, 3))
  if (!year || !day || index < 0 || index > 11) return undefined
  return [Number(year), index, Number(day)]
}

/** The format of a native date field, `2026-11-20` or `2026-11-20T09:30`, in the viewer's time zone. */
export function nativeText(instant: Date, type: 'date' | 'datetime-local'): string {
  const shifted = new Date(instant.getTime() - instant.getTimezoneOffset() * minute_ms).toISOString()
  return shifted.slice(0, type === 'date' ? 10 : 16)
}
