/**
 * Milliseconds since 1970 of an instant that matches the contract's `Instant`; digits beyond the millisecond are cut.
 */
export function instant_ms(text: string): number {
  return Date.parse(text)
}

/** The instant as the API returns it: RFC 3339 in UTC to the millisecond. */
export function instantText(ms: number): string {
  // The events of a batch are received at the same instant.
  if (ms !== latest_ms) {
    latestText = new Date(ms).toISOString()
    latest_ms = ms
  }
  return latestText
}

let latest_ms = Number.NaN
let latestText = ''
