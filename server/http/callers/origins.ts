import type { IncomingHttpHeaders } from 'node:http'

/** How a request reached the server, with trusted proxies taken into account. */
export type Ingress = {
  headers: IncomingHttpHeaders
  /** With the port, from `Host` or from a trusted proxy's `X-Forwarded-Host`. */
  host: string
  isHttps: boolean
}

/**
 * Normalizes an origin to the form of browsers (RFC 6454, 6.2): lower case, without the default port of its scheme.
 * Undefined if the text is anything but a scheme and a host with an optional port.
 */
export function originOf(text: string): string | undefined {
  return /^https?:\/\/[^\s/?#@\\]+$/i.test(text) ? URL.parse(text)?.origin : undefined
}

/**
 * Whether a request comes from a page of this server (CSRF check). Browsers set both headers themselves; a page cannot.
 * @param publicUrl public URL of the server, if configured
 */
export function isFromOwnPage({ headers, host }: Ingress, publicUrl: URL | undefined): boolean {
  if (headers['sec-fetch-site'] === 'same-origin') return true
  // Older browsers do not send Sec-Fetch-Site; there a page elsewhere has a different origin.
  if (headers.origin === undefined || headers['sec-fetch-site'] !== undefined) return false
  const origin = originOf(headers.origin)
  if (origin === undefined) return false
  if (publicUrl) return origin === publicUrl.origin
  // A proxy that terminates TLS may not say so, so the scheme of the host is taken from the page's origin.
  return origin === originOf(`${new URL(origin).protocol}//${host}`)
}

/** Whether the browser uses TLS, with the server or with a proxy before it. */
export function isBehindHttps({ headers, host, isHttps }: Ingress, publicUrl: URL | undefined): boolean {
  if (publicUrl) return publicUrl.protocol === 'https:'
  // A proxy that terminates TLS may not say so, but then our own pages have an https origin.
  return isHttps || isHttpsOrigin(headers.origin, host)
}

/** Whether an origin is that of the host over HTTPS. */
function isHttpsOrigin(origin: string | undefined, host: string): boolean {
  if (origin === undefined) return false
  const page = originOf(origin)
  return page !== undefined && page === originOf(`https://${host}`)
}
