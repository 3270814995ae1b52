// engines: postgres (on SQLite there is one writer)

import { sql } from 'kysely'
import { Client } from 'pg'
import { expect, it, onTestFinished, vi } from 'vitest'
import { readAddress } from '../../server/domain/postgres-urls.ts'
import { inTransaction } from '../../server/storage/in-transaction.ts'
import { Servers } from '../../server/storage/postgres/connection/connection.ts'
import { Pool } from '../../server/storage/postgres/connection/pool.ts'
import { transactOn } from '../../server/storage/postgres/transact-on.ts'
import { withPatience } from '../fixtures/patience.ts'
import { newDatabase } from '../fixtures/postgres/databases.ts'
import { runSql } from '../fixtures/postgres/sql.ts'
import { openStoreForTest } from '../fixtures/store.ts'

const OURS = 'SELECT pg_advisory_xact_lock(1)'
const THEIRS = 'SELECT pg_advisory_xact_lock(2)'

/**
 * Returns the statements of a transaction that deadlocks the first time: another session holds one of its locks and waits
 * for the other, and leaves it to this one to find that out.
 */
async function deadlockingOnce(databaseUrl: string) {
  const other = new Client({ connectionString: databaseUrl })
  await other.connect()
  onTestFinished(() => other.end())
  await other.query("SET deadlock_timeout = '1h'")
  await other.query('BEGIN')
  await other.query(THEIRS)
  let attempts = 0
  return async (run: (statement: string) => Promise<unknown>) => {
    attempts += 1
    await run(OURS)
    if (attempts === 1) {
      const given = other.query(OURS).then(() => other.query('ROLLBACK'))
      given.catch(() => {})
      const waiting = "SELECT FROM pg_locks WHERE NOT granted AND locktype = 'advisory' AND objid = 1"
      await vi.waitUntil(async () => (await runSql(databaseUrl, waiting)).length > 0, withPatience)
    }
    await run(THEIRS)
    return attempts
  }
}

it('repeats a change that was ended by a deadlock', async () => {
  const databaseUrl = await newDatabase()
  const { db } = await openStoreForTest({ databaseUrl })
  const work = await deadlockingOnce(databaseUrl)
  const attempts = await inTransaction(db, (db) => work((statement) => sql.raw(statement).execute(db)))
  expect(attempts).toBe(2)
})

it('repeats the statements of a transaction on a connection of its own', async () => {
  const databaseUrl = await newDatabase()
  const servers = new Servers(readAddress(databaseUrl))
  const pool = new Pool({ servers, most: 1, mostWaiting: 10, statement_ms: 60_000 })
  onTestFinished(() => pool.close())
  const work = await deadlockingOnce(databaseUrl)
  const attempts = await transactOn(pool, (connection) => work((statement) => connection.run(statement)))
  expect(attempts).toBe(2)
})
