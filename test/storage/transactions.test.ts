// engines: sqlite, postgres

import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { findJourney, insertJourney, updateJourney } from '../../server/storage/tables/journeys.ts'
import { insert, newSubject, openStore, type Store } from '../fixtures/store.ts'
import { eventNames, journey, journeyNames } from './stored-names.ts'

let store: Store

beforeAll(async () => {
  store = await openStore()
  return store.close
})

describe('a transaction', () => {
  it('is visible to every query after its end', async () => {
    const { workspace_id } = await newSubject(store)
    for (let count = 0; count < 20; count += 1) {
      const made = await store.db
        .transaction()
        .execute((db) => insertJourney(db, workspace_id, journey(`J${count}`)))
      expect(await findJourney(store.db, workspace_id, made.journey_id)).toEqual(made)
    }
  })

  it('is rolled back completely if its work throws', async () => {
    const { workspace_id, journey_id } = await newSubject(store)
    const attempt = store.db.transaction().execute(async (db) => {
      await insertJourney(db, workspace_id, journey('first'))
      await updateJourney(db, workspace_id, journey_id, { name: 'changed', updated_ms: 1 })
      throw new Error('changed my mind')
    })
    await expect(attempt).rejects.toThrow('changed my mind')
    expect(await journeyNames(store, workspace_id)).toEqual(['Onboarding'])
  })

  it('is rolled back completely if the engine refuses a statement', async () => {
    const { workspace_id } = await newSubject(store)
    const twice = journey('twice')
    const attempt = store.db.transaction().execute(async (db) => {
      await insertJourney(db, workspace_id, twice)
      await insertJourney(db, workspace_id, twice)
    })
    await expect(attempt).rejects.toThrow(/unique constraint/i)
    expect(await journeyNames(store, workspace_id)).toEqual(['Onboarding'])
  })

  it('runs concurrently started queries one after another', async () => {
    const { workspace_id } = await newSubject(store)
    const names = Array.from({ length: 20 }, (_, index) => `J${index}`)
    await store.db
      .transaction()
      .execute((db) => Promise.all(names.map((name) => insertJourney(db, workspace_id, journey(name)))))
    expect(await journeyNames(store, workspace_id)).toEqual([...names, 'Onboarding'].toSorted())
  })
})

describe('transactions and groups', () => {
  it('run concurrently without mixing', async () => {
    const subject = await newSubject(store)
    const { workspace_id } = subject
    const outcomes = await Promise.allSettled(
      Array.from({ length: 60 }, async (_, index) => {
        if (index % 3 === 0) return await insert(store, subject, { event_id: `E${index}` })
        return await store.db.transaction().execute(async (db) => {
          await insertJourney(db, workspace_id, journey(`J${index}`))
          if (index % 3 === 2) throw new Error('undone')
          await insertJourney(db, workspace_id, journey(`K${index}`))
        })
      }),
    )
    const failed = outcomes.flatMap(({ status }, index) => (status === 'rejected' ? [index] : []))
    const numbers = Array.from({ length: 60 }, (_, index) => index)
    expect(failed).toEqual(numbers.filter((index) => index % 3 === 2))
    expect((await eventNames(store, workspace_id)).toSorted()).toEqual(
      numbers.flatMap((index) => (index % 3 === 0 ? [`E${index}`] : [])).toSorted(),
    )
    expect(await journeyNames(store, workspace_id)).toEqual(
      ['Onboarding', ...numbers.flatMap((n) => (n % 3 === 1 ? [`J${n}`, `K${n}`] : []))].toSorted(),
    )
  })

  it('see each other’s changes at once', async () => {
    const subject = await newSubject(store)
    const { workspace_id, journey_id } = subject
    for (let round = 0; round < 10; round += 1) {
      expect(await insert(store, subject)).toMatchObject({ status: 'created' })
      for (const status of ['archived', 'active'] as const) {
        await store.db
          .transaction()
          .execute((db) => updateJourney(db, workspace_id, journey_id, { status, updated_ms: 1 }))
        const stored = { status: status === 'active' ? 'created' : 'rejected' }
        expect(await insert(store, subject)).toMatchObject(stored)
      }
    }
  })
})

describe('a query outside a transaction', () => {
  it('cannot write', async () => {
    const { workspace_id } = await newSubject(store)
    const writes = await Promise.allSettled([
      store.db.updateTable('journeys').set({ name: 'changed' }).execute(),
      store.db.deleteFrom('customer_words').execute(),
      sql`CREATE TABLE other (a integer)`.execute(store.db),
      store.db.connection().execute((db) => db.deleteFrom('customer_words').execute()),
    ])
    for (const write of writes) {
      expect(write).toMatchObject({ reason: { message: expect.stringContaining('outside a transaction') } })
    }
    expect(await journeyNames(store, workspace_id)).toEqual(['Onboarding'])
  })
})
