import type { components } from '../../../../generated/contract.ts'
import { type ActivityRequest, blockOf, type NumberedSeries, spanOf } from '../../activity/activity.ts'
import { activityOf, type Counted, type KeptPeriod, needsSeries } from '../../activity/activity-sums.ts'
import { TOTAL_BYTES } from '../../activity/event-counts.ts'
import { type Arrival, countsOf, SeriesNumbers } from '../arrivals/arrivals.ts'
import type { Connection } from '../connection/connection.ts'
import { uuidOf } from '../connection/uuids.ts'

/** Reads the counts of events, including arrivals that are not summed up yet, in one snapshot. */
export async function readActivity(
  connection: Connection,
  workspaceId: string,
  request: ActivityRequest,
  now_ms: number,
): Promise<components['schemas']['Activity']> {
  await connection.begin({ mode: 'ISOLATION LEVEL REPEATABLE READ READ ONLY' })
  try {
    const rows = async <Row>(sql: string, ...parameters: unknown[]) =>
      (await connection.run<Row>(sql, [uuidOf(workspaceId), ...parameters])).rows
    const { from_ms, to_ms } = spanOf(request)
    const ofSeries = needsSeries(request)
    const periods = await rows<KeptPeriod>(ofSeries ? PERIODS : TOTALS, request.by, from_ms, to_ms)
    const arrivals = await rows<Arrival>(ARRIVALS)
    const series = ofSeries ? await rows<NumberedSeries>(SERIES, blockOf(from_ms), blockOf(to_ms - 1)) : []
    const { rows: stores } = await connection.run<{ since_ms: number }>(
      'SELECT counted_from_ms AS since_ms FROM cairn_store',
    )
    const since_ms = stores[0]?.since_ms ?? 0
    return activityOf(request, { periods, ...withOpen(series, arrivals), since_ms }, now_ms)
  } finally {
    await connection.run('COMMIT').catch(() => connection.close())
  }
}

/** Returns the counts that are not summed up yet, and the series, including those that will be added for them. */
function withOpen(
  series: readonly NumberedSeries[],
  arrivals: readonly Arrival[],
): Pick<Counted, 'open' | 'series'> {
  const known = Map.groupBy(series, ({ block }) => block)
  const blocks = new Map<number, SeriesNumbers>()
  const open = Array.from(countsOf(arrivals), ([minute_ms, counts]) => {
    const block = blockOf(minute_ms)
    const numbers = blocks.get(block) ?? new SeriesNumbers(known.get(block) ?? [])
    blocks.set(block, numbers)
    return { minute_ms, counts: numbers.numbered(counts) }
  })
  const added = Array.from(blocks, ([block, numbers]) =>
    numbers.added.map((one) => ({ ...one, block, last_ms: 0 })),
  )
  return { open, series: [...series, ...added.flat()] }
}

const OF_PERIODS = `FROM event_counts
  WHERE workspace_id = $1 AND period = $2 AND start_ms >= $3 AND start_ms < $4 ORDER BY start_ms`

const PERIODS = `SELECT start_ms, counts ${OF_PERIODS}`

const TOTALS = `SELECT start_ms, substr(counts, 1, ${TOTAL_BYTES}) AS counts ${OF_PERIODS}`

const ARRIVALS =
  'SELECT minute_ms, counts, taken FROM event_arrivals WHERE workspace_id = $1 ORDER BY arrival'

const SERIES = `
  SELECT block, number, journey_id, event_id, key_id, last_ms FROM event_series
  WHERE workspace_id = $1 AND block BETWEEN $2 AND $3`
