import type { components } from '../../../generated/contract.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../domain/durations.ts'
import type { JsonBytes } from '../../domain/json-bytes.ts'
import type { Reading } from '../database.ts'

/** Number of events sent, by outcome. */
export type ActivityCounts = { created: number; duplicate: number; rejected: number }

export type ActivityRequest = {
  /** Length of a period, in UTC. */
  by: Period
  /** Starts with the period that contains this instant. */
  from_ms: number
  /** Ends with the period that contains the instant before this one. */
  to_ms: number
  journey_id?: string
  event_id?: string
  key_id?: string
  /** What `groups` are formed by. */
  group_by?: 'journey' | 'event' | 'key'
}

/**
 * Reads exact counts of the events that were sent with a key and were valid: created, duplicate, or rejected because of
 * what they refer to. An event is counted exactly once, in the transaction that decides its outcome.
 *
 * @throws {Unavailable} if too much is waiting, or it is not read within seconds
 * @throws {Error} if there would be more than `PERIODS` periods
 */
export type ReadActivity = (
  workspaceId: string,
  request: ActivityRequest,
  reading: Reading,
) => Promise<JsonBytes<components['schemas']['Activity']>>

/** Maximum periods per read, which limits it to 50 ms, whatever was counted. */
export const PERIODS = 1_440

export const GROUPS = 500

export const PERIOD_MS = { minute: MINUTE_MS, hour: HOUR_MS, day: DAY_MS } as const

export type Period = keyof typeof PERIOD_MS

/** Retention of counts by resolution; counts by day are kept permanently. */
export const KEPT_MS = { minute: 8 * DAY_MS, hour: 400 * DAY_MS, day: Number.POSITIVE_INFINITY } as const

/** Length of a block. The number of a series is valid within one block. */
const BLOCK_MS = 30 * DAY_MS

/**
 * Maximum combinations of journey, name and key that are counted separately per block. Beyond that, because a sender
 * invents names for each event, the name is dropped; journey and key are kept.
 */
export const NAMED_SERIES = 1_000

/** What is counted separately: events of a journey, with a name, sent with a key; '' for none. */
export type Series = { journey_id: string; event_id: string; key_id: string }

/** A series with its number in its block. */
export type NumberedSeries = Series & { block: number; number: number; last_ms: number }

export function periodOf(ms: number, period: Period): number {
  return Math.floor(ms / PERIOD_MS[period]) * PERIOD_MS[period]
}

export function blockOf(ms: number): number {
  return Math.floor(ms / BLOCK_MS)
}

/** Returns the span of a request in whole periods: from the start of the first to the end of the last. */
export function spanOf({ by, from_ms, to_ms }: ActivityRequest): { from_ms: number; to_ms: number } {
  const from = periodOf(from_ms, by)
  const to = periodOf(to_ms - 1, by) + PERIOD_MS[by]
  if ((to - from) / PERIOD_MS[by] > PERIODS) throw new Error(`more than ${PERIODS} periods of activity`)
  return { from_ms: from, to_ms: to }
}
