// engines: sqlite, postgres

import { describe, expect, it } from 'vitest'
import { startCairnForTest } from '../fixtures/cairn.ts'
import { customerInJourney } from '../fixtures/customer.ts'
import {
  connectTo,
  idOf,
  initialize,
  insert,
  newSubject,
  openStoreForTest,
  storedEvents,
} from '../fixtures/store.ts'

describe('a response', () => {
  it('is sent once other programs can read the event', async () => {
    const store = await openStoreForTest()
    const subject = await newSubject(store)
    const reader = await connectTo(store.databaseUrl)
    const event_ids = Array.from({ length: 300 }, (_, index) => `event-${index}`)
    const unseen: string[] = []
    await Promise.all(
      event_ids.map(async (event_id) => {
        await insert(store, subject, { event_id })
        if (!(await storedEvents(reader)).includes(event_id)) unseen.push(event_id)
      }),
    )
    expect(unseen).toEqual([])
    expect(await storedEvents(reader)).toEqual(event_ids)
  })

  it('is sent once other programs can read the customer', async () => {
    const store = await openStoreForTest()
    const subject = await newSubject(store)
    const reader = await connectTo(store.databaseUrl)
    const find = (id: string) => reader.run(`SELECT customer_name FROM customers WHERE customer_id = '${id}'`)
    const names = Array.from({ length: 50 }, (_, index) => `user-${index}`)
    const seen = await Promise.all(
      names.map(async (name) => find(idOf(await initialize(store, subject, name)))),
    )
    expect(seen).toEqual(names.map(() => [{ customer_name: 'Ada Lovelace' }]))
  })

  it('is empty for a caller with nothing to store', async () => {
    const store = await openStoreForTest()
    const { workspace_id } = await newSubject(store)
    expect(await store.events.insertEvents(workspace_id, [])).toEqual([])
  })

  it('is sent over HTTP once other programs can read the event', async () => {
    const cairn = await startCairnForTest()
    const { workspace, event } = await customerInJourney(cairn)
    const reader = await connectTo(cairn.databaseUrl)
    const unseen: string[] = []
    await Promise.all(
      Array.from({ length: 50 }, async (_, index) => {
        const event_id = `event-${index}`
        await workspace.client.createEvent({ body: { ...event, event_id } })
        if (!(await storedEvents(reader)).includes(event_id)) unseen.push(event_id)
      }),
    )
    expect(unseen).toEqual([])
  })
})
