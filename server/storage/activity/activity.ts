import type { components } from '../../../generated/contract.ts'
import type { JsonBytes } from '../../domain/json-bytes.ts'
import type { Reading } from '../database.ts'

/** How many events were sent, by what became of them. */
export type ActivityCounts = { created: number; duplicate: number; rejected: number }

export type ActivityRequest = {
  /** The length of a period, UTC. */
  by: Period
  /** From the period that holds this instant. */
  from_ms: number
  /** Up to the period that holds the instant before this one. */
  to_ms: number
  journey_id?: string
  event_id?: string
  key_id?: string
  /** By what `groups` adds up. */
  group_by?: 'journey' | 'event' | 'key'
}

export type ActivityPeriod = ActivityCounts & { start_ms: number }

export type ActivityGroup = ActivityCounts & {
  /** The journey, name or key. Null: the events of a journey that does not exist, of names beyond `NAMED_SERIES`, of no key. */
  group: string | null
  /** When the last period began in which one arrived: a minute where that is known, else a period of the answer. */
  last_ms: number
}

export type Activity = {
  total: ActivityCounts
  /** Those with events, the earliest first. */
  periods: ActivityPeriod[]
  /** Of the whole span, the one with the most events first, at most `GROUPS`; none where it was not asked for them. */
  groups: ActivityGroup[]
  groups_omitted: number
  /** Since when there are counts of this kind. */
  kept_from_ms: number
}

/**
 * Exact counts of the events that were sent with a key and had the right shape: stored, stored before, or refused for what
 * they refer to. An event is counted in the transaction that settles what becomes of it, once.
 *
 * @throws {Unavailable} where too much waits, or it is not read within seconds
 * @throws {Error} where there would be more than `PERIODS` periods
 */
export type ReadActivity = (
  workspaceId: string,
  request: ActivityRequest,
  reading: Reading,
) => Promise<JsonBytes<components['schemas']['Activity']>>

/** More periods are not read at once: then a page takes no more than 50 ms, whatever was counted. */
export const PERIODS = 1_440

export const GROUPS = 500

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

export const PERIOD_MS = { minute: MINUTE_MS, hour: 60 * MINUTE_MS, day: DAY_MS } as const

export type Period = keyof typeof PERIOD_MS

/** How long counts of a kind are kept; those by the day for ever. */
export const KEPT_MS = { minute: 8 * DAY_MS, hour: 400 * DAY_MS, day: Number.POSITIVE_INFINITY } as const

/** What is counted apart from all else has a number, which holds for thirty days. */
export const BLOCK_MS = 30 * DAY_MS

/**
 * So many journeys, names and keys that come together are counted apart in the thirty days of a block. Of what is beyond
 * that, because names are made up for each event, the name is not told; journey and key are.
 */
export const NAMED_SERIES = 1_000

/** What is counted apart: events of a journey, of a name, sent with a key; '' for what there is not. */
export type Series = { journey_id: string; event_id: string; key_id: string }

/** A series and the number that it has in its block. */
export type NumberedSeries = Series & { block: number; number: number; last_ms: number }

export function periodOf(ms: number, period: Period): number {
  return Math.floor(ms / PERIOD_MS[period]) * PERIOD_MS[period]
}

export function blockOf(ms: number): number {
  return Math.floor(ms / BLOCK_MS)
}

/** The span that a request is about, in whole periods: from the first, up to the end of the last. */
export function spanOf({ by, from_ms, to_ms }: ActivityRequest): { from_ms: number; to_ms: number } {
  const from = periodOf(from_ms, by)
  const to = periodOf(to_ms - 1, by) + PERIOD_MS[by]
  if ((to - from) / PERIOD_MS[by] > PERIODS) throw new Error(`more than ${PERIODS} periods of activity`)
  return { from_ms: from, to_ms: to }
}
