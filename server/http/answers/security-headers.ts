import type { IncomingMessage, ServerResponse } from 'node:http'
import helmet from 'helmet'

/** The headers of every response: those of helmet, computed once, because to call it takes 10 µs per request. */
export const securityHeaders: Readonly<Record<string, string>> = headersOf(
  helmet({
    contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"] } },
    // Other services may run on subdomains of this host without TLS.
    strictTransportSecurity: { includeSubDomains: false },
  }),
)

/** The `Content-Security-Policy` of the sites, the API reference and the interface: only their own files and this server. */
export const sitePolicy = [
  "default-src 'self'",
  // Mantine puts the theme's colours and sizes into style elements. Redoc uses styled-components, which fills an empty
  // style element at runtime; a hash of that empty element works in Chromium, but not in Safari (styled-components,
  // issue 3704).
  "style-src 'self' 'unsafe-inline'",
  // Redoc's styles contain an icon as a data: URL.
  "img-src 'self' data:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

function headersOf(middleware: ReturnType<typeof helmet>): Record<string, string> {
  const headers: Record<string, string> = {}
  const response = {
    setHeader: (name: string, value: string) => Object.assign(headers, { [name]: value }),
    removeHeader: () => {},
  }
  middleware({} as IncomingMessage, response as unknown as ServerResponse, () => {})
  return headers
}
