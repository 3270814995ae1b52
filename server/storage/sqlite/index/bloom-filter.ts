import { PAGE_BYTES } from './run.ts'

/** Bits per key: the false positive rate is about 1 in 150. */
const BITS_PER_KEY = 12

/** The bits of a key are in one block of 64 bytes, one cache line. */
const BLOCK_WORDS = 16
const BLOCK_BITS = 32 * BLOCK_WORDS
const BITS_SET = 6

/** A blocked Bloom filter (Putze, Sanders, Singler 2007): most keys that are not in a run are recognized as such. */
export class KeyFilter {
  readonly words: Uint32Array

  constructor(words: Uint32Array) {
    this.words = words
  }

  static forKeys(count: number): KeyFilter {
    return new KeyFilter(new Uint32Array(Math.ceil((count * BITS_PER_KEY) / BLOCK_BITS) * BLOCK_WORDS))
  }

  add(key: number): void {
    if (this.words.length > 0) this.#bits(key, true)
  }

  mayHave(key: number): boolean {
    return this.words.length > 0 && this.#bits(key, false)
  }

  /** Sets the bits of a key, or returns whether all of them are set. */
  #bits(key: number, set: boolean): boolean {
    const low = mixed(key % 2 ** 32)
    const high = mixed(low ^ (key / 2 ** 32))
    const blocks = this.words.length / BLOCK_WORDS
    const block = Math.floor(((high >>> 0) / 2 ** 32) * blocks) * BLOCK_WORDS
    // Not from `high`, whose upper bits are equal for all keys of a block.
    const step = Math.imul(low, 0x9e3779b1) | 1
    let bit = low
    for (let count = 0; count < BITS_SET; count += 1) {
      const word = block + (bit >>> 28)
      const mask = 1 << ((bit >>> 23) & 31)
      if (set) this.words[word] = (this.words[word] as number) | mask
      else if (((this.words[word] as number) & mask) === 0) return false
      bit = (bit + step) | 0
    }
    return true
  }

  /** The filter in pages of the store. */
  *pages(): Generator<Buffer> {
    const bytes = Buffer.from(this.words.buffer)
    for (let at = 0; at < bytes.length; at += PAGE_BYTES) yield bytes.subarray(at, at + PAGE_BYTES)
  }

  static ofPages(pages: Iterable<Uint8Array>): KeyFilter {
    const bytes = Buffer.concat([...pages])
    return new KeyFilter(new Uint32Array(new Uint8Array(bytes).buffer))
  }
}

/** Mixes 32 bits, because keys of adjacent times differ in few of them (the finalizer of MurmurHash3). */
function mixed(value: number): number {
  let bits = value | 0
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return bits ^ (bits >>> 16)
}
