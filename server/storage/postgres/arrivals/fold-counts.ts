import { blockOf, KEPT_MS, type Period, periodOf } from '../../activity/activity.ts'
import { addedCounts, type SeriesCounts } from '../../activity/event-counts.ts'
import type { Connection } from '../connection/connection.ts'
import { idOf } from '../connection/uuids.ts'
import { type Arrival, type ArrivedCounts, countsOf, type Numbered, SeriesNumbers } from './arrivals.ts'

/**
 * Adds the counts of a workspace's arrivals to the stored ones, in the transaction that dequeues the arrivals and has
 * locked the workspace's row of `event_following`.
 * @param arrivals in order
 */
export async function foldCounts(
  connection: Connection,
  workspace: string,
  arrivals: readonly Pick<Arrival, 'minute_ms' | 'counts' | 'taken'>[],
): Promise<void> {
  for (const [minute_ms, counts] of countsOf(arrivals)) {
    await addMinute(connection, workspace, minute_ms, counts)
  }
}

/** Removes the names of removed journeys from the stored series; the counts of their events stay. */
export async function forgetNames(
  connection: Connection,
  workspace: string,
  journeys: readonly string[],
): Promise<void> {
  if (journeys.length === 0) return
  await connection.run(
    "UPDATE event_series SET journey_id = '', event_id = '' WHERE workspace_id = $1 AND journey_id = ANY($2::text[])",
    [workspace, journeys.map((journey) => idOf('jrn', journey))],
  )
}

/** Adds the counts of a minute to the stored ones. */
async function addMinute(
  connection: Connection,
  workspace: string,
  minute_ms: number,
  arrived: readonly ArrivedCounts[],
) {
  const counts = await numbered(connection, workspace, minute_ms, arrived)
  const periods = (['minute', 'hour', 'day'] as const).map((period) => ({
    period,
    start_ms: periodOf(minute_ms, period),
  }))
  const { rows } = await connection.run<{ period: Period; counts: Uint8Array }>(SELECT_COUNTS, [
    workspace,
    periods.map(({ period }) => period),
    periods.map(({ start_ms }) => start_ms),
  ])
  const kept = new Map(rows.map(({ period, counts }) => [period, counts]))
  await connection.run(UPSERT_COUNTS, [
    workspace,
    periods.map(({ period }) => period),
    periods.map(({ start_ms }) => start_ms),
    periods.map(({ period }) => addedCounts(kept.get(period), counts)),
  ])
  await connection.run(
    `UPDATE event_series SET last_ms = greatest(last_ms, $4)
    WHERE workspace_id = $1 AND block = $2 AND number = ANY($3::integer[])`,
    [workspace, blockOf(minute_ms), counts.map(({ number }) => number), minute_ms],
  )
  for (const period of ['minute', 'hour'] as const) {
    await connection.run(
      'DELETE FROM event_counts WHERE workspace_id = $1 AND period = $2 AND start_ms < $3',
      [workspace, period, minute_ms - KEPT_MS[period]],
    )
  }
}

const SELECT_COUNTS = `
  SELECT period, counts FROM event_counts JOIN unnest($2::text[], $3::bigint[]) AS wanted (period, start_ms)
    USING (period, start_ms)
  WHERE workspace_id = $1`

const UPSERT_COUNTS = `
  INSERT INTO event_counts (workspace_id, period, start_ms, counts)
  SELECT $1, period, start_ms, counts FROM unnest($2::text[], $3::bigint[], $4::bytea[]) AS put (period, start_ms, counts)
  ON CONFLICT (workspace_id, period, start_ms) DO UPDATE SET counts = excluded.counts`

/** Returns the number of each series, and assigns one to those without. */
async function numbered(
  connection: Connection,
  workspace: string,
  minute_ms: number,
  arrived: readonly ArrivedCounts[],
): Promise<SeriesCounts[]> {
  const block = blockOf(minute_ms)
  const { rows } = await connection.run<Numbered>(
    'SELECT number, journey_id, event_id, key_id FROM event_series WHERE workspace_id = $1 AND block = $2',
    [workspace, block],
  )
  const numbers = new SeriesNumbers(rows)
  const counts = numbers.numbered(arrived)
  const { added } = numbers
  if (added.length > 0) await connection.run(ADD_SERIES, [workspace, block, minute_ms, JSON.stringify(added)])
  return counts
}

const ADD_SERIES = `
  INSERT INTO event_series (workspace_id, block, number, journey_id, event_id, key_id, last_ms)
  SELECT $1, $2, number, journey_id, event_id, key_id, $3
  FROM json_to_recordset($4::json) AS added (number integer, journey_id text, event_id text, key_id text)`
