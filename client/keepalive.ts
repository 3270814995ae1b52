/** The bodies in flight that may outlive a page; beyond that, fetch fails (Fetch standard, keepalive). */
const limit_bytes = 65_536

/**
 * Every one counts for at least this much, because their number is limited too: Chromium 153 fails beyond 256,
 * Firefox beyond 250 for an origin. 64 leave room for other tabs.
 */
const leastShare_bytes = 1024

/** One figure for all clients, because the browser has one for the page. */
let inFlight_bytes = 0

/** Whether a request with a body of this size would outlive the page if it were sent now. */
export function canOutlivePage(size_bytes: number): boolean {
  return inFlight_bytes + Math.max(size_bytes, leastShare_bytes) <= limit_bytes
}

/** Calls `send`, with `keepalive` if the body may outlive the page, and counts the body until it has settled. */
export async function sendCounted<T>(
  body: string | undefined,
  send: (keepalive: boolean) => Promise<T>,
): Promise<T> {
  const size_bytes = bytesOf(body)
  if (!canOutlivePage(size_bytes)) return await send(false)
  const share_bytes = Math.max(size_bytes, leastShare_bytes)
  inFlight_bytes += share_bytes
  try {
    return await send(true)
  } finally {
    inFlight_bytes -= share_bytes
  }
}

/** The size of a text in UTF-8; 0 if there is none. */
export function bytesOf(text: string | undefined): number {
  return new TextEncoder().encode(text).length
}
