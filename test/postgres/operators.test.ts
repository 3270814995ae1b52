// engines: postgres (what only PostgreSQL has)

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { startCairnForTest, temporaryFolder } from '../fixtures/cairn.ts'
import { runCairn, spawnCairn } from '../fixtures/command.ts'
import { customerInJourney } from '../fixtures/customer.ts'
import { scrape, sumOf } from '../fixtures/exposition.ts'
import { withPatience } from '../fixtures/patience.ts'
import { newDatabase } from '../fixtures/postgres/databases.ts'
import { postgresUrl } from '../fixtures/postgres/server.ts'
import { runSql } from '../fixtures/postgres/sql.ts'
import { ownServer } from './own-server.ts'

/** The number of connections that operators must reserve, according to deploy/postgres.md. */
const CONNECTIONS = 21

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
