import type { components } from '../../../generated/contract.ts'
import { fieldOf } from './refusal-summary.ts'
import type { RefusalRow } from './refusal-table.ts'

/**
 * Sampling per key and code (a token bucket): this many at once, then this many per second. A batch that is entirely
 * wrong is kept entirely, and a flood is counted.
 */
const BURST = 1_000
const PER_SECOND = 5

/** Maximum keys and codes distinguished; above it all are forgotten. Each takes about 200 bytes. */
const SAMPLES = 5_000

/** What is left out is counted on a refusal of the same span, so that its time is about right. */
const SPAN_MS = 60_000

/**
 * What is left out is counted by operation, field, journey and event name: maximum combinations per key and code in a
 * span, and in total. Otherwise a sender that invents a field for each request would have all of them kept.
 */
const SERIES = 20
const SERIES_IN_ALL = 10_000

/** Memory budget for what waits to be written. A key may have as much waiting as it leaves free, at most a half. */
const QUEUE_BYTES = 16 * 1024 * 1024

/** Maximum size of a group that is written together. */
const GROUP_ROWS = 500
const GROUP_BYTES = 2 * 1024 * 1024

/** A queued refusal, with the unredacted head of what was sent. */
export type WaitingRefusal = Omit<RefusalRow, 'sent' | 'bytes'> & {
  head: Uint8Array
  /** Memory that it takes. */
  held_bytes: number
}

type RefusalName = Pick<RefusalRow, 'workspace_id' | 'refusal_id'>

/** A refusal that is kept, and the number of further ones that are counted on its row. */
export type LeftOut = RefusalName & { count: number }

/** The fields that distinguish refusals. */
type Offered = Pick<
  RefusalRow,
  'key_id' | 'code' | 'operation' | 'item' | 'received_ms' | 'journey_id' | 'event_id'
> & { errors?: components['schemas']['Fault'][] | undefined }

/** Refusals of one key and code. */
type Sample = { tokens: number; filled_ms: number; span: number; series: number }

/** Queues refusals to be written: sampled, within a memory budget, and counted if they are left out. */
export class RefusalQueue {
  readonly #samples = new Map<string, Sample>()
  /** Those of the current span. */
  readonly #series = new Map<string, LeftOut>()
  #span = 0
  /** Series with counts that were not written yet. */
  readonly #untold = new Set<LeftOut>()
  readonly #rows: WaitingRefusal[] = []
  readonly #bytesOfKeys = new Map<string, number>()
  #bytes = 0
  /** Number left out since the process started. */
  leftOut = 0

  get rows(): number {
    return this.#rows.length
  }

  /** Whether there is nothing to write. */
  get isEmpty(): boolean {
    return this.#rows.length === 0 && this.#untold.size === 0
  }

  /**
   * Enqueues or counts a refusal. The first of each series in a span has a row, so that what is left out is counted
   * with its own kind; what belongs to no series is counted on a row without content.
   * @param isSaved whether its content may be kept; otherwise it is only counted
   * @param row creates the row, with or without what was sent
   */
  offer(refused: Offered, isSaved: boolean, row: (isSaved: boolean) => WaitingRefusal): void {
    const { key_id, code, operation, item, received_ms } = refused
    const sampleName = `${key_id} ${code}`
    const sample = this.#sampleOf(sampleName)
    this.#enterSpan(sample, Math.floor(received_ms / SPAN_MS))
    const hasRoom = isSaved && (this.#bytesOfKeys.get(key_id) ?? 0) < QUEUE_BYTES - this.#bytes
    if (hasRoom && sample.tokens >= 1) {
      sample.tokens -= 1
      this.#push(row(true))
      return
    }
    const rest = `${sampleName} ${operation} ${item === null}`
    const { errors = [], journey_id, event_id } = refused
    const name = JSON.stringify([rest, fieldOf(operation, errors), journey_id, event_id])
    const known = (isSaved && this.#series.get(name)) || this.#series.get(rest)
    const isNew = hasRoom && !this.#series.has(name)
    if (isNew && sample.series < SERIES && this.#series.size < SERIES_IN_ALL) {
      sample.series += 1
      this.#series.set(name, this.#push(row(true)))
    } else if (known) {
      known.count += 1
      this.#untold.add(known)
      this.leftOut += 1
    } else {
      this.#series.set(rest, this.#push(row(false)))
    }
  }

  #push(row: WaitingRefusal): LeftOut {
    const { workspace_id, refusal_id, key_id, held_bytes } = row
    this.#rows.push(row)
    this.#bytes += held_bytes
    this.#bytesOfKeys.set(key_id, (this.#bytesOfKeys.get(key_id) ?? 0) + held_bytes)
    return { workspace_id, refusal_id, count: 0 }
  }

  /** Takes the next group, and the counts of those left out. */
  take(): { rows: WaitingRefusal[]; leftOut: LeftOut[] } {
    let bytes = 0
    const excess = this.#rows.findIndex((row, index) => {
      bytes += row.held_bytes
      return index === GROUP_ROWS || (bytes > GROUP_BYTES && index > 0)
    })
    const rows = this.#rows.splice(0, excess === -1 ? this.#rows.length : excess)
    for (const { key_id, held_bytes } of rows) {
      this.#bytes -= held_bytes
      const rest = (this.#bytesOfKeys.get(key_id) ?? 0) - held_bytes
      if (rest > 0) this.#bytesOfKeys.set(key_id, rest)
      else this.#bytesOfKeys.delete(key_id)
    }
    // Counts only if the queue is empty: their row may still be in it.
    return { rows, leftOut: this.#rows.length === 0 ? this.#takeLeftOut() : [] }
  }

  #takeLeftOut(): LeftOut[] {
    const told = [...this.#untold].map((series) => ({ ...series }))
    for (const series of this.#untold) series.count = 0
    this.#untold.clear()
    return told
  }

  #enterSpan(sample: Sample, span: number) {
    // Requests that began in the span before may still be refused; an earlier one: the clock was set back.
    if (span > this.#span || span < this.#span - 1) {
      this.#span = span
      this.#series.clear()
    }
    if (sample.span === this.#span) return
    sample.span = this.#span
    sample.series = 0
  }

  #sampleOf(name: string): Sample {
    const now_ms = performance.now()
    const known = this.#samples.get(name)
    if (!known) {
      if (this.#samples.size >= SAMPLES) this.#samples.clear()
      const sample = { tokens: BURST, filled_ms: now_ms, span: this.#span, series: 0 }
      this.#samples.set(name, sample)
      return sample
    }
    known.tokens = Math.min(BURST, known.tokens + ((now_ms - known.filled_ms) / 1000) * PER_SECOND)
    known.filled_ms = now_ms
    return known
  }
}
