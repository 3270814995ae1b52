export const DAY_MS = 86_400_000

/** Units of the contract's `Duration`, in milliseconds. */
const UNITS_MS = { W: 604_800_000, D: DAY_MS, H: 3_600_000, M: 60_000, S: 1_000 }

/** Parses a duration that matches the contract's `Duration`, for example `P7D` or `PT36H`, to milliseconds. */
export function duration_ms(text: string): number {
  const parts = text.matchAll(/(\d+)([WDHMS])/g)
  return [...parts].reduce(
    (sum, [, count, unit]) => sum + Number(count) * UNITS_MS[unit as keyof typeof UNITS_MS],
    0,
  )
}
