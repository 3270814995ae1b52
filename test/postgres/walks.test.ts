// engines: postgres (what only PostgreSQL has)

import { expect, it, onTestFinished } from 'vitest'
import { readAddress } from '../../server/domain/postgres-urls.ts'
import { noteOrder, SETTLING_MS } from '../../server/storage/postgres/arrivals/arrival-order.ts'
import { Connection, Servers } from '../../server/storage/postgres/connection/connection.ts'
import { uuidOf } from '../../server/storage/postgres/connection/uuids.ts'
import { readOldest } from '../../server/storage/postgres/reader/forward-reader.ts'
import { type Cairn, startCairn } from '../fixtures/cairn.ts'
import { customerInJourney } from '../fixtures/customer.ts'
import { exported } from '../fixtures/exported.ts'
import { followed, followedCustomers } from '../fixtures/following.ts'
import { withPatience } from '../fixtures/patience.ts'
import { newDatabase } from '../fixtures/postgres/databases.ts'
import { openExplaining } from '../fixtures/postgres/explaining.ts'
import { runSql } from '../fixtures/postgres/sql.ts'
import { connectTo, idOf, initialize, insert, newSubject, openStoreForTest } from '../fixtures/store.ts'
import { erase } from '../storage/erase.ts'

/** Number of events stored, of which few are requested. */
const EVENTS = 20_000
const CUSTOMERS = 100_000

/** Late arrivals in a row: many more than are looked at for a page. */
const LATE = 30_000

/** A workspace whose size the planner knows. */
async function newFull(cairn: Cairn) {
  const { workspace, event } = await customerInJourney(cairn)
  const { client } = workspace
  for (let sent = 0; sent < EVENTS; sent += 1000) {
    const { error } = await client.createEvents({ body: { events: Array(1000).fill(event) } })
    expect(error).toBeUndefined()
  }
  await runSql(
    cairn.databaseUrl,
    `INSERT INTO customers SELECT copy.* FROM customers, generate_series(1, ${CUSTOMERS}) AS n, jsonb_populate_record(
      customers, jsonb_build_object('customer_id', 'cus_01' || lpad(n::text, 24, '0'), 'client_customer_id', n, 'created_ms', created_ms - n)
    ) AS copy`,
  )
  const isSettled = async () => {
    const { items, end } = await exported(client.exportEvents({ query: { limit: EVENTS + 1 } }))
    return end?.caught_up_to !== null && items.length
  }
  await expect.poll(isSettled, withPatience).toBe(EVENTS)
  await runSql(cairn.databaseUrl, 'ANALYZE')
  return workspace.secret_key
}

/** How many rows all servers that have stopped have read without an index. */
async function scannedRows(databaseUrl: string) {
  // A session reports its reads to PostgreSQL's statistics when it ends, which may be after its client has gone. That of
  // `inStore` goes on.
  const sessions = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'
    AND pid <> pg_backend_pid() AND application_name NOT LIKE 'cairn_tests'`
  await expect.poll(() => runSql(databaseUrl, sessions), withPatience).toEqual([])
  const [row] = await runSql(
    databaseUrl,
    `SELECT sum(seq_tup_read)::int AS rows FROM pg_stat_user_tables WHERE relname ~ '^(events_|customers$)'`,
  )
  return Number(row?.rows)
}

it('walks forward over what it returns and no more, also when the planner knows how much there is', async () => {
  const cairn = await startCairn()
  const { databaseUrl } = cairn
  const key = await newFull(cairn)
  await cairn.stop()
  const before = await scannedRows(databaseUrl)

  const again = await startCairn({ databaseUrl })
  const client = again.client(key)
  const query = { limit: 100 }
  const page = { query: { ...query, order: 'oldest' } } as const
  const { data: events } = await client.listEvents(page)
  const { data: customers } = await client.listCustomers(page)
  const ofEvents = await exported(client.exportEvents({ query }))
  const ofCustomers = await exported(client.exportCustomers({ query }))
  await again.stop()
  expect(
    [events?.data, customers?.data, ofEvents.items, ofCustomers.items].map((rows) => rows?.length),
  ).toEqual([100, 100, 100, 100])
  expect((await scannedRows(databaseUrl)) - before).toBe(0)
})

/** A store with one event, which has been followed. */
async function withFollowedEvent() {
  const databaseUrl = await newDatabase()
  const store = await openStoreForTest({ databaseUrl })
  const subject = await newSubject(store)
  const { workspace_id } = subject
  const id = idOf(await insert(store, subject))
  await followed(store, workspace_id)
  return { databaseUrl, store, subject, workspace_id, id }
}

it('reads a bounded number of late arrivals for a page, and each event once', async () => {
  const { databaseUrl, store, workspace_id, id: last } = await withFollowedEvent()
  // Events of an hour before, in which the clock of their server was wrong, so that each took its place later.
  await runSql(
    databaseUrl,
    `WITH late AS (
      INSERT INTO events (at_ms, id, workspace_id, journey_id, customer_id, is_dated, event_id)
      SELECT at_ms - n, rpad(lpad(to_hex(at_ms - 3600000 + n), 12, '0'), 32, '0')::uuid,
        workspace_id, journey_id, customer_id, false, event_id
      FROM events, generate_series(1, ${LATE}) AS n
      RETURNING workspace_id, id
    )
    INSERT INTO event_strays (workspace_id, id, at_ms)
    SELECT workspace_id, id, ('x' || substr(replace(id::text, '-', ''), 1, 12))::bit(48)::bigint + 600000 FROM late`,
  )
  const { explaining, blocks, close } = await openExplaining(databaseUrl)
  onTestFinished(close)
  await readOldest(explaining, workspace_id, {}, { limit: 100 })
  expect(blocks()).toBeLessThan(60_000)

  const { rows } = await followed(store, workspace_id, { limit: 1000 })
  expect(new Set(rows.map(({ id }) => id)).size).toBe(LATE + 1)
  expect(rows).toHaveLength(LATE + 1)
  expect(rows.at(-1)?.id).toBe(last)
})

it('continues after a late arrival with the events of the instant at which that was placed', async () => {
  const { databaseUrl, store, workspace_id, id } = await withFollowedEvent()
  await runSql(
    databaseUrl,
    `WITH late AS (
      INSERT INTO events (at_ms, id, workspace_id, journey_id, customer_id, is_dated, event_id)
      SELECT at_ms, rpad(lpad(to_hex(at_ms - 3600000), 12, '0'), 32, '0')::uuid,
        workspace_id, journey_id, customer_id, true, 'late'
      FROM events
      RETURNING workspace_id, id, at_ms
    )
    INSERT INTO event_strays (workspace_id, id, at_ms) SELECT workspace_id, id, at_ms FROM late`,
  )
  const { rows } = await followed(store, workspace_id, { limit: 1 })
  expect(rows.map(({ event_id }) => event_id)).toEqual(['late', 'signed_up'])
  expect(rows[1]?.id).toBe(id)
})

it('misses nothing that arrives after the clock of the database was set back', async () => {
  const databaseUrl = await newDatabase()
  const store = await openStoreForTest({ databaseUrl })
  const subject = await newSubject(store)
  const { workspace_id } = subject
  await insert(store, subject)
  const { next: from } = await followed(store, workspace_id)
  const { next: fromCustomer } = await followedCustomers(store, workspace_id)
  await runSql(databaseUrl, 'UPDATE event_following SET closed_ms = closed_ms + 600000')
  const id = idOf(await insert(store, subject))
  const { rows } = await followed(store, workspace_id, { ...(from && { from }) })
  expect(rows.map((event) => event.id)).toEqual([id])
  await initialize(store, subject, 'user-2')
  const { own } = await followedCustomers(store, workspace_id, {
    ...(fromCustomer && { from: fromCustomer }),
  })
  expect(own).toEqual(['user-2'])
})

it.each([
  { what: 'not while an event is as late as the watermark', after_ms: 0, told_ms: 0 },
  { what: 'once the watermark is after every event', after_ms: 1, told_ms: 1 },
])('says that everything until an instant was told: $what', async ({ after_ms, told_ms }) => {
  const { databaseUrl, workspace_id } = await withFollowedEvent()
  const connection = await Connection.open(new Servers(readAddress(databaseUrl)), { statement_ms: 30_000 })
  onTestFinished(() => connection.close())
  const greatest_ms = Date.now() + 600_000
  const order = { closed_ms: 0, greatest_ms, told_ms: 0, due_ms: 1, due_greatest_ms: greatest_ms }
  const now_ms = greatest_ms + after_ms + SETTLING_MS
  const taken = {
    now_ms,
    isAll: false,
    left_ms: now_ms,
    isOld: false,
    arrivals: [],
    events: [],
    customers: [],
  }
  await noteOrder(connection, uuidOf(workspace_id), order, taken)
  const rows = await runSql(databaseUrl, 'SELECT told_ms::int FROM event_following')
  expect(rows).toEqual([{ told_ms }])
})

it('misses no event of a server between the events of another that are still in the queue', async () => {
  const { databaseUrl, workspace_id, id } = await withFollowedEvent()
  const { run } = await connectTo(databaseUrl)
  // Until its end nothing is taken out of the queue.
  await run('BEGIN')
  await run('SELECT FROM event_following FOR UPDATE')
  const another = (ms: string) => `(lpad(to_hex(at_ms ${ms}), 12, '0') || '7fff8000000000000000')::uuid`
  const counts = { journey_id: '', event_id: '', key_id: '', created: 0, duplicate: 0, rejected: 0 }
  await runSql(
    databaseUrl,
    `INSERT INTO event_arrivals (workspace_id, arrival, minute_ms, first_event, last_event, counts)
    SELECT workspace_id, gen_random_uuid(), 0, ${another('- 1000')}, ${another('+ 1000')}, '[${JSON.stringify(counts)}]'
    FROM events`,
  )
  const { explaining, close } = await openExplaining(databaseUrl)
  onTestFinished(close)
  const { rows } = await readOldest(explaining, workspace_id, {}, { limit: 10 })
  expect(rows.map((text) => JSON.parse(String(text)).id)).toEqual([id])
  await run('COMMIT')
})

it('misses no customer after a late one that was erased while it was recorded', async () => {
  const databaseUrl = await newDatabase()
  const store = await openStoreForTest({ databaseUrl })
  const subject = await newSubject(store)
  const { workspace_id } = subject
  for (const name of ['user-2', 'user-3']) await initialize(store, subject, name)
  const { own } = await followedCustomers(store, workspace_id)
  expect(own).toHaveLength(3)
  await runSql(
    databaseUrl,
    `INSERT INTO customer_strays SELECT workspace_id, 'cus_01' || lpad('', 24, '0'), 1 FROM workspaces
    WHERE workspace_id = '${workspace_id}'`,
  )
  expect((await followedCustomers(store, workspace_id, { limit: 1 })).own).toEqual(own)
})

it('keeps no position of a late arrival whose event was removed', async () => {
  const { databaseUrl, store, subject } = await withFollowedEvent()
  await runSql(
    databaseUrl,
    'INSERT INTO event_strays (workspace_id, id, at_ms) SELECT workspace_id, id, at_ms + 600000 FROM events',
  )
  await erase(store, subject)
  expect(await runSql(databaseUrl, 'SELECT * FROM events')).toEqual([])
  expect(await runSql(databaseUrl, 'SELECT * FROM event_strays')).toEqual([])
})
