/**
 * A map that evicts the least recently set entries in two generations: it keeps at least `least` and less than twice as
 * many.
 */
export class RecentMap<Value> {
  readonly #least: number
  #recent = new Map<string, Value>()
  /** Entries that were not set again since the previous generation was full. */
  #earlier = new Map<string, Value>()

  constructor(least: number) {
    this.#least = least
  }

  get(name: string): Value | undefined {
    return this.#recent.get(name) ?? this.#earlier.get(name)
  }

  set(name: string, value: Value): void {
    this.#recent.set(name, value)
    if (this.#recent.size < this.#least) return
    // The whole earlier generation at once: finding and removing the oldest entry for each new one took 37 µs.
    this.#earlier = this.#recent
    this.#recent = new Map()
  }

  delete(name: string): void {
    this.#recent.delete(name)
    this.#earlier.delete(name)
  }
}
