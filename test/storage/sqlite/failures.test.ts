// engines: sqlite (what only SQLite has)

import { copyFileSync, existsSync, readFileSync, renameSync } from 'node:fs'
import { sql } from 'kysely'
import { describe, expect, it, vi } from 'vitest'
import { sqlitePath } from '../../../server/storage/sqlite/store-files.ts'
import { startCairnForTest } from '../../fixtures/cairn.ts'
import { customerInJourney } from '../../fixtures/customer.ts'
import { connect, openStoreForTest, type Store, storedEvents } from '../../fixtures/file-store.ts'
import { withPatience } from '../../fixtures/patience.ts'
import { addJourney, initialize, insert, newSubject, readingIn, type Subject } from '../../fixtures/store.ts'
import { within } from '../../fixtures/within.ts'

/** SQLite's codes for a read-only and for a full disk. */
const failures = [
  ['may not be written', 'PRAGMA query_only = 1', 'storage_unavailable'],
  ['is full', 'PRAGMA max_page_count = 1', 'storage_full'],
] as const

/** Changes the writing connection, until it is reopened. */
async function disturb({ db }: Store, pragma: string) {
  await db.transaction().execute(async (db) => sql.raw(pragma).execute(db))
}

const large = { custom_variables: 'x'.repeat(50_000) }

function addLargeJourney(store: Store, subject: Subject) {
  return addJourney(store, subject, { description: 'x'.repeat(50_000) })
}

describe.each(failures)('a disk that %s', (_name, pragma, code) => {
  const unavailable = { reason: { name: 'Unavailable', reason: code } }

  it('prevents every acknowledgement, until it can be written again', async () => {
    const store = await openStoreForTest()
    const subject = await newSubject(store)
    await disturb(store, pragma)
    const answers = await Promise.allSettled([
      insert(store, subject, large),
      initialize(store, subject, 'user-2'),
      insert(store, subject, large),
    ])
    expect(answers).toMatchObject([unavailable, unavailable, unavailable])
    expect(storedEvents(connect(store.path))).toEqual([])

    await insert(store, subject, { event_id: 'after', ...large })
    expect(await initialize(store, subject, 'user-2')).toMatchObject({ created: true })
    expect(storedEvents(connect(store.path))).toEqual(['after'])
  })

  it('makes a transaction report an outage, and does not affect later ones', async () => {
    const store = await openStoreForTest()
    const subject = await newSubject(store)
    await disturb(store, pragma)
    await expect(addLargeJourney(store, subject)).rejects.toMatchObject(unavailable.reason)
    await expect(addLargeJourney(store, subject)).resolves.toMatchObject({ status: 'active' })
    expect(await insert(store, subject)).toMatchObject({ status: 'created' })
  })

  it('does not hide what other programs change in the meantime', async () => {
    const onOutsideChange = vi.fn()
    const store = await openStoreForTest({ onOutsideChange })
    const subject = await newSubject(store)
    await insert(store, subject)
    await disturb(store, pragma)
    await expect(insert(store, subject, large)).rejects.toMatchObject(unavailable.reason)
    onOutsideChange.mockClear()
    connect(store.path).exec(`UPDATE journeys SET status = 'archived'`)
    await within(1, () => expect(onOutsideChange).toHaveBeenCalled())
    await vi.waitFor(async () => {
      expect(await insert(store, subject)).toMatchObject({ status: 'rejected', code: 'journey_archived' })
    }, withPatience)
  })
})

describe('a file that is temporarily missing', () => {
  const unavailable = { reason: { name: 'Unavailable', reason: 'storage_unavailable' } }

  it('is not replaced by an empty one, and is served again when it is back', async () => {
    const store = await openStoreForTest()
    const subject = await newSubject(store)
    await insert(store, subject, { event_id: 'before' })
    await disturb(store, 'PRAGMA query_only = 1')
    renameSync(store.path, `${store.path}.away`)
    await expect(insert(store, subject)).rejects.toMatchObject(unavailable.reason)
    await expect(insert(store, subject)).rejects.toMatchObject(unavailable.reason)
    await expect(addLargeJourney(store, subject)).rejects.toMatchObject(unavailable.reason)
    await expect(store.assertWritable()).rejects.toMatchObject(unavailable.reason)
    expect(existsSync(store.path)).toBe(false)
    renameSync(`${store.path}.away`, store.path)
    // If the writer noticed it before the first of them, it notices the return at its next look.
    const isServed = () =>
      insert(store, subject, { event_id: 'after' }).then(
        () => true,
        () => false,
      )
    await vi.waitUntil(isServed, withPatience)
    expect(storedEvents(connect(store.path))).toEqual(['before', 'after'])
  })

  it('is reported also while the writer has closed it', async () => {
    const onDisk = vi.fn()
    const store = await openStoreForTest({ onDisk })
    const subject = await newSubject(store)
    await disturb(store, 'PRAGMA query_only = 1')
    await expect(insert(store, subject)).rejects.toMatchObject(unavailable.reason)
    renameSync(store.path, `${store.path}.away`)
    const { statistics } = store
    await vi.waitUntil(() => statistics().disk.refusing === 'files', withPatience)
    renameSync(`${store.path}.away`, store.path)
    await vi.waitUntil(() => statistics().disk.refusing === null, withPatience)
    expect(onDisk.mock.calls).toMatchObject([[{ refusing: 'files' }], [{ refusing: null }]])
    expect(await insert(store, subject)).toMatchObject({ status: 'created' })
  })

  it('is not exchanged for another that takes its place', async () => {
    const store = await openStoreForTest()
    const subject = await newSubject(store)
    await insert(store, subject, { event_id: 'before' })
    connect(store.path).pragma('wal_checkpoint(TRUNCATE)')
    copyFileSync(store.path, `${store.path}.other`)
    await insert(store, subject, { event_id: 'later' })
    const copy = readFileSync(`${store.path}.other`)
    await disturb(store, 'PRAGMA query_only = 1')
    await expect(insert(store, subject)).rejects.toMatchObject(unavailable.reason)
    renameSync(store.path, `${store.path}.away`)
    await expect(insert(store, subject)).rejects.toMatchObject(unavailable.reason)
    renameSync(`${store.path}.other`, store.path)
    await expect(insert(store, subject)).rejects.toMatchObject(unavailable.reason)
    await expect(addLargeJourney(store, subject)).rejects.toMatchObject(unavailable.reason)
    expect(readFileSync(store.path)).toEqual(copy)
    renameSync(`${store.path}.away`, store.path)
    await vi.waitFor(() => insert(store, subject, { event_id: 'after' }), withPatience)
    expect(storedEvents(connect(store.path))).toEqual(['before', 'later', 'after'])
  })

  it.each(['-wal', '-shm'])('is not opened again without its %s file', async (name) => {
    const store = await openStoreForTest()
    const subject = await newSubject(store)
    await insert(store, subject, { event_id: 'before' })
    await disturb(store, 'PRAGMA query_only = 1')
    await expect(insert(store, subject)).rejects.toMatchObject(unavailable.reason)
    renameSync(`${store.path}${name}`, `${store.path}.away`)
    await expect(insert(store, subject)).rejects.toMatchObject(unavailable.reason)
    expect(existsSync(`${store.path}${name}`)).toBe(false)
    renameSync(`${store.path}.away`, `${store.path}${name}`)
    await vi.waitFor(() => insert(store, subject, { event_id: 'after' }), withPatience)
    expect(storedEvents(connect(store.path))).toEqual(['before', 'after'])
  })

  it('is not read by lists from another that takes its place', async () => {
    const store = await openStoreForTest()
    const { workspace_id, journey_id } = await newSubject(store)
    connect(store.path).pragma('wal_checkpoint(TRUNCATE)')
    copyFileSync(store.path, `${store.path}.other`)
    const list = () =>
      store.lists(readingIn(workspace_id)).selectFrom('journeys').select('journey_id').execute()
    renameSync(store.path, `${store.path}.away`)
    renameSync(`${store.path}.other`, store.path)
    await expect(list()).rejects.toMatchObject(unavailable.reason)
    renameSync(`${store.path}.away`, store.path)
    expect(await list()).toEqual([{ journey_id }])
  })

  it('makes lists fail without ending the server; the next list is read when it is back', async () => {
    const onDeath = vi.fn()
    const store = await openStoreForTest({ onDeath })
    const { workspace_id, journey_id } = await newSubject(store)
    const list = () =>
      store.lists(readingIn(workspace_id)).selectFrom('journeys').select('journey_id').execute()
    renameSync(store.path, `${store.path}.away`)
    await expect(list()).rejects.toMatchObject(unavailable.reason)
    renameSync(`${store.path}.away`, store.path)
    expect(await list()).toEqual([{ journey_id }])
    expect(onDeath).not.toHaveBeenCalled()
  })
})

describe('a write lock held by another program', () => {
  it('is waited for once, then every request gets 503 and nothing is stored', async () => {
    const cairn = await startCairnForTest()
    const { workspace, event } = await customerInJourney(cairn)
    const { client } = workspace
    await client.createEvent({ body: { ...event, event_id: 'before' } })
    const other = connect(sqlitePath(cairn.databaseUrl))
    other.exec('BEGIN IMMEDIATE')
    const started_ms = performance.now()
    const ready = fetch(`${cairn.url}/readyz`)
    const answers = Promise.all([
      client.createEvent({ body: event }),
      client.createJourney({ body: { name: 'Renewal' } }),
      client.createEvent({ body: event }),
      client.archiveJourney({ path: { journey_id: event.journey_id } }),
    ])
    expect((await client.listEvents()).data?.data).toHaveLength(1)
    for (const { error, response } of await answers) {
      expect(error).toMatchObject({ status: 503, code: 'storage_unavailable' })
      expect(response.headers.get('retry-after')).toBe('1')
    }
    expect((await ready).status).toBe(503)
    // SQLite waits 5 s. Queued work must not wait as long again.
    expect(performance.now() - started_ms).toBeLessThan(9_000)
    other.exec('ROLLBACK')

    await vi.waitUntil(async () => (await fetch(`${cairn.url}/readyz`)).ok, withPatience)
    const after = await client.createEvent({ body: { ...event, event_id: 'after' } })
    expect(after.response.status).toBe(201)
    expect(storedEvents(other)).toEqual(['before', 'after'])
    expect((await client.listJourneys()).data?.data).toHaveLength(1)
  })
})
