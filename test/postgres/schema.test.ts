// engines: postgres (what only PostgreSQL has)

import { join } from 'node:path'
import Database from 'better-sqlite3'
import { type Kysely, sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { readAddress } from '../../server/domain/postgres-urls.ts'
import { Servers } from '../../server/storage/postgres/connection/connection.ts'
import { migrateDatabase } from '../../server/storage/postgres/migrate-database.ts'
import { migrations } from '../../server/storage/postgres/migrations/index.ts'
import { migrateFile } from '../../server/storage/sqlite/migrate-file.ts'
import { temporaryFolder } from '../fixtures/cairn.ts'
import { isDistributed } from '../fixtures/engine.ts'
import { EMPTY, newDatabase } from '../fixtures/postgres/databases.ts'
import { runSql } from '../fixtures/postgres/sql.ts'
import { EVERYWHERE } from './tables.ts'

/** Kysely's tables, on the coordinator only. */
const OF_MIGRATIONS = ['kysely_migration', 'kysely_migration_lock']
/** Tables for events, order of arrival and so on, which differ by engine. */
const OWN = /^(event.*|enrolment.*|standing_.*|customer_strays|refusals|cairn_store|wrong_guesses|kysely_.*)$/

let url: string

async function migratedDatabase(): Promise<string> {
  const url = await newDatabase(EMPTY)
  await migrate(url)
  return url
}

async function migrate(url: string, released = migrations) {
  await migrateDatabase(new Servers(readAddress(url)), { released })
}

beforeAll(async () => {
  url = await migratedDatabase()
})

/** One column of a query's result. */
async function column(sql: string): Promise<unknown[]> {
  return (await runSql(url, sql)).map((row) => Object.values(row)[0])
}

const literals = (names: string[]) => names.map((name) => `'${name}'`).join()
const ofWorkspaces = `relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace
  AND relname NOT IN (${literals([...EVERYWHERE, ...OF_MIGRATIONS])})`

describe('the schema, for Citus to distribute by workspace', () => {
  it('has the workspace in every primary key, unique index and foreign key between tables of workspaces', async () => {
    expect(
      await column(`SELECT indexrelid::regclass::text FROM pg_index JOIN pg_class ON pg_class.oid = indrelid
        WHERE indisunique AND ${ofWorkspaces} AND NOT EXISTS (
          SELECT FROM pg_attribute WHERE attrelid = indrelid AND attnum = ANY(indkey) AND attname = 'workspace_id'
        )`),
    ).toEqual([])
    expect(
      await column(`SELECT conname FROM pg_constraint JOIN pg_class ON pg_class.oid = conrelid
        WHERE contype = 'f' AND ${ofWorkspaces} AND confrelid::regclass::text NOT IN (${literals(EVERYWHERE)})
          AND NOT EXISTS (
            SELECT FROM pg_attribute WHERE attrelid = conrelid AND attnum = ANY(conkey) AND attname = 'workspace_id'
          )`),
    ).toEqual([])
  })

  it('has a primary key, led by the workspace, in every table of workspaces', async () => {
    expect(
      await column(`SELECT relname FROM pg_class WHERE ${ofWorkspaces} AND NOT EXISTS (
        SELECT FROM pg_index JOIN pg_attribute ON attrelid = indrelid AND attnum = indkey[0]
        WHERE indrelid = pg_class.oid AND indisprimary AND attname = 'workspace_id'
      )`),
    ).toEqual([])
  })

  it('has foreign keys of global tables only to other global tables', async () => {
    expect(
      await column(`SELECT conname FROM pg_constraint WHERE contype = 'f'
        AND conrelid::regclass::text IN (${literals(EVERYWHERE)})
        AND confrelid::regclass::text NOT IN (${literals(EVERYWHERE)})`),
    ).toEqual([])
    expect(
      await column(`SELECT relname FROM pg_class WHERE relname IN (${literals(EVERYWHERE)})`),
    ).toHaveLength(EVERYWHERE.length)
  })

  // Citus has some of its own.
  it.skipIf(isDistributed)(
    'has no trigger, no sequence and no identity column, whose order would be undefined',
    async () => {
      expect(await column('SELECT tgname FROM pg_trigger WHERE NOT tgisinternal')).toEqual([])
      expect(await column("SELECT relname FROM pg_class WHERE relkind = 'S'")).toEqual([])
      expect(
        await column("SELECT attname FROM pg_attribute WHERE attidentity <> '' OR attgenerated <> ''"),
      ).toEqual([])
    },
  )
})

describe('the schema', () => {
  // Citus has views in this schema.
  it.skipIf(isDistributed)(
    'compares every text by its bytes, whatever the collation of the database',
    async () => {
      expect(
        await column(`SELECT attrelid::regclass || '.' || attname FROM pg_attribute
        JOIN pg_class ON pg_class.oid = attrelid
        WHERE relnamespace = 'public'::regnamespace AND relname NOT LIKE 'kysely%' AND attnum > 0
          AND attcollation <> 0 AND attcollation <> '"C"'::regcollation`),
      ).toEqual([])
    },
  )

  it('has the tables and columns that queries for every engine use', async () => {
    const file = join(temporaryFolder(), 'cairn.db')
    await migrateFile(file)
    const sqlite = new Database(file, { readonly: true })
    const tables = sqlite
      .prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
      .pluck()
      .all()
    const expected = tables
      .filter((table) => !OWN.test(table))
      .flatMap((table) => {
        const columns = sqlite.pragma(`table_info(${table})`) as { name: string; notnull: number }[]
        const shared = columns.filter(({ name }) => !name.endsWith('_ref'))
        return shared.map(({ name, notnull }) => `${table}.${name}${notnull ? ' NOT NULL' : ''}`)
      })
    sqlite.close()
    const found = await runSql(
      url,
      `SELECT relname, relname || '.' || attname || CASE WHEN attnotnull THEN ' NOT NULL' ELSE '' END AS column
        FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
        WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND attnum > 0`,
    )
    const columns = found.filter(({ relname }) => !OWN.test(String(relname))).map(({ column }) => column)
    expect(columns.sort()).toEqual(expected.sort())
  })

  it('is created once if several servers start at once on an empty database', async () => {
    const empty = await newDatabase(EMPTY)
    await Promise.all(Array.from({ length: 4 }, () => migrate(empty)))
    expect(await runSql(empty, 'SELECT name FROM kysely_migration ORDER BY name')).toEqual(
      Object.keys(migrations).map((name) => ({ name })),
    )
  })

  it.each([
    ['and a new store nothing at all', false],
    ['and an existing store all of those before it', true],
  ])('has nothing of a migration that fails, %s', async (_, isExisting) => {
    const database = await newDatabase('template1')
    const failing = {
      ...migrations,
      '9999-failing': async () => ({
        async up(db: Kysely<unknown>) {
          await sql`CREATE TABLE half (done integer)`.execute(db)
          throw new Error('a migration that fails')
        },
      }),
    }
    const [[name, first] = []] = Object.entries(migrations)
    if (name && first && isExisting) await migrate(database, { [name]: first })
    await expect(migrate(database, failing)).rejects.toThrow('a migration that fails')
    const tables =
      "SELECT relname FROM pg_class WHERE relname IN ('people', 'half', 'kysely_migration') ORDER BY 1"
    const expected = isExisting ? ['kysely_migration', 'people'] : []
    expect(await runSql(database, tables)).toEqual(expected.map((relname) => ({ relname })))
    if (!isExisting) return
    expect(await runSql(database, 'SELECT name FROM kysely_migration ORDER BY name')).toEqual(
      Object.keys(migrations).map((name) => ({ name })),
    )
  })

  it('is served by the previous version while servers are replaced', async () => {
    const newer = { ...migrations, '9999-later': async () => ({ up: async () => {} }) }
    const database = await migratedDatabase()
    await migrate(database, newer)
    await migrate(database)
    expect(await runSql(database, 'SELECT name FROM kysely_migration ORDER BY name')).toHaveLength(
      Object.keys(newer).length,
    )
  })
})
