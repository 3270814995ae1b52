// engines: sqlite (what only SQLite has)

import { execFileSync } from 'node:child_process'
import { linkSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { Kysely } from 'kysely'
import { describe, expect, it } from 'vitest'
import { createWorkspace } from '../../../server/cli/init.ts'
import { migrate } from '../../../server/storage/migrate.ts'
import { openWritable, takeServerLock } from '../../../server/storage/sqlite/connection.ts'
import { LocalDialect } from '../../../server/storage/sqlite/local-dialect.ts'
import { migrations } from '../../../server/storage/sqlite/migrations/index.ts'
import { temporaryFolder } from '../../fixtures/cairn.ts'
import { serve, startChildServer } from '../../fixtures/child-server.ts'
import { cairnFile, runCairn, startCommand } from '../../fixtures/command.ts'
import { openStoreForTest } from '../../fixtures/file-store.ts'
import { machine } from '../../fixtures/machine.ts'

const another =
  /^cairn: Another Cairn server is running on .+\. Stop it, or give this one another DATABASE_URL\.\n$/

describe('a second server on one file', () => {
  it('exits immediately with exit code 3 and a message, and the first one continues', async () => {
    const databaseUrl = `sqlite:${join(temporaryFolder(), 'cairn.db')}`
    const first = await startChildServer({ databaseUrl })
    const second = await serve({ databaseUrl }).ended
    expect(second).toMatchObject({ code: 3, stdout: '', stderr: expect.stringMatching(another) })
    expect((await fetch(`${first.url}/readyz`)).status).toBe(200)
    const { secret_key } = await createWorkspace(databaseUrl, { workspace: 'A', journey: 'B' })
    const { response } = await first.client(secret_key).createJourney({ body: { name: 'Renewal' } })
    expect(response.status).toBe(201)
  })

  it('starts at once if the first one was killed', async () => {
    const databaseUrl = `sqlite:${join(temporaryFolder(), 'cairn.db')}`
    const first = await startChildServer({ databaseUrl })
    expect(await first.end('SIGKILL')).toMatchObject({ signal: 'SIGKILL' })
    const second = await startChildServer({ databaseUrl })
    expect((await fetch(`${second.url}/readyz`)).status).toBe(200)
  })

  it('is detected if two start at the same moment', async () => {
    const databaseUrl = `sqlite:${join(temporaryFolder(), 'cairn.db')}`
    const starts = await Promise.allSettled([
      startChildServer({ databaseUrl }),
      startChildServer({ databaseUrl }),
    ])
    expect(starts.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  })

  it.each([
    ['a relative path', (path: string) => relative('.', path)],
    [
      'a path with a detour',
      (path: string) => `${dirname(path)}/../${basename(dirname(path))}//./${basename(path)}`,
    ],
    [
      'a symbolic link to the file',
      (path: string) => {
        const link = join(temporaryFolder(), 'other.db')
        symlinkSync(path, link)
        return link
      },
    ],
    [
      'a symbolic link to the folder',
      (path: string) => {
        const link = join(temporaryFolder(), 'other')
        symlinkSync(dirname(path), link)
        return join(link, 'cairn.db')
      },
    ],
  ])('is known by %s', async (_name, otherName) => {
    const first = await openStoreForTest()
    const second = openStoreForTest({ path: otherName(first.path) })
    await expect(second).rejects.toThrow('Another Cairn server is running on')
  })

  it('is detected through a symbolic link to a file that does not exist yet', async () => {
    const path = join(temporaryFolder(), 'cairn.db')
    const link = join(temporaryFolder(), 'other.db')
    symlinkSync(path, link)
    await openStoreForTest({ path: link })
    await expect(openStoreForTest({ path })).rejects.toThrow('Another Cairn server')
    await expect(openStoreForTest({ path: link })).rejects.toThrow('Another Cairn server')
  })

  it('is detected through a symbolic link to a folder without a file', async () => {
    const folder = temporaryFolder()
    const link = join(temporaryFolder(), 'other')
    symlinkSync(folder, link)
    const first = await openStoreForTest({ path: join(link, 'cairn.db') })
    await expect(openStoreForTest({ path: join(folder, 'cairn.db') })).rejects.toThrow('Another Cairn server')
    expect(readdirSync(folder)).toContain('cairn.db')
    await first.close()
    await openStoreForTest({ path: join(folder, 'cairn.db') })
  })
})

/** Creates a store that lacks a migration, by default the newest, and those after it. */
async function newOutdatedStore(missing = Object.keys(migrations).at(-1)) {
  const path = join(temporaryFolder(), 'cairn.db')
  const db = new Kysely({ dialect: new LocalDialect({ database: openWritable(path, { create: true }) }) })
  const applied = Object.entries(migrations).filter(([name]) => missing !== undefined && name < missing)
  await migrate(db, Object.fromEntries(applied))
  await db.destroy()
  return path
}

describe('a migration that fails', () => {
  it('is named by the error of a server and of a command, whatever the log contains', async () => {
    const path = await newOutdatedStore('0023-views')
    const database = openWritable(path, { create: false })
    database.exec('CREATE TABLE views (in_the_way INTEGER)').close()
    const stderr = 'cairn: Migration 0023-views failed: table views already exists\n'
    const environment = { DATABASE_URL: `sqlite:${path}`, LOG_LEVEL: 'warn' }
    for (const command of ['serve', 'migrate']) {
      expect(await runCairn([command], { environment })).toMatchObject({ code: 1, stderr })
    }
  })
})

describe('a store on which a server of an earlier version is running', () => {
  it('is not migrated by a command until that server has stopped', async () => {
    const path = await newOutdatedStore()
    const bytes = readFileSync(path)
    const server = takeServerLock(path)
    expect(await run(path, 'key', 'list')).toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringMatching(/^cairn: A Cairn server of an earlier version is running on .+\n$/),
    })
    expect(readFileSync(path).equals(bytes)).toBe(true)
    server?.close()
    expect(await run(path, 'migrate')).toMatchObject({ code: 0, stderr: '' })
  })
})

/** A store with a workspace, and a hard link to its file in another folder. */
async function newLinkedStore({ isServed = false } = {}) {
  const path = join(temporaryFolder(), 'cairn.db')
  const link = join(temporaryFolder(), 'other.db')
  const { journey_id, secret_key } = await createWorkspace(`sqlite:${path}`, { workspace: 'A', journey: 'B' })
  const server = isServed ? await startChildServer({ databaseUrl: `sqlite:${path}` }) : undefined
  linkSync(path, link)
  return { path, link, server, journey_id, secret_key }
}

const run = (path: string, ...args: string[]) =>
  runCairn(args, { environment: { DATABASE_URL: `sqlite:${path}` } })

const refusedAsLinked = {
  code: 1,
  stdout: '',
  stderr: expect.stringMatching(/^cairn: .*the file has 2 names \(hard links\).* && mv .+\n$/),
}

/** Commands that write to a store, or read all of it. */
const uses: [string, (path: string) => Promise<unknown>][] = [
  ['a server', (path) => serve({ databaseUrl: `sqlite:${path}` }).ended],
  ['cairn key list', (path) => run(path, 'key', 'list')],
  ['cairn backup', (path) => run(path, 'backup', join(temporaryFolder(), 'backup.db'))],
  [
    'cairn restore',
    async (path) => {
      const backup = join(temporaryFolder(), 'backup.db')
      await createWorkspace(`sqlite:${backup}`, { workspace: 'A', journey: 'B' })
      return await run(path, 'restore', backup)
    },
  ],
  [
    'cairn copy from it',
    (path) => run(path, 'copy', '--from', `sqlite:${path}`, '--to', `sqlite:${temporaryFolder()}/copy.db`),
  ],
  [
    'cairn copy into it',
    async (path) => {
      const from = join(temporaryFolder(), 'from.db')
      await createWorkspace(`sqlite:${from}`, { workspace: 'A', journey: 'B' })
      return await run(path, 'copy', '--from', `sqlite:${from}`, '--to', `sqlite:${path}`)
    },
  ],
]

describe('a hard link to a store', () => {
  it.each(uses)('is refused by %s, whether or not a server runs on the other name', async (_name, use) => {
    const { link } = await newLinkedStore()
    expect(await use(link)).toMatchObject(refusedAsLinked)
    const served = await newLinkedStore({ isServed: true })
    expect(await use(served.link)).toMatchObject(refusedAsLinked)
  })

  it('made while a server runs affects neither the server nor commands', async () => {
    const { path, server, secret_key } = await newLinkedStore({ isServed: true })
    const client = server?.client(secret_key)
    expect((await client?.createJourney({ body: { name: 'Renewal' } }))?.response.status).toBe(201)
    expect(await run(path, 'key', 'list')).toMatchObject({ code: 0 })
    expect(await run(path, 'backup', join(temporaryFolder(), 'backup.db'))).toMatchObject({ code: 0 })
    // The commands have not taken the lock away from the server either.
    expect(await serve({ databaseUrl: `sqlite:${path}` }).ended).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(another),
    })
  })

  it('is accepted once it is a separate file, or the only name', async () => {
    const { path, link } = await newLinkedStore()
    expect(await run(link, 'key', 'list')).toMatchObject({ code: 1 })
    const copy = `${link}.copy`
    execFileSync('cp', [link, copy])
    renameSync(copy, link)
    await startChildServer({ databaseUrl: `sqlite:${link}` })
    await startChildServer({ databaseUrl: `sqlite:${path}` })
    const other = await newLinkedStore()
    rmSync(other.path)
    await startChildServer({ databaseUrl: `sqlite:${other.link}` })
  })
})

// Only root may mount, or a user who may create a user namespace.
describe.runIf(machine.canUnshareMounts())('a mounted store', () => {
  /** Runs a server in which the first path is also mounted at the second. */
  function serveMounted(from: string, to: string, databaseUrl: string) {
    const script = 'mount --bind "$1" "$2" && shift 2 && exec "$@"'
    const server = [process.execPath, cairnFile, 'serve']
    const args = ['--map-root-user', '--mount', 'sh', '-c', script, 'sh', from, to, ...server]
    return startCommand('unshare', args, { environment: { DATABASE_URL: databaseUrl, PORT: '0' } }).ended
  }

  it('together with its folder is recognized as the same store', async () => {
    const { path } = await newLinkedStore({ isServed: true })
    const folder = temporaryFolder()
    expect(await serveMounted(dirname(path), folder, `sqlite:${folder}/cairn.db`)).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(another),
    })
  })

  it('as a single file is refused', async () => {
    const path = join(temporaryFolder(), 'cairn.db')
    await createWorkspace(`sqlite:${path}`, { workspace: 'A', journey: 'B' })
    const mounted = join(temporaryFolder(), 'a name.db')
    writeFileSync(mounted, '')
    expect(await serveMounted(path, mounted, `sqlite:${mounted}`)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Mount the folder that contains it instead.'),
    })
  })
})
