// engines: sqlite (what only SQLite has)

import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createClient } from '../../../client/index.ts'
import { runDeclared } from '../../../server/storage/effects.ts'
import { openWritable } from '../../../server/storage/sqlite/connection.ts'
import { sqlitePath } from '../../../server/storage/sqlite/store-files.ts'
import { temporaryFolder } from '../../fixtures/cairn.ts'
import { startChildServerWithCustomer } from '../../fixtures/child-server.ts'
import { commitsInLog, connect, openStoreForTest } from '../../fixtures/file-store.ts'
import { machine } from '../../fixtures/machine.ts'
import { withPatience } from '../../fixtures/patience.ts'
import { idOf, initialize, insert, newSubject } from '../../fixtures/store.ts'
import { serveStoreForTest } from '../served-store.ts'

describe('a group', () => {
  it('contains all requests of one iteration of the event loop', async () => {
    const store = await openStoreForTest()
    const subject = await newSubject(store)
    const before = commitsInLog(sqlitePath(store.databaseUrl))
    await Promise.all([
      ...Array.from({ length: 500 }, () => insert(store, subject)),
      ...Array.from({ length: 20 }, (_, index) => initialize(store, subject, `other-${index}`)),
    ])
    expect(commitsInLog(sqlitePath(store.databaseUrl)) - before).toBe(1)
  })

  it('of few requests contains those of the next iterations, as long as each brings some', async () => {
    const store = await openStoreForTest()
    const subject = await newSubject(store)
    const before = commitsInLog(sqlitePath(store.databaseUrl))
    const answers = [insert(store, subject)]
    await setImmediate()
    answers.push(insert(store, subject))
    await Promise.all(answers)
    expect(commitsInLog(sqlitePath(store.databaseUrl)) - before).toBe(1)
  })

  it('contains all requests that arrive while the previous group is committed', async () => {
    const store = await openStoreForTest()
    const subject = await newSubject(store)
    const before = commitsInLog(sqlitePath(store.databaseUrl))
    const other = connect(store.path)
    other.exec('BEGIN IMMEDIATE')
    const answers: Promise<unknown>[] = []
    for (let turn = 0; turn < 100; turn += 1) {
      answers.push(insert(store, subject))
      await setImmediate()
    }
    other.exec('ROLLBACK')
    await Promise.all(answers)
    expect(commitsInLog(sqlitePath(store.databaseUrl)) - before).toBe(2)
  })

  it('contains many requests from many connections', async () => {
    const { store, url, workspace } = await serveStoreForTest()
    const { journey_id, secret_key } = workspace
    const customer_id = idOf(await initialize(store, workspace, 'user-1'))
    const client = createClient({ baseUrl: `${url}/v1`, serviceKey: secret_key, retries: 0 })
    const create = () => client.createEvent({ body: { journey_id, customer_id, event_id: 'signed_up' } })
    // The first use of a key causes a write of its own.
    await create()
    const before = commitsInLog(sqlitePath(store.databaseUrl))
    let answers: ReturnType<typeof create>[] = []
    await store.db.transaction().execute(async () => {
      answers = Array.from({ length: 200 }, create)
      await vi.waitUntil(() => store.statistics().waitingRows === 200, withPatience)
    })
    for (const { response } of await Promise.all(answers)) expect(response.status).toBe(201)
    expect(commitsInLog(sqlitePath(store.databaseUrl)) - before).toBe(1)
  })
})

describe('a commit', () => {
  it('uses a write-ahead log that is flushed each time', async () => {
    const store = await openStoreForTest()
    const [journal, synchronous] = await store.db.transaction().execute(async (db) => {
      // To SQLite it is a write, since it can change the mode.
      const journal = await runDeclared(db, [], sql`PRAGMA journal_mode`)
      return [journal.rows, (await sql`PRAGMA synchronous`.execute(db)).rows]
    })
    expect(journal).toEqual([{ journal_mode: 'wal' }])
    expect(synchronous).toEqual([{ synchronous: 2 }])
  })

  it('is impossible on a connection without such a log', () => {
    // A file with that name is created first; SQLite does not read it.
    onTestFinished(() => rmSync(':memory:', { force: true }))
    expect(() => openWritable(':memory:', { create: true })).toThrow(
      /needs journal_mode wal and synchronous 2, has memory/,
    )
  })

  it('has synchronous 2, with which each commit is flushed', () => {
    const connection = openWritable(join(temporaryFolder(), 'cairn.db'), { create: true })
    onTestFinished(() => void connection.close())
    expect(connection.pragma('synchronous', { simple: true })).toBe(2)
  })

  it.runIf(machine.canTrace())('flushes the log before the response is sent', async () => {
    const calls = join(temporaryFolder(), 'calls')
    // -D: the server remains a child of the test and ends with it.
    const strace = ['strace', '-D', '-f', '-qq', '-e', 'trace=fsync,fdatasync', '-o', calls]
    const { client, event } = await startChildServerWithCustomer({ under: strace })
    const flushes = () => readFileSync(calls, 'utf8').match(/f(data)?sync\(.* = 0/g)?.length ?? 0
    for (let count = 0; count < 5; count += 1) {
      const before = flushes()
      await client.createEvent({ body: event })
      expect(flushes()).toBeGreaterThan(before)
    }
  })
})
