import { type ActivityCounts, blockOf, KEPT_MS, NAMED_SERIES, periodOf } from '../../activity/activity.ts'
import { addedCounts, eachCounts, packCounts, type SeriesCounts } from '../../activity/event-counts.ts'
import type { Connection } from '../connection.ts'

/** Limit of cached series; when it is reached, the cache is cleared. Each takes about 200 bytes. */
const CACHED_SERIES = 200_000

/** How many expired minutes are deleted when a minute is folded in: more than are created. */
const REMOVED_MINUTES = 100

type Status = keyof ActivityCounts

/** The counts of a workspace, including those not written yet. */
type Counting = {
  workspace_ref: number
  minute_ms: number
  /** Series with events in this minute. */
  minute: SeriesCounts[]
  block: number
  /** Series of the block by key, journey and name. */
  series: Map<string, Map<string, Map<string, SeriesCounts>>>
  /** Number of series in the block. */
  known: number
  isChanged: boolean
}

type Names = { journey_id: string; event_id: string; key_id: string }

/** Counts the events of a workspace that were sent with one key, within one group. */
export class KeyCounter {
  readonly workspace_id: string
  readonly key_id: string
  readonly #counting: Counting
  readonly #find: (names: Names) => SeriesCounts
  /** Series of the previous event's journey. */
  #names: Map<string, SeriesCounts> | undefined
  #journey_id: string | undefined

  /** @param find finds or creates a series */
  constructor(
    { workspace_id, key_id }: { workspace_id: string; key_id: string },
    counting: Counting,
    find: (names: Names) => SeriesCounts,
  ) {
    this.workspace_id = workspace_id
    this.key_id = key_id
    this.#counting = counting
    this.#find = find
  }

  /** @param journey_id '' if there is no such journey */
  add(journey_id: string, event_id: string, status: Status): void {
    if (journey_id !== this.#journey_id) {
      this.#journey_id = journey_id
      this.#names = this.#counting.series.get(this.key_id)?.get(journey_id)
    }
    const series = this.#names?.get(event_id) ?? this.#findNew(journey_id, event_id)
    if (series.created + series.duplicate + series.rejected === 0) this.#counting.minute.push(series)
    series[status] += 1
  }

  #findNew(journey_id: string, event_id: string): SeriesCounts {
    this.#journey_id = undefined
    return this.#find({ journey_id, event_id, key_id: this.key_id })
  }
}

/**
 * Counts events inside the writer's transaction (a rollup). A group writes one row per workspace, with all counts of
 * the current minute. When the next minute begins, they are added to the counts by minute, hour and day.
 */
export class EventCounter {
  readonly #statements: ReturnType<typeof prepare>
  /** By workspace_id. */
  readonly #workspaces = new Map<string, Counting>()
  readonly #changed: Counting[] = []
  /** The counter used last in this group; units that arrive together mostly have the same key. */
  #last: KeyCounter | undefined
  #cachedSeries = 0

  constructor(connection: Connection) {
    this.#statements = prepare(connection)
  }

  /** Call before the first event of a transaction. */
  begin(): void {
    if (this.#cachedSeries >= CACHED_SERIES) this.forget()
  }

  /**
   * @param key_id the key with which the events were sent; '' for none
   * @returns undefined if there is no such workspace, and so nothing to count
   */
  of(workspace_id: string, key_id: string, now_ms: number): KeyCounter | undefined {
    const last = this.#last
    if (last?.workspace_id === workspace_id && last.key_id === key_id) return last
    const counting = this.#countingOf(workspace_id, periodOf(now_ms, 'minute'))
    if (!counting) return undefined
    if (!counting.isChanged) {
      counting.isChanged = true
      this.#changed.push(counting)
    }
    this.#last = new KeyCounter({ workspace_id, key_id }, counting, (names) =>
      this.#seriesOf(counting, names),
    )
    return this.#last
  }

  /** Writes the counts. Call before the commit. */
  end(): void {
    this.#last = undefined
    for (const counting of this.#changed.splice(0)) {
      counting.isChanged = false
      const { workspace_ref, minute_ms, minute } = counting
      if (minute.length > 0) this.#statements.putOpen.run(workspace_ref, minute_ms, packCounts(minute))
    }
  }

  /** Drops what was not committed. */
  forget(): void {
    this.#workspaces.clear()
    this.#changed.length = 0
    this.#last = undefined
    this.#cachedSeries = 0
  }

  #countingOf(workspace_id: string, minute_ms: number): Counting | undefined {
    const known = this.#workspaces.get(workspace_id)
    if (known?.minute_ms === minute_ms) return known
    const workspace_ref = known?.workspace_ref ?? this.#statements.workspace.get(workspace_id)
    if (workspace_ref === undefined) return undefined
    const minute = known?.minute ?? this.#readMinute(workspace_ref, minute_ms)
    if (known) this.#putBy(workspace_ref, known.minute_ms, minute)
    const counting = known?.block === blockOf(minute_ms) ? known : this.#newBlock(workspace_ref, minute_ms)
    if (known) {
      for (const series of minute) Object.assign(series, { created: 0, duplicate: 0, rejected: 0 })
      counting.minute = []
    } else {
      this.#resume(counting, minute)
    }
    counting.minute_ms = minute_ms
    // A copy: a substring would keep the whole text of the group in memory.
    if (counting !== known) this.#workspaces.set(Buffer.from(workspace_id).toString(), counting)
    return counting
  }

  /** The counts of this minute so far; counts of an earlier minute are folded in. */
  #readMinute(workspace_ref: number, minute_ms: number): SeriesCounts[] {
    const open = this.#statements.open.get(workspace_ref)
    const minute: SeriesCounts[] = []
    if (!open) return minute
    eachCounts(open.counts, (number, created, duplicate, rejected) => {
      minute.push({ number, created, duplicate, rejected })
    })
    if (open.minute_ms === minute_ms) return minute
    this.#putBy(workspace_ref, open.minute_ms, minute)
    return []
  }

  #newBlock(workspace_ref: number, minute_ms: number): Counting {
    const block = blockOf(minute_ms)
    const counting: Counting = {
      workspace_ref,
      minute_ms,
      minute: [],
      block,
      series: new Map(),
      known: 0,
      isChanged: false,
    }
    for (const { number, ...names } of this.#statements.series.all(workspace_ref, block)) {
      this.#remember(counting, names, number)
    }
    return counting
  }

  /** Continues with the counts of this minute so far. */
  #resume(counting: Counting, minute: readonly SeriesCounts[]) {
    if (minute.length === 0) return
    const byNumber = new Map<number, SeriesCounts>()
    for (const journeys of counting.series.values()) {
      for (const names of journeys.values()) {
        for (const series of names.values()) byNumber.set(series.number, series)
      }
    }
    counting.minute = minute.map((counts) => Object.assign(byNumber.get(counts.number) ?? {}, counts))
  }

  #seriesOf(counting: Counting, names: Names): SeriesCounts {
    const { journey_id, event_id, key_id } = names
    const known = counting.series.get(key_id)?.get(journey_id)?.get(event_id)
    if (known) return known
    if (counting.known >= NAMED_SERIES && event_id !== '') {
      return this.#seriesOf(counting, { ...names, event_id: '' })
    }
    const { workspace_ref, block, minute_ms } = counting
    const number = counting.known
    this.#statements.addSeries.run(workspace_ref, block, number, journey_id, event_id, key_id, minute_ms)
    // Copies, as above.
    const [key = '', journey = '', name = ''] = [key_id, journey_id, event_id].map((text) =>
      Buffer.from(text).toString(),
    )
    return this.#remember(counting, { journey_id: journey, event_id: name, key_id: key }, number)
  }

  #remember(counting: Counting, { journey_id, event_id, key_id }: Names, number: number): SeriesCounts {
    const counts = { number, created: 0, duplicate: 0, rejected: 0 }
    const journeys = counting.series.get(key_id) ?? new Map<string, Map<string, SeriesCounts>>()
    const names = journeys.get(journey_id) ?? new Map<string, SeriesCounts>()
    counting.series.set(key_id, journeys.set(journey_id, names.set(event_id, counts)))
    counting.known = Math.max(counting.known, number + 1)
    this.#cachedSeries += 1
    return counts
  }

  /** Adds a finished minute to the counts by minute, hour and day. */
  #putBy(workspace_ref: number, minute_ms: number, minute: readonly SeriesCounts[]) {
    if (minute.length === 0) return
    const { kept, keep, removeOpen, seen, remove } = this.#statements
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

function prepare(connection: Connection) {
  return {
    workspace: connection
      .prepare<[string], number>('SELECT workspace_ref FROM workspaces WHERE workspace_id = ?')
      .pluck(),
    open: connection.prepare<[number], { minute_ms: number; counts: Uint8Array }>(
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
