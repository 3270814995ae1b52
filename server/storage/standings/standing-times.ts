import type { Standing } from '../../domain/journey-standing.ts'
import { ByteReader, ByteWriter, NUMBER_BYTES } from '../../domain/varint.ts'

/** A journey has so many steps at the most, as the contract's `JourneySteps` says. */
export const MAX_STEPS = 100

/** What a standing's times take at the most: with the early steps, their count, and half a byte for each number's length. */
const STANDING_BYTES = 2 + (MAX_STEPS + 1) * (NUMBER_BYTES + 1) + 1 + MAX_STEPS

/** A number is read with eight bytes at a time, whatever its length. */
const PADDING = new Uint8Array(NUMBER_BYTES)

/** By how many bytes a number has: which bits of four bytes are its own. */
const MASKS = Uint32Array.of(0, 0xff, 0xffff, 0xffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff)

const headWriter = new ByteWriter(2 * NUMBER_BYTES)
const scratch = Buffer.allocUnsafeSlow(STANDING_BYTES)

/**
 * The times of a page: how many standings, an instant near their entries, and the standings as `packTimes` made them.
 * @param page.base_ms from which the entries are counted
 */
export function pageTimes(page: { base_ms: number; standings: readonly Uint8Array[] }): Uint8Array {
  headWriter.number(page.standings.length)
  headWriter.signed(page.base_ms)
  return Buffer.concat([headWriter.take(), ...page.standings, PADDING])
}

/**
 * A standing's times: how many steps are reached, whether any is early, and the type, in one number; then the entry, from
 * the page's instant, and each step from the one before, the first from the entry, for none is earlier; and the early steps
 * with their count. The lengths of these instants, from 0 to 7 bytes, come before all of them: to find out byte by byte
 * where each ends took a processor, which guesses ahead, four times as long.
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
 * Reads the times of page after page, into the same places again and again: a report looks at millions and makes no object
 * of any.
 */
export class TimesReader {
  /** How many standings the page has. */
  count = 0
  base_ms = 0
  entered_ms = 0
  isContact = false
  /** How many steps are reached. */
  reached = 0
  /** What each of them took from the one before, the first from the entry. */
  readonly gaps_ms = new Float64Array(MAX_STEPS)
  /** How many steps are early, and which, from 0 and ascending. */
  earlyCount = 0
  readonly early = new Uint8Array(MAX_STEPS)
  /** Where in the page's bytes the next standing begins. */
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

  /** Reads the next standing. False where there is none. */
  next(): boolean {
    if (this.#left === 0) return false
    this.#left -= 1
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
