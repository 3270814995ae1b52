/** Maximum time that a reader waits for what is being written. */
const CATCH_UP_MS = 1_000

/** Write-behind: what comes within a delay is written together, in the background, by one write at a time. */
export class WriteBehind {
  readonly #writeAll: () => Promise<void>
  readonly #delay_ms: number
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> | undefined

  /** @param writeAll writes what waits, also what comes meanwhile; never fails */
  constructor(writeAll: () => Promise<void>, delay_ms: number) {
    this.#writeAll = writeAll
    this.#delay_ms = delay_ms
  }

  /** To be called when something begins to wait. */
  schedule(): void {
    this.#timer ??= setTimeout(() => this.flush(), this.#delay_ms).unref()
  }

  /** Writes what waits now. */
  flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined
    })
    return this.#writing
  }

  /** Writes what waits, and waits for it, but not for long. */
  async catchUp(): Promise<void> {
    if (!this.#timer && !this.#writing) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, CATCH_UP_MS)
    await Promise.race([this.flush(), promise])
    clearTimeout(timer)
  }
}
