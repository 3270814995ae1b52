/** The bodies in flight that may outlive a page; beyond that, fetch fails (Fetch standard, keepalive). */
const limit_bytes = 65_536

/**
 * Every one counts for at least this much, because their number is limited too: Chromium 153 fails beyond 256,
 * Firefox beyond 250 for an origin. 64 leave room for other tabs.
 */
const leastShare_bytes = 1024

/** One figure for all clients, because the browser has one for the page. */
let inFlight_bytes = 0

/** Whether a request with this body would outlive the page if it were sent now. */
export function canOutlivePage(body: string): boolean {
  return inFlight_bytes + share_bytes(body) <= limit_bytes
}

/** Calls `send`, with `keepalive` if the body may outlive the page, and counts the body until it has settled. */
export async function sendCounted<T>(body: string, send: (keepalive: boolean) => Promise<T>): Promise<T> {
  if (!canOutlivePage(body)) return await send(false)
  inFlight_bytes += share_bytes(body)
  try {
    return await send(true)
  } finally {
    inFlight_bytes -= share_bytes(body)
  }
}

function share_bytes(body: string): number {
  return Math.max(new TextEncoder().encode(body).length, leastShare_bytes)
}
