// engines: postgres (what only PostgreSQL has)

import { Client } from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runCairn } from '../fixtures/command.ts'
import { newDatabase } from '../fixtures/postgres/databases.ts'
import { runSql } from '../fixtures/postgres/sql.ts'
import { insert, newSubject, openStoreForTest } from '../fixtures/store.ts'
import { startProxy } from './proxy.ts'

/** A database whose server reports errors in German. */
async function foreignDatabase() {
  const url = await newDatabase()
  return { url, proxy: await startProxy(url, { isForeign: true }) }
}

/** A session of another program that holds a lock until the test ends. */
async function holdLock(url: string, sql: string) {
  const client = new Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  await client.query(`BEGIN; ${sql}`)
}

function databaseOf(url: string): string {
  return new URL(url).pathname.slice(1)
}

async function openSessions(url: string): Promise<number[]> {
  const sessions = await runSql(
    url,
    "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'cairn'",
  )
  return sessions.map(({ pid }) => Number(pid))
}

describe('a PostgreSQL server whose messages are not in English', () => {
  it('refuses writes that are recognized as refused, and not taken for a lost connection', async () => {
    const { url, proxy } = await foreignDatabase()
    const store = await openStoreForTest({ databaseUrl: proxy.url })
    const subject = await newSubject(store)
    await runSql(url, `ALTER DATABASE ${databaseOf(url)} SET default_transaction_read_only = on`)
    proxy.cutAll()
    await expect(insert(store, subject)).rejects.toMatchObject({
      reason: 'storage_unavailable',
      cause: { code: '25006' },
    })
  })

  it('has its statement timeouts reported as an overload', async () => {
    const { url, proxy } = await foreignDatabase()
    const store = await openStoreForTest({ databaseUrl: proxy.url })
    const subject = await newSubject(store)
    await holdLock(url, 'LOCK TABLE events IN ACCESS EXCLUSIVE MODE')
    await expect(insert(store, subject)).rejects.toMatchObject({ reason: 'overloaded' })
  })

  it('has its refusals reported by a command', async () => {
    const { url, proxy } = await foreignDatabase()
    await runSql(url, `ALTER DATABASE ${databaseOf(url)} SET search_path = nowhere`)
    expect(await runCairn(['migrate'], { environment: { DATABASE_URL: proxy.url } })).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^cairn: Cannot use the database: auf Deutsch\. Check the search_path /),
    })
  })

  it('stores once what was in flight when an operator ended the connections', async () => {
    const { url, proxy } = await foreignDatabase()
    const store = await openStoreForTest({ databaseUrl: proxy.url })
    const subject = await newSubject(store)
    for (let round = 0; round < 3; round += 1) {
      const send = () => insert(store, subject, { message_id: `round ${round}` })
      // A connection that is ended while it opens is an outage; whoever then sends again is stored once too.
      const outcome = send().catch(send)
      for (const pid of await openSessions(url)) await runSql(url, `SELECT pg_terminate_backend(${pid})`)
      expect(await outcome).toMatchObject({ status: expect.stringMatching(/^(created|duplicate)$/) })
    }
    const [row] = await runSql(url, 'SELECT count(*)::int AS events FROM events')
    expect(row?.events).toBe(3)
  })
})
