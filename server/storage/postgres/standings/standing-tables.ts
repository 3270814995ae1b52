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
import type { Connection } from '../connection/connection.ts'
import { digitsOf, uuidText } from '../connection/uuids.ts'
import { CustomerHistory } from './customer-history.ts'

type StoredPage = { first_customer: string; times: Uint8Array; keys: Uint8Array }

/** Maximum bytes of pages per statement, plus one page. */
const WRITTEN_BYTES = 16 * 1024 * 1024

/** Number of pages, and multiple of it for entries, that are removed at a time once they are no longer read. */
const REMOVED_PAGES = 256
const REMOVED_ENTRIES = 64 * REMOVED_PAGES

/** Before the first and after the last instant that an event can have. */
const ALL_MS = { from: Number.MIN_SAFE_INTEGER, to: Number.MAX_SAFE_INTEGER }

/** Reads the standings of one workspace on a connection, in the caller's transaction. */
export class StandingTablesReader implements StandingReader {
  readonly connection: Connection
  /** Of the workspace, as 32 digits. */
  readonly workspace: string
  readonly history: History
  asOf_ms: number | null
  /** By journey and generation; they never change. */
  readonly #spaces = new Map<string, string>()

  constructor(connection: Connection, workspace: string, asOf_ms: number | null = null) {
    this.connection = connection
    this.workspace = workspace
    this.history = new CustomerHistory(connection, workspace)
    this.asOf_ms = asOf_ms
  }

  async journey(journey: Key): Promise<JourneyState | undefined> {
    return (await this.journeys([journey])).get(journey)
  }

  /** Returns the states of some journeys, if they have standings. */
  async journeys(journeys: readonly Key[]): Promise<Map<Key, JourneyState>> {
    const { rows } = await this.connection.run<JourneyRow & { journey_id: string }>(
      `SELECT journey_id, generation, event_ids, version, building FROM standing_journeys
      WHERE workspace_id = $1 AND journey_id = ANY($2::uuid[])`,
      [this.workspace, journeys],
    )
    return new Map(rows.map(({ journey_id, ...row }) => [digitsOf(journey_id), stateOf(row)]))
  }

  async times(...page: Parameters<StandingReader['times']>): Promise<readonly TimesRow[]> {
    return await this.#pages<Omit<StoredPage, 'keys'>>('times', page)
  }

  async pages(...page: Parameters<StandingReader['pages']>): Promise<readonly PageRow[]> {
    return await this.#pages<StoredPage>('times, keys', page)
  }

  async #pages<Stored extends Pick<StoredPage, 'first_customer'>>(
    columns: string,
    [journey, generation, after, limit]: Parameters<StandingReader['pages']>,
  ) {
    const space = await this.space(journey, generation)
    if (space === undefined) return []
    const { rows } = await this.connection.run<Stored>(
      `SELECT first_customer, ${columns} FROM standing_pages
      WHERE workspace_id = $1 AND space = $2 ${after === null ? '' : 'AND first_customer > $4'}
      ORDER BY first_customer LIMIT $3`,
      [this.workspace, space, limit, ...(after === null ? [] : [after])],
    )
    return rows.map(({ first_customer, ...page }) => ({ first: digitsOf(first_customer), ...page }))
  }

  async variables(events: readonly Key[]): Promise<readonly (string | null)[]> {
    if (events.length === 0) return []
    const { rows } = await this.connection.run<{ id: string; custom_variables: string }>(VARIABLES, [
      this.workspace,
      events,
    ])
    const found = new Map(rows.map(({ id, custom_variables }) => [digitsOf(id), custom_variables]))
    return events.map((event) => found.get(event) ?? null)
  }

  async pagesWith(journey: Key, generation: number, customers: readonly Key[]): Promise<readonly PageRow[]> {
    const space = customers.length > 0 ? await this.space(journey, generation) : undefined
    if (space === undefined) return []
    const { rows } = await this.connection.run<StoredPage>(PAGES_WITH, [this.workspace, space, customers])
    return rows.map(({ first_customer, ...page }) => ({ first: digitsOf(first_customer), ...page }))
  }

  async entries(
    journey: Key,
    generation: number,
    { before, from_ms, limit }: { before: Entry | null; from_ms: number | null; limit: number },
  ): Promise<readonly Entry[]> {
    const space = await this.space(journey, generation)
    if (space === undefined) return []
    const { rows } = await this.connection.run<{ entered_ms: number; customer_id: string }>(
      `SELECT entered_ms, customer_id FROM standing_entries
      WHERE workspace_id = $1 AND space = $2 AND entered_ms >= $3 AND (entered_ms, customer_id) < ($4, $5)
      ORDER BY entered_ms DESC, customer_id DESC LIMIT $6`,
      [
        this.workspace,
        space,
        from_ms ?? ALL_MS.from,
        before?.entered_ms ?? ALL_MS.to,
        before?.customer || LEAST_UUID,
        limit,
      ],
    )
    return rows.map(({ entered_ms, customer_id }) => ({ entered_ms, customer: digitsOf(customer_id) }))
  }

  /** Returns the number under which the pages of a generation are stored; undefined if it has none yet. */
  protected async space(journey: Key, generation: number): Promise<string | undefined> {
    const name = `${journey} ${generation}`
    const known = this.#spaces.get(name)
    if (known !== undefined) return known
    const { rows } = await this.connection.run<{ space: string }>(
      'SELECT space FROM standing_spaces WHERE workspace_id = $1 AND journey_id = $2 AND generation = $3',
      [this.workspace, journey, generation],
    )
    const space = rows[0]?.space
    if (space !== undefined) this.#spaces.set(name, space)
    return space
  }

  protected forget(journey: Key, generation: number): void {
    this.#spaces.delete(`${journey} ${generation}`)
  }
}

/** The same with writing. A transaction has one, and a workspace has one such transaction at a time. */
export class StandingTablesWriter extends StandingTablesReader implements StandingWriter {
  async writePages(
    journey: Key,
    generation: number,
    { remove, put }: { remove: readonly Key[]; put: readonly PageRow[] },
  ): Promise<void> {
    const space = await this.#madeSpace(journey, generation)
    if (remove.length > 0) {
      await this.connection.run(
        'DELETE FROM standing_pages WHERE workspace_id = $1 AND space = $2 AND first_customer = ANY($3::uuid[])',
        [this.workspace, space, remove],
      )
    }
    for (const pages of parts(put)) {
      // Two parameters for all pages: a single byte string crosses unchanged, while an array of them would be sent as
      // text.
      await this.connection.run(PUT_PAGES, [
        this.workspace,
        space,
        pages.map(({ first }) => first),
        Buffer.concat(pages.map(({ times }) => times)),
        places(pages.map(({ times }) => times.length)),
        pages.map(({ times }) => times.length),
        Buffer.concat(pages.map(({ keys }) => keys)),
        places(pages.map(({ keys }) => keys.length)),
        pages.map(({ keys }) => keys.length),
      ])
    }
  }

  async writeEntries(
    journey: Key,
    generation: number,
    { remove, put }: { remove: readonly Entry[]; put: readonly Entry[] },
  ): Promise<void> {
    const space = await this.#madeSpace(journey, generation)
    for (const [statement, entries] of [
      [REMOVE_ENTRIES, remove],
      [PUT_ENTRIES, put],
    ] as const) {
      if (entries.length === 0) continue
      await this.connection.run(statement, [
        this.workspace,
        space,
        entries.map(({ entered_ms }) => entered_ms),
        entries.map(({ customer }) => customer),
      ])
    }
  }

  async removeJourney(journey: Key): Promise<void> {
    await this.connection.run('DELETE FROM standing_journeys WHERE workspace_id = $1 AND journey_id = $2', [
      this.workspace,
      journey,
    ])
  }

  async saveJourney(journey: Key, state: JourneyState): Promise<void> {
    const { generation, event_ids, version, building } = rowOf(state)
    await this.connection.run(
      `INSERT INTO standing_journeys (workspace_id, journey_id, generation, event_ids, version, building)
      VALUES ($1, $2, $3, $4, $5, $6)
      ON CONFLICT (workspace_id, journey_id) DO UPDATE SET generation = excluded.generation,
        event_ids = excluded.event_ids, version = excluded.version, building = excluded.building`,
      [this.workspace, journey, generation, event_ids, version, building],
    )
  }

  async dropGeneration(journey: Key, generation: number): Promise<void> {
    // The number is immediately free for another generation.
    await this.connection.run(
      `UPDATE standing_spaces SET generation = NULL
      WHERE workspace_id = $1 AND journey_id = $2 AND generation = $3`,
      [this.workspace, journey, generation],
    )
    this.forget(journey, generation)
  }

  async buildingJourney(): Promise<Key | undefined> {
    const { rows } = await this.connection.run<{ journey_id: string }>(
      `SELECT journey_id FROM standing_journeys
      WHERE workspace_id = $1 AND building IS NOT NULL ORDER BY journey_id LIMIT 1`,
      [this.workspace],
    )
    return rows[0] && digitsOf(rows[0].journey_id)
  }

  async removeSome(): Promise<boolean> {
    const { rows } = await this.connection.run<{ space: string }>(
      'SELECT space FROM standing_spaces WHERE workspace_id = $1 AND generation IS NULL LIMIT 1',
      [this.workspace],
    )
    const space = rows[0]?.space
    if (space === undefined) return false
    let removed = 0
    for (const statement of [REMOVE_SOME_PAGES, REMOVE_SOME_ENTRIES]) {
      removed += (await this.connection.run(statement, [this.workspace, space])).changes
    }
    if (removed === 0) {
      await this.connection.run('DELETE FROM standing_spaces WHERE workspace_id = $1 AND space = $2', [
        this.workspace,
        space,
      ])
    }
    return true
  }

  async #madeSpace(journey: Key, generation: number): Promise<string> {
    const found = await this.space(journey, generation)
    if (found !== undefined) return found
    await this.connection.run(
      'INSERT INTO standing_spaces (workspace_id, space, journey_id, generation) VALUES ($1, $2, $3, $4)',
      [this.workspace, uuidText(crypto.getRandomValues(new Uint8Array(16))), journey, generation],
    )
    const made = await this.space(journey, generation)
    if (made === undefined) throw new Error('a space that was just created does not exist')
    return made
  }
}

const LEAST_UUID = '0'.repeat(32)

/** Splits pages into parts that are sent together. */
function parts(pages: readonly PageRow[]): PageRow[][] {
  const parts: PageRow[][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const page of pages) {
    bytes += page.times.length + page.keys.length
    if (bytes > WRITTEN_BYTES) {
      parts.push([])
      bytes = page.times.length + page.keys.length
    }
    parts.at(-1)?.push(page)
  }
  return parts
}

/** Returns the start positions, from 1, of consecutive values. */
function places(lengths: readonly number[]): number[] {
  let place = 1
  return lengths.map((length) => {
    const begin = place
    place += length
    return begin
  })
}

/** A key before the first page belongs to that one. */
const PAGES_WITH = `
  WITH found AS MATERIALIZED (
    SELECT DISTINCT coalesce((
      SELECT first_customer FROM standing_pages
      WHERE workspace_id = $1 AND space = $2 AND first_customer <= customer ORDER BY first_customer DESC LIMIT 1
    ), (
      SELECT first_customer FROM standing_pages
      WHERE workspace_id = $1 AND space = $2 ORDER BY first_customer LIMIT 1
    )) AS first_customer
    FROM unnest($3::uuid[]) AS customers (customer)
  )
  SELECT first_customer, page.times, page.keys FROM found CROSS JOIN LATERAL (
    SELECT times, keys FROM standing_pages
    WHERE workspace_id = $1 AND space = $2 AND standing_pages.first_customer = found.first_customer
  ) AS page ORDER BY first_customer`

const VARIABLES = `
  SELECT id, custom_variables FROM events
  WHERE workspace_id = $1 AND id = ANY($2::uuid[]) AND custom_variables IS NOT NULL`

const PUT_PAGES = `
  INSERT INTO standing_pages (workspace_id, space, first_customer, times, keys)
  SELECT $1, $2, first_customer, substr($4::bytea, times_from, times_for), substr($7::bytea, keys_from, keys_for)
  FROM unnest($3::uuid[], $5::integer[], $6::integer[], $8::integer[], $9::integer[])
    AS put (first_customer, times_from, times_for, keys_from, keys_for)
  ORDER BY first_customer
  ON CONFLICT (workspace_id, space, first_customer) DO UPDATE SET times = excluded.times, keys = excluded.keys`

const REMOVE_ENTRIES = `
  DELETE FROM standing_entries USING unnest($3::bigint[], $4::uuid[]) AS removed (entered_ms, customer_id)
  WHERE workspace_id = $1 AND space = $2 AND standing_entries.entered_ms = removed.entered_ms
    AND standing_entries.customer_id = removed.customer_id`

const PUT_ENTRIES = `
  INSERT INTO standing_entries (workspace_id, space, entered_ms, customer_id)
  SELECT $1, $2, entered_ms, customer_id FROM unnest($3::bigint[], $4::uuid[]) AS put (entered_ms, customer_id)
  ORDER BY entered_ms, customer_id ON CONFLICT DO NOTHING`

const REMOVE_SOME_PAGES = `
  DELETE FROM standing_pages WHERE workspace_id = $1 AND space = $2 AND first_customer = ANY(ARRAY(
    SELECT first_customer FROM standing_pages WHERE workspace_id = $1 AND space = $2 LIMIT ${REMOVED_PAGES}
  ))`

const REMOVE_SOME_ENTRIES = `
  DELETE FROM standing_entries WHERE workspace_id = $1 AND space = $2 AND (entered_ms, customer_id) IN (
    SELECT entered_ms, customer_id FROM standing_entries WHERE workspace_id = $1 AND space = $2
    LIMIT ${REMOVED_ENTRIES}
  )`
