import { crc32 } from 'node:zlib'
import { base62, newToken, RANDOM_LENGTH } from './tokens.ts'

export type KeyKind = 'publishable' | 'secret'

const PREFIX = { publishable: 'pk_', secret: 'sk_' } as const

/** Length of a CRC-32 in base 62. */
const CHECKSUM_LENGTH = 6
const FORM = new RegExp(`^(pk|sk)_[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`)

/**
 * Returns a new service key: `pk_` or `sk_`, 256 random bits in base 62, and a CRC-32 of everything before it, so that
 * guesses and typing errors are refused without a lookup.
 */
export function newServiceKey(kind: KeyKind): string {
  const body = newToken(PREFIX[kind])
  return body + checksum(body)
}

/** Whether a text could be a key: it has the form and the checksum of one. The key need not exist. */
export function isServiceKey(text: string): boolean {
  return FORM.test(text) && checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH)
}

/** Whether a key is valid, and if not, why. */
export type KeyStatus = 'active' | 'expired' | 'revoked'

/** Returns whether a key is valid at an instant, and if not, why. */
export function keyStatus(
  { revoked_ms, expires_ms }: { revoked_ms: number | null; expires_ms: number | null },
  now_ms: number,
): KeyStatus {
  if (revoked_ms !== null) return 'revoked'
  return expires_ms !== null && expires_ms <= now_ms ? 'expired' : 'active'
}

/** Returns the part of a key that lists show. */
export function lastFour(key: string): string {
  return key.slice(-4)
}

function checksum(text: string): string {
  return base62(BigInt(crc32(text)), CHECKSUM_LENGTH)
}
