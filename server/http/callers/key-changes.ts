/**
 * How often service keys have been changed by this process, in memory that all its threads see: what one of them has revoked
 * works in none, from the moment at which that is answered.
 */
export class KeyChanges {
  readonly memory: SharedArrayBuffer
  readonly #count: Int32Array

  /** @param memory of the same counter in another thread */
  constructor(memory = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory
    this.#count = new Int32Array(memory)
  }

  get count(): number {
    return Atomics.load(this.#count, 0)
  }

  /** A transaction that may have changed keys is on disk. To be called before whoever asked for it is answered. */
  made(): void {
    Atomics.add(this.#count, 0, 1)
  }
}
