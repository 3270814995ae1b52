// engines: postgres (what only PostgreSQL has)

import { expect, it, onTestFinished } from 'vitest'
import { readAddress } from '../../server/domain/postgres-urls.ts'
import { Connection, Servers } from '../../server/storage/postgres/connection/connection.ts'
import { readTimeline } from '../../server/storage/postgres/reader/event-reader.ts'
import { newDatabase } from '../fixtures/postgres/databases.ts'
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
  const connection = await Connection.open(new Servers(readAddress(databaseUrl)), { statement_ms: 10_000 })
  onTestFinished(() => connection.close())

  let blocks = 0
  const explaining = Object.assign(Object.create(connection), {
    async run(sql: string, parameters: unknown[]) {
      const explained = await connection.run<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
        `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${sql}`,
        parameters,
      )
      const { Plan: plan } = explained.rows[0]?.['QUERY PLAN'][0] ?? { Plan: {} }
      blocks += (plan['Shared Hit Blocks'] ?? Number.NaN) + (plan['Shared Read Blocks'] ?? Number.NaN)
      return await connection.run(sql, parameters)
    },
  })
  const { workspace_id, customer_id } = subject
  const page = await readTimeline(explaining, workspace_id, customer_id, { limit: 50 })
  expect(page.rows).toHaveLength(1)
  expect(blocks).toBeLessThan(50)
})
