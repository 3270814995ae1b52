// engines: postgres (what only PostgreSQL has)

import { expect, it, onTestFinished } from 'vitest'
import { readTimeline } from '../../server/storage/postgres/reader/event-reader.ts'
import { newDatabase } from '../fixtures/postgres/databases.ts'
import { openExplaining } from '../fixtures/postgres/explaining.ts'
import { runSql } from '../fixtures/postgres/sql.ts'
import { insert, newSubject, openStoreForTest } from '../fixtures/store.ts'

/**
 * So many events of others in the workspace that the planner would rather read their whole index, next to the
 * customer's.
 */
const OTHERS = 120_000

it('reads a page of a customer from few blocks, in a table that was never analyzed', async () => {
  const databaseUrl = await newDatabase()
  const store = await openStoreForTest({ databaseUrl })
  const subject = await newSubject(store)
  await insert(store, subject, { message_id: 'its own' })
  await runSql(
    databaseUrl,
    `INSERT INTO events (at_ms, id, workspace_id, journey_id, customer_id, is_dated, event_id)
    SELECT at_ms + n, gen_random_uuid(), workspace_id, journey_id, gen_random_uuid(), false, event_id
    FROM events, generate_series(1, ${OTHERS}) AS n`,
  )
  const { explaining, blocks, close } = await openExplaining(databaseUrl)
  onTestFinished(close)
  const { workspace_id, customer_id } = subject
  const page = await readTimeline(explaining, workspace_id, customer_id, { limit: 50 })
  expect(page.rows).toHaveLength(1)
  expect(blocks()).toBeLessThan(50)
})
