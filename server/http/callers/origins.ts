import type { IncomingHttpHeaders } from 'node:http'

/** How a request reached the server, proxies that are trusted taken into account. */
export type Reached = {
  headers: IncomingHttpHeaders
  /** With the port, as `Host` or a trusted proxy's `X-Forwarded-Host` has it. */
  host: string
  isHttps: boolean
}

/**
 * An origin as browsers write it (RFC 6454, 6.2): in lower case, without the port that its scheme implies. Undefined where the
 * text is more or less than a scheme and a host with its port.
 */
export function originOf(text: string): string | undefined {
  return /^https?:\/\/[^\s/?#@\\]+$/i.test(text) ? URL.parse(text)?.origin : undefined
}

/**
 * Whether a request comes from a page of this server. Browsers set both headers themselves; a page cannot.
 * @param publicUrl where the server is known, if it was told
 */
export function isFromOwnPage({ headers, host }: Reached, publicUrl: URL | undefined): boolean {
  if (headers['sec-fetch-site'] === 'same-origin') return true
  // Not every browser has sent the first header for long, and a page elsewhere has an origin of its own.
  if (headers.origin === undefined || headers['sec-fetch-site'] !== undefined) return false
  const origin = originOf(headers.origin)
  if (origin === undefined) return false
  if (publicUrl) return origin === publicUrl.origin
  // A proxy that speaks TLS for us need not say so: of which scheme the host is, the page tells.
  return origin === originOf(`${new URL(origin).protocol}//${host}`)
}

/** Whether the browser speaks TLS with the server, or with a proxy before it. */
export function isBehindHttps({ headers, host, isHttps }: Reached, publicUrl: URL | undefined): boolean {
  if (publicUrl) return publicUrl.protocol === 'https:'
  // A proxy that speaks TLS for us need not say so, but our own pages then have such an origin.
  return isHttps || isHttpsOrigin(headers.origin, host)
}

/** Whether the origin of a page is that of the host by HTTPS. */
function isHttpsOrigin(origin: string | undefined, host: string): boolean {
  if (origin === undefined) return false
  const page = originOf(origin)
  return page !== undefined && page === originOf(`https://${host}`)
}
