import type { components } from '../../../../generated/contract.ts'
import { type ActivityRequest, blockOf, type NumberedSeries, spanOf } from '../../activity/activity.ts'
import { activityOf, type Counted, type KeptPeriod, needsSeries } from '../../activity/activity-sums.ts'
import { unpackCounts } from '../../activity/event-counts.ts'
import { type Connection, endRead } from '../connection.ts'

/** Reads the counts of events, each answer in one transaction. */
export class ActivityReader {
  readonly #connection: Connection
  readonly #statements: ReturnType<typeof prepare>

  constructor(connection: Connection) {
    this.#connection = connection
    this.#statements = prepare(connection)
  }

  read(workspace_id: string, request: ActivityRequest, now_ms: number): components['schemas']['Activity'] {
    this.#connection.exec('BEGIN')
    try {
      return activityOf(request, this.#counted(workspace_id, request), now_ms)
    } finally {
      endRead(this.#connection)
    }
  }

  #counted(workspace_id: string, request: ActivityRequest): Counted {
    const { from_ms, to_ms } = spanOf(request)
    const since_ms = this.#statements.since.get() ?? 0
    const workspace = this.#statements.workspace.get(workspace_id)
    if (workspace === undefined) return { periods: [], open: [], series: [], since_ms }
    const periods = this.#statements.periods.all(workspace, request.by, from_ms, to_ms)
    const series = needsSeries(request)
      ? this.#statements.series.all(workspace, blockOf(from_ms), blockOf(to_ms - 1))
      : []
    const open = this.#statements.open
      .all(workspace)
      .map(({ minute_ms, counts }) => ({ minute_ms, counts: unpackCounts(counts) }))
    return { periods, open, series, since_ms }
  }
}

function prepare(connection: Connection) {
  return {
    since: connection.prepare<[], number>('SELECT counted_from_ms FROM event_indexing').pluck(),
    workspace: connection
      .prepare<[string], number>('SELECT workspace_ref FROM workspaces WHERE workspace_id = ?')
      .pluck(),
    periods: connection.prepare<[number, string, number, number], KeptPeriod>(
      `SELECT start_ms, counts FROM event_counts
      WHERE workspace_ref = ? AND period = ? AND start_ms >= ? AND start_ms < ? ORDER BY start_ms`,
    ),
    series: connection.prepare<[number, number, number], NumberedSeries>(
      `SELECT block, number, journey_id, event_id, key_id, last_ms FROM event_series
      WHERE workspace_ref = ? AND block BETWEEN ? AND ?`,
    ),
    open: connection.prepare<[number], { minute_ms: number; counts: Uint8Array }>(
      'SELECT minute_ms, counts FROM event_counts_open WHERE workspace_ref = ?',
    ),
  }
}
