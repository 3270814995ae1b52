// engines: postgres (what only PostgreSQL has)

import { expect, it } from 'vitest'
import { type Cairn, startCairn } from '../fixtures/cairn.ts'
import { customerInJourney } from '../fixtures/customer.ts'
import { exported } from '../fixtures/exported.ts'
import { withPatience } from '../fixtures/patience.ts'
import { runSql } from '../fixtures/postgres/sql.ts'

/** Number of events stored, of which few are requested. */
const EVENTS = 20_000
const CUSTOMERS = 100_000

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

/** How many rows have been read so far without an index. */
async function scannedRows(databaseUrl: string) {
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
  // A connection reports its reads to PostgreSQL's statistics when it ends.
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
