/**
 * Returns a new UUIDv7 (RFC 9562, section 5.7): 48 bits of Unix time in milliseconds, then 74 random bits. Identifiers
 * sort by creation time, to the millisecond.
 */
export function newMessageId(): string {
  // getRandomValues, not randomUUID: browsers offer randomUUID only to pages served over HTTPS.
  const random = crypto.getRandomValues(new Uint8Array(10))
  const time = Date.now().toString(16).padStart(12, '0')
  const rest = Array.from(random, (byte, index) => {
    const marked = index === 0 ? 0x70 | (byte & 0x0f) : index === 2 ? 0x80 | (byte & 0x3f) : byte // version 7, variant 10
    return marked.toString(16).padStart(2, '0')
  })
  return (time + rest.join('')).replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
