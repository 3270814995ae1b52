/**
 * A new UUIDv7 (RFC 9562, section 5.7): 48 bits of Unix time in milliseconds, then 74 random bits. Identifiers made
 * later sort later, to the millisecond.
 */
export function newMessageId(): string {
  // getRandomValues and not randomUUID: browsers offer the latter to pages served over HTTPS only.
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  const view = new DataView(bytes.buffer)
  const now_ms = Date.now()
  view.setUint16(0, now_ms / 2 ** 32)
  view.setUint32(2, now_ms) // Keeps the low 32 bits.
  view.setUint8(6, 0x70 | (view.getUint8(6) & 0x0f)) // version 7
  view.setUint8(8, 0x80 | (view.getUint8(8) & 0x3f)) // variant 10
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
