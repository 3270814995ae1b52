// engines: sqlite, postgres

import { beforeAll, describe, expect, it } from 'vitest'
import { findCustomer, newestCustomers } from '../../server/storage/tables/customers.ts'
import { findJourney, newestJourneys, updateJourney } from '../../server/storage/tables/journeys.ts'
import { serviceKeys } from '../../server/storage/tables/service-keys.ts'
import {
  addJourney,
  eventPage,
  idOf,
  initialize,
  insert,
  newSubject,
  openStore,
  readingIn,
  type Store,
} from '../fixtures/store.ts'
import { newestEventNames } from './stored-names.ts'

const page = { limit: 100 }

let store: Store

beforeAll(async () => {
  store = await openStore()
  return store.close
})

/** Two workspaces of one store that use the same names for everything that they can name. */
async function neighbours() {
  const [ours, theirs] = [await newSubject(store), await newSubject(store)]
  idOf(await insert(store, ours, { event_id: 'ours', message_id: 'm-1' }))
  idOf(await insert(store, theirs, { event_id: 'theirs', message_id: 'm-1' }))
  return { ours, theirs }
}

describe('a workspace', () => {
  it('has separate customers under the same names', async () => {
    const { ours, theirs } = await neighbours()
    expect(ours.customer_id).not.toBe(theirs.customer_id)
    const filter = { client_customer_id: 'user-1' }
    const { rows } = await newestCustomers(store.db, ours.workspace_id, filter, page)
    expect(rows.map(({ customer_id }) => customer_id)).toEqual([ours.customer_id])
    expect(await findCustomer(store.db, ours.workspace_id, theirs.customer_id)).toBeUndefined()
  })

  it('has separate messages under the same identifier', async () => {
    const { ours, theirs } = await neighbours()
    expect(await insert(store, ours, { event_id: 'ours', message_id: 'm-1' })).toMatchObject({
      status: 'duplicate',
    })
    expect(await insert(store, theirs, { event_id: 'ours', message_id: 'm-1' })).toEqual({
      status: 'rejected',
      code: 'message_id_conflict',
    })
  })

  it('knows no journey and no customer of another one, even if the writer has just used them', async () => {
    const { ours, theirs } = await neighbours()
    const { workspace_id } = ours
    const outcomes = await Promise.all([
      insert(store, theirs),
      insert(store, { ...theirs, workspace_id }),
      insert(store, { ...ours, journey_id: theirs.journey_id }),
      insert(store, { ...ours, customer_id: theirs.customer_id }),
      initialize(store, { ...theirs, workspace_id }, 'user-2'),
      insert(store, theirs),
    ])
    expect(outcomes).toMatchObject([
      { status: 'created' },
      { status: 'rejected', code: 'journey_not_found' },
      { status: 'rejected', code: 'journey_not_found' },
      { status: 'rejected', code: 'customer_not_found' },
      { status: 'refused', code: 'journey_not_found' },
      { status: 'created' },
    ])
  })

  it('lists no event of another one, whatever the filter', async () => {
    const { ours, theirs } = await neighbours()
    const names = (filter: object) => newestEventNames(store, ours.workspace_id, filter)
    expect(await names({})).toEqual(['ours'])
    expect(await names({ journey_id: theirs.journey_id })).toEqual([])
    expect(await names({ customer_id: theirs.customer_id })).toEqual([])
    expect(await names({ event_id: 'theirs' })).toEqual([])
    const timeline = await eventPage(
      store.events.customerEvents(ours.workspace_id, theirs.customer_id, page, readingIn(ours.workspace_id)),
    )
    expect(timeline).toEqual({ rows: [], next: null })
    const [newest] = (
      await eventPage(
        store.events.newestEvents(theirs.workspace_id, {}, page, readingIn(theirs.workspace_id)),
      )
    ).rows
    const after = { ms: Date.parse(newest?.received_at ?? ''), id: newest?.id ?? '' }
    const behind = await eventPage(
      store.events.newestEvents(ours.workspace_id, {}, { limit: 100, after }, readingIn(ours.workspace_id)),
    )
    expect(behind.rows.map(({ event_id }) => event_id)).toEqual(['ours'])
  })

  it('neither sees nor changes a journey or a key of another one', async () => {
    const { ours, theirs } = await neighbours()
    const { rows } = await newestJourneys(store.db, ours.workspace_id, {}, page)
    expect(rows.map(({ journey_id }) => journey_id)).toEqual([ours.journey_id])
    expect(await findJourney(store.db, ours.workspace_id, theirs.journey_id)).toBeUndefined()
    const change = { name: 'Taken', updated_ms: Date.now() }
    const attempt = store.db
      .transaction()
      .execute((db) => updateJourney(db, ours.workspace_id, theirs.journey_id, change))
    await expect(attempt).rejects.toThrow()
    expect(await findJourney(store.db, theirs.workspace_id, theirs.journey_id)).toMatchObject({
      name: 'Onboarding',
    })
    const keys = await serviceKeys(store.db, ours.workspace_id)
    expect(keys.map(({ workspace_id }) => workspace_id)).toEqual([ours.workspace_id, ours.workspace_id])
  })

  it('may have a journey with the same identifier as another one', async () => {
    const { ours, theirs } = await neighbours()
    const journey_id = ours.journey_id
    await addJourney(store, theirs, { journey_id })
    await initialize(store, { ...theirs, journey_id }, 'user-1')
    const outcomes = await Promise.all([
      initialize(store, ours, 'user-3'),
      initialize(store, { ...theirs, journey_id }, 'user-3'),
      insert(store, { ...theirs, journey_id }, { event_id: 'same' }),
    ])
    expect(outcomes).toMatchObject([{ created: true }, { created: true }, { status: 'created' }])
    const { rows } = await eventPage(
      store.events.newestEvents(theirs.workspace_id, {}, page, readingIn(theirs.workspace_id)),
    )
    expect(rows.map(({ event_id }) => event_id)).toEqual(['same', 'theirs'])
  })
})
