import type { StepTimes } from './standings.ts'

/**
 * Times are counted in the buckets of a logarithmic histogram: 256 is added, and the exponent and the next 8 bits of
 * the 64-bit float give the bucket. That is one bucket per millisecond up to 2^8, then 256 buckets per doubling, up to
 * 2^49 ms.
 */
const BUCKETS = (49 - 8 + 1) * 256
const FIRST_BUCKET = (1023 + 8) * 256
const float = new Float64Array(1)
const halves = new Uint32Array(float.buffer)
float[0] = 1
/** Which half of a 64-bit float contains the exponent. */
const UPPER = halves[1] === 0 ? 0 : 1

/** A range with more times than this is divided before they are collected. */
const COLLECTED = 16_384
const PARTS = 1024

/** In tenths: the median and the 90th percentile. */
const MEDIAN = 5
const P90 = 9

/** A range that contains times of some ranks: `from_ms` or longer, less than `to_ms`. */
type Range = {
  from_ms: number
  to_ms: number
  /** How many times are shorter than the range. */
  below: number
  /** How many times are in the range. */
  count: number
  ranks: number[]
  /** The times collected so far; or, for a divided range, the counts of its equal parts. */
  values: Float64Array
  found: number
  parts: Uint32Array
  part_ms: number
}

/**
 * Finds the exact percentiles of how long each step took, with little memory for any number of enrolments. The first
 * walk over all times counts them in buckets; later walks examine only the buckets that contain the wanted ranks. Two
 * walks are enough unless times cluster.
 */
export class StepTimesCount {
  readonly #buckets: Uint32Array
  readonly #counts: number[]
  /** Ranges to examine next, by step; undefined during the first walk. */
  #ranges: Range[][] | undefined
  /** The times found, by step and rank. */
  readonly #known: Map<number, number>[]

  constructor(steps: number) {
    this.#buckets = new Uint32Array(steps * BUCKETS)
    this.#counts = new Array<number>(steps).fill(0)
    this.#known = this.#counts.map(() => new Map())
  }

  /** Adds a time in the first walk. */
  count(step: number, time_ms: number): void {
    const bucket = step * BUCKETS + bucketOf(time_ms)
    this.#buckets[bucket] = (this.#buckets[bucket] as number) + 1
  }

  /** Adds a time in a later walk. */
  look(step: number, time_ms: number): void {
    const ranges = this.#ranges?.[step] as Range[]
    for (let index = 0; index < ranges.length; index += 1) {
      const range = ranges[index] as Range
      if (time_ms < range.from_ms || time_ms >= range.to_ms) continue
      if (range.part_ms === 0) {
        range.values[range.found++] = time_ms
      } else {
        const part = Math.floor((time_ms - range.from_ms) / range.part_ms)
        range.parts[part] = (range.parts[part] as number) + 1
      }
    }
  }

  /** Ends a walk. Returns whether another one is needed, in which all times are passed to `look`. */
  endWalk(): boolean {
    this.#ranges = this.#counts.map((_, step) =>
      this.#ranges ? this.#narrowed(step, this.#ranges[step] ?? []) : this.#firstRanges(step),
    )
    return this.#ranges.some((ranges) => ranges.length > 0)
  }

  /** How long a step took; call after the last walk. */
  times(step: number): StepTimes {
    const n = this.#counts[step] ?? 0
    return { n, median_ms: this.#percentile(step, MEDIAN), p90_ms: this.#percentile(step, P90) }
  }

  /** Like `percentile_cont`, rounded only by the last division. */
  #percentile(step: number, tenths: number): number | null {
    const { rank, rest } = position(this.#counts[step] ?? 0, tenths)
    const low = this.#known[step]?.get(rank)
    if (low === undefined) return null
    const high = this.#known[step]?.get(rank + 1) ?? low
    return rest === 0 ? low : (low * (10 - rest) + high * rest) / 10
  }

  #firstRanges(step: number): Range[] {
    const buckets = this.#buckets.subarray(step * BUCKETS, (step + 1) * BUCKETS)
    const n = buckets.reduce((sum, count) => sum + count, 0)
    this.#counts[step] = n
    if (n === 0) return []
    const wanted = [MEDIAN, P90].flatMap((tenths) => {
      const { rank, rest } = position(n, tenths)
      return rest === 0 ? [rank] : [rank, rank + 1]
    })
    const ranks = [...new Set(wanted)].sort((one, other) => one - other)
    return this.#rangesOf(step, { ranks, below: 0, counts: buckets, from_ms: bucketStart })
  }

  #narrowed(step: number, ranges: readonly Range[]): Range[] {
    return ranges.flatMap(({ from_ms, below, ranks, values, parts, part_ms }) => {
      if (part_ms > 0) {
        const partStart = (part: number) => from_ms + part * part_ms
        return this.#rangesOf(step, { ranks, below, counts: parts, from_ms: partStart })
      }
      values.sort()
      for (const rank of ranks) this.#known[step]?.set(rank, values[rank - below] ?? Number.NaN)
      return []
    })
  }

  /**
   * The ranges, among contiguous ones, that contain ranks not found yet.
   * @param from_ms start of the range with an index
   */
  #rangesOf(
    step: number,
    sought: { ranks: readonly number[]; below: number; counts: Uint32Array; from_ms(index: number): number },
  ): Range[] {
    const ranges: Range[] = []
    let { below } = sought
    let index = 0
    for (const rank of sought.ranks) {
      while (rank >= below + (sought.counts[index] ?? Number.POSITIVE_INFINITY)) {
        below += sought.counts[index] ?? 0
        index += 1
      }
      const [from_ms, to_ms] = [sought.from_ms(index), sought.from_ms(index + 1)]
      if (to_ms - from_ms === 1) this.#known[step]?.set(rank, from_ms)
      else if (ranges.at(-1)?.from_ms === from_ms) ranges.at(-1)?.ranks.push(rank)
      else ranges.push(rangeOf({ from_ms, to_ms, below, count: sought.counts[index] ?? 0, ranks: [rank] }))
    }
    return ranges
  }
}

function rangeOf(range: Pick<Range, 'from_ms' | 'to_ms' | 'below' | 'count' | 'ranks'>): Range {
  const isDivided = range.count > COLLECTED
  return {
    ...range,
    values: new Float64Array(isDivided ? 0 : range.count),
    found: 0,
    parts: new Uint32Array(isDivided ? PARTS : 0),
    part_ms: isDivided ? Math.ceil((range.to_ms - range.from_ms) / PARTS) : 0,
  }
}

/** The position of a percentile among n sorted times: a rank, from 0, and tenths of the way to the next rank. */
function position(n: number, tenths: number): { rank: number; rest: number } {
  const place = tenths * (n - 1)
  return { rank: Math.floor(place / 10), rest: place % 10 }
}

function bucketOf(time_ms: number): number {
  float[0] = time_ms + 256
  return ((halves[UPPER] as number) >>> 12) - FIRST_BUCKET
}

function bucketStart(bucket: number): number {
  return (256 + (bucket % 256)) * 2 ** Math.floor(bucket / 256) - 256
}
