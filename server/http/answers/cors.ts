/** CORS headers that let a page of any origin read a response. */
export const corsHeaders: Readonly<Record<string, string>> = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'X-Request-Id, Retry-After, RateLimit, RateLimit-Policy',
}

/** Headers of the response to a preflight of an operation that pages may call. */
export const preflightHeaders: Readonly<Record<string, string>> = {
  'Access-Control-Allow-Methods': 'POST',
  // Headers that a page's tracing adds must not make the preflight fail. The star covers every header but this one.
  'Access-Control-Allow-Headers': '*, authorization',
  'Access-Control-Max-Age': '86400',
}
