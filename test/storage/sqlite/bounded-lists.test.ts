// engines: sqlite (what only SQLite has)

import { join } from 'node:path'
import Database from 'better-sqlite3'
import { Kysely } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import type { DB } from '../../../generated/tables.ts'
import type { Position } from '../../../server/domain/cursors.ts'
import { PAGE_BYTES, type PageRows } from '../../../server/domain/paging.ts'
import { WALKED_ROWS } from '../../../server/storage/lists/page-query.ts'
import { LocalDialect } from '../../../server/storage/sqlite/local-dialect.ts'
import { type AuditFilter, newestAuditEntries } from '../../../server/storage/tables/audit-log.ts'
import { type CustomerFilter, newestCustomers } from '../../../server/storage/tables/customers.ts'
import { newestInvitations, VALID_MS } from '../../../server/storage/tables/invitations.ts'
import { newestJourneys } from '../../../server/storage/tables/journeys.ts'
import { membershipsOf, newestMembers } from '../../../server/storage/tables/members.ts'
import { newestServiceKeys } from '../../../server/storage/tables/service-keys.ts'
import { deleteExpiredSessions } from '../../../server/storage/tables/sessions.ts'
import { isFull, nextDelivery } from '../../../server/storage/tables/webhook-deliveries.ts'
import { temporaryFolder } from '../../fixtures/cairn.ts'
import { openStore } from '../../fixtures/file-store.ts'

const CUSTOMERS = 200_000
const ENTRIES = 25_000
/** Journeys, keys and members of another workspace: more than a page examines. */
const MANY = 15_000
/** Matches of a search: more than are sorted. */
const ADAS = 12_000
/** Customers and entries are numbered by their timestamps, from 1. */
const NOW = CUSTOMERS + VALID_MS

/** The statements that a test has run, with their parameters. */
let statements: { sql: string; parameters: readonly unknown[] }[] = []
/** How many rows of all tables SQLite has read for them. */
let rowsRead = 0
let database: Database.Database
let db: Kysely<DB>

const ordinal = (prefix: string) => `'${prefix}_' || printf('%026d', value)`
const counted = (count: number) =>
  `WITH RECURSIVE counter (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM counter WHERE value < ${count})`

beforeAll(async () => {
  const path = join(temporaryFolder(), 'cairn.db')
  const store = await openStore({ path })
  await store.close()
  database = new Database(path)
  // All accounts and all customers named "Ada" are among the oldest; only the newest is named "Zoe".
  database.exec(`
    ${counted(1000)} INSERT INTO workspaces (workspace_ref, workspace_id, name, created_ms)
      SELECT value, 'wsp_' || value, 'Acme ' || value, 1000 - value FROM counter;
    ${counted(1000)} INSERT INTO people SELECT 'per_' || value, 'Ada', value, value, '', 0, ' ada' FROM counter;
    ${counted(1000)} INSERT INTO members SELECT 'wsp_' || value, 'per_1', 'viewer', 0 FROM counter
      UNION SELECT 'wsp_1', 'per_' || value, 'viewer', 0 FROM counter;
    ${counted(1000)} INSERT INTO service_keys (key_id, workspace_id, kind, name, digest, last_four, created_ms)
      SELECT ${ordinal('key')}, 'wsp_1', 'secret', 'Backend', value, 'abcd', 0 FROM counter;
    ${counted(CUSTOMERS)} INSERT INTO customers SELECT value, 'wsp_1', ${ordinal('cus')},
      iif(value <= 10, 'account', 'contact'), 'user-' || value, 'Ada', value, value,
      iif(value <= ${ADAS}, ' ada ', iif(value < ${CUSTOMERS}, ' grace ', ' zoe ')) || value FROM counter;
    INSERT INTO customer_words SELECT 'wsp_1', substr(name_key, 2, instr(substr(name_key, 2), ' ') - 1), created_ms, customer_id
      FROM customers;
    INSERT INTO customer_words SELECT 'wsp_1', CAST(created_ms AS TEXT), created_ms, customer_id FROM customers;
    ${counted(ENTRIES)} INSERT INTO audit_log
      SELECT 'wsp_1', ${ordinal('aud')}, value, iif(value <= 5, 'members', 'sessions'), 'signed_in', 'person',
        iif(value <= 10, 'per_rare', 'per_1'), 'Ada', 'person', 'per_1', 'Ada', NULL, NULL, NULL, NULL FROM counter;
    ${counted(1000)} INSERT INTO journeys (journey_ref, workspace_id, journey_id, name, description, steps,
        status, created_ms, updated_ms, name_key)
      SELECT value, 'wsp_1', ${ordinal('jrn')}, 'Onboarding', '', json_array(printf('%.*c', 60000, 'x')),
        iif(value <= 10, 'archived', 'active'), value, value, ' onboarding' FROM counter;
    ${counted(MANY)} INSERT INTO journeys (journey_ref, workspace_id, journey_id, name, description, steps,
        status, created_ms, updated_ms, name_key)
      SELECT 1000 + value, 'wsp_2', ${ordinal('jrn')}, 'Renewal', '', '[]', iif(value <= 10, 'archived', 'active'), value,
        value, iif(value <= 10, ' first renewal', ' renewal') FROM counter;
    ${counted(MANY)} INSERT INTO service_keys
      (key_id, workspace_id, kind, name, digest, last_four, created_ms, revoked_ms, name_key)
      SELECT ${ordinal('kez')}, 'wsp_2', iif(value <= 10, 'publishable', 'secret'), 'Backend', 'many_' || value, 'abcd',
        value, iif(value <= 5, NULL, 1), ' backend' FROM counter;
    ${counted(MANY)} INSERT INTO people
      SELECT 'per_many_' || value, 'Grace', 'm' || value, 'm' || value, '', 0, ' grace' FROM counter;
    ${counted(MANY)} INSERT INTO members SELECT 'wsp_2', 'per_many_' || value, 'viewer', value FROM counter;
    ${counted(1000)} INSERT INTO invitations
      SELECT 'wsp_1', ${ordinal('inv')}, value, value || '@example.com', value || '@example.com', 'viewer', 'per_1',
        iif(value <= 990, value, ${NOW}), iif(value <= 990, value, ${NOW}) + ${VALID_MS} FROM counter;
    ${counted(1000)} INSERT INTO sessions SELECT value, 'per_1', 0, 0, value, 'ses_' || value, NULL FROM counter;
  `)
  database.function('read', { deterministic: false, varargs: true }, () => {
    rowsRead += 1
    return 1
  })
  db = new Kysely<DB>({
    dialect: new LocalDialect({ database }),
    log({ query }) {
      statements.push({ sql: query.sql, parameters: query.parameters })
    },
  })
  return () => db.destroy()
})

/** Runs a list. @returns SQLite's query plan, and how many rows it has read */
async function cost(list: () => Promise<unknown>) {
  statements = []
  rowsRead = 0
  // Each table is replaced by a view that counts. SQLite flattens the view, so it reads the same way as the table.
  for (const [table, column] of Object.entries(TABLES)) {
    database.exec(`CREATE TEMP VIEW ${table} AS SELECT * FROM main.${table} WHERE read(${column})`)
  }
  await list()
  for (const table of Object.keys(TABLES)) database.exec(`DROP VIEW temp.${table}`)
  const plans = statements.flatMap(({ sql, parameters }) => {
    const plan = database.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
    return plan.all(...parameters).map(({ detail }) => detail)
  })
  return { plans: [...new Set(plans)], rows: rowsRead }
}

/** Tables, with a column by which rows are counted. */
const TABLES = {
  customers: 'customer_ref',
  customer_words: 'customer_id',
  audit_log: 'entry_id',
  journeys: 'journey_ref',
  service_keys: 'key_id',
  members: 'person_id',
  people: 'person_id',
  invitations: 'invitation_id',
  workspaces: 'workspace_id',
}

const page = { limit: 500 }
const after = { ms: CUSTOMERS / 2, id: 'x' }
const customers = (filter: CustomerFilter, at: { limit: number; after?: Position } = page) =>
  newestCustomers(db, 'wsp_1', filter, at)
const entries = (filter: AuditFilter, at: { limit: number; after?: Position } = page) =>
  newestAuditEntries(db, 'wsp_1', filter, at)

/** Twice what a page shows: its keys plus one, its rows, and what a row is joined with. */
const EXACT = 4 * (page.limit + 1)
/** To find the end of the page and walk there; before that to count the matches of identifiers and four words. */
const WALKED = 7 * WALKED_ROWS + EXACT
/** To count the customers that match identifiers or words, and to look them up. */
const LOOKED_UP = 7 * WALKED_ROWS + EXACT

/** Query plan for rows found through an index, and for a page of positions. */
const OF_AN_INDEX =
  /^(SEARCH|USE TEMP B-TREE FOR (ORDER BY|DISTINCT)|SCAN (some|positions|found)|CO-ROUTINE|COMPOUND QUERY|LEFT-MOST SUBQUERY|UNION ALL)/

describe('a page of a list', () => {
  it.each<[string, number, () => Promise<unknown>]>([
    ['customers', EXACT, () => customers({})],
    ['customers behind a position', EXACT, () => customers({}, { ...page, after })],
    ['accounts', EXACT, () => customers({ customer_type: 'account' })],
    ['contacts behind a position', EXACT, () => customers({ customer_type: 'contact' }, { ...page, after })],
    [
      'a customer by its own identifier',
      EXACT,
      () => customers({ client_customer_id: 'user-7', search: 'ada' }),
    ],
    ['a search that finds many', WALKED, () => customers({ search: 'ada' })],
    ['one behind a position', WALKED, () => customers({ search: 'ada' }, { ...page, after })],
    ['one that finds all', WALKED, () => customers({ search: 'user' })],
    ['one of a type', WALKED, () => customers({ search: 'user', customer_type: 'account' })],
    ['one of several words that find many', WALKED, () => customers({ search: 'g gr gra grac grace 1 2' })],
    ['one of a word that finds few', 2 * EXACT, () => customers({ search: '1999' })],
    ['one of a word that finds as many as are sorted', 3 * WALKED_ROWS, () => customers({ search: '19' })],
    ['one of two words', LOOKED_UP, () => customers({ search: 'grace 19' })],
    ['an identifier', 50, () => customers({ search: cus(7) })],
    ['entries', EXACT, () => entries({})],
    ['entries of an area', EXACT, () => entries({ area: 'members' })],
    ['entries of an actor', EXACT, () => entries({ actor_id: 'per_rare', from_ms: 2, to_ms: 9 })],
    ['entries of a subject', EXACT, () => entries({ subject_id: 'per_2' }, { ...page, after })],
    ['entries before a time', EXACT, () => entries({ to_ms: 12_000 }, { ...page, after })],
    [
      'entries after a position, before a time',
      EXACT,
      () => entries({ to_ms: ENTRIES }, { ...page, after: { ms: 9000, id: 'x' } }),
    ],
    ['entries of an actor and an area', WALKED, () => entries({ area: 'members', actor_id: 'per_1' })],
    [
      'few entries of an actor, of a usual area',
      EXACT,
      () => entries({ area: 'sessions', actor_id: 'per_rare' }),
    ],
    [
      'those of a span of time',
      WALKED,
      () => entries({ area: 'members', subject_id: 'per_1', from_ms: 2, to_ms: 12_000 }),
    ],
    ['journeys', EXACT, () => newestJourneys(db, 'wsp_1', {}, page)],
    [
      'journeys of a status',
      EXACT,
      () => newestJourneys(db, 'wsp_1', { status: 'archived' }, { ...page, after }),
    ],
    ['journeys by their names', WALKED, () => newestJourneys(db, 'wsp_2', { search: 'first' }, page)],
    [
      'journeys by name, after a position',
      WALKED,
      () =>
        newestJourneys(
          db,
          'wsp_2',
          { search: 'ren', status: 'active' },
          { ...page, after: { ms: 14_000, id: 'x' } },
        ),
    ],
    ['service keys', EXACT, () => newestServiceKeys(db, 'wsp_1', {}, page, NOW)],
    ['service keys by name', WALKED, () => newestServiceKeys(db, 'wsp_2', { search: 'website' }, page, NOW)],
    [
      'publishable service keys that work',
      WALKED,
      () => newestServiceKeys(db, 'wsp_2', { kind: 'publishable', status: 'active' }, page, NOW),
    ],
    ['members', EXACT, () => newestMembers(db, 'wsp_1', {}, page)],
    // Each is examined as a member and as a person.
    ['members by name', 2 * WALKED, () => newestMembers(db, 'wsp_2', { search: 'ada' }, page)],
    ['invitations, of which most have expired', 50, () => newestInvitations(db, 'wsp_1', page, NOW)],
    ['workspaces of a person', EXACT, () => membershipsOf(db, 'per_1')],
  ])('is found by an index and looks at a bounded number of rows: %s', async (_, most, list) => {
    const { plans, rows } = await cost(list)
    expect(rows).toBeLessThanOrEqual(most)
    for (const plan of plans) expect(plan).toMatch(OF_AN_INDEX)
  })

  it.each([{}, { customer_type: 'contact' }] as const)(
    'ends early if a search matches many customers, but none with %o, and continues',
    async (filter) => {
      const first = await customers({ search: 'ada', ...filter })
      expect(first).toMatchObject({ rows: [], next: { ms: CUSTOMERS - WALKED_ROWS + 1 } })
      const { sizes, ids } = await walk((at) => customers({ search: 'ada', ...filter }, at))
      const of = filter.customer_type ? ADAS - 10 : ADAS
      expect(ids).toEqual(Array.from({ length: of }, (_, index) => cus(ADAS - index)))
      expect(sizes.filter((size) => size === 0)).toHaveLength(18)
    },
  )

  it('returns at once what a search finds among the newest, or an index among all', async () => {
    expect(
      (await customers({ search: 'user' }, { limit: 2 })).rows.map(({ customer_id }) => customer_id),
    ).toEqual([cus(CUSTOMERS), cus(CUSTOMERS - 1)])
    const zoe = await customers({ search: 'zoe' })
    expect(zoe).toMatchObject({ rows: [{ customer_id: cus(CUSTOMERS) }], next: null })
    const accounts = await customers({ customer_type: 'account', search: 'ada 1' })
    expect(accounts).toMatchObject({ rows: [{ customer_id: cus(10) }, { customer_id: cus(1) }], next: null })
  })

  it('ends early if few entries match both an actor and an area, and continues', async () => {
    const filter = { area: 'members', actor_id: 'per_1' } as const
    expect((await entries(filter)).next).toMatchObject({ ms: ENTRIES - WALKED_ROWS + 1 })
    expect(await walk((at) => entries(filter, at))).toMatchObject({ ids: [], sizes: [0, 0, 0] })
    const rare = await entries({ ...filter, actor_id: 'per_rare' }, { limit: 3 })
    expect(rare.rows.map(({ id }) => Number(id.slice(4)))).toEqual([5, 4, 3])
    expect(rare.next).toMatchObject({ ms: 3 })
    const span = { from_ms: 2, to_ms: 4 }
    const spanned = await entries({ ...filter, ...span, actor_id: 'per_rare' })
    expect(spanned).toMatchObject({ rows: [{}, {}], next: null })
  })

  it('ends early if few of many journeys, keys or members match, and continues', async () => {
    const numbered = (count: number, prefix: string) =>
      Array.from({ length: count }, (_, index) => `${prefix}_${String(count - index).padStart(26, '0')}`)
    const first = await walk((at) => newestJourneys(db, 'wsp_2', { search: 'FIRST' }, at))
    expect(first).toEqual({ sizes: [0, 10], ids: numbered(10, 'jrn') })
    const archived = { search: 'fir', status: 'archived' } as const
    expect((await walk((at) => newestJourneys(db, 'wsp_2', archived, at))).sizes).toEqual([10])
    const working = { kind: 'publishable', status: 'active' } as const
    const keys = await walk(async (at) => {
      const { rows, next } = await newestServiceKeys(db, 'wsp_2', working, at, NOW)
      return { rows: rows.map(({ key }) => ({ id: key.key_id })), next }
    })
    expect(keys).toEqual({ sizes: [0, 5], ids: numbered(5, 'kez') })
    const oldest = await walk((at) => newestMembers(db, 'wsp_2', { search: 'per_many_1' }, at))
    expect(oldest.sizes).toEqual([0, 1])
  })

  it('contains as many journeys as fit into its size, and the list contains each once', async () => {
    const { sizes, ids } = await walk((at) => newestJourneys(db, 'wsp_1', {}, at))
    expect(ids).toHaveLength(1000)
    expect(new Set(ids).size).toBe(1000)
    expect(Math.max(...sizes)).toBe(Math.floor(PAGE_BYTES / (60_000 + 4 + 1024 + 60)))
  })
})

/** The identifier of a customer by its number. */
function cus(number: number): string {
  return `cus_${String(number).padStart(26, '0')}`
}

/** Reads a list page by page to its end. */
async function walk(
  list: (at: { limit: number; after?: Position }) => Promise<PageRows<Record<string, unknown>>>,
) {
  const sizes: number[] = []
  const ids: unknown[] = []
  let at: { limit: number; after?: Position } = page
  while (true) {
    const { rows, next } = await list(at)
    sizes.push(rows.length)
    ids.push(...rows.map(({ customer_id, journey_id, id }) => customer_id ?? journey_id ?? id))
    if (!next) return { sizes, ids }
    at = { ...page, after: next }
  }
}

describe('deleteExpiredSessions', () => {
  it('removes a limited number, earliest expired first', async () => {
    await db.transaction().execute((db) => deleteExpiredSessions(db, 900))
    const left = database.prepare('SELECT min(expires_ms), count(*) FROM sessions').raw().get()
    expect(left).toEqual([101, 900])
    const { plans } = await cost(() => db.transaction().execute((db) => deleteExpiredSessions(db, 900)))
    for (const plan of plans) expect(plan).toMatch(/^(SEARCH|LIST SUBQUERY)/)
  })
})

describe('deliveries that wait to be sent', () => {
  const webhook = { workspace_id: 'wsp_1', webhook_id: 'whk_1' }
  // Those that were sent are kept for 30 days, and a message may have 20 kB.
  it.each<[string, () => Promise<unknown>]>([
    ['whether there are too many', () => isFull(db, webhook)],
    ['the next one that was never sent', () => nextDelivery(db, webhook, { isRetried: false })],
    ['the next one that has failed', () => nextDelivery(db, webhook, { isRetried: true })],
  ])('are found without reading others or their messages: %s', async (_, read) => {
    const { plans } = await cost(read)
    for (const plan of plans)
      expect(plan).toMatch(
        /^(CO-ROUTINE|SCALAR SUBQUERY|SCAN waiting|SEARCH \w+ USING (COVERING INDEX webhook_deliveries_due|PRIMARY KEY .*delivery_id=\?))/,
      )
  })
})
