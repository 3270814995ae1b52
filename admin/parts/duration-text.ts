const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

/** From the largest, with the one that is told beside it. */
const units = [
  { unit: 'd', ms: day, next: 'h', nextMs: hour },
  { unit: 'h', ms: hour, next: 'min', nextMs: minute },
  { unit: 'min', ms: minute, next: 's', nextMs: second },
] as const

/**
 * How long something took, as exactly as people ask for it: `2 d 3 h`, `4 min 10 s`, `5.2 s`, `840 ms`. A number and its
 * unit stay in one line.
 */
export function durationText(ms: number): string {
  if (ms < second) return `${Math.round(ms)}\u00a0ms`
  if (ms < 10 * second) return `${Number((ms / second).toFixed(1))}\u00a0s`
  for (const { unit, ms: length, next, nextMs } of units) {
    // Rounded first: 59 min 59.8 s are 1 h.
    const parts = Math.round(ms / nextMs)
    const perUnit = length / nextMs
    if (parts < perUnit) continue
    const whole = Math.floor(parts / perUnit)
    const rest = parts % perUnit
    return rest === 0 || whole >= 100
      ? `${whole.toLocaleString('en')}\u00a0${unit}`
      : `${whole}\u00a0${unit} ${rest}\u00a0${next}`
  }
  return `${Math.round(ms / second)}\u00a0s`
}

/** With as many digits as the contract takes. */
const iso = /^P(?=.)(?:(\d{1,4})W|(?:(\d{1,5})D)?(?:T(?=.)(?:(\d{1,6})H)?(?:(\d{1,8})M)?(?:(\d{1,9})S)?)?)$/

/** The length in milliseconds of a duration in the contract's form, `P7D`; undefined for what is none. */
export function lengthOf(duration: string): number | undefined {
  const parts = iso.exec(duration)
  if (!parts) return undefined
  const lengths = [7 * day, day, hour, minute, second]
  return lengths.reduce((sum, length, index) => sum + length * Number(parts[index + 1] ?? 0), 0)
}

const typed =
  /^\s*(?:(\d{1,4})\s*w(?:eeks?)?)?\s*(?:(\d{1,5})\s*d(?:ays?)?)?\s*(?:(\d{1,6})\s*h(?:ours?)?)?\s*(?:(\d{1,8})\s*m(?:in(?:utes?)?)?)?\s*$/i

/** What somebody has typed, `36 h` or `2 d 12 h`, in the contract's form; undefined for what is no time. */
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
