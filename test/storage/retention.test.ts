// engines: sqlite, postgres

import { describe, expect, it } from 'vitest'
import { DAY_MS } from '../../server/domain/durations.ts'
import { removals } from '../../server/storage/removals/removals.ts'
import { beginAgeing } from '../../server/storage/removals/retention.ts'
import { removeWorkspace } from '../../server/storage/removals/workspace-removals.ts'
import { eventPage, newEvent, newSubject, openStoreForTest, readingIn } from '../fixtures/store.ts'
import { completeRemovals } from './removing.ts'

const TODAY_MS = Date.now()

/** A workspace that keeps events for 30 days, on a server whose clock can be set. */
async function retainingStore() {
  let now_ms = TODAY_MS
  const store = await openStoreForTest({ now: () => now_ms })
  const subject = await newSubject(store)
  const { workspace_id, journey_id } = subject
  await store.db.transaction().execute(async (db) => {
    const workspace = db.updateTable('workspaces').where('workspace_id', '=', workspace_id)
    await workspace.set({ retention_days: 30 }).execute()
  })
  return {
    store,
    insert: (event_id: string) => store.events.insertEvents(workspace_id, [newEvent(subject, { event_id })]),
    setClock(day: number) {
      now_ms = TODAY_MS + day * DAY_MS
    },
    /** Removes what has expired by the clock. */
    async age() {
      await completeRemovals(store)
    },
    async names() {
      const list = store.events.newestEvents(
        workspace_id,
        { journey_id },
        { limit: 10 },
        readingIn(workspace_id),
      )
      return (await eventPage(list)).rows.map(({ event_id }) => event_id)
    },
  }
}

describe('a clock that was ahead for longer than the retention period', () => {
  it('spares no event that is received after it was set right', async () => {
    const { insert, setClock, age, names } = await retainingStore()
    await insert('before')
    setClock(100)
    await age()
    await expect.poll(names).toEqual([])
    setClock(0)
    await insert('after')
    setClock(29)
    await age()
    expect(await names()).toEqual(['after'])
    setClock(31)
    await age()
    await expect.poll(names).toEqual([])
  })

  it('spares none either if its removal took longer than that', async () => {
    const { store, insert, setClock, age, names } = await retainingStore()
    await beginAgeing(store.db, TODAY_MS + 100 * DAY_MS)
    await beginAgeing(store.db, TODAY_MS)
    setClock(80)
    await age()
    setClock(0)
    await insert('after')
    setClock(80)
    await age()
    await expect.poll(names).toEqual([])
  })
})

describe('a workspace that is being removed', () => {
  it('removes nothing by the retention of its journeys as well', async () => {
    const store = await openStoreForTest()
    const { workspace_id, journey_id } = await newSubject(store)
    await store.db.transaction().execute(async (db) => {
      const journey = db.updateTable('journeys').where('workspace_id', '=', workspace_id)
      await journey.where('journey_id', '=', journey_id).set({ retention_days: 1 }).execute()
      await removeWorkspace(db, workspace_id, TODAY_MS)
    })
    await beginAgeing(store.db, TODAY_MS + 100 * DAY_MS)
    expect((await removals(store.db)).map(({ kind }) => kind)).toEqual(['workspace'])
  })
})
