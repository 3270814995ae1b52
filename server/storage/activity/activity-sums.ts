import {
  type Activity,
  type ActivityCounts,
  type ActivityGroup,
  type ActivityPeriod,
  type ActivityRequest,
  blockOf,
  GROUPS,
  KEPT_MS,
  type NumberedSeries,
  periodOf,
  type Series,
  spanOf,
} from './activity.ts'
import { addCounts, eachCounts, totalOf } from './event-counts.ts'

/** The stored counts of a period. */
export type KeptPeriod = { start_ms: number; counts: Uint8Array }

/** Counts that are not in any stored period yet. */
export type OpenCounts = Series & ActivityCounts & { minute_ms: number }

/** Everything that an answer is made of, as of one commit. */
export type Counted = {
  /** Of the requested length, within the span, in order. */
  periods: readonly KeptPeriod[]
  open: readonly OpenCounts[]
  /** The series of the blocks in the span; needed only if `needsSeries`. */
  series: readonly NumberedSeries[]
  /** When counting started in this store. */
  since_ms: number
}

/** Whether the answer distinguishes series. */
export function needsSeries({ journey_id, event_id, key_id, group_by }: ActivityRequest): boolean {
  return [journey_id, event_id, key_id, group_by].some((condition) => condition !== undefined)
}

/** Sums up what was counted. */
export function activityOf(
  request: ActivityRequest,
  { periods, open, series, since_ms }: Counted,
  now_ms: number,
): Activity {
  const { by } = request
  const { from_ms, to_ms } = spanOf(request)
  const sums = new Sums(request, series)
  for (const period of periods) sums.addPeriod(period)
  for (const counts of open) {
    if (counts.minute_ms >= from_ms && counts.minute_ms < to_ms) sums.addOpen(counts)
  }
  const kept_from_ms = Math.max(periodOf(now_ms - KEPT_MS[by], by) || 0, periodOf(since_ms, by))
  return { ...sums.answer(), kept_from_ms }
}

class Sums {
  readonly #request: ActivityRequest
  readonly #total: ActivityCounts = { created: 0, duplicate: 0, rejected: 0 }
  readonly #periods = new Map<number, ActivityPeriod>()
  readonly #groups = new Map<string, ActivityGroup>()
  readonly #blocks = new Map<number, BlockSums>()
  readonly #needsSeries: boolean

  constructor(request: ActivityRequest, series: readonly NumberedSeries[]) {
    this.#request = request
    this.#needsSeries = needsSeries(request)
    const asked = series.filter((one) => this.#isAskedFor(one))
    for (const [block, ofBlock] of Map.groupBy(asked, ({ block }) => block)) {
      this.#blocks.set(block, new BlockSums(ofBlock))
    }
  }

  /** Must be called in the order of the periods. */
  addPeriod({ start_ms, counts }: KeptPeriod): void {
    const period = this.#periodAt(start_ms)
    if (this.#needsSeries) this.#blocks.get(blockOf(start_ms))?.add(period, counts)
    else addCounts(period, totalOf(counts))
  }

  addOpen(counts: OpenCounts): void {
    if (!this.#isAskedFor(counts)) return
    const { minute_ms } = counts
    addCounts(this.#periodAt(periodOf(minute_ms, this.#request.by)), counts)
    this.#addToGroup(counts, minute_ms, counts)
  }

  answer(): Omit<Activity, 'kept_from_ms'> {
    const { by } = this.#request
    for (const block of this.#blocks.values()) {
      for (const { series, start_ms, counts } of block.sums()) {
        // The last minute of a series is known only for its last period.
        const last_ms = periodOf(series.last_ms, by) === start_ms ? series.last_ms : start_ms
        this.#addToGroup(series, last_ms, counts)
      }
    }
    const periods = [...this.#periods.values()].filter((period) => sizeOf(period) > 0)
    for (const period of periods) addCounts(this.#total, period)
    const groups = [...this.#groups.values()].filter((group) => sizeOf(group) > 0)
    groups.sort(bySize)
    return {
      total: this.#total,
      periods: periods.sort((a, b) => a.start_ms - b.start_ms),
      groups: groups.slice(0, GROUPS),
      groups_omitted: Math.max(0, groups.length - GROUPS),
    }
  }

  #periodAt(start_ms: number): ActivityPeriod {
    const known = this.#periods.get(start_ms)
    if (known) return known
    const period = { start_ms, created: 0, duplicate: 0, rejected: 0 }
    this.#periods.set(start_ms, period)
    return period
  }

  #isAskedFor({ journey_id, event_id, key_id }: Series): boolean {
    const asked = this.#request
    return (
      (asked.journey_id === undefined || asked.journey_id === journey_id) &&
      (asked.event_id === undefined || asked.event_id === event_id) &&
      (asked.key_id === undefined || asked.key_id === key_id)
    )
  }

  #addToGroup(series: Series, last_ms: number, counts: ActivityCounts) {
    const { group_by } = this.#request
    if (!group_by) return
    const text = series[`${group_by}_id`]
    let group = this.#groups.get(text)
    if (!group) {
      group = { group: text === '' ? null : text, created: 0, duplicate: 0, rejected: 0, last_ms }
      this.#groups.set(text, group)
    }
    addCounts(group, counts)
    if (last_ms > group.last_ms) group.last_ms = last_ms
  }
}

/** Fields per series in `BlockSums`: created, duplicate, rejected, and the last period with any of them. */
const FIELDS_A_SERIES = 4

/**
 * The requested series of a block and their sums over its periods. Addressed by number: with a thousand names per
 * minute, a day has a million and a half counts, and looking each up by name took most of the time.
 */
class BlockSums {
  readonly #series: readonly NumberedSeries[]
  readonly #isAsked: Uint8Array
  readonly #sums: Float64Array

  /** @param series the requested ones */
  constructor(series: readonly NumberedSeries[]) {
    const size = series.reduce((size, { number }) => Math.max(size, number + 1), 0)
    this.#series = series
    this.#isAsked = new Uint8Array(size)
    this.#sums = new Float64Array(size * FIELDS_A_SERIES)
    for (const { number } of series) this.#isAsked[number] = 1
  }

  add(period: ActivityPeriod, counts: Uint8Array): void {
    const isAsked = this.#isAsked
    const sums = this.#sums
    const { start_ms } = period
    eachCounts(counts, (number, created, duplicate, rejected) => {
      if (isAsked[number] !== 1) return
      period.created += created
      period.duplicate += duplicate
      period.rejected += rejected
      const at = number * FIELDS_A_SERIES
      sums[at] = (sums[at] as number) + created
      sums[at + 1] = (sums[at + 1] as number) + duplicate
      sums[at + 2] = (sums[at + 2] as number) + rejected
      sums[at + 3] = start_ms
    })
  }

  /** Yields each series that was counted, with the last period in which it was. */
  *sums(): Generator<{ series: NumberedSeries; start_ms: number; counts: ActivityCounts }> {
    for (const series of this.#series) {
      const at = series.number * FIELDS_A_SERIES
      const [created = 0, duplicate = 0, rejected = 0, start_ms = 0] = this.#sums.subarray(
        at,
        at + FIELDS_A_SERIES,
      )
      const counts = { created, duplicate, rejected }
      if (sizeOf(counts) > 0) yield { series, start_ms, counts }
    }
  }
}

function sizeOf({ created, duplicate, rejected }: ActivityCounts): number {
  return created + duplicate + rejected
}

/** Sorts by size, then by name, so that the order is stable. */
function bySize(a: ActivityGroup, b: ActivityGroup): number {
  return sizeOf(b) - sizeOf(a) || ((a.group ?? '') < (b.group ?? '') ? -1 : 1)
}
