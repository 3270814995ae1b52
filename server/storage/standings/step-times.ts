import type { StepTimes } from './standings.ts'

/**
 * Times are counted by the exponent of what they are with 256 added and by the 8 bits behind it, as a number of 64 bits has
 * them: up to 2^8 one by one, then with 256 buckets for each doubling, up to 2^49 ms.
 */
const BUCKETS = (49 - 8 + 1) * 256
const FIRST_BUCKET = (1023 + 8) * 256
const float = new Float64Array(1)
const halves = new Uint32Array(float.buffer)
float[0] = 1
/** Which half of a number of 64 bits has the exponent. */
const UPPER = halves[1] === 0 ? 0 : 1

/** A range with more times than this is divided before they are collected. */
const COLLECTED = 16_384
const PARTS = 1024

/** In tenths: the median and the 90th percentile. */
const MEDIAN = 5
const P90 = 9

/** A range in which times of some ranks lie: `from_ms` or longer, less than `to_ms`. */
type Range = {
  from_ms: number
  to_ms: number
  /** How many times are shorter than all of it. */
  below: number
  /** How many lie in it. */
  count: number
  ranks: number[]
  /** The times, as far as they were looked at; or else how many lie in each part of so many milliseconds. */
  values: Float64Array
  found: number
  parts: Uint32Array
  part_ms: number
}

/**
 * Finds the exact percentiles of what each step took, with little memory for any number of enrolments. The first walk over
 * all times counts them in buckets; the next ones look only into the buckets where the wanted ones lie. A second walk is
 * enough unless times crowd.
 */
export class StepTimesCount {
  readonly #buckets: Uint32Array
  readonly #counts: number[]
  /** Where to look next, by step; undefined during the first walk. */
  #ranges: Range[][] | undefined
  /** The times that are known, by step and rank. */
  readonly #known: Map<number, number>[]

  constructor(steps: number) {
    this.#buckets = new Uint32Array(steps * BUCKETS)
    this.#counts = new Array<number>(steps).fill(0)
    this.#known = this.#counts.map(() => new Map())
  }

  /** Takes a time in the first walk. */
  count(step: number, time_ms: number): void {
    const bucket = step * BUCKETS + bucketOf(time_ms)
    this.#buckets[bucket] = (this.#buckets[bucket] as number) + 1
  }

  /** Takes a time in a later walk. */
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

  /** Ends a walk. Whether one more is needed, in which all times are shown to `look`. */
  endWalk(): boolean {
    this.#ranges = this.#counts.map((_, step) =>
      this.#ranges ? this.#narrowed(step, this.#ranges[step] ?? []) : this.#firstRanges(step),
    )
    return this.#ranges.some((ranges) => ranges.length > 0)
  }

  /** What a step took, after the last walk. */
  times(step: number): StepTimes {
    const n = this.#counts[step] ?? 0
    return { n, median_ms: this.#percentile(step, MEDIAN), p90_ms: this.#percentile(step, P90) }
  }

  /** As `percentile_cont`, with nothing rounded before the last division. */
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

  /** The ranges, among successive ones, in which ranks lie that are not known by that. @param from_ms where one begins */
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

/** Where a percentile lies among n sorted times: at a rank, from 0, and so many tenths on the way to the next. */
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
