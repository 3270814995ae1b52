import type { Pool } from './pool.ts'
import { readIdentity, StoreReplaced } from './store-identity.ts'

/** Polling interval: what another process has changed must take effect within a second. */
const LOOK_MS = 300

/** If the last poll is older than this, what is cached is read again. */
const BELIEVED_MS = 700

/** If it is older than this, nothing cached is trusted until another one has succeeded. */
const TRUSTED_MS = 1_000

type ChangeWatchOptions = {
  pool: Pool
  /** Of the store. */
  identity: string
  /**
   * Called when another process has changed something, and repeatedly while that is unknown. Resolves when nothing from
   * before the call is cached any more.
   */
  onChange: () => Promise<void> | void
  /** Called when another store has taken the place of this one, as long as it does. */
  onReplaced: (error: StoreReplaced) => void
}

/**
 * Polls whether another process has changed what this one may have cached. It needs no notification, which a lost
 * connection would lose and a pooler does not forward.
 */
export class ChangeWatch {
  readonly #options: ChangeWatchOptions
  readonly #timer: NodeJS.Timeout
  /** Undefined if the last change number is unknown. */
  #seen: number | undefined
  #seen_ms = performance.now()
  #looking: Promise<void> | undefined

  constructor(options: ChangeWatchOptions) {
    this.#options = options
    this.#timer = setInterval(() => this.#watch(), LOOK_MS)
    this.#timer.unref()
  }

  /**
   * Whether this process knows what others had changed a second ago. A process that was suspended handles requests before
   * its timers.
   */
  get isCurrent(): boolean {
    return performance.now() - this.#seen_ms <= TRUSTED_MS
  }

  /** Records a change of this process, which need not be detected. */
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
      void this.#options.onChange()
    }
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined
    })
  }

  async #look() {
    const began_ms = performance.now()
    const before = this.#seen
    try {
      const { pool, identity, onReplaced } = this.#options
      const [row] = await pool.read<{ changes: number }>('SELECT changes FROM cairn_store', [])
      // Not in one statement, because Citus may run that on another node.
      if (row && (await readIdentity(pool)) !== identity) return onReplaced(new StoreReplaced())
      // A change of this process that was committed during the poll is in neither value or in both.
      const isNews = row?.changes !== this.#seen && row?.changes !== before
      // A fail-over may have lost some, whose numbers are given again.
      const counted = this.#seen === before ? 0 : (this.#seen ?? 0)
      this.#seen = Math.max(row?.changes ?? 0, counted)
      if (isNews) await this.#options.onChange()
      this.#seen_ms = began_ms
    } catch {
      // Reported once it has lasted long enough.
    }
  }
}
