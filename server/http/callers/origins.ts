import type { IncomingHttpHeaders } from 'node:http'

/** How a request reached the server, proxies that are trusted taken into account. */
export type Reached = {
  headers: IncomingHttpHeaders
  /** With the port, as `Host` or a trusted proxy's `X-Forwarded-Host` has it. */
  host: string
  isHttps: boolean
}

/**
 * Whether a request comes from a page of this server. Browsers set both headers themselves; a page cannot.
 * @param publicUrl where the server is known, if it was told
 */
export function isFromOwnPage({ headers, host }: Reached, publicUrl: URL | undefined): boolean {
  if (headers['sec-fetch-site'] === 'same-origin') return true
  const { origin } = headers
  // Not every browser has sent the first header for long, and a page elsewhere has an origin of its own.
  if (origin === undefined || headers['sec-fetch-site'] !== undefined || !URL.canParse(origin)) return false
  // A proxy that speaks TLS for us need not say so: only the host tells.
  return publicUrl ? origin === publicUrl.origin : new URL(origin).host === host
}

/** Whether the browser speaks TLS with the server, or with a proxy before it. */
export function isBehindHttps({ headers, host, isHttps }: Reached, publicUrl: URL | undefined): boolean {
  if (publicUrl) return publicUrl.protocol === 'https:'
  // A proxy that speaks TLS for us need not say so, but our own pages then have such an origin.
  return isHttps || headers.origin === `https://${host}`
}
