/** Maximum bytes of all `keepalive` bodies in flight per page; above that, `fetch` fails (Fetch standard). */
const limit_bytes = 65_536

/**
 * Minimum bytes counted per request, because browsers also limit the number of keepalive requests: Chromium 153 fails
 * above 256, Firefox above 250 per origin. This allows 64, which leaves room for other tabs.
 */
const leastShare_bytes = 1024

/** Shared by all clients, because the browser's limit is per page. */
let inFlight_bytes = 0

/** Whether a request with a body of this size would outlive the page if it were sent now. */
export function canOutlivePage(size_bytes: number): boolean {
  return inFlight_bytes + Math.max(size_bytes, leastShare_bytes) <= limit_bytes
}

/**
 * Calls `send`, with `keepalive` if the body may outlive the page. The body counts as in flight until `send` settles.
 */
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

/** Returns the size of the text in UTF-8, or 0 if there is none. */
export function bytesOf(text: string | undefined): number {
  return new TextEncoder().encode(text).length
}
