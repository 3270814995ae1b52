import { type ActivityCounts, blockOf, KEPT_MS, NAMED_SERIES, periodOf } from '../../activity/activity.ts'
import { addedCounts, packCounts, type SeriesCounts, unpackCounts } from '../../activity/event-counts.ts'
import type { Connection } from '../connection.ts'

/** Limit of cached series; when it is reached, the cache is cleared. Each takes about 200 bytes. */
const CACHED_SERIES = 200_000

/** How many expired minutes are deleted when a minute is folded in: more than are created. */
const REMOVED_MINUTES = 100

/** The counts of a workspace in the current minute, including those not written yet. */
type Counting = {
  workspace_ref: number
  minute_ms: number
  /** Series with events in this minute. */
  minute: SeriesCounts[]
  block: number
  /** Series of the block by number. */
  series: SeriesCounts[]
  /** The same by key, journey and name. */
  named: Map<string, Map<string, Map<string, SeriesCounts>>>
}

type OpenRow = { minute_ms: number; counts: Uint8Array }

type Names = { journey_id: string; event_id: string; key_id: string }

/** Who sends events. */
type Sender = {
  workspace_id: string
  key_id: string
  /** Undefined if there is no such workspace, and so nothing to count. */
  counting: Counting | undefined
  /** The journey of the previous event. */
  journey_id?: string
  /** Its series by name. */
  names?: Map<string, SeriesCounts>
}

/**
 * Counts events inside the writer's transaction (a rollup). A group writes one row per workspace, with all counts of
 * the current minute. When the next minute begins, they are added to the counts by minute, hour and day.
 */
export class EventCounter {
  readonly #statements: ReturnType<typeof prepare>
  /** By workspace_id. */
  readonly #workspaces = new Map<string, Counting>()
  readonly #changed = new Set<Counting>()
  #sender: Sender | undefined
  #cachedSeries = 0

  constructor(connection: Connection) {
    this.#statements = prepare(connection)
  }

  /**
   * Names the sender of the next events.
   * @param key_id the key with which they were sent; '' for none
   * @param now_ms the same for all events of a group
   */
  setSender(workspace_id: string, key_id: string, now_ms: number): void {
    // Units that arrive together mostly have the same key.
    if (this.#sender?.workspace_id === workspace_id && this.#sender.key_id === key_id) return
    const counting = this.#countingOf(workspace_id, periodOf(now_ms, 'minute'))
    if (counting) this.#changed.add(counting)
    this.#sender = { workspace_id, key_id, counting }
  }

  /** @param journey_id '' if there is no such journey */
  add(journey_id: string, event_id: string, status: keyof ActivityCounts): void {
    const sender = this.#sender
    if (!sender?.counting) return
    const { counting, key_id } = sender
    if (!sender.names || sender.journey_id !== journey_id) {
      sender.names = mapAt(mapAt(counting.named, key_id), journey_id)
      sender.journey_id = journey_id
    }
    const series = sender.names.get(event_id) ?? this.#seriesOf(counting, { journey_id, event_id, key_id })
    if (series.created + series.duplicate + series.rejected === 0) counting.minute.push(series)
    series[status] += 1
  }

  /** Writes the counts. Call before the commit. */
  end(): void {
    for (const { workspace_ref, minute_ms, minute } of this.#changed) {
      if (minute.length > 0) this.#statements.putOpen.run(workspace_ref, minute_ms, packCounts(minute))
    }
    this.#changed.clear()
    this.#sender = undefined
    if (this.#cachedSeries >= CACHED_SERIES) this.forget()
  }

  /** Drops what was not committed. */
  forget(): void {
    this.#workspaces.clear()
    this.#changed.clear()
    this.#sender = undefined
    this.#cachedSeries = 0
  }

  #countingOf(workspace_id: string, minute_ms: number): Counting | undefined {
    const known = this.#workspaces.get(workspace_id)
    if (known?.minute_ms === minute_ms) return known
    const workspace_ref = known?.workspace_ref ?? this.#statements.workspace.get(workspace_id)
    if (workspace_ref === undefined) return undefined
    const open = this.#statements.open.get(workspace_ref)
    if (open && open.minute_ms !== minute_ms) this.#fold(workspace_ref, open)
    const counting = known?.block === blockOf(minute_ms) ? known : this.#newBlock(workspace_ref, minute_ms)
    for (const series of counting.minute) Object.assign(series, { created: 0, duplicate: 0, rejected: 0 })
    counting.minute = open?.minute_ms === minute_ms ? resumed(counting, open) : []
    counting.minute_ms = minute_ms
    if (counting !== known) this.#workspaces.set(copyOf(workspace_id), counting)
    return counting
  }

  #newBlock(workspace_ref: number, minute_ms: number): Counting {
    const block = blockOf(minute_ms)
    const counting: Counting = {
      workspace_ref,
      minute_ms,
      minute: [],
      block,
      series: [],
      named: new Map(),
    }
    for (const { number, ...names } of this.#statements.series.all(workspace_ref, block)) {
      this.#remember(counting, names, number)
    }
    return counting
  }

  /** Returns the series with these names, or the one without a name if there are too many. */
  #seriesOf(counting: Counting, names: Names): SeriesCounts {
    const { journey_id, event_id, key_id } = names
    const known = mapAt(mapAt(counting.named, key_id), journey_id).get(event_id)
    if (known) return known
    const { workspace_ref, block, minute_ms } = counting
    const number = counting.series.length
    if (number >= NAMED_SERIES && event_id !== '') {
      return this.#seriesOf(counting, { ...names, event_id: '' })
    }
    this.#statements.addSeries.run(workspace_ref, block, number, journey_id, event_id, key_id, minute_ms)
    return this.#remember(counting, names, number)
  }

  #remember(counting: Counting, { journey_id, event_id, key_id }: Names, number: number): SeriesCounts {
    const counts = { number, created: 0, duplicate: 0, rejected: 0 }
    counting.series[number] = counts
    mapAt(mapAt(counting.named, key_id), journey_id).set(copyOf(event_id), counts)
    this.#cachedSeries += 1
    return counts
  }

  /** Adds a finished minute to the counts by minute, hour and day. */
  #fold(workspace_ref: number, { minute_ms, counts }: OpenRow) {
    const { kept, keep, removeOpen, seen, remove } = this.#statements
    const minute = unpackCounts(counts)
    for (const period of ['minute', 'hour', 'day'] as const) {
      const start_ms = periodOf(minute_ms, period)
      keep.run(
        workspace_ref,
        period,
        start_ms,
        addedCounts(kept.get(workspace_ref, period, start_ms), minute),
      )
    }
    const block = blockOf(minute_ms)
    for (const { number } of minute) seen.run(minute_ms, workspace_ref, block, number)
    removeOpen.run(workspace_ref)
    for (const period of ['minute', 'hour'] as const) {
      remove.run(workspace_ref, period, minute_ms - KEPT_MS[period], REMOVED_MINUTES)
    }
  }
}

/** Returns the map at a key of another, which it is added to if there is none. */
function mapAt<Value>(maps: Map<string, Map<string, Value>>, key: string): Map<string, Value> {
  const known = maps.get(key)
  if (known) return known
  const map = new Map<string, Value>()
  maps.set(copyOf(key), map)
  return map
}

/** A substring would keep the whole text of the group in memory. */
function copyOf(text: string): string {
  return Buffer.from(text).toString()
}

/** Continues with the counts of this minute so far. */
function resumed({ series }: Counting, open: OpenRow): SeriesCounts[] {
  return unpackCounts(open.counts).map((counts) => {
    const known = series[counts.number]
    if (!known) throw new Error('a series that was counted has no names')
    return Object.assign(known, counts)
  })
}

function prepare(connection: Connection) {
  return {
    workspace: connection
      .prepare<[string], number>('SELECT workspace_ref FROM workspaces WHERE workspace_id = ?')
      .pluck(),
    open: connection.prepare<[number], OpenRow>(
      'SELECT minute_ms, counts FROM event_counts_open WHERE workspace_ref = ?',
    ),
    putOpen: connection.prepare<[number, number, Uint8Array]>(
      `INSERT INTO event_counts_open VALUES (?, ?, ?) ON CONFLICT (workspace_ref) DO UPDATE SET
        minute_ms = excluded.minute_ms, counts = excluded.counts`,
    ),
    removeOpen: connection.prepare<[number]>('DELETE FROM event_counts_open WHERE workspace_ref = ?'),
    series: connection.prepare<[number, number], Names & { number: number }>(
      'SELECT number, journey_id, event_id, key_id FROM event_series WHERE workspace_ref = ? AND block = ?',
    ),
    addSeries: connection.prepare<[number, number, number, string, string, string, number]>(
      'INSERT INTO event_series VALUES (?, ?, ?, ?, ?, ?, ?)',
    ),
    seen: connection.prepare<[number, number, number, number]>(
      'UPDATE event_series SET last_ms = max(last_ms, ?) WHERE workspace_ref = ? AND block = ? AND number = ?',
    ),
    kept: connection
      .prepare<[number, string, number], Uint8Array>(
        'SELECT counts FROM event_counts WHERE workspace_ref = ? AND period = ? AND start_ms = ?',
      )
      .pluck(),
    keep: connection.prepare<[number, string, number, Uint8Array]>(
      'INSERT OR REPLACE INTO event_counts VALUES (?, ?, ?, ?)',
    ),
    remove: connection.prepare<[number, string, number, number]>(
      `DELETE FROM event_counts WHERE (workspace_ref, period, start_ms) IN (
        SELECT workspace_ref, period, start_ms FROM event_counts
        WHERE workspace_ref = ? AND period = ? AND start_ms < ? ORDER BY start_ms LIMIT ?
      )`,
    ),
  }
}
