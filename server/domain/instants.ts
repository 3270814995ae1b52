/** The first instant that the contract takes. */
const FIRST_MS = Date.UTC(1900, 0, 1)
/** The last instant that RFC 3339 can write: `toISOString` goes on with `+010000-01-01`. */
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/**
 * Milliseconds since 1970 of an instant that matches the contract's `Instant`; digits beyond the millisecond are cut. An
 * offset can move it out of the years 1900 to 9999: it is the first or the last instant then.
 */
export function instant_ms(text: string): number {
  return Math.min(Math.max(Date.parse(text), FIRST_MS), LAST_MS)
}

/**
 * The instant as the API returns it: RFC 3339 in UTC to the millisecond. The end of a period can lie beyond the year 9999:
 * it is written as the last instant then.
 */
export function instantText(ms: number): string {
  // The events of a batch are received at the same instant.
  if (ms !== latest_ms) {
    latestText = new Date(Math.min(ms, LAST_MS)).toISOString()
    latest_ms = ms
  }
  return latestText
}

let latest_ms = Number.NaN
let latestText = ''
