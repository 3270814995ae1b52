import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

export type KeyKind = 'publishable' | 'secret'

const PREFIX = { publishable: 'pk_', secret: 'sk_' } as const
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** 32 bytes, 256 bits, fill 43 characters of base 62. */
const RANDOM_LENGTH = 43
/** A CRC-32 fills 6. */
const CHECKSUM_LENGTH = 6
const FORM = new RegExp(`^(pk|sk)_[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`)

/**
 * A new service key: `pk_` or `sk_`, 256 random bits in base 62, and a CRC-32 of all before it, so that a scanner or a
 * typing error is told from a key without a look-up.
 */
export function newServiceKey(kind: KeyKind): string {
  const body = PREFIX[kind] + base62(BigInt(`0x${randomBytes(32).toString('hex')}`), RANDOM_LENGTH)
  return body + checksum(body)
}

/** Whether the text could be a key: right form, right checksum. It says nothing of whether the key exists. */
export function isServiceKey(text: string): boolean {
  return FORM.test(text) && checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH)
}

/** What is stored of a key: its SHA-256 in hexadecimal. 256 random bits need no slow hash. */
export function keyDigest(key: string): string {
  return hash('sha256', key)
}

/** The part of a key that lists show. */
export function lastFour(key: string): string {
  return key.slice(-4)
}

function checksum(text: string): string {
  return base62(BigInt(crc32(text)), CHECKSUM_LENGTH)
}

function base62(value: bigint, length: number): string {
  let text = ''
  for (let rest = value; rest > 0n; rest /= 62n) text = BASE62[Number(rest % 62n)] + text
  return text.padStart(length, '0')
}
