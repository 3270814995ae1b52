// engines: postgres (what only PostgreSQL has)

import { expect, it, onTestFinished } from 'vitest'
import { readAddress } from '../../server/domain/postgres-urls.ts'
import { Connection, Servers } from '../../server/storage/postgres/connection/connection.ts'
import { newDatabase } from '../fixtures/postgres/databases.ts'
import { postgresUrl } from '../fixtures/postgres/server.ts'
import { runSql } from '../fixtures/postgres/sql.ts'
import { insert, newSubject, openStoreForTest } from '../fixtures/store.ts'
import { ownServer } from './own-server.ts'
import { startProxy } from './proxy.ts'

async function openConnection(url: string): Promise<Connection> {
  const settings = { statement_ms: 10_000, prepares: true }
  const connection = await Connection.open(new Servers(readAddress(url)), settings)
  onTestFinished(() => connection.close())
  return connection
}

type Prepared = { name: string; statement: string }

async function preparedIn(connection: Connection): Promise<Prepared[]> {
  const { rows } = await connection.run<Prepared>('SELECT name, statement FROM pg_prepared_statements')
  return rows
}

async function nameOf(text: string, connection: Connection): Promise<string> {
  return (await preparedIn(connection)).find(({ statement }) => statement === text)?.name ?? ''
}

const BY_KEY = 'SELECT n FROM numbers WHERE n = $1'

it('prepares a statement once, and runs it with other parameters', async () => {
  const connection = await openConnection(await newDatabase())
  const doubled = async (n: number) => (await connection.run('SELECT 2 * $1::int AS n', [n])).rows
  expect(await doubled(1)).toEqual([{ n: 2 }])
  expect(await doubled(21)).toEqual([{ n: 42 }])
  expect(await preparedIn(connection)).toMatchObject([{ statement: 'SELECT 2 * $1::int AS n' }])
})

it('has one name for a statement in every session, whatever was prepared before', async () => {
  const url = await newDatabase()
  const [one, other] = [await openConnection(url), await openConnection(url)]
  const [text, before] = ['SELECT $1::int AS n', 'SELECT $1::int + 1 AS n']
  await one.run(text, [1])
  await other.run(before, [1])
  await other.run(text, [1])
  const name = await nameOf(text, one)
  expect(name).toMatch(/^cairn_/)
  expect(await nameOf(text, other)).toBe(name)
  expect(await nameOf(before, other)).not.toBe(name)
})

it('plans a statement again as its table grows', async () => {
  // A server of its own: PostgreSQL drops plans earlier if much is defined at the same time, in any database.
  const { folder } = await ownServer()
  const connection = await openConnection(postgresUrl(folder))
  await connection.run('CREATE TABLE numbers (n int PRIMARY KEY) WITH (autovacuum_enabled = off)')
  await connection.run('INSERT INTO numbers VALUES (1); ANALYZE numbers')
  const find = async (times: number) => {
    for (let run = 1; run <= times; run += 1) {
      expect((await connection.run(BY_KEY, [1])).rows).toEqual([{ n: 1 }])
    }
  }
  await find(10)
  const explain = `EXPLAIN EXECUTE ${await nameOf(BY_KEY, connection)}(1)`
  const plan = async () => JSON.stringify((await connection.run(explain)).rows)
  expect(await plan()).toContain('Seq Scan')
  await connection.run('INSERT INTO numbers SELECT generate_series(2, 20000)')
  await find(10)
  expect(await plan()).toContain('Seq Scan')
  await find(100)
  expect(await plan()).toContain('Index Only Scan')
})

it('prepares nothing behind a pooler', async () => {
  const { url } = await startProxy(await newDatabase(), { isPooler: true })
  const connection = await openConnection(url)
  expect((await connection.run('SELECT $1::int AS n', [1])).rows).toEqual([{ n: 1 }])
  expect(await preparedIn(connection)).toEqual([])
})

it('stops preparing statements if an unrecognized pooler switches to another session', async () => {
  const connection = await openConnection(await newDatabase())
  const run = async (n: number) => (await connection.run('SELECT $1::int AS n', [n])).rows
  expect(await run(1)).toEqual([{ n: 1 }])
  await connection.run('DEALLOCATE ALL')
  expect(await run(2)).toEqual([{ n: 2 }])
  expect(await run(3)).toEqual([{ n: 3 }])
  expect(await preparedIn(connection)).toEqual([])
})

it('runs a statement unprepared if another client has taken its name', async () => {
  const url = await newDatabase()
  const [connection, other] = [await openConnection(url), await openConnection(url)]
  const run = async (on: Connection) => (await on.run('SELECT $1::int AS n', [1])).rows
  await run(other)
  const [prepared] = await preparedIn(other)
  await connection.run(`PREPARE ${prepared?.name} AS SELECT 7`)
  expect(await run(connection)).toEqual([{ n: 1 }])
})

it('stores events behind a pooler', async () => {
  const url = await newDatabase()
  const proxy = await startProxy(url, { isPooler: true })
  const store = await openStoreForTest({ databaseUrl: proxy.url })
  const subject = await newSubject(store)
  for (let sent = 0; sent < 3; sent += 1) await insert(store, subject)
  expect(await runSql(url, 'SELECT count(*)::int AS events FROM events')).toEqual([{ events: 3 }])
})
