// engines: postgres (what only PostgreSQL has)

import { randomBytes, randomUUID } from 'node:crypto'
import { renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { uuidOf } from '../../server/storage/postgres/connection/uuids.ts'
import { Unavailable } from '../../server/storage/unavailable.ts'
import { startCairnForTest } from '../fixtures/cairn.ts'
import { customerInJourney } from '../fixtures/customer.ts'
import { isDistributed } from '../fixtures/engine.ts'
import { withPatience } from '../fixtures/patience.ts'
import { newDatabase } from '../fixtures/postgres/databases.ts'
import { type PostgresServer, postgresUrl } from '../fixtures/postgres/server.ts'
import { runSql } from '../fixtures/postgres/sql.ts'
import { insert, newSubject, openStoreForTest, type Subject } from '../fixtures/store.ts'
import { within } from '../fixtures/within.ts'
import { ownServer } from './own-server.ts'
import { senders } from './senders.ts'

/** Cairn on a PostgreSQL server of its own, with senders whose events must each get 201, or 503 with Retry-After. */
async function cairnWithSenders(settings: Record<string, string> = {}) {
  const server = await ownServer(settings)
  const databaseUrl = postgresUrl(server.folder)
  const cairn = await startCairnForTest({ databaseUrl })
  const { workspace, event } = await customerInJourney(cairn)
  /** The variables of the next events, and those of the events sent before. */
  const carried = { next: 'little', before: new Map<string, string>() }
  const send = async (message_id: string) => {
    const custom_variables = carried.before.get(message_id) ?? carried.next
    carried.before.set(message_id, custom_variables)
    const body = { ...event, message_id, custom_variables }
    const { data, response, error } = await workspace.client.createEvent({ body })
    if (data) return data.id
    expect(response.status).toBe(503)
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
    throw new Unavailable(error.code as Unavailable['reason'])
  }
  const sent = senders(send)
  const readiness = async () => (await fetch(`${cairn.url}/readyz`)).status
  return {
    server,
    databaseUrl,
    carried,
    sent,
    readiness,
    async acknowledge(more: number) {
      const before = sent.acknowledged.size
      await vi.waitUntil(() => sent.acknowledged.size > before + more, withPatience)
    },
    async refuse(more: number) {
      const before = sent.refused.size
      await vi.waitUntil(() => sent.refused.size > before + more, withPatience)
    },
    async expectRecovery() {
      const over_ms = performance.now()
      await within(2, () => expect(sent.lastAcknowledged_ms()).toBeGreaterThan(over_ms))
      await within(2, async () => expect(await readiness()).toBe(200))
    },
    /** Stops the senders, sends everything again, and checks that each event is stored once, and as acknowledged. */
    async expectAllOnce() {
      const again = await sent.sendAgain()
      for (const [message_id, id] of sent.acknowledged) expect(again.get(message_id)).toBe(id)
      const [row] = await runSql(databaseUrl, 'SELECT count(*)::int AS events FROM events')
      expect(row?.events).toBe(sent.acknowledged.size + sent.refused.size)
    },
  }
}

describe('a disk that is full', () => {
  it('makes senders get 503 with Retry-After, shows in /readyz, and is used again within two seconds', async () => {
    const cairn = await cairnWithSenders()
    await cairn.acknowledge(100)
    const makeRoom = await fillDisk(cairn.server, cairn.databaseUrl)
    cairn.carried.next = randomBytes(2_500).toString('hex')
    await cairn.refuse(100)
    await vi.waitUntil(async () => (await cairn.readiness()) === 503, withPatience)
    await cairn.refuse(100)
    expect(await cairn.readiness()).toBe(503)
    expect([...cairn.sent.reasons]).toEqual(['storage_full'])
    await makeRoom()
    await cairn.expectRecovery()
    await cairn.acknowledge(100)
    await cairn.expectAllOnce()
  })
})

/**
 * Makes PostgreSQL run out of disk space for large values of events, none of which is stored yet: their file is
 * replaced by a device that is always full, so the error comes from the operating system. @returns a function that
 * frees the space
 */
async function fillDisk({ folder }: PostgresServer, databaseUrl: string): Promise<() => Promise<void>> {
  const [table] = await runSql(
    databaseUrl,
    `SELECT pg_relation_filepath(reltoastrelid) AS path, pg_relation_size(reltoastrelid)::int AS bytes
    FROM pg_class WHERE oid = (SELECT tableoid FROM events LIMIT 1)`,
  )
  expect(table?.bytes).toBe(0)
  const file = join(folder, 'data', String(table?.path))
  const kept = `${file}.kept`
  // To drop a database, all processes of the server close their open files.
  const reopenFiles = () => runSql(databaseUrl, 'CREATE DATABASE dropped', 'DROP DATABASE dropped')
  await runSql(databaseUrl, 'CHECKPOINT')
  renameSync(file, kept)
  symlinkSync('/dev/full', file)
  await reopenFiles()
  return async () => {
    rmSync(file)
    renameSync(kept, file)
    await reopenFiles()
  }
}

describe('a server that accepts no more connections', () => {
  it('makes senders get 503 with Retry-After, shows in /readyz, and is used again within two seconds', async () => {
    const cairn = await cairnWithSenders({ max_connections: '40' })
    await cairn.acknowledge(100)
    const others = await takeConnections(cairn.databaseUrl, { cutOff: true })
    await cairn.refuse(100)
    expect(await cairn.readiness()).toBe(503)
    await cairn.refuse(100)
    expect([...cairn.sent.reasons]).toEqual(['storage_unavailable'])
    await others.end()
    await cairn.expectRecovery()
    await cairn.acknowledge(100)
    await cairn.expectAllOnce()
  })

  it('lets a write wait for a free connection', async () => {
    const server = await ownServer({ max_connections: '40' })
    const databaseUrl = postgresUrl(server.folder)
    const store = await openStoreForTest({ databaseUrl })
    const subjects = [await newSubject(store), await newSubject(store)]
    const lock = await connected(databaseUrl)
    await lock.query('BEGIN; LOCK TABLE event_messages')
    await takeConnections(databaseUrl, { cutOff: false })
    const refusals = () => server.log().split('too many clients').length
    const before = refusals()
    const outcomes = subjects.map((subject) => insert(store, subject, { message_id: 'waits' }))
    await vi.waitUntil(() => refusals() > before, withPatience)
    await lock.query('ROLLBACK')
    expect(await Promise.all(outcomes)).toMatchObject([{ status: 'created' }, { status: 'created' }])
  })
})

async function connected(databaseUrl: string): Promise<Client> {
  const client = new Client({ connectionString: databaseUrl })
  client.on('error', () => {})
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

/** Takes all free connections of a server. @param cutOff whether Cairn's are terminated and taken too */
async function takeConnections(databaseUrl: string, { cutOff }: { cutOff: boolean }) {
  const clients = [await connected(databaseUrl)]
  const areTaken = async () => {
    if (cutOff) await clients[0]?.query(`SELECT pg_terminate_backend(pid) ${OF_CAIRN}`)
    for (;;) {
      const client = await connected(databaseUrl).catch((error) => error)
      if (!(client instanceof Client)) {
        expect(client).toMatchObject({ code: '53300' })
        break
      }
      clients.push(client)
    }
    return !cutOff || (await clients[0]?.query(`SELECT ${OF_CAIRN}`))?.rowCount === 0
  }
  await vi.waitUntil(areTaken, withPatience)
  return { end: async () => void (await Promise.all(clients.map((client) => client.end()))) }
}

const OF_CAIRN = "FROM pg_stat_activity WHERE application_name = 'cairn'"

// On Citus they wait on another node.
describe.skipIf(isDistributed)('a workspace whose writes wait for too long', () => {
  it('gets 503, and what waits of the others is stored', async () => {
    const databaseUrl = await newDatabase()
    const store = await openStoreForTest({ databaseUrl })
    const [blocked, other] = [await newSubject(store), await newSubject(store)]
    const holding = async (subject: Subject, message_id: string) => {
      const session = new Client({ connectionString: databaseUrl })
      await session.connect()
      onTestFinished(() => session.end())
      await session.query('BEGIN')
      const message = [uuidOf(subject.workspace_id), message_id, randomUUID()]
      await session.query('INSERT INTO event_messages VALUES ($1, $2, $3)', message)
      return session
    }
    const ids = [randomUUID(), randomUUID()] as const
    await holding(blocked, ids[0])
    const second = await holding(other, ids[1])
    const overdue = expect(insert(store, blocked, { message_id: ids[0] })).rejects.toMatchObject({
      reason: 'overloaded',
    })
    // So that it is the first one whose time is over.
    const waits = `SELECT 1 AS one FROM pg_stat_activity WHERE datname = current_database()
      AND wait_event_type = 'Lock' AND now() - query_start > interval '2 seconds'`
    await vi.waitUntil(async () => (await runSql(databaseUrl, waits)).length > 0, withPatience)
    expect(await insert(store, other)).toMatchObject({ status: 'created' })
    const delayed = insert(store, other, { message_id: ids[1] })
    const two = waits.replace(/AND now.*/, '')
    await vi.waitUntil(async () => (await runSql(databaseUrl, two)).length === 2, withPatience)
    // Waits in the queue.
    const queued = insert(store, other)
    await overdue
    await second.query('ROLLBACK')
    expect([await delayed, await queued]).toMatchObject([{ status: 'created' }, { status: 'created' }])
  })
})

describe('uses of keys that cannot be written', () => {
  it('hold back no events', async () => {
    const databaseUrl = await newDatabase()
    const store = await openStoreForTest({ databaseUrl })
    const subject = await newSubject(store)
    const session = new Client({ connectionString: databaseUrl })
    await session.connect()
    onTestFinished(() => session.end())
    await session.query('BEGIN; LOCK TABLE service_keys IN SHARE MODE')
    let settled = 0
    const uses = Array.from({ length: 5 }, async () => {
      await store.noteKeyUse('key').catch(() => {})
      settled += 1
    })
    expect(await insert(store, subject)).toMatchObject({ status: 'created' })
    expect(settled).toBe(0)
    await session.query('ROLLBACK')
    await Promise.all(uses)
  })
})
