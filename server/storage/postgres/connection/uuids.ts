import { hash } from 'node:crypto'
import type { IdPrefix } from '../../../domain/identifiers.ts'

// Identifiers of events as PostgreSQL stores them: the UUID of a TypeID. In this code it is always 32 hexadecimal
// digits, which PostgreSQL accepts; it returns it with hyphens. Converted from text to text, because an event has five
// of them.

/** The values of Crockford's base 32, lower case, by character code; 255 for everything else. */
const VALUES = new Uint8Array(128).fill(255)
const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz'
for (const [value, digit] of [...DIGITS].entries()) VALUES[digit.charCodeAt(0)] = value

/** The 26 digits of a TypeID have two bits more than a UUID, so the first is one of eight. */
const SUFFIX = 26

/** Returns the UUID of an identifier. @throws {Error} if it is not a TypeID, which the store never assigns */
export function uuidOf(id: string): string {
  const uuid = parsedUuid(id)
  if (uuid === undefined) throw new Error('an identifier in the store is not a TypeID')
  return uuid
}

/** The same; undefined if it is not a TypeID. */
export function parsedUuid(id: string): string | undefined {
  const begin = id.length - SUFFIX
  if (begin < 1 || id.charCodeAt(begin - 1) !== UNDERSCORE) return undefined
  let bits = 0
  let held = 0
  let place = 0
  for (let index = begin; index < id.length; index += 1) {
    const value = VALUES[id.charCodeAt(index)] ?? 255
    if (value === 255 || (index === begin && value > 7)) return undefined
    held = (held << 5) | value
    bits += index === begin ? 3 : 5
    if (bits >= 8) {
      bits -= 8
      MADE[place] = held >>> bits
      place += 1
      held &= (1 << bits) - 1
    }
  }
  return MADE.toString('hex', 0, place)
}

/** Buffer for one text: concatenating digits would create a text per digit. */
const MADE = Buffer.alloc(SUFFIX)

const UNDERSCORE = 0x5f
const HEX = '0123456789abcdef'

/** Returns the digits of a UUID in PostgreSQL's form. */
export function digitsOf(uuid: string): string {
  return uuid.replaceAll('-', '')
}

/** Returns the identifier of a UUID. */
export function idOf(prefix: IdPrefix | 'evt', uuid: string): string {
  let place = 0
  // 128 bits in digits of five bits: two zero bits come first.
  let held = 0
  let bits = 2
  for (let index = 0; index < uuid.length; index += 1) {
    held = (held << 4) | (NIBBLES[uuid.charCodeAt(index)] ?? 0)
    bits += 4
    if (bits >= 5) {
      bits -= 5
      MADE[place] = DIGITS.charCodeAt((held >>> bits) & 31)
      place += 1
      held &= 15
    }
  }
  return `${prefix}_${MADE.toString('latin1', 0, place)}`
}

const NIBBLES = new Uint8Array(128)
for (const [value, digit] of [...HEX].entries()) NIBBLES[digit.charCodeAt(0)] = value

/** Returns the creation time of a UUIDv7. */
export function msOf(uuid: string): number {
  return Number.parseInt(uuid.slice(0, 12), 16)
}

/** Returns the number of the process that made a UUIDv7, from the three digits where `ascendingIds` puts it. */
export function writerOf(uuid: string): string {
  return uuid.slice(13, 16)
}

/** Returns a lower bound of the UUIDv7 of this millisecond. */
export function firstUuidOf(ms: number): string {
  const clamped = Math.min(Math.max(ms, 0), 2 ** 48 - 1)
  return clamped.toString(16).padStart(12, '0').padEnd(32, '0')
}

/** Returns an upper bound of the UUIDs of this millisecond. */
export function lastUuidOf(ms: number): string {
  return firstUuidOf(ms).slice(0, 12).padEnd(32, 'f')
}

/** Formats bytes as 32 hexadecimal digits. */
export function uuidText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Whether a `message_id` is a UUID in its usual form, which takes 16 bytes in the store instead of 37. */
export function isUuid(message_id: string): boolean {
  return message_id.length === 36 && UUID.test(message_id)
}

/**
 * Returns the UUID under which a message is looked up: its own, or for other texts half of a digest. With the salt
 * nobody can choose two messages with the same one, and random ones will not collide.
 */
export function messageUuid(message_id: string, salt: string): string {
  return isUuid(message_id) ? digitsOf(message_id) : hash('sha256', salt + message_id).slice(0, 32)
}
