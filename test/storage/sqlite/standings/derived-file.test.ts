// engines: sqlite (what only SQLite has)

import { copyFileSync, existsSync, rmSync, statSync, writeFileSync } from 'node:fs'
import Database from 'better-sqlite3'
import { describe, expect, it, vi } from 'vitest'
import { standingsPath } from '../../../../server/storage/sqlite/standings/standings-file.ts'
import { updateJourney } from '../../../../server/storage/tables/journeys.ts'
import { openStoreForTest, type Store } from '../../../fixtures/file-store.ts'
import { withPatience } from '../../../fixtures/patience.ts'
import { initialize, insert, newEvent, newSubject, readingIn, type Subject } from '../../../fixtures/store.ts'
import { expectExact } from './kept-standings.ts'

const STEPS = ['signed_up', 'verified', 'paid'].map((event_id) => ({ event_id, name: event_id }))

/** A journey with steps, some of which the customer has completed. */
async function subjectWithSteps(store: Store): Promise<Subject> {
  const subject = await newSubject(store)
  const { workspace_id, journey_id } = subject
  await store.db
    .transaction()
    .execute((db) => updateJourney(db, workspace_id, journey_id, { steps: STEPS, updated_ms: Date.now() }))
  for (const event_id of ['paid', 'signed_up', 'verified']) await insert(store, subject, { event_id })
  return subject
}

async function reachedOf(store: Store, { workspace_id, journey_id }: Subject) {
  const report = await store.standings?.report(workspace_id, journey_id, {}, readingIn(workspace_id))
  return report?.steps.map(({ reached }) => reached)
}

/** Closes a store, changes its file of standings, and reopens it. */
async function reopened(store: Store, change: (path: string) => void): Promise<Store> {
  await store.close()
  change(standingsPath(store.path))
  return await openStoreForTest({ path: store.path })
}

/** Deletes a file of standings, and numbers removals in its store as after a million. */
function rebuiltAfterRemovals(path: string): void {
  rmSync(path)
  const store = new Database(path.slice(0, -standingsPath('').length))
  store.exec('INSERT INTO enrolment_removals (number, journey_ref, customer_ref) VALUES (1000001, 999, 999)')
  store.close()
}

describe('the file of standings is rebuilt', () => {
  it.each<[string, (path: string) => void]>([
    ['where there is none', (path) => rmSync(path)],
    ['where it is damaged', (path) => writeFileSync(path, 'Not a database.\n'.repeat(1_000))],
    ['where it is of another layout', (path) => new Database(path).exec('PRAGMA user_version = 999').close()],
    ['where there is none, and old removals are known no more', rebuiltAfterRemovals],
  ])('%s', async (_, change) => {
    const first = await openStoreForTest()
    const subject = await subjectWithSteps(first)
    await expectExact(first.path, subject.journey_id)
    const store = await reopened(first, change)
    await expectExact(store.path, subject.journey_id)
    expect(await reachedOf(store, subject)).toEqual([1, 1, 0])
  })

  it.each(['', '-wal', '-shm'])('if its file%s is removed under a server', async (name) => {
    const store = await openStoreForTest()
    const subject = await subjectWithSteps(store)
    await expectExact(store.path, subject.journey_id)
    const removed = standingsPath(store.path) + name
    rmSync(removed)
    await vi.waitUntil(() => existsSync(removed), withPatience)
    await insert(store, subject, { event_id: 'paid' })
    await expectExact(store.path, subject.journey_id)
    expect(await reachedOf(store, subject)).toEqual([1, 1, 1])
  })

  it('if it belongs to another store, or to a later state of the store', async () => {
    const store = await openStoreForTest()
    const subject = await subjectWithSteps(store)
    await store.close()
    const before = `${store.path}-before`
    copyFileSync(store.path, before)
    const later = await openStoreForTest({ path: store.path })
    await initialize(later, subject, 'user-2')
    await insert(later, subject, { event_id: 'paid' })
    await expectExact(later.path, subject.journey_id)
    const restored = await reopened(later, () => copyFileSync(before, later.path))
    expect(await reachedOf(restored, subject)).toEqual([1, 1, 0])
    await expectExact(restored.path, subject.journey_id)

    const other = await openStoreForTest()
    const otherSubject = await subjectWithSteps(other)
    await expectExact(other.path, otherSubject.journey_id)
    await restored.close()
    const replaced = await reopened(other, (path) => copyFileSync(standingsPath(restored.path), path))
    await expectExact(replaced.path, otherSubject.journey_id)
  })
})

describe('a file of standings that another program has locked', () => {
  it('does not block writes, and is updated when it is free again', async () => {
    const store = await openStoreForTest()
    const subject = await subjectWithSteps(store)
    await expectExact(store.path, subject.journey_id)
    const other = new Database(standingsPath(store.path))
    other.exec('BEGIN IMMEDIATE')
    expect(await insert(store, subject, { event_id: 'paid' })).toMatchObject({ status: 'created' })
    expect(await reachedOf(store, subject)).toEqual([1, 1, 0])
    other.exec('ROLLBACK')
    other.close()
    await expectExact(store.path, subject.journey_id)
    expect(await reachedOf(store, subject)).toEqual([1, 1, 1])
  })
})

describe('a file of standings that cannot be opened', () => {
  it('is not deleted, and is followed further as soon as it can be', async () => {
    const store = await openStoreForTest()
    const subject = await subjectWithSteps(store)
    await expectExact(store.path, subject.journey_id)
    let other: Database.Database | undefined
    const locked = await reopened(store, (path) => {
      other = new Database(path)
      other.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
    })
    const { ino } = statSync(standingsPath(store.path))
    expect(await insert(locked, subject, { event_id: 'paid' })).toMatchObject({ status: 'created' })
    await expect(reachedOf(locked, subject)).rejects.toMatchObject({ name: 'Unavailable' })
    expect(statSync(standingsPath(store.path)).ino).toBe(ino)
    other?.close()
    await expect.poll(() => reachedOf(locked, subject).catch(() => []), withPatience).toEqual([1, 1, 1])
    expect(statSync(standingsPath(store.path)).ino).toBe(ino)
  })
})

describe('a report', () => {
  it('includes what was acknowledged before the request', async () => {
    const store = await openStoreForTest()
    const subject = await subjectWithSteps(store)
    const { workspace_id, journey_id } = subject
    // Its thread may have seen the journey without steps, and be recomputing.
    await expectExact(store.path, journey_id)
    await insert(store, subject, { event_id: 'paid' })
    const asked_ms = Date.now()
    const report = await store.standings?.report(workspace_id, journey_id, {}, readingIn(workspace_id))
    expect(report).toMatchObject({
      enrolled: 1,
      recomputing: null,
      event_ids: STEPS.map((step) => step.event_id),
    })
    expect(report?.steps.map(({ reached, out_of_order }) => [reached, out_of_order])).toEqual([
      [1, 0],
      [1, 0],
      [1, 0],
    ])
    expect(report?.as_of_ms).toBeGreaterThanOrEqual(asked_ms)
    expect(statSync(standingsPath(store.path)).mode & 0o777).toBe(0o600)
  })

  it('is as of now once a clock that was ahead is set right, also after a restart', async () => {
    let ahead_ms = 86_400_000
    const now = () => Date.now() + ahead_ms
    const ahead = await openStoreForTest({ now })
    const subject = await subjectWithSteps(ahead)
    const { workspace_id, journey_id } = subject
    const asOf = async ({ standings }: Store) =>
      (await standings.report(workspace_id, journey_id, {}, readingIn(workspace_id)))?.as_of_ms ?? 0
    await insert(ahead, subject, { event_id: 'paid' })
    await vi.waitUntil(async () => (await asOf(ahead)) > Date.now() + 80_000_000, withPatience)
    ahead_ms = 0
    await vi.waitUntil(async () => (await asOf(ahead)) <= Date.now(), withPatience)
    ahead_ms = 86_400_000
    await insert(ahead, subject, { event_id: 'paid' })
    await vi.waitUntil(async () => (await asOf(ahead)) > Date.now() + 80_000_000, withPatience)
    await ahead.close()

    ahead_ms = 0
    const store = await openStoreForTest({ path: ahead.path, now })
    await vi.waitUntil(async () => (await asOf(store)) <= Date.now(), withPatience)
    await insert(store, subject, { event_id: 'paid' })
    await vi.waitUntil(async () => (await asOf(store)) <= Date.now(), withPatience)
  })

  it('is exact if thousands of events of one customer arrive latest first', async () => {
    const store = await openStoreForTest()
    const subject = await subjectWithSteps(store)
    const start_ms = Date.now() - 100_000_000
    for (let batch = 0; batch < 20; batch += 1) {
      const events = Array.from({ length: 1_000 }, (_, index) =>
        newEvent(subject, {
          event_id: STEPS[(batch * 1_000 + index) % 3]?.event_id ?? '',
          occurred_ms: start_ms - (batch * 1_000 + index) * 1_000,
        }),
      )
      await store.events.insertEvents(subject.workspace_id, events)
    }
    await expectExact(store.path, subject.journey_id)
    expect(await reachedOf(store, subject)).toEqual([1, 1, 1])
  })
})
