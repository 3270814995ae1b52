import { crc32 } from 'node:zlib'
import { base62, newToken, RANDOM_LENGTH } from './tokens.ts'

export type KeyKind = 'publishable' | 'secret'

const PREFIX = { publishable: 'pk_', secret: 'sk_' } as const

/** A CRC-32 fills 6. */
const CHECKSUM_LENGTH = 6
const FORM = new RegExp(`^(pk|sk)_[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`)

/**
 * A new service key: `pk_` or `sk_`, 256 random bits in base 62, and a CRC-32 of all before it, so that a scanner or a
 * typing error is told from a key without a look-up.
 */
export function newServiceKey(kind: KeyKind): string {
  const body = newToken(PREFIX[kind])
  return body + checksum(body)
}

/** Whether the text could be a key: right form, right checksum. It says nothing of whether the key exists. */
export function isServiceKey(text: string): boolean {
  return FORM.test(text) && checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH)
}

/** Whether a key works, and why not. */
export type KeyStatus = 'active' | 'expired' | 'revoked'

/** Whether a key works at an instant, and if not, why. */
export function keyStatus(
  { revoked_ms, expires_ms }: { revoked_ms: number | null; expires_ms: number | null },
  now_ms: number,
): KeyStatus {
  if (revoked_ms !== null) return 'revoked'
  return expires_ms !== null && expires_ms <= now_ms ? 'expired' : 'active'
}

/** The part of a key that lists show. */
export function lastFour(key: string): string {
  return key.slice(-4)
}

function checksum(text: string): string {
  return base62(BigInt(crc32(text)), CHECKSUM_LENGTH)
}
