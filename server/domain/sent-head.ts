/** So much is kept of what was sent; of more the head, and how long it was. */
export const SENT_BYTES = 16 * 1024

/** What is kept of a text. @param head of it in UTF-8, at least as much as is kept @param bytes how long it is */
export function sentHead(head: Uint8Array, bytes: number): string {
  // Of a character that is cut in two nothing is left.
  return new TextDecoder().decode(head.subarray(0, SENT_BYTES), { stream: bytes > SENT_BYTES })
}
