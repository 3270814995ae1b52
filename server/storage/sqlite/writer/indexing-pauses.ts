/** Milliseconds of a clock that all threads of the process share and that is never adjusted. */
export function monotonic_ms(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

/** Measures how long groups waited for indexing between being sent and being received. */
export class IndexingPauses {
  #slices: { from_ms: number; to_ms: number }[] = []
  longest_ms = 0

  /** Runs a slice of indexing. */
  during<Result>(slice: () => Result): Result {
    const from_ms = monotonic_ms()
    try {
      return slice()
    } finally {
      this.#slices.push({ from_ms, to_ms: monotonic_ms() })
    }
  }

  /** Call when a group that was sent at `sent_ms` is received. */
  waited(sent_ms: number): void {
    let pause_ms = 0
    for (const { from_ms, to_ms } of this.#slices) pause_ms += Math.max(0, to_ms - Math.max(from_ms, sent_ms))
    this.#slices = []
    this.longest_ms = Math.max(this.longest_ms, pause_ms)
  }
}
