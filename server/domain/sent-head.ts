import { jsonTokens } from './json-tokens.ts'
import { redaction } from './redaction.ts'
import { REDACTED } from './secret-texts.ts'

/** So much is kept of what was sent; of more the head, and how long it was. */
export const SENT_BYTES = 16 * 1024

/**
 * What is kept of a JSON text: without secrets, and of a list that is too long only whole items. Half of one may be about a
 * customer whose identifier is in the other half. In slices, as `redaction`.
 * @param head of it in UTF-8, at least as much as is kept
 * @param bytes how long it is
 */
export function* sentHead(head: Uint8Array, bytes: number): Generator<number, string> {
  const text = yield* redaction(decoded(head, bytes))
  // What stands for a secret may be longer than the secret.
  const encoded = Buffer.from(text)
  if (bytes <= SENT_BYTES && encoded.length <= SENT_BYTES) return text
  const kept = decoded(encoded, encoded.length)
  yield kept.length
  return kept.slice(0, endOfItems(kept) || undefined)
}

/** Whether it is not all that was sent, or not as it was sent. */
export function isPartial(sent: string, bytes: number): boolean {
  return Buffer.byteLength(sent) < bytes || sent.includes(REDACTED)
}

/** Of a character that is cut in two nothing is left. */
function decoded(head: Uint8Array, bytes: number): string {
  return new TextDecoder().decode(head.subarray(0, SENT_BYTES), { stream: bytes > SENT_BYTES })
}

/** Where the last object ends that is a whole item of the outermost list of a JSON text, which may be cut; 0 where none is. */
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
