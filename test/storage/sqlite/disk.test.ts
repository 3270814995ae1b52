// engines: sqlite (what only SQLite has)

import { execFileSync } from 'node:child_process'
import { rmSync, statfsSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createWorkspace } from '../../../server/cli/init.ts'
import { type Kept, wholeIdText } from '../../../server/storage/sqlite/kept-ids.ts'
import { sqlitePath } from '../../../server/storage/sqlite/store-files.ts'
import { temporaryFolder } from '../../fixtures/cairn.ts'
import { startChildServer, startChildServerWithCustomer } from '../../fixtures/child-server.ts'
import { spawnCairn } from '../../fixtures/command.ts'
import { initialize } from '../../fixtures/customer.ts'
import { scrape, sumOf } from '../../fixtures/exposition.ts'
import { connect, storedEvents } from '../../fixtures/file-store.ts'
import { machine } from '../../fixtures/machine.ts'
import { withPatience } from '../../fixtures/patience.ts'
import { smallDisk } from '../../fixtures/small-disk.ts'

/** Limits the size of files that the process writes, like a full disk. */
function limitFiles(pid: number, bytes: number | 'unlimited') {
  execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:`])
}

it.runIf(machine.canLimitFiles())(
  'acknowledges nothing while the disk accepts no writes, and recovers by itself',
  async () => {
    const { databaseUrl, server, client, event } = await startChildServerWithCustomer()
    const path = sqlitePath(databaseUrl)
    const create = async (event_id: string) => {
      const { response, error } = await client.createEvent({ body: { ...event, event_id } })
      return error
        ? `${response.status} ${error.code} ${response.headers.get('retry-after')}`
        : response.status
    }
    expect(await create('before')).toBe(201)

    // There is space for the first pages of a transaction.
    limitFiles(server.pid, statSync(`${path}-wal`).size + 10_000)
    const answered = ['before']
    const refused: string[] = []
    for (let count = 0; refused.length < 5; count += 1) {
      const answer = await create(`full-${count}`)
      if (answer === 201) answered.push(`full-${count}`)
      else refused.push(String(answer))
    }
    expect(new Set(refused)).toEqual(new Set(['503 storage_unavailable 1']))
    limitFiles(server.pid, 1)
    const journey = await client.createJourney({ body: { name: 'Renewal' } })
    expect(journey.error).toMatchObject({ status: 503, code: 'storage_unavailable' })
    expect((await fetch(`${server.url}/readyz`)).status).toBe(503)
    expect(sumOf(await scrape(server), 'cairn_ready')).toBe(0)
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
    expect((await client.listEvents()).data?.data).toHaveLength(answered.length)

    limitFiles(server.pid, 'unlimited')
    expect(await create('after')).toBe(201)
    expect((await client.createJourney({ body: { name: 'Renewal' } })).response.status).toBe(201)
    await vi.waitUntil(async () => (await fetch(`${server.url}/readyz`)).ok, withPatience)
    const samples = await scrape(server)
    expect(sumOf(samples, 'cairn_ready')).toBe(1)
    expect(sumOf(samples, 'cairn_events_received_total')).toBe(answered.length + 1)
    expect(sumOf(samples, 'cairn_events_total', { outcome: 'created' })).toBe(answered.length + 1)
    expect(sumOf(samples, 'cairn_events_unavailable_total')).toBe(refused.length)
    expect(sumOf(samples, 'cairn_commit_failures_total')).toBeGreaterThanOrEqual(refused.length)
    expect(await server.end('SIGKILL')).toMatchObject({ signal: 'SIGKILL' })
    const file = new Database(path)
    expect(storedEvents(file)).toEqual([...answered, 'after'])
    expect(file.pragma('integrity_check', { simple: true })).toBe('ok')
    file.close()
  },
)

const MIB = 1024 * 1024

const canMount = machine.canMount()

it.runIf(canMount)(
  'refuses writes before a full disk fails, keeps what it acknowledged, and continues when there is room',
  async () => {
    const folder = smallDisk(32 * MIB)
    const path = join(folder, 'cairn.db')
    const databaseUrl = `sqlite:${path}`
    const workspace = await createWorkspace(databaseUrl, { workspace: 'Example Ltd', journey: 'Onboarding' })
    const server = await startChildServer({ databaseUrl })
    onTestFinished(() => server.kill('SIGKILL'))
    const client = server.client(workspace.secret_key)
    const { journey_id } = workspace
    const customer_id = await initialize({ ...workspace, client }, 'user-1')
    const event = { journey_id, customer_id, event_id: 'filled', custom_variables: 'x'.repeat(20_000) }
    const isReady = async () => (await fetch(`${server.url}/readyz`)).status === 200

    const filler = join(folder, 'filler')
    writeFileSync(filler, Buffer.alloc(16 * MIB))
    const acknowledged: string[] = []
    // A commit that is larger than the free space fails, and frees its space again.
    await vi.waitUntil(async () => {
      let refusal: string | undefined
      while (refusal === undefined) {
        const { data, error, response } = await client.createEvents({
          body: { events: Array(100).fill(event) },
        })
        if (data) acknowledged.push(...data.results.map(({ id }) => id ?? ''))
        else refusal = `${response.status} ${error.code} ${response.headers.get('retry-after')}`
      }
      expect(refusal).toBe('503 storage_full 1')
      return !(await isReady())
    }, withPatience)
    expect(acknowledged.length).toBeGreaterThan(0)
    // Small enough for the free space, but refused as well.
    const small = { journey_id, customer_id, event_id: 'small' }
    expect((await client.createEvent({ body: small })).error?.code).toBe('storage_full')
    expect((await client.createJourney({ body: { name: 'Renewal' } })).error?.code).toBe('storage_full')
    expect((await client.listEvents()).data?.data).toHaveLength(50)
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)

    rmSync(filler)
    await vi.waitUntil(isReady, withPatience)
    expect((await client.createEvent({ body: small })).response.status).toBe(201)
    await server.end('SIGTERM')
    const file = new Database(path)
    const stored = file.prepare<[], Kept>('SELECT id, received_ms FROM events ORDER BY seq').all()
    expect(stored.slice(0, -1).map(wholeIdText)).toEqual(acknowledged)
    expect(file.pragma('integrity_check', { simple: true })).toBe('ok')
    file.close()
  },
)

/** A server on a small disk, whose file it opens through a link, and a function that fills the rest of the disk. */
async function startOnSmallDisk(folder: string) {
  const path = join(temporaryFolder(), 'cairn.db')
  symlinkSync(join(folder, 'cairn.db'), path)
  const databaseUrl = `sqlite:${path}`
  const workspace = await createWorkspace(databaseUrl, { workspace: 'Example Ltd', journey: 'Onboarding' })
  const server = await startChildServer({ databaseUrl, environment: { LOG_LEVEL: 'info' } })
  onTestFinished(() => server.kill('SIGKILL'))
  const client = server.client(workspace.secret_key)
  const { journey_id } = workspace
  const event = {
    journey_id,
    customer_id: await initialize({ ...workspace, client }, 'user-1'),
    event_id: 'filled',
  }
  const events = Array(100).fill({ ...event, custom_variables: 'x'.repeat(20_000) })
  /** Sends events of 20 kilobytes, a hundred at a time, until they are refused. @returns the refusal */
  const fill = async () => {
    while (true) {
      const { error } = await client.createEvents({ body: { events } })
      if (error) return `${error.status} ${error.code}`
    }
  }
  const refusing = async (reason: 'disk' | 'log') =>
    sumOf(await scrape(server), 'cairn_writes_refused', { reason }) === 1
  return {
    path,
    server,
    fill,
    refusing,
    /** Commits that are larger than the free space fail, and free their space again. */
    async fillUntilRefusing() {
      await vi.waitUntil(async () => {
        expect(await fill()).toBe('503 storage_full')
        return await refusing('disk')
      }, withPatience)
    },
    async createsEvent() {
      return (await client.createEvent({ body: event })).response.status === 201
    },
  }
}

it.runIf(canMount)(
  'names a full disk if no server or command can open the store, and opens it once there is room',
  async () => {
    const folder = smallDisk(2 * MIB)
    const path = join(folder, 'cairn.db')
    const environment = { DATABASE_URL: `sqlite:${path}` }
    await createWorkspace(environment.DATABASE_URL, { workspace: 'Example Ltd', journey: 'Onboarding' })
    const filler = join(folder, 'filler')
    expect(() => writeFileSync(filler, Buffer.alloc(2 * MIB))).toThrow('ENOSPC')
    for (const args of [['serve'], ['key', 'list'], ['backup', join(temporaryFolder(), 'backup.db')]]) {
      const { code, stdout, stderr } = await spawnCairn(args, { environment }).ended
      expect([code, stdout]).toEqual([1, ''])
      expect(stderr).toMatch(/Cannot open .+cairn\.db: its disk is full \(\d+ bytes free\)\. Make room\.\n$/)
    }
    rmSync(filler)
    expect(await spawnCairn(['key', 'list'], { environment }).ended).toMatchObject({ code: 0, stderr: '' })
  },
)

it.runIf(canMount)('measures the disk that a link leads to', async () => {
  const folder = smallDisk(32 * MIB)
  const { server, fillUntilRefusing, createsEvent, refusing } = await startOnSmallDisk(folder)
  const filler = join(folder, 'filler')
  writeFileSync(filler, Buffer.alloc(16 * MIB))
  await fillUntilRefusing()
  await vi.waitUntil(() => server.stdout().includes('refusing writes: the disk is nearly full'), withPatience)
  rmSync(filler)
  await vi.waitUntil(createsEvent, withPatience)
  expect(await refusing('disk')).toBe(false)
})

it.runIf(canMount)(
  'counts the space that a checkpoint still needs, and continues by itself after the checkpoint',
  async () => {
    const folder = smallDisk(256 * MIB)
    const { path, server, fillUntilRefusing, createsEvent } = await startOnSmallDisk(folder)
    const filler = join(folder, 'filler')
    writeFileSync(filler, Buffer.alloc(170 * MIB))
    const reader = connect(path, { readonly: true })
    reader.exec('BEGIN; SELECT count(*) FROM events')
    await fillUntilRefusing()
    // The disk has free space, but not enough for the rest of the checkpoint.
    const { bavail, bsize } = statfsSync(folder)
    expect(bavail * bsize).toBeGreaterThan(24 * MIB)
    reader.exec('COMMIT')
    await vi.waitUntil(createsEvent, withPatience)
    expect(statSync(`${join(folder, 'cairn.db')}-wal`).size).toBeLessThan(MIB)
    await vi.waitUntil(() => server.stdout().includes('accepting writes again'), withPatience)
  },
)

it.runIf(canMount)(
  'refuses when the log has grown too long because of a reader, says why, and continues when the reader ends',
  async () => {
    const folder = smallDisk(128 * MIB)
    const { path, server, fill, createsEvent, refusing } = await startOnSmallDisk(folder)
    const reader = connect(path, { readonly: true })
    reader.exec('BEGIN; SELECT count(*) FROM events')
    expect(await fill()).toBe('503 overloaded')
    expect(await refusing('log')).toBe(true)
    await vi.waitUntil(
      () => server.stdout().includes('kept the write-ahead log from being truncated'),
      withPatience,
    )
    const log = sumOf(await scrape(server), 'cairn_log_bytes')
    // A quarter of this disk, and what was being written.
    expect(log).toBeGreaterThan(32 * MIB)
    expect(log).toBeLessThan(64 * MIB)
    reader.exec('COMMIT')
    await vi.waitUntil(createsEvent, withPatience)
    expect(await refusing('log')).toBe(false)
  },
)
