// engines: sqlite (what only SQLite has)

import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, it, vi } from 'vitest'
import { createWorkspace } from '../../../server/cli/init.ts'
import { openSecretBox } from '../../../server/webhooks/secret-box.ts'
import { newStore, temporaryFolder } from '../../fixtures/cairn.ts'
import { startChildServer } from '../../fixtures/child-server.ts'
import { cairnFile, runCairn, spawnCairn, startCommand } from '../../fixtures/command.ts'
import { initialize } from '../../fixtures/customer.ts'
import { jsonLines } from '../../fixtures/json-lines.ts'
import { withPatience } from '../../fixtures/patience.ts'

it('a SQLite database of another program is refused and left as it is', async () => {
  const path = join(temporaryFolder(), 'other.db')
  new Database(path).exec('CREATE TABLE notes (text TEXT)').close()
  const bytes = readFileSync(path)
  const store = await newStore()
  const unmade = `sqlite:${join(temporaryFolder(), 'copy.db')}`
  const run = (databaseUrl: string, ...args: string[]) =>
    runCairn(args, { environment: { DATABASE_URL: databaseUrl } })
  const other = `${path} is the SQLite database of another program`
  for (const [ended, message] of [
    [await run(`sqlite:${path}`, 'serve'), other],
    [await run(`sqlite:${path}`, 'migrate'), other],
    [await run(`sqlite:${path}`, 'key', 'list'), other],
    [await run(store, 'copy', '--from', store, '--to', `sqlite:${path}`), other],
    [await run(store, 'copy', '--from', `sqlite:${path}`, '--to', unmade), other],
    [await run(store, 'restore', path), `${path} is not a store of Cairn`],
    [await run(store, 'restore', '/dev/null'), '/dev/null is not a store of Cairn'],
  ] as const) {
    expect(ended).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(message) })
  }
  expect(readFileSync(path).equals(bytes)).toBe(true)
})

it('a folder in place of the store or of a backup is called a folder', async () => {
  const folder = join(temporaryFolder(), 'store')
  mkdirSync(folder)
  const served = await runCairn(['serve'], { environment: { DATABASE_URL: `sqlite:${folder}` } })
  const message = `cairn: Cannot open ${folder}: it is a folder. Name a file in it.\n`
  expect(served).toMatchObject({ code: 1, stderr: message })
  const restored = await runCairn(['restore', folder], { environment: { DATABASE_URL: await newStore() } })
  expect(restored).toMatchObject({ code: 2, stderr: `cairn: ${folder} is a folder\n` })
})

it('a file in place of the folder of the store is named', async () => {
  const file = join(temporaryFolder(), 'file')
  writeFileSync(file, '')
  const DATABASE_URL = `sqlite:${join(file, 'cairn.db')}`
  const stderr = `cairn: ${file} is not a folder. Correct DATABASE_URL\n`
  for (const command of ['serve', 'migrate', 'init --workspace A --journey B', `restore ${file}`]) {
    const refused = await runCairn(command.split(' '), { environment: { DATABASE_URL } })
    expect([command, refused]).toEqual([command, { code: 2, stdout: '', stderr }])
  }
})

it('something that is not a regular file is refused in place of the store or of a backup, and never waited for', async () => {
  const folder = temporaryFolder()
  const pipe = join(folder, 'cairn.db')
  execFileSync('mkfifo', [pipe])
  const stderr = `cairn: Cannot open ${pipe}: it is not a regular file. Choose another path.\n`
  for (const command of ['serve', 'migrate']) {
    const { ended } = spawnCairn([command], { environment: { DATABASE_URL: `sqlite:${pipe}` } })
    expect(await ended).toMatchObject({ code: 1, stderr })
  }
  // Not even the lock file.
  expect(readdirSync(folder)).toEqual(['cairn.db'])
  const restoring = spawnCairn(['restore', pipe], { environment: { DATABASE_URL: await newStore() } })
  const advice = `cairn: ${pipe} is a pipe; write the backup to a file first\n`
  expect(await restoring.ended).toMatchObject({ code: 2, stderr: advice })
})

it('a store that cannot be created because its disk is full says so', async () => {
  const DATABASE_URL = `sqlite:${join(temporaryFolder(), 'cairn.db')}`
  // A file cannot grow beyond 100 KiB, as on a full disk.
  const limited = ['-c', 'ulimit -f 100; exec "$@"', 'bash', process.execPath, cairnFile, 'migrate']
  const full = await startCommand('bash', limited, { environment: { DATABASE_URL } }).ended
  expect(full).toMatchObject({ code: 1, stderr: expect.stringMatching(/^cairn: .*(disk|full).*\n$/) })
  expect(await runCairn(['migrate'], { environment: { DATABASE_URL } })).toMatchObject({ code: 0 })
})

it('everything beside a store is beside its file, also by a link that was there first', async () => {
  const [folder, links] = [temporaryFolder(), temporaryFolder()]
  const link = join(links, 'cairn.db')
  symlinkSync(join(folder, 'cairn.db'), link)
  const databaseUrl = `sqlite:${link}`
  const workspace = await createWorkspace(databaseUrl, { workspace: 'A', journey: 'B' })
  const server = await startChildServer({ databaseUrl })
  const client = server.client(workspace.secret_key)
  const customer_id = await initialize({ ...workspace, client }, 'user-1')
  await client.createEvent({ body: { journey_id: 'jrn_none', customer_id, event_id: 'signed_up' } })
  await client.eraseCustomer({ path: { customer_id } })
  openSecretBox({ encryptionKey: undefined, databaseUrl })?.seal('whsec_1', 'whk_1')
  const names = ['', '-encryption-key', '-erasures', '-refusals', '-standings', '.lock'].map(
    (suffix) => `cairn.db${suffix}`,
  )
  await vi.waitUntil(() => names.every((name) => readdirSync(folder).includes(name)), withPatience)
  await server.end('SIGTERM')
  expect(readdirSync(folder).toSorted()).toEqual(names)
  expect(readdirSync(links)).toEqual(['cairn.db'])
})

it('files of an earlier version beside a link are named in the log, with what to do', async () => {
  const [folder, links] = [temporaryFolder(), temporaryFolder()]
  const link = join(links, 'cairn.db')
  symlinkSync(join(folder, 'cairn.db'), link)
  for (const suffix of ['-refusals', '-refusals-wal', '-standings']) writeFileSync(link + suffix, '')
  const environment = { LOG_LEVEL: 'warn' }
  const lines = async (databaseUrl: string) => {
    const server = await startChildServer({ databaseUrl, environment })
    return jsonLines((await server.end('SIGTERM')).stdout).map(({ msg }) => msg)
  }
  const listening = expect.stringContaining('listens on')
  expect(await lines(`sqlite:${link}`)).toEqual([
    expect.stringMatching(
      /^\S+cairn\.db-standings, \S+cairn\.db-refusals-wal, \S+cairn\.db-refusals: left by .+ Delete them\.$/,
    ),
    listening,
  ])
  expect(await lines(`sqlite:${join(folder, 'cairn.db')}`)).toEqual([listening])
})

it('erasures that an earlier version recorded beside a link outlive the disk of the store', async () => {
  const [disk, links] = [temporaryFolder(), temporaryFolder()]
  const [path, link] = [join(disk, 'cairn.db'), join(links, 'cairn.db')]
  symlinkSync(path, link)
  const environment = { DATABASE_URL: `sqlite:${link}` }
  const workspace = await createWorkspace(environment.DATABASE_URL, { workspace: 'A', journey: 'B' })
  const server = await startChildServer({ databaseUrl: environment.DATABASE_URL })
  const client = server.client(workspace.secret_key)
  const customer_id = await initialize({ ...workspace, client }, 'user-1')
  const backup = join(links, 'backup.db')
  expect(await runCairn(['backup', backup], { environment })).toMatchObject({ code: 0 })
  await client.eraseCustomer({ path: { customer_id } })
  await server.end('SIGTERM')
  renameSync(`${path}-erasures`, `${link}-erasures`)
  for (const name of readdirSync(disk)) rmSync(join(disk, name))

  expect(await runCairn(['restore', backup], { environment })).toMatchObject({ code: 0 })
  const copied = await runCairn(
    ['copy', '--from', environment.DATABASE_URL, '--to', `sqlite:${join(disk, 'copy.db')}`],
    { environment },
  )
  expect(copied).toMatchObject({ code: 1, stderr: expect.stringContaining('has customers that were erased') })
  const again = await startChildServer({ databaseUrl: environment.DATABASE_URL })
  const { response } = await again.client(workspace.secret_key).getCustomer({ path: { customer_id } })
  expect(response.status).toBe(404)
  expect(readFileSync(`${path}-erasures`, 'utf8')).toContain(customer_id)
})
