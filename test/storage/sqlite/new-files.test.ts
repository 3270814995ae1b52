// engines: sqlite (what only SQLite has)

import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { Kysely, SqliteDialect } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import { describe, expect, it } from 'vitest'
import { newId } from '../../../server/domain/identifiers.ts'
import { newServiceKey } from '../../../server/domain/service-keys.ts'
import { newToken, tokenDigest } from '../../../server/domain/tokens.ts'
import { migrations } from '../../../server/storage/sqlite/migrations/index.ts'
import { sqlitePath } from '../../../server/storage/sqlite/store-files.ts'
import { newStore, startCairnForTest, temporaryFolder } from '../../fixtures/cairn.ts'
import { serve } from '../../fixtures/child-server.ts'
import { runCairn } from '../../fixtures/command.ts'
import { connect, openStoreForTest } from '../../fixtures/file-store.ts'
import { canBeKeptOut, deniedText, spawnKeptOut } from '../../fixtures/kept-out.ts'

function init(databaseUrl: string) {
  const environment = { DATABASE_URL: databaseUrl }
  return runCairn(['init', '--workspace', 'A', '--journey', 'Onboarding', '--json'], { environment })
}

describe('a new file', () => {
  it('has every migration', async () => {
    const file = connect(sqlitePath(await newStore()))
    const done = file.prepare('SELECT name FROM kysely_migration ORDER BY name').pluck().all()
    expect(done).toEqual(Object.keys(migrations))
  })

  it('is used once the program that is creating it has finished', async () => {
    const path = join(temporaryFolder(), 'cairn.db')
    const other = new Database(path)
    other.exec('BEGIN IMMEDIATE; CREATE TABLE other (a)')
    const store = openStoreForTest({ path })
    // By then it is about to open the file, for which SQLite does not wait by itself.
    await expect.poll(() => existsSync(`${path}.lock`)).toBe(true)
    // The next look may be after its end, and must not find a file of another program.
    other.exec('DROP TABLE other; COMMIT')
    other.close()
    await expect((await store).assertWritable()).resolves.toBeUndefined()
  })

  it('is created together with missing folders', async () => {
    const path = join(temporaryFolder(), 'a', 'b', 'cairn.db')
    await openStoreForTest({ path })
    expect(existsSync(path)).toBe(true)
  })
})

describe('a file', () => {
  it('written by a newer Cairn is left unchanged', async () => {
    const store = await openStoreForTest()
    await store.close()
    const newer = connect(store.path)
    newer.exec(`INSERT INTO kysely_migration VALUES ('9999-later', '2027-01-01T00:00:00.000Z');
      ALTER TABLE journeys ADD COLUMN later TEXT`)
    newer.close()
    const before = readFileSync(store.path)
    const message =
      'The store was written by a newer Cairn (it has the migration 9999-later). Run that version or a later one.'
    for (const refused of await Promise.all([serve(store).ended, init(store.databaseUrl)])) {
      expect(refused).toMatchObject({ code: 1, stdout: '', stderr: `cairn: ${message}\n` })
    }
    expect(readFileSync(store.path)).toEqual(before)
  })

  it('that is not a database is refused and left unchanged', async () => {
    const path = join(temporaryFolder(), 'notes.txt')
    writeFileSync(path, 'Not a database.\n'.repeat(100))
    const databaseUrl = `sqlite:${path}`
    for (const refused of await Promise.all([serve({ databaseUrl }).ended, init(databaseUrl)])) {
      const stderr = `cairn: Cannot open ${path}: file is not a database\n`
      expect(refused).toMatchObject({ code: 1, stdout: '', stderr })
    }
    expect(readFileSync(path, 'utf8')).toBe('Not a database.\n'.repeat(100))
  })

  it('with tables of another program is refused and left unchanged', async () => {
    const path = join(temporaryFolder(), 'other.db')
    new Database(path).exec('CREATE TABLE events (a); PRAGMA user_version = 3').close()
    await expect(openStoreForTest({ path })).rejects.toThrow('is the SQLite database of another program')
    const tables = connect(path).prepare('SELECT name FROM sqlite_schema').pluck().all()
    expect(tables).toEqual(['events'])
  })

  it.runIf(canBeKeptOut())('in a read-only folder is refused with the reason', async () => {
    const folder = temporaryFolder()
    const environment = { DATABASE_URL: `sqlite:${join(folder, 'cairn.db')}` }
    chmodSync(folder, 0o555)
    for (const refused of await Promise.all([
      spawnKeptOut(['serve'], { environment }).ended,
      spawnKeptOut(['init', '--workspace', 'A', '--journey', 'B'], { environment }).ended,
    ])) {
      const denied = deniedText('create files in the folder', folder)
      const stderr = expect.stringMatching(/^cairn: Cannot open .+: .+\n$/)
      expect(refused).toMatchObject({ code: 1, stdout: '', stderr })
      expect(refused.stderr).toContain(`: ${denied}\n`)
    }
    expect(readdirSync(folder)).toEqual([])
  })
})

describe('a file of the first migration', () => {
  /** Makes a file as the first version did, with customers of these names. @returns a secret key */
  async function makeFirst(path: string, names: string[]): Promise<string> {
    const database = new Database(path)
    const db = new Kysely<unknown>({ dialect: new SqliteDialect({ database }) })
    const getMigrations = async () =>
      ({ '0001-first': await migrations['0001-first']?.() }) as Record<string, Migration>
    const { error } = await new Migrator({ db, provider: { getMigrations } }).migrateToLatest()
    expect(error).toBeUndefined()
    const key = newServiceKey('secret')
    const workspace_id = newId('wsp')
    const insert = (table: string, row: Record<string, string | number>) => {
      const columns = Object.keys(row)
      const places = columns.map((column) => `@${column}`)
      database.prepare(`INSERT INTO ${table} (${columns}) VALUES (${places})`).run(row)
    }
    database.transaction(() => {
      insert('workspaces', { workspace_id, name: 'Acme', created_ms: 0 })
      const key_id = newId('key')
      const shown = { kind: 'secret', name: 'Backend', last_four: key.slice(-4), created_ms: 0 }
      insert('service_keys', { key_id, workspace_id, digest: tokenDigest(key), ...shown })
      for (const [at, customer_name] of names.entries()) {
        const ids = { customer_id: newId('cus'), client_customer_id: `user-${at}`, customer_type: 'contact' }
        insert('customers', { workspace_id, ...ids, customer_name, created_ms: at, updated_ms: at })
      }
    })()
    await db.destroy()
    return key
  }

  it('is migrated: its keys work, and its customers are found by name', async () => {
    const path = join(temporaryFolder(), 'cairn.db')
    // More than one statement names, and more than are looked up one by one.
    const names = Array.from({ length: 2500 }, (_, at) => (at < 2100 ? `Grace ${at}` : `ＡＤＡ ${at}`))
    const odd = [
      'Żółć-Łódź  ẞ',
      '株式会社山田 C++',
      '***',

      `${'ab'.repeat(20)} ${'é '.repeat(3)}`,
      'ΣΊΣΥΦΟΣ & Co',
    ]
    const key = await makeFirst(path, [...odd, ...names])
    const cairn = await startCairnForTest({ databaseUrl: `sqlite:${path}` })
    expect(cairn.setupLink).toBeUndefined()

    const client = cairn.client(key)
    const namesFound = async (search: string, limit = 500) => {
      const { data } = await client.listCustomers({ query: { search, limit } })
      return data?.data.map(({ customer_name }) => customer_name)
    }
    expect(await namesFound('ada')).toEqual(names.slice(2100).reverse())
    expect(await namesFound('GRACE', 3)).toEqual(['Grace 2099', 'Grace 2098', 'Grace 2097'])
    expect(await namesFound('grace 0')).toEqual(['Grace 0'])
    expect(await namesFound('user-2499')).toEqual(names.slice(2499 - odd.length, 2500 - odd.length))
    expect(await namesFound('lodz zolc')).toEqual([odd[0]])

    // The words that the migration extracts are those extracted now.
    const { data: journey } = await client.createJourney({ body: { name: 'Onboarding' } })
    for (const [at, customer_name] of odd.entries()) {
      const ids = { client_customer_id: `new-${at}`, customer_type: 'contact' } as const
      const { error } = await client.initializeCustomer({
        body: { ...ids, customer_name, journey_id: journey?.journey_id ?? '' },
      })
      expect(error).toBeUndefined()
    }
    const wordsOf = connect(path)
      .prepare<[string], string>(
        `SELECT name_key || ':' || group_concat(word, ' ' ORDER BY word) FROM customers LEFT JOIN customer_words USING (customer_id)
      WHERE client_customer_id LIKE ? GROUP BY customer_id ORDER BY client_customer_id`,
      )
      .pluck()
    const wordsNow = wordsOf.all('new-_')
    expect(wordsNow).toHaveLength(odd.length)
    expect(wordsOf.all('user-_').slice(0, odd.length)).toEqual(wordsNow)
    const keys = connect(path).prepare('SELECT created_by, name_key FROM service_keys').all()
    expect(keys).toEqual([{ created_by: null, name_key: ' backend' }])
  })

  it('is migrated: its enrolments have numbers, and later ones continue after them', async () => {
    const path = join(temporaryFolder(), 'cairn.db')
    const key = await makeFirst(path, ['Ada', 'Grace', 'Edsger'])
    const database = new Database(path)
    database.exec(`INSERT INTO journeys (workspace_id, journey_id, name, description, steps, status, created_ms, updated_ms)
      SELECT workspace_id, '${newId('jrn')}', 'Onboarding', '', '[]', 'active', 0, 0 FROM workspaces`)
    database.exec(
      'INSERT INTO enrolments SELECT journey_ref, customer_ref, 0 FROM journeys, customers WHERE customer_ref > 1',
    )
    database.close()
    const cairn = await startCairnForTest({ databaseUrl: `sqlite:${path}` })
    const numbered = () =>
      connect(path).prepare('SELECT * FROM enrolment_numbers ORDER BY number').raw().all()
    const before = [
      [1, 1, 2],
      [2, 1, 3],
    ]
    expect(numbered()).toEqual(before)
    const { data } = await cairn.client(key).listJourneys()
    const journey_id = data?.data[0]?.journey_id ?? ''
    for (const client_customer_id of ['user-0', 'user-0', 'user-1']) {
      const names = { client_customer_id, customer_type: 'contact', customer_name: 'Ada' } as const
      await cairn.client(key).initializeCustomer({ body: { ...names, journey_id } })
    }
    expect(numbered()).toEqual([...before, [3, 1, 1]])
  })

  it('is migrated: its sessions stay valid, and each has an identifier', async () => {
    const path = join(temporaryFolder(), 'cairn.db')
    const database = new Database(path)
    const db = new Kysely<unknown>({ dialect: new SqliteDialect({ database }) })
    const former = Object.entries(migrations).filter(([name]) => name < '0005')
    const getMigrations = async () =>
      Object.fromEntries(await Promise.all(former.map(async ([name, load]) => [name, await load()])))
    expect((await new Migrator({ db, provider: { getMigrations } }).migrateToLatest()).error).toBeUndefined()
    const person_id = newId('per')
    const now = Date.now()
    database
      .prepare('INSERT INTO people VALUES (?, ?, ?, ?, ?, ?)')
      .run(person_id, 'Ada', 'a@b.co', 'a@b.co', '', 0)
    const insert = database.prepare('INSERT INTO sessions VALUES (?, ?, ?, ?, ?)')
    const tokens = Array.from({ length: 1500 }, () => newToken(''))
    database.transaction(() => {
      for (const token of tokens) insert.run(tokenDigest(token), person_id, now, now, now + 1_000_000)
    })()
    await db.destroy()

    const cairn = await startCairnForTest({ databaseUrl: `sqlite:${path}` })
    const ids = connect(path).prepare('SELECT DISTINCT session_id FROM sessions').pluck().all()
    expect(ids).toHaveLength(1500)
    for (const id of ids) expect(id).toMatch(/^ses_[0-9a-z]{26}$/)
    const reply = await cairn.fetch('/sessions', { headers: { cookie: `cairn_session=${tokens[0]}` } })
    expect((await reply.json()).data).toHaveLength(100)
  })
})
