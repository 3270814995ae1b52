/** Milliseconds of a clock that all threads of the process share and that nobody sets. */
export function monotonic_ms(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

/** How long groups have waited for indexing: from when they were sent to when they were taken, as far as it went on. */
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

  /** A group that was sent then is taken now. */
  waited(sent_ms: number): void {
    let pause_ms = 0
    for (const { from_ms, to_ms } of this.#slices) pause_ms += Math.max(0, to_ms - Math.max(from_ms, sent_ms))
    this.#slices = []
    this.longest_ms = Math.max(this.longest_ms, pause_ms)
  }
}
