/** Contents told apart one by one: 8 bytes each in a table of at most 128 MiB. */
const KNOWN_CONTENTS = 12_000_000

const LEAST_SLOTS = 2 ** 16

/** Counts how often each content came before, in bounded memory. */
export class Occurrences {
  /** Open addressing: a fingerprint stands in the first free slot from its own place on. 0: free. */
  #slots = new Float64Array(LEAST_SLOTS)
  #known = 0
  /** Contents that came more than once. */
  readonly #repeated = new Map<number, number>()
  readonly #limit: number

  constructor({ limit = KNOWN_CONTENTS }: { limit?: number } = {}) {
    this.#limit = limit
  }

  /**
   * Which occurrence of the content this is, from 0.
   * @param digest a cryptographic digest of the content
   * @returns undefined where more contents came than are told apart and this is none of them
   */
  next(digest: Buffer): number | undefined {
    // 53 bits: among 12 million contents two are alike by chance once in a hundred runs, and then the second one has
    // another number than it needs, the same in every run.
    const fingerprint = digest.readUIntBE(0, 6) * 32 + (digest.readUInt8(6) >> 3) || 1
    const slot = this.#find(fingerprint)
    if (this.#slots[slot] === fingerprint) {
      const count = (this.#repeated.get(fingerprint) ?? 0) + 1
      this.#repeated.set(fingerprint, count)
      return count
    }
    if (this.#known >= this.#limit) return undefined
    this.#slots[slot] = fingerprint
    this.#known += 1
    if (this.#known > this.#slots.length * 0.75) this.#grow()
    return 0
  }

  #find(fingerprint: number): number {
    let slot = fingerprint % this.#slots.length
    while (this.#slots[slot] !== 0 && this.#slots[slot] !== fingerprint)
      slot = (slot + 1) % this.#slots.length
    return slot
  }

  #grow() {
    const before = this.#slots
    this.#slots = new Float64Array(before.length * 2)
    for (const fingerprint of before)
      if (fingerprint !== 0) this.#slots[this.#find(fingerprint)] = fingerprint
  }
}
