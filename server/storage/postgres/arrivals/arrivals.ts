import { type ActivityCounts, NAMED_SERIES, periodOf, type Series } from '../../activity/activity.ts'
import { addCounts, type SeriesCounts } from '../../activity/event-counts.ts'
import type { Connection } from '../connection/connection.ts'
import type { Pool } from '../connection/pool.ts'
import { untilKnown } from '../connection/until-known.ts'
import { idOf } from '../connection/uuids.ts'
import { DURABLE } from '../dialect.ts'
import { transact } from '../transact-on.ts'

/** The counts of a series; negative if they revert earlier ones. */
export type ArrivedCounts = Series & ActivityCounts

/** A row of `event_arrivals`. */
export type Arrival = {
  arrival: string
  minute_ms: number
  first_event: string | null
  last_event: string | null
  counts: string
  taken: string | null
}

/** The counts of a group on their way to its arrival. Series are numbered from 0, in order of appearance. */
export class GroupCounts {
  readonly #numbers = new Map<string, number>()
  readonly #counts: ArrivedCounts[] = []

  numberOf(series: Series): number {
    const key = textOf(series)
    const known = this.#numbers.get(key)
    if (known !== undefined) return known
    const number = this.#counts.length
    this.#numbers.set(key, number)
    this.#counts.push({ ...series, created: 0, duplicate: 0, rejected: 0 })
    return number
  }

  /** @param by -1 reverts one */
  add(number: number, status: keyof ActivityCounts | undefined, by: 1 | -1 = 1): void {
    const counts = this.#counts[number]
    if (!counts || !status) throw new Error('an event has no outcome to count')
    counts[status] += by
  }

  /** Call it once the counts are on disk. */
  clear(): void {
    for (const counts of this.#counts) Object.assign(counts, { created: 0, duplicate: 0, rejected: 0 })
  }

  get isNothing(): boolean {
    return !this.#counts.some(isSomething)
  }

  seriesOf(number: number): Series {
    const counts = this.#counts[number]
    if (!counts) throw new Error(`no series has the number ${number}`)
    return counts
  }

  /** In the order of their numbers. */
  series(): readonly Series[] {
    return this.#counts
  }

  toJSON(): ArrivedCounts[] {
    return this.#counts
  }
}

function isSomething({ created, duplicate, rejected }: ActivityCounts): boolean {
  return created !== 0 || duplicate !== 0 || rejected !== 0
}

/** The key of an arrival. */
type ArrivalKey = { workspace: string; arrival: string }

/**
 * Runs a statement that enqueues an arrival exactly once, until its outcome is known. The arrival has an identifier. If
 * the connection is lost during a statement that was committed, the arrival may have been dequeued before the statement
 * is repeated, which would enqueue it a second time; and what it has stored may have been removed.
 * @param run gets whether an earlier run may have been committed, or be running still
 * @returns undefined if the statement was committed without an answer
 * @throws {ConnectionLost} like `untilKnown`
 */
export async function enqueueOnce<Result>(
  pool: Pool,
  { workspace, arrival }: ArrivalKey,
  run: (connection: Connection, mayBeDone: boolean) => Promise<Result>,
): Promise<Result | undefined> {
  return await untilKnown(pool, async (connection, mayBeDone) => {
    if (!mayBeDone) return await run(connection, false)
    // If this connection is lost too, it must not block the next attempt until that gives up.
    const options = { first: `SET LOCAL idle_in_transaction_session_timeout = ${IDLE_MS}` }
    const unlessEnqueued = async () => {
      // While this transaction locks the workspace's row, nothing is dequeued.
      await connection.run(FOLLOW, [workspace, idOf('wsp', workspace)])
      await connection.run('SELECT 1 AS one FROM event_following WHERE workspace_id = $1 FOR UPDATE', [
        workspace,
      ])
      const { rows } = await connection.run(IS_ENQUEUED, [workspace, arrival])
      return rows.length > 0 ? undefined : await run(connection, true)
    }
    return await transact(connection, unlessEnqueued, options)
  })
}

/** Much less than the timeout of a statement that waits for it. */
const IDLE_MS = 2_000

const FOLLOW = `
  INSERT INTO event_following (workspace_id)
  SELECT $1 FROM workspaces WHERE workspaces.workspace_id = $2 AND removed_ms IS NULL ON CONFLICT DO NOTHING`

/** Whether it is in the queue, or was dequeued. */
const IS_ENQUEUED = `
  SELECT 1 AS one FROM event_arrivals WHERE workspace_id = $1 AND arrival = $2
  UNION ALL SELECT 1 FROM event_arrivals_taken WHERE workspace_id = $1 AND $2 = ANY(arrivals) LIMIT 1`

/** Longer than anyone tries to find out the outcome of a statement. */
const TAKEN_MS = 300_000

/**
 * Dequeues arrivals, in a transaction that has locked the workspace's row of `event_following`. For a while it is
 * recorded that they were taken.
 * @param now_ms by the clock of the database
 */
export async function takeArrivals(
  connection: Connection,
  { workspace, now_ms }: { workspace: string; now_ms: number },
  arrivals: readonly string[],
): Promise<void> {
  await connection.run(TAKE, [workspace, arrivals, now_ms, now_ms - TAKEN_MS])
}

const TAKE = `
  WITH taken AS (
    DELETE FROM event_arrivals WHERE workspace_id = $1 AND arrival = ANY($2::uuid[])
  ), forgotten AS (
    DELETE FROM event_arrivals_taken WHERE workspace_id = $1 AND taken_ms < $4
  )
  INSERT INTO event_arrivals_taken (workspace_id, taken_ms, first_arrival, arrivals)
  VALUES ($1, $3, ($2::uuid[])[1], $2::uuid[])`

/** Enqueues counts without events. Those of a removed workspace are forgotten. */
export async function insertCounts(
  pool: Pool,
  row: ArrivalKey & { now_ms: number; counts: GroupCounts },
): Promise<void> {
  const { workspace, arrival, now_ms, counts } = row
  const minute_ms = periodOf(now_ms, 'minute')
  const parameters = [workspace, arrival, minute_ms, JSON.stringify(counts), idOf('wsp', workspace)]
  await enqueueOnce(pool, row, (connection) => connection.run(INSERT_COUNTS, parameters))
}

const INSERT_COUNTS = `
  INSERT INTO event_arrivals (workspace_id, arrival, minute_ms, counts)
  SELECT $1, $2, $3, $4 FROM workspaces, (SELECT ${DURABLE}) AS durable
  WHERE workspaces.workspace_id = $5 AND removed_ms IS NULL
  ON CONFLICT DO NOTHING`

/** Sums up the counts of arrivals by minute and series, corrected by `taken` (see `INSERT` of the event writer). */
export function countsOf(arrivals: readonly Pick<Arrival, 'minute_ms' | 'counts' | 'taken'>[]) {
  const minutes = new Map<number, Map<string, ArrivedCounts>>()
  for (const { minute_ms, counts: text, taken } of arrivals) {
    const counts: ArrivedCounts[] = JSON.parse(text)
    const takenNumbers: number[] = taken === null ? [] : JSON.parse(taken)
    for (const number of takenNumbers) {
      const count = counts[number]
      if (!count) throw new Error('an arrival has no counts for a message that was already stored')
      count.created -= 1
      count.duplicate += 1
    }
    const minute = minutes.get(minute_ms) ?? new Map<string, ArrivedCounts>()
    minutes.set(minute_ms, minute)
    for (const count of counts) {
      const key = textOf(count)
      const sum = minute.get(key)
      if (sum) addCounts(sum, count)
      else minute.set(key, count)
    }
  }
  // What was counted and taken back must not bring back the name of a removed journey.
  return new Map([...minutes].map(([minute_ms, sums]) => [minute_ms, [...sums.values()].filter(isSomething)]))
}

/** A series with its number in a block. */
export type Numbered = Series & { number: number }

/** The numbers of the series of one block, and those to be added. */
export class SeriesNumbers {
  readonly added: Numbered[] = []
  readonly #numbered: Map<string, Numbered>
  /** Not the number of different names: the series of a removed journey keep their numbers, but lose their names. */
  #next: number

  constructor(known: readonly Numbered[]) {
    this.#numbered = new Map(known.map((series) => [textOf(series), series]))
    this.#next = known.reduce((next, { number }) => Math.max(next, number + 1), 0)
  }

  /** Returns counts by the numbers of their series. */
  numbered(arrived: readonly ArrivedCounts[]): SeriesCounts[] {
    return arrived.map(({ created, duplicate, rejected, ...series }) => {
      return { number: this.#of(series).number, created, duplicate, rejected }
    })
  }

  /** Returns the series under which another is counted: without its name if there are too many. */
  #of(series: Series): Numbered {
    const known = this.#numbered.get(textOf(series))
    if (known) return known
    const number = this.#next
    if (number >= NAMED_SERIES && series.event_id !== '') return this.#of({ ...series, event_id: '' })
    const { journey_id, event_id, key_id } = series
    const added = { number, journey_id, event_id, key_id }
    this.#numbered.set(textOf(series), added)
    this.added.push(added)
    this.#next += 1
    return added
  }
}

/** Names contain any characters except NUL. */
function textOf({ journey_id, event_id, key_id }: Series): string {
  return `${journey_id}\0${key_id}\0${event_id}`
}
