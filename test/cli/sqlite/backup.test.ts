// engines: sqlite (what only SQLite has)

import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it, vi } from 'vitest'
import { createWorkspace } from '../../../server/cli/init.ts'
import { temporaryFolder } from '../../fixtures/cairn.ts'
import { startChildServer, startChildServerWithCustomer } from '../../fixtures/child-server.ts'
import { cairnFile, runCairn, spawnCairn, startCommand } from '../../fixtures/command.ts'
import { connect } from '../../fixtures/file-store.ts'
import { withPatience } from '../../fixtures/patience.ts'

const SENDERS = 8

/** Code by which the copying thread says when it is done, and waits: else the command could end before the signal. */
const INTERRUPTIBLE = `
  import { writeSync } from 'node:fs'
  import { isMainThread, parentPort } from 'node:worker_threads'
  if (!isMainThread) parentPort.postMessage = () => {
    writeSync(2, 'copied')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  }`

/** A store without a server, with some megabytes of other data if `filled`. */
async function newStore({ filled = false } = {}) {
  const path = join(temporaryFolder(), 'cairn.db')
  const DATABASE_URL = `sqlite:${path}`
  await createWorkspace(DATABASE_URL, { workspace: 'Example Ltd', journey: 'Onboarding' })
  if (filled) connect(path).exec('CREATE TABLE other AS SELECT randomblob(20000000)')
  const folder = temporaryFolder()
  const file = join(folder, 'copy.db')
  const backup = (...args: string[]) => runCairn(['backup', ...args], { environment: { DATABASE_URL } })
  return { path, DATABASE_URL, folder, file, backup }
}

describe('cairn backup', () => {
  it('next to a server under load copies every event acknowledged before, once, and the copy can be served', async () => {
    const { databaseUrl, server, client, secret_key, event } = await startChildServerWithCustomer()
    const answered: string[] = []
    const state = { isOver: false }
    async function sendUntilOver(sender: number) {
      for (let count = 0; !state.isOver; count += 1) {
        const message_id = `${sender}-${count}`
        const { data } = await client.createEvent({ body: { ...event, message_id } })
        if (data) answered.push(message_id)
      }
    }
    const senders = Array.from({ length: SENDERS }, (_, sender) => sendUntilOver(sender))
    await vi.waitUntil(() => answered.length > 300, withPatience)

    const folder = temporaryFolder()
    const file = join(folder, 'copy.db')
    const before = [...answered]
    const made = await spawnCairn(['backup', file], { environment: { DATABASE_URL: databaseUrl } }).ended
    const whileCopied = answered.length - before.length
    state.isOver = true
    await Promise.all(senders)
    await server.end('SIGTERM')
    expect(made).toMatchObject({ code: 0, stderr: '' })
    expect(whileCopied).toBeGreaterThan(0)
    expect(readdirSync(folder)).toEqual(['copy.db'])
    expect(statSync(file).mode & 0o777).toBe(0o600)

    const copy = new Database(file, { readonly: true })
    expect(copy.pragma('integrity_check', { simple: true })).toBe('ok')
    const stored = copy.prepare<[], string>('SELECT message_id FROM events').pluck().all()
    const newest = copy.prepare<[], number>('SELECT max(received_ms) FROM events').pluck().get() ?? 0
    copy.close()
    expect(new Set(stored).size).toBe(stored.length)
    expect(before.filter((message_id) => !stored.includes(message_id))).toEqual([])
    const size = statSync(file).size
    expect(made.stdout).toBe(
      `${file}: ${size} bytes, ${stored.length} events, newest received at ${new Date(newest).toISOString()}\n`,
    )

    const restored = await startChildServer({ databaseUrl: `sqlite:${file}` })
    const restoredClient = restored.client(secret_key)
    expect((await restoredClient.listEvents({ query: { limit: 500 } })).data?.data).toHaveLength(
      Math.min(stored.length, 500),
    )
    const resent = await restoredClient.createEvent({ body: { ...event, message_id: before[0] ?? '' } })
    expect(resent).toMatchObject({ data: { duplicate: true }, response: { status: 200 } })
    const created = await restoredClient.createEvent({ body: { ...event, message_id: 'after' } })
    expect(created.response.status).toBe(201)
    expect(connect(file).pragma('journal_mode', { simple: true })).toBe('wal')
  })

  it('works without a server, and prints one object with --json', async () => {
    const { file, folder, DATABASE_URL } = await newStore()
    const options = { environment: { DATABASE_URL }, folder }
    const made = await spawnCairn(['backup', 'copy.db', '--json'], options).ended
    expect([made.code, made.stderr]).toEqual([0, ''])
    expect(JSON.parse(made.stdout)).toEqual({
      file: 'copy.db',
      bytes: statSync(file).size,
      events: 0,
      newest_event_at: null,
    })
    const keys = await runCairn(['key', 'list', '--json'], {
      environment: { DATABASE_URL: `sqlite:${file}` },
    })
    expect(JSON.parse(keys.stdout)).toHaveLength(2)
  })

  it('replaces a file only with --overwrite, and atomically', async () => {
    const { file, folder, backup } = await newStore()
    writeFileSync(file, 'of somebody else', { mode: 0o644 })
    const stderr = `cairn: ${file} already exists; use --overwrite to replace it\n`
    expect(await backup(file)).toMatchObject({ code: 3, stdout: '', stderr })
    expect(readFileSync(file, 'utf8')).toBe('of somebody else')
    expect(readdirSync(folder)).toEqual(['copy.db'])
    expect(await backup(file, '--overwrite')).toMatchObject({ code: 0 })
    expect(connect(file, { readonly: true }).pragma('integrity_check', { simple: true })).toBe('ok')
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it('replaces neither a pipe nor the key of the webhooks', async () => {
    const { path, folder, backup } = await newStore()
    const pipe = join(folder, 'pipe')
    execFileSync('mkfifo', [pipe])
    const key = `${path}-encryption-key`
    writeFileSync(key, 'secret')
    for (const [file, fault] of [
      [pipe, 'is not a regular file; choose another path'],
      [key, 'is part of the store itself'],
    ] as const) {
      expect(await backup(file, '--overwrite')).toEqual({
        code: 3,
        stdout: '',
        stderr: `cairn: ${file} ${fault}\n`,
      })
    }
    expect(statSync(pipe).isFIFO()).toBe(true)
    expect(readFileSync(key, 'utf8')).toBe('secret')
  })

  it('refuses to overwrite the store itself, or a path where a leftover log would corrupt the copy', async () => {
    const { path, file, backup } = await newStore()
    const store = readFileSync(path)
    const itself = await backup(path, '--overwrite')
    expect(itself).toMatchObject({ code: 3, stderr: expect.stringContaining('is part of the store itself') })
    expect(readFileSync(path).equals(store)).toBe(true)
    writeFileSync(`${file}-wal`, 'left over')
    const stray = await backup(file)
    expect(stray).toMatchObject({ code: 3, stderr: expect.stringContaining('copy.db-wal exists') })
    expect(existsSync(file)).toBe(false)
  })

  it('does not copy a store that has another path, beside which its log may be', async () => {
    const { path, file, backup } = await newStore()
    linkSync(path, `${path}-other`)
    expect(await backup(file)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('2 names (hard links)'),
    })
    expect(existsSync(file)).toBe(false)
  })

  it('reports a missing folder or store', async () => {
    const { folder, DATABASE_URL, backup } = await newStore()
    const missing = await backup(join(folder, 'none', 'copy.db'))
    expect(missing).toMatchObject({
      code: 3,
      stderr: `cairn: the folder ${join(folder, 'none')} does not exist\n`,
    })
    const other = { environment: { DATABASE_URL: `${DATABASE_URL}-none` } }
    const noStore = await runCairn(['backup', join(folder, 'copy.db')], other)
    expect(noStore).toMatchObject({ code: 3, stderr: expect.stringContaining('there is no store at') })
    expect(readdirSync(folder)).toEqual([])
  })

  it('leaves nothing behind if the disk is full', async () => {
    const { folder, file, DATABASE_URL } = await newStore({ filled: true })
    // A file cannot grow beyond 4 MiB, as on a full disk.
    const limited = ['-c', 'ulimit -f 4096; exec "$@"', 'bash', process.execPath, cairnFile, 'backup', file]
    const full = await startCommand('bash', limited, { environment: { DATABASE_URL } }).ended
    expect(full).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^cairn: backup failed: .+\n$/),
    })
    expect(readdirSync(folder)).toEqual([])
  })

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'leaves nothing behind when %s interrupts it',
    async (signal) => {
      const { folder, file, DATABASE_URL } = await newStore()
      const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(INTERRUPTIBLE)}`
      const command = spawnCairn(['backup', file], { environment: { DATABASE_URL, NODE_OPTIONS } })
      await vi.waitUntil(() => command.stderr() === 'copied', withPatience)
      expect(readdirSync(folder)).toEqual([expect.stringMatching(/^\.cairn-copy-.*\.partial$/)])
      command.process.kill(signal)
      expect(await command.ended).toMatchObject({ code: null, signal, stdout: '' })
      expect(readdirSync(folder)).toEqual([])
    },
  )

  it('does not copy a damaged store', async () => {
    const { path, folder, file, backup } = await newStore()
    const bytes = readFileSync(path)
    const damaged = bytes.fill(0xff, 3 * 4096, 5 * 4096)
    writeFileSync(path, damaged)
    expect(await backup(file)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('malformed'),
    })
    expect(readdirSync(folder)).toEqual([])
  })
})

describe('cairn backup --keep', () => {
  const NAME = /^cairn-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z\.db$/

  /** A store, and a folder with backups of it from these days; returns a function that gives the backups' names. */
  async function newSeries(days: readonly string[]) {
    const store = await newStore()
    const { folder, backup } = store
    for (const day of days) {
      const { stdout } = await backup('--json', '--keep', '9999', folder)
      renameSync(JSON.parse(stdout).file, join(folder, nameOf(day)))
    }
    return { ...store, backups: () => readdirSync(folder).filter((name) => NAME.test(name)) }
  }

  const nameOf = (day: string) => `cairn-${day}T03-10-00-000Z.db`

  it('names the backup by its time and keeps the given number', async () => {
    const { folder, backup, backups } = await newSeries(['2026-01-01', '2026-01-02', '2026-01-03'])
    const began_ms = Date.now()
    const made = await backup('--keep', '3', folder)
    const [, , newest = ''] = backups()
    expect(backups()).toEqual([nameOf('2026-01-02'), nameOf('2026-01-03'), expect.stringMatching(NAME)])
    const [, day, time] = /^cairn-(.{10})T(.{12})Z/.exec(newest) ?? []
    const at_ms = Date.parse(`${day}T${time?.replace(/-/g, ':').replace(/:(?=...$)/, '.')}Z`)
    expect(at_ms).toBeGreaterThanOrEqual(began_ms)
    expect(at_ms).toBeLessThanOrEqual(Date.now())
    expect(statSync(join(folder, newest)).mode & 0o777).toBe(0o600)
    const [first, second] = made.stdout.trim().split('\n')
    expect(first).toMatch(new RegExp(`^${join(folder, newest)}: \\d+ bytes, 0 events$`))
    expect([made.code, made.stderr, second]).toEqual([
      0,
      '',
      `${join(folder, nameOf('2026-01-01'))}: removed`,
    ])

    const next = await backup('--keep', '1', '--json', folder)
    const removed = [newest, nameOf('2026-01-03'), nameOf('2026-01-02')].map((name) => join(folder, name))
    expect(JSON.parse(next.stdout)).toMatchObject({ file: expect.not.stringContaining(newest), removed })
    expect(backups()).toHaveLength(1)
  })

  it('removes nothing that is not a backup of this store, was served since or is newer', async () => {
    const { folder, file, backup, backups } = await newSeries(['2026-01-01', '2999-01-01'])
    const other = await newSeries(['2026-01-02'])
    copyFileSync(join(other.folder, nameOf('2026-01-02')), join(folder, nameOf('2026-01-02')))
    writeFileSync(join(folder, nameOf('2026-01-03')), 'notes')
    mkdirSync(join(folder, nameOf('2026-01-04')))
    symlinkSync(join(folder, nameOf('2026-01-01')), join(folder, nameOf('2026-01-05')))
    await backup(file)
    copyFileSync(file, join(folder, 'cairn-2026-01-06.db'))
    copyFileSync(file, join(folder, nameOf('2026-01-07')))
    const served = await startChildServer({ databaseUrl: `sqlite:${join(folder, nameOf('2026-01-07'))}` })
    await served.end('SIGTERM')
    const before = readdirSync(folder)

    const { stdout } = await backup('--keep', '1', '--json', folder)
    const { file: made, removed } = JSON.parse(stdout)
    expect(removed).toEqual([join(folder, nameOf('2026-01-01'))])
    const left = before.filter((name) => name !== nameOf('2026-01-01'))
    expect(readdirSync(folder)).toEqual([...left, made.slice(folder.length + 1)].sort())
    expect(backups()).toContain(nameOf('2999-01-01'))
  })

  it('removes what interrupted backups left a day ago', async () => {
    const { folder, backup, backups } = await newSeries([])
    const partial = (id: string) => `.cairn-copy-${id.repeat(8)}-0000-4000-8000-000000000000.partial`
    for (const name of [partial('a'), partial('b'), '.cairn-copy-notes.partial']) {
      writeFileSync(join(folder, name), 'x')
    }
    const [now, ago] = [Date.now() / 1000, Date.now() / 1000 - 25 * 3600]
    for (const name of [partial('a'), '.cairn-copy-notes.partial']) utimesSync(join(folder, name), now, ago)
    expect(await backup('--keep', '1', folder)).toMatchObject({ code: 0 })
    expect(readdirSync(folder)).toEqual([partial('b'), '.cairn-copy-notes.partial', ...backups()].sort())
  })

  it('removes nothing if no backup could be made', async () => {
    const { path, folder, backup } = await newSeries(['2026-01-01', '2026-01-02'])
    writeFileSync(path, readFileSync(path).fill(0xff, 3 * 4096, 5 * 4096))
    expect(await backup('--keep', '1', folder)).toMatchObject({ code: 1, stdout: '' })
    expect(readdirSync(folder)).toEqual([nameOf('2026-01-01'), nameOf('2026-01-02')])
  })

  it('needs a folder, and without it a folder is refused', async () => {
    const { folder, file, backup } = await newStore()
    const refused = async (...args: string[]) => {
      const { code, stdout, stderr } = await backup(...args)
      return [code, stdout, stderr]
    }
    expect(await refused('--keep', '7', file)).toEqual([
      3,
      '',
      `cairn: --keep needs a folder, but ${file} is not one\n`,
    ])
    expect(await refused(folder)).toEqual([
      2,
      '',
      `cairn: ${folder} is a folder; name a file in it, or use --keep 7\n`,
    ])
    expect(await refused('--keep', '7', '--overwrite', folder)).toEqual([
      2,
      '',
      expect.stringContaining('cannot be'),
    ])
    expect(await refused('--keep', '0', folder)).toEqual([2, '', expect.stringContaining('from 1 to 9999')])
    expect(readdirSync(folder)).toEqual([])
  })
})
