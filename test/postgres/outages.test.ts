// engines: postgres (what only PostgreSQL has)

import { chmodSync, cpSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { Client } from 'pg'
import { describe, expect, it, vi } from 'vitest'
import { runDeclared } from '../../server/storage/effects.ts'
import { startCairnForTest, temporaryFolder } from '../fixtures/cairn.ts'
import { runCairn, spawnCairn } from '../fixtures/command.ts'
import { customerInJourney } from '../fixtures/customer.ts'
import { scrape, sumOf } from '../fixtures/exposition.ts'
import { withPatience } from '../fixtures/patience.ts'
import { newDatabase } from '../fixtures/postgres/databases.ts'
import { giveTo } from '../fixtures/postgres/programs.ts'
import { type PostgresServer, postgresUrl } from '../fixtures/postgres/server.ts'
import { runSql } from '../fixtures/postgres/sql.ts'
import {
  idOf,
  initialize,
  insert,
  newSubject,
  openStoreForTest,
  readingIn,
  type Store,
} from '../fixtures/store.ts'
import { within } from '../fixtures/within.ts'
import { ownServer } from './own-server.ts'
import { senders } from './senders.ts'

describe('a PostgreSQL server that is killed under load', () => {
  it('loses nothing that was acknowledged, and is used again within two seconds', async () => {
    const server = await ownServer()
    const databaseUrl = postgresUrl(server.folder)
    const store = await openStoreForTest({ databaseUrl })
    const subject = await newSubject(store)
    const sent = senders(async (message_id) => idOf(await insert(store, subject, { message_id })))
    for (let round = 0; round < 3; round += 1) {
      const before = sent.acknowledged.size
      await vi.waitUntil(() => sent.acknowledged.size > before + 200, withPatience)
      await server.end('SIGKILL')
      await server.start()
      const started_ms = performance.now()
      await within(2, () => expect(sent.lastAcknowledged_ms()).toBeGreaterThan(started_ms))
    }
    // The outcome of the refused requests was unknown; sent again, each event is stored once.
    const again = await sent.sendAgain()
    expect([...sent.reasons].filter((reason) => reason !== 'storage_unavailable')).toEqual([])
    for (const [message_id, id] of sent.acknowledged) expect(again.get(message_id)).toBe(id)
    const [row] = await runSql(databaseUrl, 'SELECT count(*)::int AS events FROM events')
    const [known] = await runSql(databaseUrl, 'SELECT count(*)::int AS messages FROM event_messages')
    expect(known?.messages).toBe(row?.events)
    expect(row?.events).toBe(sent.acknowledged.size + sent.refused.size)
  })
})

describe('a PostgreSQL server that is unavailable', () => {
  it('makes senders get 503 with Retry-After, shows in /readyz, and is used again automatically', async () => {
    const server = await ownServer()
    const cairn = await startCairnForTest({ databaseUrl: postgresUrl(server.folder) })
    const { workspace, event } = await customerInJourney(cairn)
    expect((await workspace.client.createEvent({ body: event })).response.status).toBe(201)
    await server.end('SIGINT')
    await vi.waitUntil(async () => (await fetch(`${cairn.url}/readyz`)).status === 503, withPatience)
    for (let round = 0; round < 3; round += 1) {
      const { error, response } = await workspace.client.createEvent({ body: event })
      expect(error?.code).toBe('storage_unavailable')
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
    }
    expect(sumOf(await scrape(cairn), 'cairn_ready')).toBe(0)
    await server.start()
    await within(2, async () => {
      expect((await workspace.client.createEvent({ body: event })).response.status).toBe(201)
    })
    await within(2, async () => expect((await fetch(`${cairn.url}/readyz`)).status).toBe(200))
    expect(sumOf(await scrape(cairn), 'cairn_ready')).toBe(1)
  })

  it('ends a start and a command with a message without the password', async () => {
    const databaseUrl = 'postgres://cairn:geheim@127.0.0.1:1/cairn'
    const options = { environment: { DATABASE_URL: databaseUrl } }
    for (const ended of [spawnCairn(['serve'], options).ended, runCairn(['key', 'list'], options)]) {
      const { code, stderr } = await ended
      expect(code).toBe(1)
      expect(stderr).toMatch(/^cairn: Cannot use the database: 127\.0\.0\.1:1: .*ECONNREFUSED/)
      expect(stderr).not.toContain('geheim')
    }
  })
})

describe('a server with synchronous_commit off by default', () => {
  it('forgets none that was answered', async () => {
    // The write-ahead log would be flushed long after the commit.
    const server = await ownServer({ synchronous_commit: 'off', wal_writer_delay: '10000ms' })
    const databaseUrl = postgresUrl(server.folder)
    const store = await openStoreForTest({ databaseUrl })
    const subject = await newSubject(store)
    for (let round = 0; round < 3; round += 1) {
      await insert(store, subject, { message_id: `round ${round}` })
      await server.end('SIGKILL')
      await server.start()
      expect(await runSql(databaseUrl, 'SELECT FROM events')).toHaveLength(round + 1)
    }
  })
})

describe('a server with serializable transactions by default', () => {
  it('stores once what replicas send at the same moment, and answers all of them', async () => {
    const server = await ownServer({ default_transaction_isolation: 'serializable' })
    const databaseUrl = postgresUrl(server.folder)
    const replicas = [await openStoreForTest({ databaseUrl }), await openStoreForTest({ databaseUrl })]
    const [first] = replicas
    if (!first) throw new Error('no replica')
    const subject = await newSubject(first)
    for (let round = 0; round < 20; round += 1) {
      const name = `user ${round}`
      const customers = await Promise.all(replicas.map((store) => initialize(store, subject, name)))
      expect(new Set(customers.map(idOf)).size).toBe(1)
      const message_id = `round ${round}`
      const events = await Promise.all(replicas.map((store) => insert(store, subject, { message_id })))
      expect(events.map(({ status }) => status).sort()).toEqual(['created', 'duplicate'])
      expect(new Set(events.map(idOf)).size).toBe(1)
    }
    // Each connection has set another isolation level, at which concurrent transactions do not fail.
    expect(server.log()).not.toContain('could not serialize')
  })

  it('stores the first event of a replica while another one takes its number', async () => {
    const server = await ownServer({ default_transaction_isolation: 'serializable' })
    const databaseUrl = postgresUrl(server.folder)
    const subject = await newSubject(await openStoreForTest({ databaseUrl }))
    const replica = await openStoreForTest({ databaseUrl })
    const other = new Client({ connectionString: databaseUrl })
    await other.connect()
    await other.query('BEGIN; UPDATE cairn_store SET writers = writers + 1')
    const stored = insert(replica, subject)
    const waiting = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    await vi.waitUntil(async () => (await runSql(databaseUrl, waiting)).length > 0, withPatience)
    await other.query('COMMIT')
    await other.end()
    expect(await stored).toMatchObject({ status: 'created' })
    expect(server.log()).not.toContain('could not serialize')
  })
})

/** Changes a row in a transaction, as administrative operations do. */
async function change(store: Store) {
  await store.db.transaction().execute(async (db) => {
    await runDeclared(db, ['journeys'], sql`UPDATE journeys SET description = 'changed'`)
  })
}

describe('a database that is read-only', () => {
  it('is not written to, neither by senders nor by changes', async () => {
    const databaseUrl = await newDatabase()
    const store = await openStoreForTest({ databaseUrl })
    const subject = await newSubject(store)
    await change(store)
    const name = new URL(databaseUrl).pathname.slice(1)
    await runSql(databaseUrl, `ALTER DATABASE ${name} SET default_transaction_read_only = on`)
    const frozen = await openStoreForTest({ databaseUrl })
    const unavailable = { reason: 'storage_unavailable' }
    await expect(insert(frozen, subject)).rejects.toMatchObject(unavailable)
    await expect(change(frozen)).rejects.toMatchObject(unavailable)
  })
})

describe('a role that has lost a right', () => {
  it('makes writes an outage until it has that again', async () => {
    const server = await ownServer()
    const owner = postgresUrl(server.folder)
    await runSql(owner, 'CREATE ROLE cairn LOGIN', 'GRANT ALL ON SCHEMA public TO cairn')
    const store = await openStoreForTest({ databaseUrl: owner.replace('postgres@', 'cairn@') })
    const subject = await newSubject(store)
    await runSql(owner, 'REVOKE INSERT ON events FROM cairn', 'REVOKE UPDATE ON journeys FROM cairn')
    const unavailable = { reason: 'storage_unavailable' }
    await expect(insert(store, subject)).rejects.toMatchObject(unavailable)
    await expect(change(store)).rejects.toMatchObject(unavailable)
    await runSql(owner, 'GRANT INSERT ON events TO cairn', 'GRANT UPDATE ON journeys TO cairn')
    expect(await insert(store, subject)).toMatchObject({ status: 'created' })
    await change(store)
  })
})

describe('a standby', () => {
  it('makes writes fail but not reads, until it is promoted or its address leads to a primary', async () => {
    const primary = await ownServer()
    const primaryUrl = postgresUrl(primary.folder)
    const before = await openStoreForTest({ databaseUrl: primaryUrl })
    const subject = await newSubject(before)
    await insert(before, subject, { message_id: 'before' })
    const standby = await standbyOf(primary)
    const standbyUrl = postgresUrl(standby.folder)

    const alone = await openStoreForTest({ databaseUrl: standbyUrl })
    await expect(insert(alone, subject)).rejects.toMatchObject({ reason: 'storage_unavailable' })
    await expect(alone.assertWritable()).rejects.toMatchObject({ reason: 'storage_unavailable' })
    await expect(change(alone)).rejects.toMatchObject({ reason: 'storage_unavailable' })
    const { bytes } = await alone.events.newestEvents(
      subject.workspace_id,
      {},
      { limit: 5 },
      readingIn(subject.workspace_id),
    )
    expect(JSON.parse(new TextDecoder().decode(bytes)).data).toHaveLength(1)

    const primaryAlone = { databaseUrl: `${standbyUrl}&target_session_attrs=read-write` }
    await expect(openStoreForTest(primaryAlone)).rejects.toThrow('it is a standby')

    const address = addressTo(standby)
    const either = await openStoreForTest({ databaseUrl: address.url })
    expect(await isOnStandby(either)).toBe(true)
    await expect(insert(either, subject)).rejects.toMatchObject({ reason: 'storage_unavailable' })
    address.leadTo(primary)
    // A refused write replaces all connections, also those of others.
    expect(await isOnStandby(either)).toBe(false)
    expect(await insert(either, subject, { message_id: 'beside' })).toMatchObject({ status: 'created' })
    const [written] = await runSql(primaryUrl, 'SELECT pg_current_wal_lsn()::text AS lsn')
    const replayed = `SELECT pg_last_wal_replay_lsn() >= '${written?.lsn}'::pg_lsn AS done`
    await vi.waitUntil(async () => (await runSql(standbyUrl, replayed))[0]?.done === true, withPatience)

    await primary.end('SIGKILL')
    await runSql(standbyUrl, 'SELECT pg_promote()')
    address.leadTo(standby)
    await within(2, () => insert(either, subject, { message_id: 'after' }))
    // Also through a connection that was opened while the server was a standby.
    expect(await insert(alone, subject, { message_id: 'beside' })).toMatchObject({ status: 'duplicate' })
  })

  it('gets no events of customers that its primary had and it has not', async () => {
    const primary = await ownServer()
    const subject = await newSubject(await openStoreForTest({ databaseUrl: postgresUrl(primary.folder) }))
    const standby = await standbyOf(primary)
    const address = addressTo(primary)
    const store = await openStoreForTest({ databaseUrl: address.url })
    await insert(store, subject)
    const stored = () => runSql(postgresUrl(standby.folder), 'SELECT count(*)::int AS count FROM events')
    await expect.poll(stored, withPatience).toEqual([{ count: 1 }])
    await standby.end('SIGINT')
    const missing = { ...subject, customer_id: idOf(await initialize(store, subject, 'user-2')) }
    expect(await insert(store, missing)).toMatchObject({ status: 'created' })

    await primary.end('SIGKILL')
    await standby.start()
    await runSql(postgresUrl(standby.folder), 'SELECT pg_promote()')
    address.leadTo(standby)
    await within(2, () => insert(store, missing))
    const refused = { status: 'rejected', code: 'customer_not_found' }
    expect(await insert(store, missing)).toMatchObject(refused)
    expect(await insert(store, subject)).toMatchObject({ status: 'created' })
    expect(await stored()).toEqual([{ count: 2 }])
  })
})

async function isOnStandby({ db }: Store) {
  const { rows } = await sql<{ standby: boolean }>`SELECT pg_is_in_recovery() AS standby`.execute(db)
  return rows[0]?.standby
}

/** An address that leads to one server or another, like a DNS name. */
function addressTo(first: PostgresServer) {
  const folder = temporaryFolder()
  const socket = join(folder, '.s.PGSQL.5432')
  const leadTo = (server: PostgresServer) => {
    rmSync(socket, { force: true })
    symlinkSync(join(server.folder, '.s.PGSQL.5432'), socket)
  }
  leadTo(first)
  return { url: postgresUrl(folder), leadTo }
}

/** A second server that follows the first one. */
async function standbyOf(primary: PostgresServer): Promise<PostgresServer> {
  const settings = { primary_conninfo: `host=${primary.folder} user=postgres`, hot_standby: 'on' }
  const standby = await ownServer(settings)
  await Promise.all([standby.end('SIGINT'), primary.end('SIGINT')])
  const data = join(standby.folder, 'data')
  rmSync(data, { recursive: true })
  cpSync(join(primary.folder, 'data'), data, { recursive: true })
  chmodSync(data, 0o700)
  writeFileSync(join(data, 'standby.signal'), '')
  if (process.getuid?.() === 0) giveTo(65_534, data)
  await primary.start()
  await standby.start()
  return standby
}

describe('a list whose client disconnected', () => {
  it('is cancelled on the server', async () => {
    const databaseUrl = await newDatabase()
    const store = await openStoreForTest({ databaseUrl })
    const subject = await newSubject(store)
    const running = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND state = 'active'
      AND pid <> pg_backend_pid() AND query LIKE '%FROM events%'`
    const lock = await openLock(databaseUrl)
    const controller = new AbortController()
    const { workspace_id } = subject
    const reading = { ...readingIn(workspace_id), signal: controller.signal }
    const list = store.events.newestEvents(workspace_id, {}, { limit: 5 }, reading)
    await vi.waitUntil(async () => (await runSql(databaseUrl, running)).length === 1, withPatience)
    controller.abort(new Error('the caller has gone'))
    await expect(list).rejects.toThrow('the caller has gone')
    await within(1, async () => expect(await runSql(databaseUrl, running)).toEqual([]))
    await lock.end()
    expect(store.statistics().listReads).toMatchObject({ abandoned: 1, waiting: 0 })
    const again = store.events.newestEvents(workspace_id, {}, { limit: 5 }, readingIn(workspace_id))
    expect((await again).bytes.length).toBeGreaterThan(0)
  })
})

/** A lock that blocks readers of events until it is released. */
async function openLock(databaseUrl: string): Promise<Client> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query('BEGIN')
  await client.query('LOCK TABLE events IN ACCESS EXCLUSIVE MODE')
  return client
}
