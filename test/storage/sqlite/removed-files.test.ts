// engines: sqlite (its files)

import { copyFileSync, existsSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, it, onTestFinished, vi } from 'vitest'
import { takeLock } from '../../../server/storage/sqlite/connection.ts'
import { sqlitePath } from '../../../server/storage/sqlite/store-files.ts'
import { ServerLock } from '../../../server/storage/sqlite/writer/server-lock.ts'
import { temporaryFolder } from '../../fixtures/cairn.ts'
import { serve, startChildServerWithCustomer } from '../../fixtures/child-server.ts'
import { scrape, sumOf } from '../../fixtures/exposition.ts'
import { openStoreForTest, storedEvents } from '../../fixtures/file-store.ts'
import { withPatience } from '../../fixtures/patience.ts'
import { newSubject } from '../../fixtures/store.ts'

/** A server, and a function that sends events, several at a time, until each sender meets a refusal. */
async function start() {
  const { databaseUrl, server, client, event } = await startChildServerWithCustomer()
  onTestFinished(() => server.kill('SIGKILL'))
  const acknowledged: string[] = []
  let sent = 0
  const send = async () => {
    const event_id = `e${sent++}`
    const { error } = await client.createEvent({ body: { ...event, event_id } })
    if (!error) acknowledged.push(event_id)
    return error?.code
  }
  await send()
  const untilRefused = async () => {
    const senders = Array.from({ length: 8 }, () => vi.waitUntil(send, { ...withPatience, interval: 0 }))
    return [...new Set(await Promise.all(senders))]
  }
  return {
    databaseUrl,
    path: sqlitePath(databaseUrl),
    server,
    acknowledged,
    send,
    untilRefused,
    isReady: async () => (await fetch(`${server.url}/readyz`)).ok,
    isCheckpointed: async () => sumOf(await scrape(server), 'cairn_log_unmoved_bytes') === 0,
    isReported: async () => sumOf(await scrape(server), 'cairn_writes_refused', { reason: 'files' }) === 1,
  }
}

/** Returns what another process finds after the server was killed. */
function found(path: string) {
  const file = new Database(path, { fileMustExist: true })
  onTestFinished(() => void file.close())
  expect(file.pragma('integrity_check', { simple: true })).toBe('ok')
  return storedEvents(file).toSorted()
}

it.each(['-wal', '-shm'])(
  'refuses writes once its %s file is removed, and keeps what it acknowledged',
  async (name) => {
    const { path, server, acknowledged, untilRefused, isReady, isReported, isCheckpointed } = await start()
    rmSync(`${path}${name}`)
    expect(await untilRefused()).toEqual(['storage_unavailable'])
    expect(await isReported()).toBe(true)
    expect(await isReady()).toBe(false)
    // A reader may have held it up.
    await vi.waitUntil(isCheckpointed, withPatience)
    await server.end('SIGKILL')
    expect(found(path)).toEqual(acknowledged.toSorted())
  },
)

it.each(['', '-wal', '-shm'])(
  'refuses a transaction during which its file%s is removed, and stores nothing of it',
  async (name) => {
    const store = await openStoreForTest()
    const { workspace_id, journey_id } = await newSubject(store)
    const renamed = store.db.transaction().execute(async (db) => {
      await db.updateTable('journeys').set({ name: 'Renewal' }).where('journey_id', '=', journey_id).execute()
      renameSync(`${store.path}${name}`, `${store.path}${name}.removed`)
    })
    await expect(renamed).rejects.toMatchObject({ name: 'Unavailable', reason: 'storage_unavailable' })
    const { name: found } = await store.db
      .selectFrom('journeys')
      .select('name')
      .where('workspace_id', '=', workspace_id)
      .executeTakeFirstOrThrow()
    expect(found).not.toBe('Renewal')
  },
)

it('refuses writes while its file is not in its place', async () => {
  const { path, server, acknowledged, send, untilRefused, isReported } = await start()
  renameSync(path, `${path}.moved`)
  expect(await untilRefused()).toEqual(['storage_unavailable'])
  renameSync(`${path}.moved`, path)
  await vi.waitUntil(async () => (await send()) === undefined, withPatience)
  expect(await isReported()).toBe(false)
  await server.end('SIGKILL')
  expect(found(path)).toEqual(acknowledged.toSorted())
})

it('refuses writes once another file has taken the place of its own, and leaves no log to that', async () => {
  const { path, server, untilRefused, acknowledged } = await start()
  // Without what is only in the log, as an operator might copy it and put it back.
  copyFileSync(path, `${path}.old`)
  renameSync(path, `${path}.own`)
  renameSync(`${path}.old`, path)
  expect(await untilRefused()).toEqual(['storage_unavailable'])
  await vi.waitUntil(() => statSync(`${path}-wal`).size === 0, withPatience)
  await server.end('SIGKILL')
  expect(found(`${path}.own`)).toEqual(acknowledged.toSorted())
})

it('lets no second server start once its .lock file is removed', async () => {
  const { databaseUrl, path, send } = await start()
  rmSync(`${path}.lock`)
  await vi.waitUntil(() => existsSync(`${path}.lock`), withPatience)
  // The thread that stores an event has taken the lock by then, and not only made its file.
  expect(await send()).toBeUndefined()
  const { code, stderr } = await serve({ databaseUrl }).ended
  expect({ code, stderr }).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('Another Cairn server is running'),
  })
  expect(await send()).toBeUndefined()
})

it('ends once another process has a lock in the place of its own', async () => {
  const { path, server, acknowledged } = await start()
  const lock = takeLock(`${path}.other`)
  onTestFinished(() => void lock?.close())
  renameSync(`${path}.other.lock`, `${path}.lock`)
  const { code, stderr } = await server.ended
  expect({ code, stderr }).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Another Cairn server is running'),
  })
  expect(found(path)).toEqual(acknowledged.toSorted())
})

it('takes another lock if the last holder has removed the one that it opened', () => {
  const path = join(temporaryFolder(), 'cairn.db')
  const { exec } = Database.prototype
  const locking = vi.spyOn(Database.prototype, 'exec').mockImplementationOnce(function (
    this: Database.Database,
    sql,
  ) {
    rmSync(`${path}.lock`)
    return exec.call(this, sql)
  })
  onTestFinished(() => locking.mockRestore())
  const lock = new ServerLock(path)
  onTestFinished(() => lock.close())
  expect(takeLock(path)).toBeUndefined()
})
