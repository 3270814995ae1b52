/** The earliest instant that the contract accepts. */
const FIRST_MS = Date.UTC(1900, 0, 1)
/** The latest instant that RFC 3339 can express: `toISOString` continues with `+010000-01-01`. */
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** How far the clocks of servers on one store may differ. What is further ahead is from before a clock was set back. */
export const CLOCKS_MS = 60_000

/**
 * Parses an instant that matches the contract's `Instant` to milliseconds since 1970; further digits are truncated. If
 * an offset moves it out of the years 1900 to 9999, the result is the first or last instant.
 */
export function instant_ms(text: string): number {
  return boundedInstant(Date.parse(text))
}

/** Moves an instant into the years that the contract accepts. */
export function boundedInstant(ms: number): number {
  return Math.min(Math.max(ms, FIRST_MS), LAST_MS)
}

/**
 * Formats an instant as the API returns it: RFC 3339 in UTC with milliseconds. The end of a period can be after the
 * year 9999; the result is then the last instant.
 */
export function instantText(ms: number): string {
  // Cached, because the events of a batch are received at the same instant.
  if (ms !== latest_ms) {
    latestText = new Date(Math.min(ms, LAST_MS)).toISOString()
    latest_ms = ms
  }
  return latestText
}

/** The same for an instant that may be missing. */
export function instantOrNull(ms: number | null): string | null {
  return ms === null ? null : instantText(ms)
}

let latest_ms = Number.NaN
let latestText = ''

/** Whether an instant is less than a length of time away from now. Not only before it: a clock may have been set back. */
export function isRecent(at_ms: number, now_ms: number, within_ms: number): boolean {
  return Math.abs(now_ms - at_ms) < within_ms
}
