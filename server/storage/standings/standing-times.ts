import type { Standing } from '../../domain/journey-standing.ts'
import { ByteReader, type ByteWriter, NUMBER_BYTES } from '../number-bytes.ts'

/** A journey has so many steps at the most, as the contract's `JourneySteps` says. */
export const MAX_STEPS = 100

/**
 * What a standing's times take at the most: the number that begins it, the entry, an instant of each step, and the early
 * steps with their count.
 */
export const STANDING_BYTES = 2 + NUMBER_BYTES + MAX_STEPS * NUMBER_BYTES + 1 + MAX_STEPS

/**
 * The times of a page: how many standings, an instant near their entries, and each standing: how many steps are reached,
 * whether any is early, and the type, in one number; the entry from the page's instant; each step from the one before, the
 * first from the entry, for none is earlier; and the early steps with their count.
 */
export function writeTimesHead(
  writer: ByteWriter,
  { count, base_ms }: { count: number; base_ms: number },
): void {
  writer.number(count)
  writer.signed(base_ms)
}

export function writeTimes(writer: ByteWriter, standing: Standing, base_ms: number): void {
  const { customer_type, entered_ms, reached, early } = standing
  const isContact = customer_type === 'contact'
  writer.number(reached.length * 4 + (early.length > 0 ? 2 : 0) + (isContact ? 1 : 0))
  writer.signed(entered_ms - base_ms)
  let before_ms = entered_ms
  for (const { at_ms } of reached) {
    writer.number(at_ms - before_ms)
    before_ms = at_ms
  }
  if (early.length === 0) return
  writer.number(early.length)
  for (const step of early) writer.number(step)
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
  #bytes = new ByteReader(new Uint8Array())
  #left = 0

  open(times: Uint8Array): void {
    this.#bytes = new ByteReader(times)
    this.count = this.#bytes.number()
    this.base_ms = this.#bytes.signed()
    this.#left = this.count
  }

  /** The same of a single standing's bytes, as `writeTimes` left them. */
  openOne(times: Uint8Array, base_ms: number): void {
    this.#bytes = new ByteReader(times)
    this.count = 1
    this.base_ms = base_ms
    this.#left = 1
  }

  /** Where in the page's bytes the next standing begins. */
  get position(): number {
    return this.#bytes.position
  }

  /** Reads the next standing. False where there is none. */
  next(): boolean {
    if (this.#left === 0) return false
    this.#left -= 1
    const bytes = this.#bytes
    const head = bytes.number()
    const reached = head >>> 2
    this.reached = reached
    this.isContact = (head & 1) === 1
    this.entered_ms = this.base_ms + bytes.signed()
    const gaps_ms = this.gaps_ms
    for (let step = 0; step < reached; step += 1) gaps_ms[step] = bytes.number()
    this.earlyCount = 0
    if ((head & 2) === 2) this.#readEarly()
    return true
  }

  #readEarly() {
    this.earlyCount = this.#bytes.number()
    for (let index = 0; index < this.earlyCount; index += 1) this.early[index] = this.#bytes.number()
  }
}
