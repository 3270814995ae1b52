import type { Key } from '../../../domain/journey-standing.ts'
import {
  type Entry,
  type History,
  type JourneyRow,
  type JourneyState,
  type PageRow,
  rowOf,
  type StandingReader,
  type StandingWriter,
  stateOf,
  type TimesRow,
} from '../../standings/standing-store.ts'
import { type Connection, openDerived } from '../connection.ts'
import type { Layout } from '../derived-file.ts'
import { keyOf, numberOf } from './keys.ts'

/**
 * A follower's position in a store: the last enrolment and the last event it processed, with marks that no other store
 * has at those numbers.
 */
export type FollowedUpTo = {
  enrolment: number
  enrolment_mark: string
  seq: number
  /** The event's identifier; empty if there is none. */
  event_mark: string
  /** The number of the last removal. */
  removal: number
  asOf_ms: number | null
}

/** The position in a store in which nothing was ever removed, before anything is followed. */
export const NOTHING: FollowedUpTo = {
  enrolment: 0,
  enrolment_mark: '',
  seq: 0,
  event_mark: '',
  removal: 0,
  asOf_ms: null,
}

/**
 * Pages and entries belong to a space, which is one generation of one journey. A page's number combines its space and
 * its first customer, so that the pages of a space are adjacent.
 */
const CUSTOMERS_OF_SPACE = 2 ** 32

/** How many rows of a dropped space are deleted at a time. */
const REMOVED_AT_ONCE = 256

/** Path of the file with a store's standings, which is next to the store. */
export function standingsPath(path: string): string {
  return `${path}-standings`
}

const LAYOUT_STATEMENTS = [
  `CREATE TABLE followed (
    one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    enrolment INTEGER NOT NULL,
    enrolment_mark TEXT NOT NULL,
    seq INTEGER NOT NULL,
    event_mark TEXT NOT NULL,
    removal INTEGER NOT NULL,
    as_of_ms INTEGER
  ) STRICT`,
  `CREATE TABLE journeys (
    journey INTEGER NOT NULL PRIMARY KEY,
    generation INTEGER NOT NULL,
    event_ids TEXT NOT NULL, -- JSON
    version INTEGER NOT NULL,
    building TEXT -- JSON
  ) STRICT`,
  'CREATE INDEX journeys_building ON journeys (journey) WHERE building IS NOT NULL',
  `CREATE TABLE spaces (
    space INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    journey INTEGER NOT NULL,
    generation INTEGER, -- null: what it holds is to be removed
    UNIQUE (journey, generation)
  ) STRICT`,
  'CREATE INDEX spaces_dropped ON spaces (space) WHERE generation IS NULL',
  // Keyed by rowid rather than by several columns, so that a blob may fill a whole page of the file. Two tables: with one,
  // a list of customers took 1.2 times the processor time.
  'CREATE TABLE page_times (page INTEGER NOT NULL PRIMARY KEY, data BLOB NOT NULL) STRICT',
  'CREATE TABLE page_keys (page INTEGER NOT NULL PRIMARY KEY, data BLOB NOT NULL) STRICT',
  `CREATE TABLE entries (
    space INTEGER NOT NULL,
    entered_ms INTEGER NOT NULL,
    customer INTEGER NOT NULL,
    PRIMARY KEY (space, entered_ms, customer)
  ) STRICT, WITHOUT ROWID`,
]

export const STANDINGS_LAYOUT: Layout = { version: 3, statements: LAYOUT_STATEMENTS, open: openDerived }

/** What is read from the store itself. */
export type StoreReads = {
  /** Whether a journey was removed after the followed position: another may have its number by now. */
  isGone(journey_ref: number, upTo: FollowedUpTo): boolean
  variables(events: readonly Key[]): (string | null)[]
}

/** Reads standings through one connection; within a transaction of the caller all reads see one snapshot. */
export class StandingsReader implements StandingReader {
  readonly #statements: ReturnType<typeof prepareReads>
  readonly #store: StoreReads
  readonly history: History
  asOf_ms: number | null = null

  constructor(connection: Connection, store: StoreReads, history: History) {
    this.#statements = prepareReads(connection)
    this.#store = store
    this.history = history
  }

  followed(): FollowedUpTo {
    return this.#statements.followed.get() ?? NOTHING
  }

  /** Whether nothing was followed into this file yet. */
  isNew(): boolean {
    return this.#statements.followed.get() === undefined
  }

  async journey(journey: Key): Promise<JourneyState | undefined> {
    const row = this.#statements.journey.get(numberOf(journey))
    return row && !this.#store.isGone(numberOf(journey), this.followed()) ? stateOf(row) : undefined
  }

  async buildingJourney(): Promise<Key | undefined> {
    const found = this.#statements.building.get()
    return found === undefined ? undefined : keyOf(found)
  }

  /** Journeys with standings, after a given one, with the events of the latest steps known of them as JSON. */
  journeysBehind(after: number, limit: number): { journey: number; event_ids: string }[] {
    return this.#statements.journeysBehind.all(after, limit)
  }

  async times(journey: Key, generation: number, after: Key | null, limit: number): Promise<TimesRow[]> {
    const space = this.space(journey, generation)
    if (space === undefined) return []
    const from = space * CUSTOMERS_OF_SPACE + (after === null ? -1 : numberOf(after))
    const rows = this.#statements.times.all(from, (space + 1) * CUSTOMERS_OF_SPACE, limit)
    return rows.map(([page, times]) => ({ first: keyOf(page % CUSTOMERS_OF_SPACE), times }))
  }

  async pages(journey: Key, generation: number, after: Key | null, limit: number): Promise<PageRow[]> {
    const space = this.space(journey, generation)
    if (space === undefined) return []
    const from = space * CUSTOMERS_OF_SPACE + (after === null ? -1 : numberOf(after))
    const rows = this.#statements.pages.all(from, (space + 1) * CUSTOMERS_OF_SPACE, limit)
    return rows.map(([page, times, keys]) => ({ first: keyOf(page % CUSTOMERS_OF_SPACE), times, keys }))
  }

  async variables(events: readonly Key[]): Promise<(string | null)[]> {
    return this.#store.variables(events)
  }

  async pagesWith(journey: Key, generation: number, customers: readonly Key[]): Promise<PageRow[]> {
    const space = this.space(journey, generation)
    if (space === undefined) return []
    const [least, end] = [space * CUSTOMERS_OF_SPACE, (space + 1) * CUSTOMERS_OF_SPACE]
    const rows: PageRow[] = []
    let next = Number.NEGATIVE_INFINITY
    for (const customer of customers) {
      const number = least + numberOf(customer)
      if (number < next) continue
      // A customer before the first page belongs into the first page.
      const page =
        this.#statements.pageUpTo.get(number, least) ?? this.#statements.pageBehind.get(least - 1, end)
      if (page === undefined) return rows
      next = this.#statements.pageBehind.get(page, end) ?? Number.POSITIVE_INFINITY
      const [times, keys] = [this.#statements.timesOf.get(page), this.#statements.keysOf.get(page)]
      if (!times || !keys) throw new Error(`page ${page} does not exist`)
      rows.push({ first: keyOf(page - least), times, keys })
    }
    return rows
  }

  async entries(
    journey: Key,
    generation: number,
    { before, from_ms, limit }: { before: Entry | null; from_ms: number | null; limit: number },
  ): Promise<Entry[]> {
    const space = this.space(journey, generation)
    if (space === undefined) return []
    const rows = this.#statements.entries.all(
      space,
      from_ms ?? Number.MIN_SAFE_INTEGER,
      before?.entered_ms ?? Number.MAX_SAFE_INTEGER,
      before ? numberOf(before.customer) : 0,
      limit,
    )
    return rows.map(([entered_ms, customer]) => ({ entered_ms, customer: keyOf(customer) }))
  }

  protected space(journey: Key, generation: number): number | undefined {
    return this.#statements.space.get(numberOf(journey), generation)
  }
}

/** Adds the writes of the follower, inside transactions of the caller. */
export class StandingsWriter extends StandingsReader implements StandingWriter {
  readonly #writes: ReturnType<typeof prepareWrites>

  constructor(connection: Connection, store: Pick<StoreReads, 'variables'>, history: History) {
    super(connection, { isGone: () => false, variables: (events) => store.variables(events) }, history)
    this.#writes = prepareWrites(connection)
  }

  saveFollowed(followed: FollowedUpTo): void {
    this.#writes.followed.run(followed)
  }

  async writePages(
    journey: Key,
    generation: number,
    { remove, put }: { remove: readonly Key[]; put: readonly PageRow[] },
  ): Promise<void> {
    const least = this.#madeSpace(journey, generation) * CUSTOMERS_OF_SPACE
    for (const first of remove) {
      this.#writes.deleteTimes.run(least + numberOf(first))
      this.#writes.deleteKeys.run(least + numberOf(first))
    }
    for (const { first, times, keys } of put) {
      this.#writes.times.run(least + numberOf(first), times)
      this.#writes.keys.run(least + numberOf(first), keys)
    }
  }

  async writeEntries(
    journey: Key,
    generation: number,
    { remove, put }: { remove: readonly Entry[]; put: readonly Entry[] },
  ): Promise<void> {
    const space = this.#madeSpace(journey, generation)
    for (const { entered_ms, customer } of remove) {
      this.#writes.deleteEntry.run(space, entered_ms, numberOf(customer))
    }
    for (const { entered_ms, customer } of put) this.#writes.entry.run(space, entered_ms, numberOf(customer))
  }

  async removeJourney(journey: Key): Promise<void> {
    this.#writes.removeJourney.run(numberOf(journey))
  }

  async saveJourney(journey: Key, state: JourneyState): Promise<void> {
    this.#writes.journey.run({ ...rowOf(state), journey: numberOf(journey) })
  }

  async dropGeneration(journey: Key, generation: number): Promise<void> {
    this.#writes.dropSpace.run(numberOf(journey), generation)
  }

  /** Whether standings are being rebuilt, or something is to be deleted. */
  async isRebuildDue(): Promise<boolean> {
    return (await this.buildingJourney()) !== undefined || this.#writes.dropped.get() !== undefined
  }

  async removeSome(): Promise<boolean> {
    const space = this.#writes.dropped.get()
    if (space === undefined) return false
    const [least, end] = [space * CUSTOMERS_OF_SPACE, (space + 1) * CUSTOMERS_OF_SPACE]
    let changes = 0
    changes += this.#writes.deleteSomeTimes.run(least, end).changes
    changes += this.#writes.deleteSomeKeys.run(least, end).changes
    changes += this.#writes.deleteSomeEntries.run(space).changes
    if (changes === 0) this.#writes.deleteSpace.run(space)
    return true
  }

  #madeSpace(journey: Key, generation: number): number {
    const found = this.space(journey, generation)
    if (found !== undefined) return found
    return Number(this.#writes.space.run(numberOf(journey), generation).lastInsertRowid)
  }
}

function prepareReads(connection: Connection) {
  return {
    followed: connection.prepare<[], FollowedUpTo>(
      'SELECT enrolment, enrolment_mark, seq, event_mark, removal, as_of_ms AS asOf_ms FROM followed',
    ),
    journey: connection.prepare<[number], JourneyRow>(
      'SELECT generation, event_ids, version, building FROM journeys WHERE journey = ?',
    ),
    building: connection
      .prepare<[], number>('SELECT journey FROM journeys WHERE building IS NOT NULL ORDER BY journey LIMIT 1')
      .pluck(),
    journeysBehind: connection.prepare<[number, number], { journey: number; event_ids: string }>(
      `SELECT journey, coalesce(building ->> 'event_ids', event_ids) AS event_ids
      FROM journeys WHERE journey > ? ORDER BY journey LIMIT ?`,
    ),
    space: connection
      .prepare<[number, number], number>('SELECT space FROM spaces WHERE journey = ? AND generation = ?')
      .pluck(),
    times: connection
      .prepare<[number, number, number], [page: number, data: Uint8Array]>(
        'SELECT page, data FROM page_times WHERE page > ? AND page < ? ORDER BY page LIMIT ?',
      )
      .raw(),
    pages: connection
      .prepare<[number, number, number], [page: number, times: Uint8Array, keys: Uint8Array]>(
        `SELECT page, page_times.data, page_keys.data FROM page_times JOIN page_keys USING (page)
        WHERE page > ? AND page < ? ORDER BY page LIMIT ?`,
      )
      .raw(),
    pageUpTo: connection
      .prepare<[number, number], number>(
        'SELECT page FROM page_keys WHERE page <= ? AND page >= ? ORDER BY page DESC LIMIT 1',
      )
      .pluck(),
    pageBehind: connection
      .prepare<[number, number], number>(
        'SELECT page FROM page_keys WHERE page > ? AND page < ? ORDER BY page LIMIT 1',
      )
      .pluck(),
    timesOf: connection.prepare<[number], Uint8Array>('SELECT data FROM page_times WHERE page = ?').pluck(),
    keysOf: connection.prepare<[number], Uint8Array>('SELECT data FROM page_keys WHERE page = ?').pluck(),
    entries: connection
      .prepare<[number, number, number, number, number], [entered_ms: number, customer: number]>(
        `SELECT entered_ms, customer FROM entries
        WHERE space = ? AND entered_ms >= ? AND (entered_ms, customer) < (?, ?)
        ORDER BY entered_ms DESC, customer DESC LIMIT ?`,
      )
      .raw(),
  }
}

function prepareWrites(connection: Connection) {
  return {
    followed: connection.prepare<[FollowedUpTo]>(
      `INSERT INTO followed VALUES (1, @enrolment, @enrolment_mark, @seq, @event_mark, @removal, @asOf_ms)
      ON CONFLICT DO UPDATE SET enrolment = excluded.enrolment, enrolment_mark = excluded.enrolment_mark,
        seq = excluded.seq, event_mark = excluded.event_mark, removal = excluded.removal,
        as_of_ms = excluded.as_of_ms`,
    ),
    journey: connection.prepare<[JourneyRow & { journey: number }]>(
      `INSERT INTO journeys VALUES (@journey, @generation, @event_ids, @version, @building)
      ON CONFLICT DO UPDATE SET generation = excluded.generation, event_ids = excluded.event_ids,
        version = excluded.version, building = excluded.building`,
    ),
    space: connection.prepare<[number, number]>('INSERT INTO spaces (journey, generation) VALUES (?, ?)'),
    // Frees the number for another generation at once.
    dropSpace: connection.prepare<[number, number]>(
      'UPDATE spaces SET generation = NULL WHERE journey = ? AND generation = ?',
    ),
    dropped: connection
      .prepare<[], number>('SELECT space FROM spaces WHERE generation IS NULL LIMIT 1')
      .pluck(),
    deleteSpace: connection.prepare<[number]>('DELETE FROM spaces WHERE space = ?'),
    times: connection.prepare<[number, Uint8Array]>('INSERT OR REPLACE INTO page_times VALUES (?, ?)'),
    keys: connection.prepare<[number, Uint8Array]>('INSERT OR REPLACE INTO page_keys VALUES (?, ?)'),
    deleteTimes: connection.prepare<[number]>('DELETE FROM page_times WHERE page = ?'),
    deleteKeys: connection.prepare<[number]>('DELETE FROM page_keys WHERE page = ?'),
    entry: connection.prepare<[number, number, number]>('INSERT OR REPLACE INTO entries VALUES (?, ?, ?)'),
    deleteEntry: connection.prepare<[number, number, number]>(
      'DELETE FROM entries WHERE space = ? AND entered_ms = ? AND customer = ?',
    ),
    removeJourney: connection.prepare<[number]>('DELETE FROM journeys WHERE journey = ?'),
    deleteSomeTimes: connection.prepare<[number, number]>(removal('page_times')),
    deleteSomeKeys: connection.prepare<[number, number]>(removal('page_keys')),
    deleteSomeEntries: connection.prepare<[number]>(
      `DELETE FROM entries WHERE (space, entered_ms, customer) IN (
        SELECT space, entered_ms, customer FROM entries WHERE space = ? LIMIT ${64 * REMOVED_AT_ONCE})`,
    ),
  }
}

function removal(table: string): string {
  return `DELETE FROM ${table} WHERE page IN (
    SELECT page FROM ${table} WHERE page >= ? AND page < ? ORDER BY page LIMIT ${REMOVED_AT_ONCE})`
}
