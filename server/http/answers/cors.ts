/** By which a page of any origin may read an answer. */
export const corsHeaders: Readonly<Record<string, string>> = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'X-Request-Id, Retry-After, RateLimit, RateLimit-Policy',
}

/** The answer to a preflight of an operation that pages may call. */
export const preflightHeaders: Readonly<Record<string, string>> = {
  'Access-Control-Allow-Methods': 'POST',
  // Whatever a page's tracing adds to its requests must not keep them from being sent. The star means all but this one.
  'Access-Control-Allow-Headers': '*, authorization',
  'Access-Control-Max-Age': '86400',
}
