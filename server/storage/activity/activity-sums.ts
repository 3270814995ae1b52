import type { components } from '../../../generated/contract.ts'
import { instantText } from '../../domain/instants.ts'
import {
  type ActivityCounts,
  type ActivityRequest,
  blockOf,
  GROUPS,
  KEPT_MS,
  type NumberedSeries,
  PERIOD_MS,
  type Period,
  periodOf,
  type Series,
  spanOf,
} from './activity.ts'
import { addCounts, eachCounts, type SeriesCounts, totalOf } from './event-counts.ts'

type Schemas = components['schemas']

/** The stored counts of a period. */
export type KeptPeriod = { start_ms: number; counts: Uint8Array }

/** Counts that are not in any stored period yet. */
type OpenMinute = { minute_ms: number; counts: readonly SeriesCounts[] }

/** Everything that an answer is made of, as of one commit. */
export type Counted = {
  /** Of the requested length, within the span. */
  periods: readonly KeptPeriod[]
  open: readonly OpenMinute[]
  /** The series of the blocks in the span; needed only if `needsSeries`. */
  series: readonly NumberedSeries[]
  /** When counting started in this store. */
  since_ms: number
}

/** Whether the answer distinguishes series. */
export function needsSeries({ journey_id, event_id, key_id, group_by }: ActivityRequest): boolean {
  return [journey_id, event_id, key_id, group_by].some((condition) => condition !== undefined)
}

/** Sums up what was counted. Call it in the thread that reads: a day of minutes has 1,440 periods. */
export function activityOf(request: ActivityRequest, counted: Counted, now_ms: number): Schemas['Activity'] {
  const { by, group_by } = request
  const { from_ms, to_ms } = spanOf(request)
  const periods = Array.from({ length: (to_ms - from_ms) / PERIOD_MS[by] }, (_, index) => ({
    starts_at: instantText(from_ms + index * PERIOD_MS[by]),
    ...NOTHING,
  }))
  const periodAt = (ms: number) => periods[Math.floor((ms - from_ms) / PERIOD_MS[by])]
  const sums = needsSeries(request) ? new SeriesSums(request, counted.series) : undefined
  for (const { start_ms, counts } of counted.periods) {
    const period = periodAt(start_ms)
    if (!period) throw new Error('a period outside the span was read')
    if (sums) sums.addPeriod(period, start_ms, counts)
    else addCounts(period, totalOf(counts))
  }
  for (const { minute_ms, counts } of counted.open) {
    const period = periodAt(minute_ms)
    if (!period) continue
    for (const count of counts) {
      if (sums) sums.add(period, minute_ms, count)
      else addCounts(period, count)
    }
  }
  const total = { ...NOTHING }
  for (const period of periods) addCounts(total, period)
  const groups = (group_by && sums?.groupedBy(group_by, by)) ?? []
  const kept_from_ms = Math.max(periodOf(now_ms - KEPT_MS[by], by) || 0, counted.since_ms)
  return {
    from: instantText(from_ms),
    to: instantText(to_ms),
    by,
    kept_from: instantText(kept_from_ms),
    total,
    groups: groups.slice(0, GROUPS).map((group) => groupAnswer(group_by, group)),
    groups_omitted: Math.max(0, groups.length - GROUPS),
    periods,
  }
}

const NOTHING: ActivityCounts = { created: 0, duplicate: 0, rejected: 0 }

/** The counts of a series in the span, and the last period or minute of them. */
type SeriesSum = ActivityCounts & { series: NumberedSeries; seen_ms: number }

/** The counts of the requested series. */
class SeriesSums {
  /**
   * By block and number: with a thousand names per minute, a day has a million and a half counts, and looking each up
   * by name took most of the time.
   */
  readonly #blocks = new Map<number, (SeriesSum | undefined)[]>()

  constructor(request: ActivityRequest, series: readonly NumberedSeries[]) {
    for (const one of series) {
      const block = this.#blocks.get(one.block) ?? []
      this.#blocks.set(one.block, block)
      // Undefined and not absent, because reading beyond the end of an array is slow.
      block[one.number] = isAskedFor(request, one) ? { ...NOTHING, series: one, seen_ms: 0 } : undefined
    }
  }

  /** @param period what the counts are added to, too */
  addPeriod(period: ActivityCounts, start_ms: number, counts: Uint8Array): void {
    const block = this.#blocks.get(blockOf(start_ms)) ?? []
    // Variables, because reading one series of a thousand takes twice as long with properties.
    let allCreated = 0
    let allDuplicate = 0
    let allRejected = 0
    eachCounts(counts, (number, created, duplicate, rejected) => {
      const sum = block[number]
      if (!sum) return
      allCreated += created
      allDuplicate += duplicate
      allRejected += rejected
      sum.created += created
      sum.duplicate += duplicate
      sum.rejected += rejected
      sum.seen_ms = start_ms
    })
    addCounts(period, { created: allCreated, duplicate: allDuplicate, rejected: allRejected })
  }

  /** Adds open counts, after the periods. */
  add(period: ActivityCounts, minute_ms: number, counts: SeriesCounts): void {
    const sum = this.#blocks.get(blockOf(minute_ms))?.[counts.number]
    if (!sum) return
    addCounts(period, counts)
    addCounts(sum, counts)
    sum.seen_ms = Math.max(sum.seen_ms, minute_ms)
  }

  /** The groups, the largest first; those of one size by name, so that the order is stable. */
  groupedBy(group_by: 'journey' | 'event' | 'key', by: Period): Group[] {
    const groups = new Map<string, Group>()
    for (const sum of [...this.#blocks.values()].flat()) {
      if (!sum || sizeOf(sum) === 0) continue
      const { series, seen_ms } = sum
      const text = series[`${group_by}_id`]
      const group = groups.get(text) ?? { text, ...NOTHING, last_ms: 0 }
      groups.set(text, group)
      addCounts(group, sum)
      // The last minute of a series is known only for its last period.
      const isLast = periodOf(series.last_ms, by) === periodOf(seen_ms, by)
      group.last_ms = Math.max(group.last_ms, seen_ms, isLast ? series.last_ms : 0)
    }
    return [...groups.values()].sort((a, b) => sizeOf(b) - sizeOf(a) || (a.text < b.text ? -1 : 1))
  }
}

type Group = ActivityCounts & { text: string; last_ms: number }

function isAskedFor(request: ActivityRequest, { journey_id, event_id, key_id }: Series): boolean {
  return (
    (request.journey_id === undefined || request.journey_id === journey_id) &&
    (request.event_id === undefined || request.event_id === event_id) &&
    (request.key_id === undefined || request.key_id === key_id)
  )
}

function sizeOf({ created, duplicate, rejected }: ActivityCounts): number {
  return created + duplicate + rejected
}

/** In a group, the field that it is grouped by identifies it. */
const NO_GROUP = { journey_id: null, event_id: null, key_id: null }

function groupAnswer(
  group_by: ActivityRequest['group_by'],
  { text, last_ms, ...counts }: Group,
): Schemas['ActivityGroup'] {
  return {
    ...NO_GROUP,
    // Null: events of an unknown journey, of names beyond `NAMED_SERIES`, or without a key.
    ...(group_by && { [`${group_by}_id`]: text || null }),
    ...counts,
    last_at: instantText(last_ms),
  }
}
