// engines: postgres (what only PostgreSQL has)

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Migration } from 'kysely/migration'
import { Client } from 'pg'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { readAddress } from '../../server/domain/postgres-urls.ts'
import { Servers } from '../../server/storage/postgres/connection/connection.ts'
import { Pool, runOn } from '../../server/storage/postgres/connection/pool.ts'
import { migrateDatabase } from '../../server/storage/postgres/migrate-database.ts'
import { migrations } from '../../server/storage/postgres/migrations/index.ts'
import { dropEmptyPartitions } from '../../server/storage/postgres/partitions.ts'
import { startCairnForTest, temporaryFolder } from '../fixtures/cairn.ts'
import { runCairn, spawnCairn } from '../fixtures/command.ts'
import { customerInJourney } from '../fixtures/customer.ts'
import { scrape, sumOf } from '../fixtures/exposition.ts'
import { withPatience } from '../fixtures/patience.ts'
import { signUp } from '../fixtures/people.ts'
import { EMPTY, newDatabase } from '../fixtures/postgres/databases.ts'
import { postgresUrl } from '../fixtures/postgres/server.ts'
import { runSql } from '../fixtures/postgres/sql.ts'
import { ownServer } from './own-server.ts'

/** The number of connections that operators must reserve, according to deploy/postgres.md. */
const CONNECTIONS = 22

describe('a command that is for files', () => {
  it.each(['backup', 'restore'])(
    'says what to use on PostgreSQL, and does nothing: cairn %s',
    async (command) => {
      const file = join(temporaryFolder(), 'backup.db')
      const environment = { DATABASE_URL: await newDatabase() }
      const refused = await runCairn([command, file], { environment })
      expect(refused).toMatchObject({ code: 2, stdout: '' })
      expect(refused.stderr).toMatch(command === 'backup' ? /pg_dump/ : /pg_restore/)
      expect(existsSync(file)).toBe(false)
    },
  )
})

describe('a role that may not create tables', () => {
  it.each(['serve', 'migrate'])(
    'is reported by cairn %s, with the GRANT statement to run',
    async (command) => {
      const server = await ownServer()
      const owner = postgresUrl(server.folder)
      await runSql(owner, 'CREATE ROLE cairn LOGIN')
      await runSql(owner, 'REVOKE CREATE ON SCHEMA public FROM PUBLIC')
      const databaseUrl = `postgres://cairn@/postgres?host=${encodeURIComponent(server.folder)}`
      const refused = await spawnCairn([command], { environment: { DATABASE_URL: databaseUrl } }).ended
      expect(refused).toMatchObject({ code: 1, stdout: '' })
      expect(refused.stderr).toMatch(
        /^cairn: .*permission denied for schema public\. .*GRANT USAGE, CREATE ON SCHEMA/,
      )
      await runSql(owner, 'GRANT USAGE, CREATE ON SCHEMA public TO cairn')
      const { code, stderr } = await runCairn(['migrate'], { environment: { DATABASE_URL: databaseUrl } })
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    },
  )
})

describe('a right on a table that the role lacks', () => {
  it('is named by a command', async () => {
    const server = await ownServer()
    const owner = postgresUrl(server.folder)
    await runSql(owner, 'CREATE ROLE cairn LOGIN', 'GRANT ALL ON SCHEMA public TO cairn')
    const environment = {
      DATABASE_URL: `postgres://cairn@/postgres?host=${encodeURIComponent(server.folder)}`,
    }
    await runCairn(['init', '--workspace', 'Example Ltd', '--journey', 'Onboarding'], { environment })
    await runSql(owner, 'REVOKE INSERT ON service_keys FROM cairn')
    expect(
      await runCairn(['key', 'create', '--kind', 'secret', '--name', 'Shop'], { environment }),
    ).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'cairn: permission denied for table service_keys\n',
    })
  })
})

/** The statements of deploy/postgres.md for a role that owns nothing. */
function grants(): string[] {
  const guide = readFileSync('deploy/postgres.md', 'utf8')
  const [, section = ''] = guide.split('## A role that owns nothing')
  const [, statements = ''] = /```sql\n(.*?)```/s.exec(section) ?? []
  return statements.split(';\n').filter(Boolean)
}

describe('a role that only reads and writes rows', () => {
  it('is enough for a server, with the GRANT statements of deploy/postgres.md', async () => {
    const server = await ownServer()
    const owner = postgresUrl(server.folder)
    await runSql(owner, 'CREATE ROLE cairn_server LOGIN')
    await runSql(owner, 'REVOKE CREATE ON SCHEMA public FROM PUBLIC')
    expect(grants()).toHaveLength(5)
    await runSql(owner, ...grants())
    const migrated = await runCairn(['migrate'], { environment: { DATABASE_URL: owner } })
    expect(migrated).toMatchObject({ code: 0, stderr: '' })

    const databaseUrl = `postgres://cairn_server@localhost/postgres?host=${encodeURIComponent(server.folder)}`
    let now_ms = Date.parse('2026-03-15T12:00:00Z')
    const cairn = await startCairnForTest({ databaseUrl, now: () => now_ms })
    const { workspace, event } = await customerInJourney(cairn)
    const { client, journey_id } = workspace
    expect((await client.createEvent({ body: event })).response.status).toBe(201)
    const { response } = await client.createEvents({
      body: { events: [event, { ...event, customer_id: 'x' }] },
    })
    expect(response.status).toBe(200)
    await expect
      .poll(async () => (await client.getJourneyReport({ path: { journey_id } })).data?.enrolled)
      .toBe(1)
    expect((await client.getActivity()).response.status).toBe(200)
    expect((await client.listRefusals()).data?.data).toHaveLength(1)
    const { customer_id } = event
    expect((await client.eraseCustomer({ path: { customer_id } })).response.ok).toBe(true)
    await expect.poll(async () => (await client.listEvents()).data?.data).toEqual([])
    await client.archiveJourney({ path: { journey_id } })
    const administration = (await signUp(cairn, workspace, 'owner')).client(workspace.workspace_id)
    const removed = await administration.removeJourney({ path: { journey_id }, body: { name: 'Onboarding' } })
    expect(removed.error).toBeUndefined()
    await cairn.stop()

    // Later it needs partitions of its own, and drops those that are empty.
    now_ms = Date.parse('2026-12-15T12:00:00Z')
    await startCairnForTest({ databaseUrl, now: () => now_ms })
    const servers = new Servers(readAddress(databaseUrl))
    const pool = new Pool({ servers, most: 1, mostWaiting: 10, statement_ms: 10_000 })
    await vi.waitFor(async () => {
      await dropEmptyPartitions(pool)
      const names = await runSql(
        owner,
        "SELECT relname FROM pg_class WHERE relispartition AND relkind = 'r' AND relname < 'events_2026_06'",
      )
      expect(names).toEqual([])
    }, withPatience)
    await expect(runOn(pool, "SELECT make_events_partition('events_2026_13')")).rejects.toThrow(
      "'events_2026_13' is not the name of a partition of events",
    )
    await expect(runOn(pool, "SELECT drop_empty_events_partition('customers')")).rejects.toThrow(
      "'customers' is not the name of a partition of events",
    )
    await pool.close()
  })
})

describe('a limit of connections below what a server may need', () => {
  it.each([
    ['ALTER ROLE cairn CONNECTION LIMIT 8', /^The role cairn allows 8 connections/],
    ['ALTER DATABASE postgres CONNECTION LIMIT 20', /^The database postgres allows 20 connections/],
    [undefined, undefined],
  ])('is in the log: %s', async (statement, told) => {
    const server = await ownServer()
    const owner = postgresUrl(server.folder)
    await runSql(owner, 'CREATE ROLE cairn LOGIN', 'GRANT CREATE ON SCHEMA public TO cairn')
    if (statement) await runSql(owner, statement)
    const databaseUrl = `postgres://cairn@/postgres?host=${encodeURIComponent(server.folder)}`
    const cairn = await startCairnForTest({ databaseUrl })
    const advice = cairn.log.map(({ msg }) => String(msg)).filter((msg) => msg.includes('connections'))
    if (told) expect(advice).toEqual([expect.stringMatching(told)])
    else expect(advice).toEqual([])
    if (told) expect(advice[0]).toContain(`this server may need ${CONNECTIONS}`)
  })
})

describe('a database of another program', () => {
  it('is left as it is', async () => {
    const databaseUrl = await newDatabase(EMPTY)
    await runSql(databaseUrl, 'CREATE TABLE customers (name text)')
    expect(await runCairn(['migrate'], { environment: { DATABASE_URL: databaseUrl } })).toMatchObject({
      code: 1,
      stderr:
        'cairn: Cannot use the database: relation "customers" already exists. It belongs to another program: give Cairn a database or a schema of its own\n',
    })
    const tables =
      "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
    expect(await runSql(databaseUrl, tables)).toEqual([{ relname: 'customers' }])
  })
})

describe('a migration of an existing store', () => {
  it('is told as it begins, and what was done before one that fails stays done', async () => {
    const databaseUrl = await newDatabase(EMPTY)
    const environment = { DATABASE_URL: databaseUrl }
    const names = Object.keys(migrations)
    const { '0001-first': first, '0002-event-counts': second } = migrations
    if (!first || !second) throw new Error('there are other migrations')
    const released = { '0001-first': first, '0002-event-counts': second }
    await migrateDatabase(new Servers(readAddress(databaseUrl)), { released })
    // A table in the way of the fifth.
    await runSql(databaseUrl, 'CREATE TABLE refusals (in_the_way integer)')
    const failed = await runCairn(['migrate'], { environment })
    expect(failed.code).toBe(1)
    expect(failed.stderr).toBe(
      `cairn: Cannot use the database: Migration ${names[4]} failed: relation "refusals" already exists. It belongs to another program: give Cairn a database or a schema of its own\n`,
    )
    const told = (from: number, to: number) =>
      names
        .slice(from, to)
        .map((name, index) => `Migration ${from + index + 1} of ${names.length}: ${name}\n`)
        .join('')
    expect(failed.stdout).toBe(told(2, 5))
    const applied = async () =>
      (await runSql(databaseUrl, 'SELECT name FROM kysely_migration ORDER BY name')).map(({ name }) => name)
    expect(await applied()).toEqual(names.slice(0, 4))

    await runSql(databaseUrl, 'DROP TABLE refusals')
    const cairn = await startCairnForTest({ databaseUrl })
    expect(await applied()).toEqual(names)
    const lines = cairn.log.filter(({ msg }) => msg === 'migrating the store')
    expect(lines.map(({ name }) => name)).toEqual(names.slice(4))
    const again = await runCairn(['migrate'], { environment })
    expect(again).toMatchObject({ code: 0, stdout: 'The schema is up to date.\n' })
  })
})

describe('a migration that changes a table which others read', () => {
  it('waits for them without holding back events', async () => {
    const databaseUrl = await newDatabase(EMPTY)
    const names = Object.keys(migrations)
    const before = names.slice(0, names.indexOf('0017-event-definitions'))
    const released = Object.fromEntries(
      before.map((name) => [name, migrations[name] as () => Promise<Migration>]),
    )
    const servers = new Servers(readAddress(databaseUrl))
    await migrateDatabase(servers, { released })
    const reader = new Client({ connectionString: databaseUrl })
    await reader.connect()
    onTestFinished(() => reader.end())
    await reader.query('BEGIN; LOCK TABLE workspaces IN ACCESS SHARE MODE')
    const begun: string[] = []
    const migrated = migrateDatabase(servers, { onBegin: ({ name }) => begun.push(name) })
    const waits = `SELECT 1 AS one FROM pg_locks WHERE NOT granted AND relation = 'workspaces'::regclass`
    for (let round = 0; round < 2; round += 1) {
      await vi.waitUntil(async () => (await runSql(databaseUrl, waits)).length > 0, withPatience)
      // Queued behind the migration, and answered once that has given up.
      const counted = await runSql(databaseUrl, 'SELECT count(*)::int AS workspaces FROM workspaces')
      expect(counted).toEqual([{ workspaces: 0 }])
    }
    await reader.query('COMMIT')
    await migrated
    expect(begun).toEqual(names.slice(before.length))
  })
})

describe('a role and a database whose names a URL may have to encode', () => {
  it.each([
    ['ca+irn', 'ca+irn'],
    ['100%25 @%2F', 'a b/c?d%23'],
  ])('are those in the URL, as libpq reads it: %s', async (role, database) => {
    const server = await ownServer()
    const owner = postgresUrl(server.folder)
    const quoted = (name: string) => `"${decodeURIComponent(name)}"`
    await runSql(owner, `CREATE ROLE ${quoted(role)} LOGIN`)
    await runSql(owner, `CREATE DATABASE ${quoted(database)} OWNER ${quoted(role)}`)
    const encoded = (name: string) =>
      name.replaceAll(' ', '%20').replaceAll('@', '%40').replaceAll(/[/?]/g, encodeURIComponent)
    const made = await runCairn(['init', '--workspace', 'A', '--journey', 'B'], {
      environment: {
        DATABASE_URL: `postgres://${encoded(role)}:p#%2Fw@/${encoded(database)}?host=${encodeURIComponent(server.folder)}`,
      },
    })
    expect(made).toMatchObject({ code: 0, stderr: '' })
  })
})

describe('the connections of a server', () => {
  it('are no more than deploy/postgres.md says, whatever waits for one, and are reported', async () => {
    const databaseUrl = await newDatabase()
    const cairn = await startCairnForTest({ databaseUrl })
    const { workspace, event } = await customerInJourney(cairn)
    const { client } = workspace
    const other = new Client({ connectionString: databaseUrl })
    await other.connect()
    onTestFinished(() => other.end())
    await other.query('BEGIN; LOCK TABLE customers, journeys IN ACCESS EXCLUSIVE MODE')
    const asked = Array.from({ length: 40 }, () => [
      client.createEvent({ body: event }),
      client.listCustomers(),
      client.getCustomer({ path: { customer_id: event.customer_id } }),
      client.createJourney({ body: { name: 'Renewal' } }),
    ]).flat()
    const open = async () => {
      const [row] = await runSql(
        databaseUrl,
        `SELECT count(*)::int AS count FROM pg_stat_activity WHERE application_name = 'cairn'
          AND datname = current_database() AND wait_event_type = 'Lock'`,
      )
      return Number(row?.count)
    }
    // Look-ups, a list, a group of events and a transaction wait for the lock.
    await vi.waitUntil(async () => (await open()) >= 7, withPatience)
    const told = sumOf(await scrape(cairn), 'cairn_database_connections')
    await other.query('ROLLBACK')
    await Promise.all(asked)
    expect(told).toBeLessThanOrEqual(CONNECTIONS)
    expect(told).toBeGreaterThanOrEqual(7)
  })
})
