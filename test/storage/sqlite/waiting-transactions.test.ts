// engines: sqlite (what only SQLite has)

import { describe, expect, it, vi } from 'vitest'
import { connect, openStoreForTest } from '../../fixtures/file-store.ts'
import { withPatience } from '../../fixtures/patience.ts'
import { newEvent, newSubject } from '../../fixtures/store.ts'

/** Limit of rows and transactions that wait for the only writer. */
const WAITING = 40_000

describe('transactions that wait', () => {
  it('count as rows', async () => {
    const store = await openStoreForTest()
    const subject = await newSubject(store)
    const { workspace_id } = subject
    const other = connect(store.path)
    other.exec('BEGIN IMMEDIATE')
    const events = (count: number) => Array.from({ length: count }, () => newEvent(subject))
    const first = store.events.insertEvents(workspace_id, events(1))
    // Once it has been sent to the writer, it no longer counts as waiting.
    await vi.waitUntil(() => store.statistics().waitingRows === 0, withPatience)
    const rest = store.events.insertEvents(workspace_id, events(WAITING - 1))
    const last = store.db.transaction().execute(async () => 'done')
    await expect(store.db.transaction().execute(async () => {})).rejects.toMatchObject({
      name: 'Unavailable',
      reason: 'overloaded',
    })
    other.exec('ROLLBACK')
    await Promise.all([first, rest])
    expect(await last).toBe('done')
  })
})
