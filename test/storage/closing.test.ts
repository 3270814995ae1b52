// engines: sqlite, postgres

import { describe, expect, it } from 'vitest'
import { newestJourneys } from '../../server/storage/tables/journeys.ts'
import {
  addJourney,
  connectTo,
  eventPage,
  holdWrites,
  insert,
  newSubject,
  openStoreForTest,
  readingIn,
  storedEvents,
} from '../fixtures/store.ts'

const page = { limit: 10 }

describe('a store that is closed', () => {
  it('finishes the work it has accepted', async () => {
    const store = await openStoreForTest()
    const subject = await newSubject(store)
    const names = Array.from({ length: 100 }, (_, index) => `event-${index}`)
    const other = await connectTo(store.databaseUrl)
    const release = await holdWrites(other)
    const inserts = names.map((event_id) => insert(store, subject, { event_id }))
    const transaction = addJourney(store, subject)
    await new Promise((resolve) => setImmediate(resolve))
    const closed = store.close()
    await release()
    await closed
    expect(await Promise.all(inserts)).toHaveLength(100)
    expect(await transaction).toMatchObject({ name: 'Renewal' })
    expect(await storedEvents(other)).toEqual(names)
    expect(await other.run('SELECT count(*) AS count FROM journeys')).toEqual([{ count: 2 }])
  })

  it('refuses other work with shutting_down', async () => {
    const store = await openStoreForTest()
    const { workspace_id, ...subject } = await newSubject(store)
    const closed = store.close()
    const attempts = () =>
      Promise.allSettled([
        insert(store, { workspace_id, ...subject }),
        addJourney(store, { workspace_id }),
        eventPage(store.events.newestEvents(workspace_id, {}, page, readingIn(workspace_id))),
        newestJourneys(store.db, workspace_id, {}, page),
        store.assertWritable(),
        (async () => store.assertAvailable('write'))(),
        (async () => store.assertAvailable('read'))(),
      ])
    const refused = { reason: { name: 'Unavailable', reason: 'shutting_down' } }
    expect(await attempts()).toMatchObject(Array(7).fill(refused))
    await closed
    expect(await attempts()).toMatchObject(Array(7).fill(refused))
  })

  it('can be closed twice', async () => {
    const store = await openStoreForTest()
    await Promise.all([store.close(), store.close()])
    await store.close()
  })
})
