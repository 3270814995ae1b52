/** So much is kept of what was sent; of more the head, and how long it was. */
export const SENT_BYTES = 16 * 1024

/** What was sent, as far as it is kept. @param bytes UTF-8 */
export function sentHead(bytes: Uint8Array): string {
  // Of a character that is cut in two nothing is left.
  return new TextDecoder().decode(bytes.subarray(0, SENT_BYTES), { stream: bytes.length > SENT_BYTES })
}
