export const SECOND_MS = 1_000
export const MINUTE_MS = 60 * SECOND_MS
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/** Units of the contract's `Duration`, in milliseconds. */
const UNITS_MS = { W: 7 * DAY_MS, D: DAY_MS, H: HOUR_MS, M: MINUTE_MS, S: SECOND_MS }

/** Parses a duration that matches the contract's `Duration`, for example `P7D` or `PT36H`, to milliseconds. */
export function duration_ms(text: string): number {
  const parts = text.matchAll(/(\d+)([WDHMS])/g)
  return [...parts].reduce(
    (sum, [, count, unit]) => sum + Number(count) * UNITS_MS[unit as keyof typeof UNITS_MS],
    0,
  )
}
