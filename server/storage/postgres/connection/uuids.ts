import { hash } from 'node:crypto'
import type { IdPrefix } from '../../../domain/identifiers.ts'

// Identifiers as PostgreSQL keeps them in events: the UUID of a TypeID. Here it is always 32 hexadecimal digits, as
// PostgreSQL takes it too; it gives it with hyphens. Made of text to text: there are five in each event.

/** Crockford's base 32, in lower case, by character code; 255 for everything else. */
const VALUES = new Uint8Array(128).fill(255)
const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz'
for (const [value, digit] of [...DIGITS].entries()) VALUES[digit.charCodeAt(0)] = value

/** The 26 digits of a TypeID have two bits more than a UUID: the first is one of eight. */
const SUFFIX = 26

/** The UUID of an identifier. @throws {Error} where it is no TypeID: none that the store has given out */
export function uuidOf(id: string): string {
  const uuid = parsedUuid(id)
  if (uuid === undefined) throw new Error('an identifier in the store is no TypeID')
  return uuid
}

/** The same, undefined for what is no TypeID. */
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

/** What a text is made from at once: put together of its digits it would be as many texts as it has digits. */
const MADE = Buffer.alloc(SUFFIX)

const UNDERSCORE = 0x5f
const HEX = '0123456789abcdef'

/** The digits of a UUID as PostgreSQL gives it. */
export function digitsOf(uuid: string): string {
  return uuid.replaceAll('-', '')
}

/** The identifier of a UUID. */
export function idOf(prefix: IdPrefix | 'evt', uuid: string): string {
  let place = 0
  // 128 bits in digits of five: two bits of nothing come first.
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

/** When a UUIDv7 was made. */
export function msOf(uuid: string): number {
  return Number.parseInt(uuid.slice(0, 12), 16)
}

/** Which process has given a UUIDv7, by the three digits in which `ascendingIds` has it. */
export function writerOf(uuid: string): string {
  return uuid.slice(13, 16)
}

/** The least UUID that is a UUIDv7 of this millisecond, or before all of them. */
export function firstUuidOf(ms: number): string {
  const clamped = Math.min(Math.max(ms, 0), 2 ** 48 - 1)
  return clamped.toString(16).padStart(12, '0').padEnd(32, '0')
}

/** The greatest UUID of this millisecond. */
export function lastUuidOf(ms: number): string {
  return firstUuidOf(ms).slice(0, 12).padEnd(32, 'f')
}

/** The bytes as 32 hexadecimal digits. */
export function uuidText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Whether a `message_id` is a UUID in its usual form, which takes 16 bytes in the store instead of 37. */
export function isUuid(message_id: string): boolean {
  return message_id.length === 36 && UUID.test(message_id)
}

/**
 * The UUID under which a message is looked up: itself, or for another text half of a digest. With the salt nobody can
 * choose two messages that share one, and of random ones none will.
 */
export function messageUuid(message_id: string, salt: string): string {
  return isUuid(message_id) ? digitsOf(message_id) : hash('sha256', salt + message_id).slice(0, 32)
}
