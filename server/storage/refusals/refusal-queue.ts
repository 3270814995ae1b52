import type { RefusalRow } from './refusal-table.ts'

/**
 * Of one key and code so many are kept at once, and then so many a second: a batch that is wrong as a whole is kept as a
 * whole, and a flood is told by its count.
 */
const BURST = 1_000
const PER_SECOND = 5

/** Keys and codes that are told apart; when there are more, all are forgotten. Each takes about 200 bytes. */
const SAMPLES = 5_000

/** What may wait to be written. A key may have as much waiting as it leaves free, alone half of it. */
const QUEUE_BYTES = 16 * 1024 * 1024

/** What is written together. */
const GROUP_ROWS = 500
const GROUP_BYTES = 2 * 1024 * 1024

export type RefusalName = Pick<RefusalRow, 'workspace_id' | 'refusal_id'>

/** So many more were refused after one that is kept. */
export type LeftOut = RefusalName & { count: number }

type Sample = { tokens: number; filled_ms: number; last: RefusalName | undefined; left_out: number }

/** Refusals on their way to where they are kept: sampled, in bounded memory, and counted where they are left out. */
export class RefusalQueue {
  readonly #samples = new Map<string, Sample>()
  /** Those of which some were left out since that was last told. */
  readonly #untold = new Set<Sample>()
  /** What is to be told of those that stand between two that are kept. */
  readonly #told: LeftOut[] = []
  readonly #rows: RefusalRow[] = []
  readonly #bytesOfKeys = new Map<string, number>()
  #bytes = 0
  /** How many were left out since the process began. */
  leftOut = 0

  get rows(): number {
    return this.#rows.length
  }

  /** Whether there is anything to write. */
  get isEmpty(): boolean {
    return this.#rows.length === 0 && this.#untold.size === 0
  }

  /**
   * Takes a refusal in, or counts it.
   * @param row makes it, where there is room: that may take the time of reading a body
   */
  offer({ key_id, code }: Pick<RefusalRow, 'key_id' | 'code'>, row: () => RefusalRow): void {
    const sample = this.#sampleOf(`${key_id} ${code}`)
    const ofKey = this.#bytesOfKeys.get(key_id) ?? 0
    if (sample.tokens < 1 || ofKey >= QUEUE_BYTES - this.#bytes) {
      sample.left_out += 1
      this.#untold.add(sample)
      this.leftOut += 1
      return
    }
    sample.tokens -= 1
    const made = row()
    // What was left out before stands with the one before.
    if (sample.left_out > 0 && sample.last) this.#told.push({ ...sample.last, count: sample.left_out })
    sample.left_out = 0
    this.#untold.delete(sample)
    sample.last = { workspace_id: made.workspace_id, refusal_id: made.refusal_id }
    this.#rows.push(made)
    this.#bytes += made.bytes
    this.#bytesOfKeys.set(key_id, ofKey + made.bytes)
  }

  /** Takes out what is written together, and what is to be told of those left out. */
  take(): { rows: RefusalRow[]; leftOut: LeftOut[] } {
    let bytes = 0
    const excess = this.#rows.findIndex((row, index) => {
      bytes += row.bytes
      return index === GROUP_ROWS || (bytes > GROUP_BYTES && index > 0)
    })
    const rows = this.#rows.splice(0, excess === -1 ? this.#rows.length : excess)
    for (const { key_id, bytes } of rows) {
      this.#bytes -= bytes
      const rest = (this.#bytesOfKeys.get(key_id) ?? 0) - bytes
      if (rest > 0) this.#bytesOfKeys.set(key_id, rest)
      else this.#bytesOfKeys.delete(key_id)
    }
    // It may stand with one that is still in the queue.
    return { rows, leftOut: this.#rows.length === 0 ? this.#takeLeftOut() : [] }
  }

  #takeLeftOut(): LeftOut[] {
    for (const sample of this.#untold) {
      if (sample.last) this.#told.push({ ...sample.last, count: sample.left_out })
      sample.left_out = 0
    }
    this.#untold.clear()
    return this.#told.splice(0)
  }

  #sampleOf(name: string): Sample {
    const now_ms = performance.now()
    const known = this.#samples.get(name)
    if (!known) {
      if (this.#samples.size >= SAMPLES) this.#samples.clear()
      const sample = { tokens: BURST, filled_ms: now_ms, last: undefined, left_out: 0 }
      this.#samples.set(name, sample)
      return sample
    }
    known.tokens = Math.min(BURST, known.tokens + ((now_ms - known.filled_ms) / 1000) * PER_SECOND)
    known.filled_ms = now_ms
    return known
  }
}
