/** Returns the strong entity tag of a response: different per coding, because the bytes differ (RFC 9110, section 8.8.3.3). */
export function etagOf(digest: string, coding: string | false | undefined): string {
  return `"${digest}${coding ? `-${coding}` : ''}"`
}

/**
 * Whether the client has the response with this tag already (RFC 9110, section 13.1.2; `*` is any response).
 * @param ifNoneMatch the request's header
 */
export function isKnown(etag: string, ifNoneMatch = ''): boolean {
  // A proxy that compresses turns the tag into a weak one.
  const known = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return ifNoneMatch === '*' || known.includes(etag)
}
