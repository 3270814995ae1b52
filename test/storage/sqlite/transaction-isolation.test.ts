// engines: sqlite (what only SQLite has)

import { setTimeout } from 'node:timers/promises'
import { sql } from 'kysely'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { findJourney, insertJourney } from '../../../server/storage/tables/journeys.ts'
import { commitsInLog, connect, openStore, type Store } from '../../fixtures/file-store.ts'
import { withPatience } from '../../fixtures/patience.ts'
import { insert, newEvent, newSubject } from '../../fixtures/store.ts'
import { eventNames, journey, journeyNames } from '../stored-names.ts'

let store: Store

beforeAll(async () => {
  store = await openStore()
  return store.close
})

/** Makes SQLite end every transaction that creates a journey named `ends`. */
function endTransactions() {
  connect(store.path).exec(`CREATE TRIGGER IF NOT EXISTS ends BEFORE INSERT ON journeys WHEN NEW.name = 'ends'
    BEGIN SELECT RAISE(ROLLBACK, 'ended by the engine'); END`)
}

describe('a transaction', () => {
  it('is not disturbed by the writer’s idle work', async () => {
    const subject = await newSubject(store)
    // More than are indexed at once, so that there is indexing to do.
    for (let count = 0; count < 12; count += 1) {
      const many = Array.from({ length: 1000 }, () => newEvent(subject))
      await store.events.insertEvents(subject.workspace_id, many)
    }
    const made = await store.db.transaction().execute(async (db) => {
      const { unindexedEvents } = store.statistics()
      await setTimeout(300)
      expect(store.statistics().unindexedEvents).toBe(unindexedEvents)
      return await insertJourney(db, subject.workspace_id, journey('made'))
    })
    expect(await findJourney(store.db, subject.workspace_id, made.journey_id)).toEqual(made)
    await vi.waitUntil(() => store.statistics().unindexedEvents < 10_000, withPatience)
  })

  it('leaves nothing in the log if its work throws', async () => {
    const { workspace_id } = await newSubject(store)
    const before = commitsInLog(store.path)
    const attempt = store.db.transaction().execute(async (db) => {
      await insertJourney(db, workspace_id, journey('first'))
      throw new Error('changed my mind')
    })
    await expect(attempt).rejects.toThrow('changed my mind')
    expect(commitsInLog(store.path)).toBe(before)
  })

  it('stores none of its later statements after the engine has ended it', async () => {
    const { workspace_id } = await newSubject(store)
    endTransactions()
    const attempt = store.db.transaction().execute(async (db) => {
      await insertJourney(db, workspace_id, journey('before'))
      await insertJourney(db, workspace_id, journey('ends')).catch(() => {})
      await insertJourney(db, workspace_id, journey('after')).catch(() => {})
    })
    await expect(attempt).rejects.toThrow()
    expect(await journeyNames(store, workspace_id)).toEqual(['Onboarding'])
    const another = store.db
      .transaction()
      .execute((db) => insertJourney(db, workspace_id, journey('another')))
    expect(await another).toMatchObject({ name: 'another' })
  })

  it('reports what the engine refused, even if that ended the transaction', async () => {
    const { workspace_id } = await newSubject(store)
    endTransactions()
    const attempt = store.db.transaction().execute((db) => insertJourney(db, workspace_id, journey('ends')))
    await expect(attempt).rejects.toThrow('ended by the engine')
  })

  it('sees what was stored before it began, and nothing stored while it runs', async () => {
    const subject = await newSubject(store)
    await insert(store, subject, { event_id: 'before' })
    const names = sql`SELECT event_id FROM events WHERE event_id IN ('before', 'during')`
    let during: Promise<unknown> | undefined
    const seen = await store.db.transaction().execute(async (db) => {
      const first = await names.execute(db)
      during = insert(store, subject, { event_id: 'during' })
      // Enough time for the event to be sent to the writer, if it could be.
      for (let turn = 0; turn < 10; turn += 1) await names.execute(db)
      const second = await names.execute(db)
      return [first.rows, second.rows]
    })
    expect(seen).toEqual([[{ event_id: 'before' }], [{ event_id: 'before' }]])
    await during
    expect(await eventNames(store, subject.workspace_id)).toEqual(['before', 'during'])
  })
})

describe('a query outside a transaction', () => {
  it('cannot change the engine’s settings', async () => {
    const change = sql`PRAGMA user_version = 7`.execute(store.db)
    await expect(change).rejects.toThrow('outside a transaction')
  })
})
