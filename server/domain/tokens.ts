import { hash, randomBytes } from 'node:crypto'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** 32 bytes, 256 bits, fill 43 characters of base 62. */
export const RANDOM_LENGTH = 43

/** Returns 256 random bits in base 62, after a prefix that tells people what kind of token it is. */
export function newToken(prefix: string): string {
  return prefix + base62(BigInt(`0x${randomBytes(32).toString('hex')}`), RANDOM_LENGTH)
}

/** Returns the digest stored for a token: its SHA-256 in hexadecimal. 256 random bits need no slow hash. */
export function tokenDigest(token: string): string {
  return hash('sha256', token)
}

/** Formats a number in base 62, padded with zeros to the length. */
export function base62(value: bigint, length: number): string {
  let text = ''
  for (let rest = value; rest > 0n; rest /= 62n) text = BASE62[Number(rest % 62n)] + text
  return text.padStart(length, '0')
}
