// engines: sqlite (what only SQLite has)

import { statSync } from 'node:fs'
import { describe, expect, it, vi } from 'vitest'
import { connect, openStoreForTest, type Store } from '../../fixtures/file-store.ts'
import { withPatience } from '../../fixtures/patience.ts'
import { newEvent, newSubject, type Subject } from '../../fixtures/store.ts'

const MIB = 1024 * 1024

/** Size limit of the log while there is no long-running reader. */
const LOG_KEPT_BYTES = 64 * MIB

function logBytes({ path }: Store): number {
  return statSync(`${path}-wal`).size
}

/** Stores events of twenty kilobytes each until the log has this size. */
async function growLog(store: Store, subject: Subject, bytes: number) {
  const event = newEvent(subject, { custom_variables: JSON.stringify('x'.repeat(20_000)) })
  while (logBytes(store) < bytes)
    await store.events.insertEvents(subject.workspace_id, Array(100).fill(event))
}

/** Another program that reads, like a backup, until it is stopped. */
function readForLong({ path }: Store) {
  const reader = connect(path, { readonly: true })
  reader.exec('BEGIN')
  const count = reader.prepare('SELECT count(*) FROM events').pluck()
  count.get()
  return { count: () => count.get(), end: () => reader.close() }
}

describe('a log that has grown because of a long reader', () => {
  it('is checkpointed and truncated when the reader has ended, even without writes', async () => {
    const store = await openStoreForTest()
    const subject = await newSubject(store)
    const reader = readForLong(store)
    await growLog(store, subject, LOG_KEPT_BYTES + 16 * MIB)
    await vi.waitUntil(() => store.statistics().disk.unmoved_bytes > LOG_KEPT_BYTES, withPatience)
    expect(reader.count()).toBe(0)

    reader.end()
    await vi.waitUntil(() => store.statistics().disk.log_bytes === 0, withPatience)
    expect(logBytes(store)).toBe(0)
    expect(store.statistics().disk).toMatchObject({ unmoved_bytes: 0, refusing: null })
  })

  it('shrinks while events arrive', async () => {
    const store = await openStoreForTest()
    const subject = await newSubject(store)
    const reader = readForLong(store)
    await growLog(store, subject, LOG_KEPT_BYTES + 16 * MIB)
    reader.end()
    const event = newEvent(subject)
    await vi.waitUntil(
      async () => {
        await store.events.insertEvents(subject.workspace_id, [event])
        return logBytes(store) <= LOG_KEPT_BYTES
      },
      { ...withPatience, interval: 1 },
    )
  })

  it('is checkpointed completely when the store is closed', async () => {
    const store = await openStoreForTest()
    const subject = await newSubject(store)
    const reader = readForLong(store)
    await growLog(store, subject, 32 * MIB)
    await vi.waitUntil(() => store.statistics().disk.unmoved_bytes > 24 * MIB, withPatience)
    reader.end()
    await store.close()
    expect(statSync(`${store.path}-wal`, { throwIfNoEntry: false })?.size ?? 0).toBe(0)
  })
})
