import {
  type Activity,
  type ActivityRequest,
  blockOf,
  type NumberedSeries,
  spanOf,
} from '../../activity/activity.ts'
import { activityOf, type KeptPeriod, needsSeries, type OpenCounts } from '../../activity/activity-sums.ts'
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
): Promise<Activity> {
  await connection.run('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
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
    const open = openCounts(arrivals, series)
    return activityOf(request, { periods, open, series, since_ms }, now_ms)
  } finally {
    await connection.run('COMMIT').catch(() => connection.close())
  }
}

/** Returns the counts that are not summed up yet, by the series that they will have. */
function openCounts(arrivals: readonly Arrival[], series: readonly NumberedSeries[]): OpenCounts[] {
  const blocks = new Map<number, SeriesNumbers>()
  return [...countsOf(arrivals)].flatMap(([minute_ms, counts]) => {
    const block = blockOf(minute_ms)
    const numbers = blocks.get(block) ?? new SeriesNumbers(series.filter((one) => one.block === block))
    blocks.set(block, numbers)
    return counts.map(({ created, duplicate, rejected, ...names }) => {
      const { journey_id, event_id, key_id } = numbers.of(names)
      return { journey_id, event_id, key_id, minute_ms, created, duplicate, rejected }
    })
  })
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
