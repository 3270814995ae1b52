import type { Pool } from './pool.ts'

/** How often is looked; what another process has changed is to be obeyed within a second. */
const LOOK_MS = 300

/** When the last look is so long ago, what is in memory is believed no more. */
const BELIEVED_MS = 700

type ChangeWatchOptions = {
  pool: Pool
  /** Called when another process has changed something, and again and again while nobody can tell whether one has. */
  onChange: () => void
}

/**
 * Looks again and again whether another process has changed what this one may have in memory. It needs no notification,
 * which a connection that is lost would lose with it, and which no pooler hands on.
 */
export class ChangeWatch {
  readonly #options: ChangeWatchOptions
  readonly #timer: NodeJS.Timeout
  /** Undefined where nobody knows what was changed before. */
  #seen: number | undefined
  #seen_ms = performance.now()
  #looking: Promise<void> | undefined

  constructor(options: ChangeWatchOptions) {
    this.#options = options
    this.#timer = setInterval(() => this.#watch(), LOOK_MS)
    this.#timer.unref()
  }

  /** A change of this process, of which it has been told: it need not be looked for. */
  made(change: number): void {
    if (this.#seen === change - 1) this.#seen = change
  }

  async end(): Promise<void> {
    clearInterval(this.#timer)
    await this.#looking
  }

  #watch() {
    if (performance.now() - this.#seen_ms > BELIEVED_MS) {
      this.#seen = undefined
      this.#options.onChange()
    }
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined
    })
  }

  async #look() {
    const began_ms = performance.now()
    const before = this.#seen
    try {
      const [row] = await this.#options.pool.read<{ changes: number }>('SELECT changes FROM cairn_store', [])
      // A change of this process that was made while it was looked is in neither or in both.
      if (row?.changes !== this.#seen && row?.changes !== before) this.#options.onChange()
      this.#seen = Math.max(row?.changes ?? 0, this.#seen ?? 0)
      this.#seen_ms = began_ms
    } catch {
      // It is told when it has lasted long enough.
    }
  }
}
