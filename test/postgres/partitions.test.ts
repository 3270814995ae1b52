// engines: postgres (what only PostgreSQL has)

import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { readAddress } from '../../server/domain/postgres-urls.ts'
import { Servers } from '../../server/storage/postgres/connection/connection.ts'
import { Pool, runOn } from '../../server/storage/postgres/connection/pool.ts'
import { dropEmptyPartitions, makePartitions } from '../../server/storage/postgres/partitions.ts'
import { isDistributed } from '../fixtures/engine.ts'
import { withPatience } from '../fixtures/patience.ts'
import { newDatabase } from '../fixtures/postgres/databases.ts'
import { runSql } from '../fixtures/postgres/sql.ts'
import { insert, newSubject, openStore, openStoreForTest, readingIn } from '../fixtures/store.ts'

const NOVEMBER = Date.parse('2026-11-30T23:59:59.999Z')

/** The partition of each event. */
async function partitions(databaseUrl: string): Promise<unknown[]> {
  const rows = await runSql(
    databaseUrl,
    'SELECT tableoid::regclass::text AS partition FROM events ORDER BY id',
  )
  return rows.map(({ partition }) => partition)
}

// On Citus the partitions are those of shards, on other nodes.
describe.skipIf(isDistributed)('events of different months', () => {
  it('are in separate partitions, and a message is recognized in every one', async () => {
    let now = NOVEMBER
    const databaseUrl = await newDatabase()
    const store = await openStoreForTest({ databaseUrl, now: () => now })
    const subject = await newSubject(store)
    const first = await insert(store, subject, { message_id: 'last of November' })
    now += 1
    await insert(store, subject, { message_id: 'first of December' })
    expect(await partitions(databaseUrl)).toEqual(['events_2026_11', 'events_2026_12'])
    expect(await insert(store, subject, { message_id: 'last of November' })).toEqual({
      ...first,
      status: 'duplicate',
    })
    for (const other of [{ event_id: 'another' }, { custom_variables: '"another"' }, { occurred_ms: now }]) {
      expect(await insert(store, subject, { message_id: 'last of November', ...other })).toEqual({
        status: 'rejected',
        code: 'message_id_conflict',
      })
    }
    expect(await partitions(databaseUrl)).toHaveLength(2)
    const { bytes } = await store.events.customerEvents(
      subject.workspace_id,
      subject.customer_id,
      { limit: 5 },
      readingIn(subject.workspace_id),
    )
    expect(JSON.parse(new TextDecoder().decode(bytes)).data).toMatchObject([
      { message_id: 'first of December' },
      { message_id: 'last of November' },
    ])
  })

  it('are stored if no partition was created, and none is created afterwards', async () => {
    let now = NOVEMBER
    const databaseUrl = await newDatabase()
    const store = await openStoreForTest({ databaseUrl, now: () => now })
    const subject = await newSubject(store)
    now = Date.parse('2027-06-15T12:00:00Z')
    expect(await insert(store, subject)).toMatchObject({ status: 'created' })
    expect(await partitions(databaseUrl)).toEqual(['events_other'])
    const later = await openStoreForTest({ databaseUrl, now: () => now })
    expect(await insert(later, subject)).toMatchObject({ status: 'created' })
    now = Date.parse('2027-07-15T12:00:00Z')
    expect(await insert(later, subject)).toMatchObject({ status: 'created' })
    expect(await partitions(databaseUrl)).toEqual(['events_other', 'events_other', 'events_2027_07'])
  })

  it('leave no partition behind once all of a month are removed', async () => {
    let now = Date.parse('2026-03-15T12:00:00Z')
    const databaseUrl = await newDatabase()
    const made = async () => {
      const sql = "SELECT relname FROM pg_class WHERE relispartition AND relkind = 'r' ORDER BY relname"
      return (await runSql(databaseUrl, sql)).map(({ relname }) => relname)
    }
    const early = await openStore({ databaseUrl, now: () => now })
    const subject = await newSubject(early)
    for (const day of ['2026-03-15', '2026-04-15', '2026-05-15']) {
      now = Date.parse(`${day}T12:00:00Z`)
      await insert(early, subject)
    }
    await early.close()
    await runSql(databaseUrl, "DELETE FROM events WHERE tableoid::regclass::text = 'events_2026_04'")

    now = Date.parse('2026-12-15T12:00:00Z')
    const store = await openStoreForTest({ databaseUrl, now: () => now })
    const servers = new Servers(readAddress(databaseUrl))
    const pool = new Pool({ servers, most: 2, mostWaiting: 10, statement_ms: 10_000 })
    // A long-running reader of a partition: it is left for another time.
    const found = await pool.use(async (connection) => {
      await connection.run('BEGIN')
      await connection.run('SELECT count(*) FROM events')
      await dropEmptyPartitions(pool)
      const during = await made()
      await connection.run('COMMIT')
      return during
    })
    expect(found).toContain('events_2026_04')
    // The standings read events on their own, and may be in the middle of it.
    await vi.waitFor(async () => {
      await dropEmptyPartitions(pool)
      expect((await made()).slice(0, 2)).toEqual(['events_2026_03', 'events_2026_05'])
    }, withPatience)
    await pool.close()
    now = Date.parse('2026-04-20T12:00:00Z')
    expect(await insert(store, subject)).toMatchObject({ status: 'created' })
    expect(await partitions(databaseUrl)).toEqual(['events_2026_03', 'events_other', 'events_2026_05'])
  })

  it('leave the empty partitions of this month and the last one, which are still written to', async () => {
    const databaseUrl = await newDatabase()
    await openStoreForTest({ databaseUrl })
    /** Names of this month's partition and of those before, by the clock of the database. */
    const newest = async (count: number) => {
      const months = await runSql(
        databaseUrl,
        `SELECT 'events_' || to_char(now() AT TIME ZONE 'UTC' - ago * interval '1 month', 'YYYY_MM') AS name
        FROM generate_series(0, ${count - 1}) AS ago`,
      )
      return months.map(({ name }) => String(name))
    }
    const names = await newest(3)
    const left = async () => {
      const made = `SELECT relname FROM pg_class WHERE relispartition AND relname = ANY(ARRAY['${names.join("', '")}'])`
      return (await runSql(databaseUrl, made)).map(({ relname }) => String(relname))
    }
    for (const name of names) await runSql(databaseUrl, `SELECT make_events_partition('${name}')`)
    const servers = new Servers(readAddress(databaseUrl))
    const pool = new Pool({ servers, most: 1, mostWaiting: 10, statement_ms: 10_000 })
    onTestFinished(() => pool.close())
    await vi.waitFor(async () => {
      await dropEmptyPartitions(pool)
      const written = await newest(2)
      expect((await left()).sort()).toEqual(names.filter((name) => written.includes(name)).sort())
    }, withPatience)
  })

  it('are stored while the partition of an old month is looked through before it is dropped', async () => {
    let now = Date.parse('2026-03-15T12:00:00Z')
    const databaseUrl = await newDatabase()
    const store = await openStoreForTest({ databaseUrl, now: () => now })
    const subject = await newSubject(store)
    await insert(store, subject)
    now = NOVEMBER
    await insert(store, subject)
    await runSql(databaseUrl, "DELETE FROM events WHERE tableoid::regclass::text = 'events_2026_03'")
    const patient = "ALTER FUNCTION drop_empty_events_partition(text) SET lock_timeout = '1min'"
    await runSql(databaseUrl, patient)
    const servers = new Servers(readAddress(databaseUrl))
    const pool = new Pool({ servers, most: 2, mostWaiting: 10, statement_ms: 60_000 })
    onTestFinished(() => pool.close())
    await pool.use(async (connection) => {
      await connection.run('BEGIN; LOCK TABLE events_2026_03 IN ROW EXCLUSIVE MODE')
      const dropped = runOn(pool, "SELECT drop_empty_events_partition('events_2026_03')")
      await vi.waitFor(async () => {
        const waiting =
          "SELECT 1 AS one FROM pg_locks WHERE NOT granted AND relation = 'events_2026_03'::regclass"
        expect(await runSql(databaseUrl, waiting)).toHaveLength(1)
      }, withPatience)
      expect(await insert(store, subject)).toMatchObject({ status: 'created' })
      await connection.run('COMMIT')
      await dropped
    })
    expect(await runSql(databaseUrl, "SELECT to_regclass('events_2026_03') AS found")).toEqual([
      { found: null },
    ])
  })

  it('do not prevent a start while a reader of all events prevents their partitions', async () => {
    let now = NOVEMBER
    const databaseUrl = await newDatabase()
    const subject = await newSubject(await openStoreForTest({ databaseUrl, now: () => now }))
    now = Date.parse('2026-12-01T00:00:00Z')
    const servers = new Servers(readAddress(databaseUrl))
    const reader = new Pool({ servers, most: 1, mostWaiting: 10, statement_ms: 10_000 })
    onTestFinished(() => reader.close())
    const store = await reader.use(async (connection) => {
      await connection.run('BEGIN; LOCK TABLE events IN ACCESS SHARE MODE')
      const opened = await openStoreForTest({ databaseUrl, now: () => now })
      await connection.run('COMMIT')
      return opened
    })
    expect(await insert(store, subject)).toMatchObject({ status: 'created' })
    expect(await partitions(databaseUrl)).toEqual(['events_2026_12'])
    await makePartitions(reader, now)
    expect(await runSql(databaseUrl, "SELECT to_regclass('events_2027_02') IS NOT NULL AS made")).toEqual([
      { made: true },
    ])
  })

  it('get their partitions once if several servers start at a time', async () => {
    const databaseUrl = await newDatabase()
    const now = () => NOVEMBER
    await Promise.all(Array.from({ length: 4 }, () => openStoreForTest({ databaseUrl, now })))
    const made = "SELECT relname FROM pg_class WHERE relispartition AND relkind = 'r' ORDER BY relname"
    expect((await runSql(databaseUrl, made)).map(({ relname }) => relname)).toEqual([
      'events_2026_11',
      'events_2026_12',
      'events_2027_01',
      'events_other',
    ])
  })
})
