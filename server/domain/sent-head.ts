import { jsonTokens } from './json-tokens.ts'
import { redaction } from './redaction.ts'
import { REDACTED } from './secret-texts.ts'

/** Maximum bytes kept of what was sent. Of more, the head and the length are kept. */
export const SENT_BYTES = 16 * 1024

/**
 * Returns the part of a JSON text that is kept: redacted, and of a list that is too long only complete items, because
 * half of an item may be about a customer whose identifier is in the other half. Runs in slices, like `redaction`.
 * @param head its start in UTF-8, at least as much as is kept
 * @param bytes its total length
 */
export function* sentHead(head: Uint8Array, bytes: number): Generator<number, string> {
  const text = yield* redaction(decoded(head, bytes))
  // The replacement may be longer than the secret.
  const encoded = Buffer.from(text)
  if (bytes <= SENT_BYTES && encoded.length <= SENT_BYTES) return text
  const kept = decoded(encoded, encoded.length)
  yield kept.length
  return kept.slice(0, endOfItems(kept) || undefined)
}

/** Whether the kept part is not all that was sent, or was redacted. */
export function isPartial(sent: string, bytes: number): boolean {
  return Buffer.byteLength(sent) < bytes || sent.includes(REDACTED)
}

/** Decodes the head; a character that is cut in two is dropped. */
function decoded(head: Uint8Array, bytes: number): string {
  return new TextDecoder().decode(head.subarray(0, SENT_BYTES), { stream: bytes > SENT_BYTES })
}

/**
 * Returns the end of the last complete item (an object) of the outermost list of a JSON text, which may be cut off; 0
 * if none.
 */
export function endOfItems(text: string): number {
  const open: string[] = []
  let listDepth = Number.POSITIVE_INFINITY
  let end = 0
  for (const { 0: token, index } of jsonTokens(text)) {
    if (token === '{' || token === '[') {
      if (token === '{' && open.at(-1) === '[') listDepth = Math.min(listDepth, open.length)
      open.push(token)
    } else if (token === '}' || token === ']') {
      open.pop()
      if (token === '}' && open.length === listDepth) end = index + 1
    }
  }
  return end
}
