const FREE = 0
const HELD = 1
/** Held, and somebody waits. */
const WAITED_FOR = 2

/** A lock among threads, for work of a microsecond (the second mutex of Drepper, "Futexes Are Tricky"). */
export class SharedLock {
  readonly #state: Int32Array

  /** @param memory from `SharedLock.memory()`, the same one in every thread */
  constructor(memory: SharedArrayBuffer) {
    this.#state = new Int32Array(memory)
  }

  static memory(): SharedArrayBuffer {
    return new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
  }

  /** Does work while no other thread does work of this lock. It must not wait, and not take the lock again. */
  hold<Result>(work: () => Result): Result {
    const state = this.#state
    if (Atomics.compareExchange(state, 0, FREE, HELD) !== FREE) {
      while (Atomics.exchange(state, 0, WAITED_FOR) !== FREE) Atomics.wait(state, 0, WAITED_FOR)
    }
    try {
      return work()
    } finally {
      if (Atomics.exchange(state, 0, FREE) === WAITED_FOR) Atomics.notify(state, 0, 1)
    }
  }
}
