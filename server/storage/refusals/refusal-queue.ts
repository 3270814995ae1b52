import type { components } from '../../../generated/contract.ts'
import { fieldOf } from './refusal-summary.ts'
import type { RefusalRow } from './refusal-table.ts'

/**
 * Of one key and code so many are kept at once, and then so many a second: a batch that is wrong as a whole is kept as a
 * whole, and a flood is told by its count.
 */
const BURST = 1_000
const PER_SECOND = 5

/** Keys and codes that are told apart; when there are more, all are forgotten. Each takes about 200 bytes. */
const SAMPLES = 5_000

/** What is left out is counted with a refusal that came within the same span, so that it is counted at its time. */
const SPAN_MS = 60_000

/**
 * What is left out is counted by operation, field, journey and event name: so many combinations per key and code in a span,
 * and so many in all. Without a bound, a sender that makes up a field for each request would have all of them kept.
 */
const SERIES = 20
const SERIES_IN_ALL = 10_000

/** What may wait to be written. A key may have as much waiting as it leaves free, alone half of it. */
const QUEUE_BYTES = 16 * 1024 * 1024

/** What is written together. */
const GROUP_ROWS = 500
const GROUP_BYTES = 2 * 1024 * 1024

/** A refusal on its way: with the head of what was sent as it was, which may hold secrets, and not as it is kept. */
export type WaitingRefusal = Omit<RefusalRow, 'sent' | 'bytes'> & {
  head: Uint8Array
  /** What it takes of memory. */
  held_bytes: number
}

export type RefusalName = Pick<RefusalRow, 'workspace_id' | 'refusal_id'>

/** So many more were refused after one that is kept. */
export type LeftOut = RefusalName & { count: number }

/** By what refusals are told apart. */
type Offered = Pick<
  RefusalRow,
  'key_id' | 'code' | 'operation' | 'item' | 'received_ms' | 'journey_id' | 'event_id'
> & { errors?: components['schemas']['Fault'][] | undefined }

/** Refusals of one key and code. */
type Sample = { tokens: number; filled_ms: number; span: number; series: number }

/** Refusals of a sample that are counted together, with one of them that has a row. */
type Series = RefusalName & { count: number }

/** Refusals on their way to where they are kept: sampled, in bounded memory, and counted where they are left out. */
export class RefusalQueue {
  readonly #samples = new Map<string, Sample>()
  /** Those of the current span. */
  readonly #series = new Map<string, Series>()
  #span = 0
  /** Series of which some were left out since that was last told. */
  readonly #untold = new Set<Series>()
  readonly #rows: WaitingRefusal[] = []
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
   * Takes a refusal in, or counts it. The first of each series in a span has a row, so that what is left out is counted with
   * one of its own kind; what is in no series is counted with a row that has no content.
   * @param isSaved whether its content may be kept; else it is only counted
   * @param row makes it, with or without what was sent
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

  #push(row: WaitingRefusal): Series {
    const { workspace_id, refusal_id, key_id, held_bytes } = row
    this.#rows.push(row)
    this.#bytes += held_bytes
    this.#bytesOfKeys.set(key_id, (this.#bytesOfKeys.get(key_id) ?? 0) + held_bytes)
    return { workspace_id, refusal_id, count: 0 }
  }

  /** Takes out what is written together, and what is to be told of those left out. */
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
    // It may stand with one that is still in the queue.
    return { rows, leftOut: this.#rows.length === 0 ? this.#takeLeftOut() : [] }
  }

  #takeLeftOut(): LeftOut[] {
    const told = [...this.#untold].map((series) => ({ ...series }))
    for (const series of this.#untold) series.count = 0
    this.#untold.clear()
    return told
  }

  #enterSpan(sample: Sample, span: number) {
    if (span > this.#span) {
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
