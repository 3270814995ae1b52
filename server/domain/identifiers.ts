import { randomBytes, randomFillSync, randomInt } from 'node:crypto'

// TypeIDs (TypeID 0.3): a prefix and a UUIDv7 in 26 digits, which sort by time. The library for them takes several times
// as long, which counts in lists and in events, with up to five identifiers each.

/** The kinds of identifier; events have `evt`. */
export type IdPrefix =
  | 'wsp'
  | 'jrn'
  | 'cus'
  | 'key'
  | 'per'
  | 'ses'
  | 'inv'
  | 'aud'
  | 'rfs'
  | 'rmv'
  | 'def'
  | 'whk'
  | 'msg'
  | 'viw'
  | 'vlk'

/** Returns a new identifier, for example `jrn_01jd3zc4s7e9qv6x0m2n5b8wtr`. */
export function newId(prefix: IdPrefix): string {
  return typeIdText(prefix, nextUuid(Date.now()))
}

const nextUuid = ascendingIds()

/**
 * Returns a new identifier with a random time between two instants. The time in an ordinary one would reveal whether it
 * was created just now, and so would its counter.
 */
export function newIdBetween(prefix: IdPrefix, from_ms: number, to_ms: number): string {
  const ms = from_ms + Math.floor(Math.random() * (to_ms - from_ms + 1))
  return typeIdText(prefix, writeUuid(ms, randomInt(2 ** 32), randomBytes(6)))
}

/**
 * Returns the placeholder that a dry run answers instead of a new identifier (contract: "Dry runs"). Real
 * ones start with the time and never equal it.
 */
export function unmadeId<Prefix extends IdPrefix | 'evt'>(prefix: Prefix): `${Prefix}_${string}` {
  return `${prefix}_${'0'.repeat(26)}`
}

/** Formats the 16 bytes of a UUID as an identifier. */
export function typeIdText(prefix: IdPrefix | 'evt', bytes: Uint8Array): string {
  // 128 bits in 26 digits of 5 bits: the first has 3; 25 follow, in pairs and a last one.
  const at = (index: number) => bytes[index] as number
  let text = `${prefix}_${DIGITS.charAt(at(0) >>> 5)}${DIGITS.charAt(at(0) & 31)}`
  for (let index = 1; index < 16; index += 5) {
    const high = (at(index) << 12) | (at(index + 1) << 4) | (at(index + 2) >>> 4)
    const low = ((at(index + 2) & 15) << 16) | (at(index + 3) << 8) | at(index + 4)
    text += (PAIRS[high >>> 10] as string) + PAIRS[high & 1023] + PAIRS[low >>> 10] + PAIRS[low & 1023]
  }
  return text
}

/**
 * Parses an identifier of any prefix to the 16 bytes of its UUID; undefined if the text is none.
 * @param bytes where they are written
 */
export function typeIdBytes<Bytes extends Uint8Array = Uint8Array>(
  id: string,
  bytes: Bytes,
): Bytes | undefined
export function typeIdBytes(id: string): Uint8Array | undefined
export function typeIdBytes(id: string, bytes = new Uint8Array(16)): Uint8Array | undefined {
  const begin = id.length - SUFFIX
  if (begin < 2 || id.charCodeAt(begin - 1) !== UNDERSCORE) return undefined
  let bits = 0
  let held = 0
  let place = 0
  for (let index = begin; index < id.length; index += 1) {
    const value = VALUES[id.charCodeAt(index)] ?? 255
    // The digits have two bits more than a UUID, so the first is one of eight.
    if (value === 255 || (index === begin && value > 7)) return undefined
    held = (held << 5) | value
    bits += index === begin ? 3 : 5
    if (bits >= 8) {
      bits -= 8
      bytes[place] = held >>> bits
      place += 1
      held &= (1 << bits) - 1
    }
  }
  return bytes
}

/** Whether a text is a possible identifier of a kind, which `typeIdBytes` accepts. */
export function isId(prefix: IdPrefix | 'evt', id: string): boolean {
  return id.startsWith(`${prefix}_`) && DIGITS_OF_ID.test(id.slice(prefix.length + 1))
}

const DIGITS_OF_ID = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/

/** Crockford's base 32, lower case. */
const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz'
const PAIRS = Array.from({ length: 1024 }, (_, value) => {
  return DIGITS.charAt(value >>> 5) + DIGITS.charAt(value & 31)
})

/** The values of the digits by character code; 255 for everything else. */
const VALUES = new Uint8Array(128).fill(255)
for (const [value, digit] of [...DIGITS].entries()) VALUES[digit.charCodeAt(0)] = value

/** Number of digits. */
const SUFFIX = 26
const UNDERSCORE = 0x5f

/**
 * Parses an `evt_…` to its 16 bytes.
 * @throws {Error} if the text is not a TypeID; a text that matches the contract's pattern always is
 */
export function eventIdBytes(id: string): Uint8Array {
  const bytes = typeIdBytes(id)
  if (!bytes) throw new Error('an identifier of an event is no TypeID')
  return bytes
}

/**
 * Generates UUIDv7 (RFC 9562, monotonic counter of section 6.2) in strictly ascending order, even if the clock steps
 * back, and greater than `last`, the newest one stored. So the order of storing is the order of identifiers, and an
 * index that ends in the row number is sorted by identifier.
 *
 * One of several writers follows a clock that is set back by more than `SET_BACK_MS`: its identifiers are not ascending
 * together with those of the others anyway, and their time is that of receipt, which would otherwise stand still until the
 * clock is there again.
 *
 * Layout: 48 bits of milliseconds, a 32-bit counter in rand_a and the top of rand_b (random start every millisecond),
 * 42 random bits.
 * @param writer number of this process among concurrent writers. It takes the 12 bits of rand_a, so that identifiers
 *   generated together are adjacent whatever other processes generate
 */
export function ascendingIds(last?: Uint8Array, writer?: number): (now_ms: number) => Uint8Array {
  const start = last && readUuid(last)
  const fixed = writer === undefined ? 0 : (writer % 2 ** 12) * 2 ** 20
  const free = writer === undefined ? 2 ** 32 : 2 ** 20
  let ms = start?.ms ?? 0
  let counter = start?.counter ?? 0
  const random = new Uint8Array(8192)
  let used = random.length

  return (now_ms) => {
    if (used + 10 > random.length) {
      randomFillSync(random)
      used = 0
    }
    const pool = random.subarray(used, used + 10)
    used += 10
    if (now_ms > ms || (writer !== undefined && now_ms < ms - SET_BACK_MS)) {
      ms = now_ms
      // The top bit is left 0, so that half of all counter values remain before it overflows.
      counter = fixed + (new DataView(pool.buffer, pool.byteOffset).getUint32(0) % (free / 2))
    } else if (counter === fixed + free - 1) {
      ms += 1
      counter = fixed
    } else {
      counter += 1
    }
    return writeUuid(ms, counter, pool.subarray(4))
  }
}

/** More than requests differ that are under way together, each with the time at which it began. */
const SET_BACK_MS = 10_000

function writeUuid(ms: number, counter: number, random: Uint8Array): Uint8Array {
  // From Node's pool: separate memory for each would take longer than everything else here.
  const bytes = Buffer.allocUnsafe(16)
  bytes.writeUIntBE(ms, 0, 6)
  bytes.writeUInt16BE(0x7000 | (counter >>> 20), 6)
  bytes.writeUInt16BE(0x8000 | ((counter >>> 6) & 0x3fff), 8)
  bytes.set(random, 10)
  bytes[10] = ((counter & 0x3f) << 2) | ((random[0] ?? 0) & 3)
  return bytes
}

function readUuid(bytes: Uint8Array): { ms: number; counter: number } {
  const view = new DataView(bytes.buffer, bytes.byteOffset)
  const high = (view.getUint16(6) & 0x0fff) * 0x100000
  const middle = (view.getUint16(8) & 0x3fff) << 6
  return {
    ms: view.getUint32(0) * 0x10000 + view.getUint16(4),
    counter: high + middle + (view.getUint8(10) >>> 2),
  }
}
