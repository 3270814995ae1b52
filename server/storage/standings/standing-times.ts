import type { Standing } from '../../domain/journey-standing.ts'
import { ByteReader, ByteWriter, NUMBER_BYTES } from '../../domain/varint.ts'

/** Limit of steps in a journey, as in the API's `JourneySteps`. */
export const MAX_STEPS = 100

/**
 * Maximum size of a standing's times, with the early steps, their count, and half a byte for the length of each number.
 */
const STANDING_BYTES = 2 + (MAX_STEPS + 1) * (NUMBER_BYTES + 1) + 1 + MAX_STEPS

/** A number is always read as eight bytes, whatever its length. */
const PADDING = new Uint8Array(NUMBER_BYTES)

/** By length of a number: which bits of four bytes belong to it. */
const MASKS = Uint32Array.of(0, 0xff, 0xffff, 0xffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff)

const headWriter = new ByteWriter(2 * NUMBER_BYTES)
const scratch = Buffer.allocUnsafeSlow(STANDING_BYTES)

/**
 * Encodes the times of a page: the number of standings, a time near their entries, and the standings as `packTimes`
 * encodes them.
 * @param page.base_ms entries are encoded as differences from it
 */
export function pageTimes(page: { base_ms: number; standings: readonly Uint8Array[] }): Uint8Array {
  headWriter.number(page.standings.length)
  headWriter.signed(page.base_ms)
  return Buffer.concat([headWriter.take(), ...page.standings, PADDING])
}

/**
 * Encodes a standing's times. First one number holds the count of reached steps, whether any step is early, and the
 * type; then come the entry, as the difference from the page's base, and each step, as the difference from the previous
 * one (delta encoding; the first from the entry, which is never later); then the early steps with their count. The
 * lengths of these times, 0 to 7 bytes, precede all of them (as in group varint encoding): finding the end of each
 * number byte by byte took four times as long, because of mispredicted branches.
 */
export function packTimes({ customer_type, entered_ms, reached, early }: Standing, base_ms: number): Buffer {
  const isContact = customer_type === 'contact'
  const head = reached.length * 4 + (early.length > 0 ? 2 : 0) + (isContact ? 1 : 0)
  let length = 0
  if (head > 127) scratch[length++] = (head & 127) | 128
  scratch[length++] = head > 127 ? head >>> 7 : head
  const lengths = length
  length += (reached.length + 2) >>> 1
  scratch.fill(0, lengths, length)
  const put = (index: number, value: number) => {
    let size = 0
    for (let rest = value; rest > 0; rest = Math.floor(rest / 256)) {
      scratch[length + size++] = rest % 256
    }
    length += size
    const at = lengths + (index >>> 1)
    scratch[at] = (scratch[at] as number) | (size << ((index & 1) * 4))
  }
  const entry = entered_ms - base_ms
  put(0, entry < 0 ? -2 * entry - 1 : 2 * entry)
  let before_ms = entered_ms
  for (const [step, { at_ms }] of reached.entries()) {
    put(step + 1, at_ms - before_ms)
    before_ms = at_ms
  }
  if (early.length > 0) {
    scratch[length++] = early.length
    for (const step of early) scratch[length++] = step
  }
  return Buffer.from(scratch.subarray(0, length))
}

/**
 * Decodes the times of page after page into the same fields: a report reads millions of standings without creating an
 * object for any.
 */
export class TimesReader {
  /** Number of standings in the page. */
  count = 0
  base_ms = 0
  entered_ms = 0
  isContact = false
  /** Number of steps reached. */
  reached = 0
  /** Time from the previous step to each of them; for the first, from the entry. */
  readonly gaps_ms = new Float64Array(MAX_STEPS)
  /** Number of early steps, and which they are, from 0 and ascending. */
  earlyCount = 0
  readonly early = new Uint8Array(MAX_STEPS)
  /** How many standings were read since this was set to zero. */
  ordinal = 0
  /** Offset of the next standing in the page's bytes. */
  position = 0
  #bytes: DataView = new DataView(PADDING.buffer)
  #left = 0

  open(times: Uint8Array): void {
    const head = new ByteReader(times)
    this.count = head.number()
    this.base_ms = head.signed()
    this.position = head.position
    this.#bytes = new DataView(times.buffer, times.byteOffset, times.length)
    this.#left = this.count
  }

  /** Reads the next standing; false if there is none. */
  next(): boolean {
    if (this.#left === 0) return false
    this.#left -= 1
    this.ordinal += 1
    const bytes = this.#bytes
    const gaps_ms = this.gaps_ms
    let at = this.position
    let head = bytes.getUint8(at++)
    if (head > 127) head = (head & 127) | (bytes.getUint8(at++) << 7)
    const reached = head >>> 2
    const lengths = at
    at += (reached + 2) >>> 1
    for (let index = 0; index <= reached; index += 1) {
      const length = (bytes.getUint8(lengths + (index >>> 1)) >>> ((index & 1) << 2)) & 15
      let value = (bytes.getUint32(at, true) & (MASKS[length] as number)) >>> 0
      if (length > 4) {
        value += ((bytes.getUint32(at + 4, true) & (MASKS[length - 4] as number)) >>> 0) * 2 ** 32
      }
      at += length
      if (index > 0) gaps_ms[index - 1] = value
      else this.entered_ms = this.base_ms + (value % 2 === 0 ? value / 2 : -(value + 1) / 2)
    }
    this.position = at
    this.reached = reached
    this.isContact = (head & 1) === 1
    this.earlyCount = 0
    if ((head & 2) === 2) this.#readEarly()
    return true
  }

  #readEarly() {
    this.earlyCount = this.#bytes.getUint8(this.position++)
    for (let index = 0; index < this.earlyCount; index += 1) {
      this.early[index] = this.#bytes.getUint8(this.position++)
    }
  }
}
