// engines: postgres (what only PostgreSQL has)

import { expect, it, onTestFinished } from 'vitest'
import { readTimeline } from '../../server/storage/postgres/reader/event-reader.ts'
import { isDistributed } from '../fixtures/engine.ts'
import { newDatabase } from '../fixtures/postgres/databases.ts'
import { openExplaining } from '../fixtures/postgres/explaining.ts'
import { runSql } from '../fixtures/postgres/sql.ts'
import { idOf, insert, newSubject, openStoreForTest } from '../fixtures/store.ts'

/**
 * So many events of others in the workspace that the planner would rather read their whole index, next to the
 * customer's.
 */
const OTHERS = 120_000

// On Citus the blocks are those of its nodes.
it.skipIf(isDistributed).each([
  ['a table that was never analyzed', 1, ''],
  ['a table that was analyzed, of a customer who has a third of it', OTHERS / 2, 'ANALYZE events'],
])('reads a page of a customer from few blocks, in %s', async (_, own, last) => {
  const databaseUrl = await newDatabase()
  const store = await openStoreForTest({ databaseUrl })
  const subject = await newSubject(store)
  const id = idOf(await insert(store, subject, { message_id: 'its own' }))
  const copies = (customer: string, number: number) => `
    INSERT INTO events (at_ms, id, workspace_id, journey_id, customer_id, is_dated, event_id)
    SELECT at_ms + n, gen_random_uuid(), workspace_id, journey_id, ${customer}, false, event_id
    FROM (SELECT * FROM events LIMIT 1) AS first, generate_series(1, ${number}) AS n`
  await runSql(databaseUrl, copies('customer_id', own - 1), copies('gen_random_uuid()', OTHERS), last)
  const { explaining, blocks, close } = await openExplaining(databaseUrl)
  onTestFinished(close)
  const { workspace_id, customer_id } = subject
  const page = await readTimeline(explaining, workspace_id, customer_id, { limit: 50 })
  expect(page.rows).toHaveLength(Math.min(own, 50))
  const few = 50 + 2 * page.rows.length
  expect(blocks()).toBeLessThan(few)
  const after = { ms: Number.MAX_SAFE_INTEGER, id }
  const again = await readTimeline(explaining, workspace_id, customer_id, { limit: 50, after })
  expect(again).toEqual(page)
  expect(blocks()).toBeLessThan(2 * few)
})
