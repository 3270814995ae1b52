/** Maximum number of distinct contents that are counted: 8 bytes each, in a table of at most 128 MiB. */
const KNOWN_CONTENTS = 12_000_000

const LEAST_SLOTS = 2 ** 16

/** Counts how often each content has occurred, in bounded memory. */
export class Occurrences {
  /** Hash table with open addressing: a fingerprint is in the first free slot from its own position on. 0: free. */
  #slots = new Float64Array(LEAST_SLOTS)
  #known = 0
  /** Contents that occurred more than once. */
  readonly #repeated = new Map<number, number>()

  /**
   * Returns the number of earlier occurrences of the content.
   * @param digest a cryptographic digest of the content
   * @returns undefined if the table is full and the content is not in it
   */
  next(digest: Buffer): number | undefined {
    // 53 bits: among 12 million contents, two collide by chance in one of a hundred runs. The second then gets a wrong
    // number, but the same one in every run.
    const fingerprint = digest.readUIntBE(0, 6) * 32 + (digest.readUInt8(6) >> 3) || 1
    const slot = this.#find(fingerprint)
    if (this.#slots[slot] === fingerprint) {
      const count = (this.#repeated.get(fingerprint) ?? 0) + 1
      this.#repeated.set(fingerprint, count)
      return count
    }
    if (this.#known >= KNOWN_CONTENTS) return undefined
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
