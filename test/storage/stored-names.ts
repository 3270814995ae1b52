import { newId } from '../../server/domain/identifiers.ts'
import { newestJourneys } from '../../server/storage/tables/journeys.ts'
import { eventPage, readingIn, type Store } from '../fixtures/store.ts'

/** Returns a journey that is not stored yet. */
export function journey(name: string) {
  return { journey_id: newId('jrn'), name, description: '', steps: [], created_ms: Date.now() }
}

/** Returns the names of the workspace's journeys, sorted. */
export async function journeyNames(store: Store, workspace_id: string) {
  const { rows } = await newestJourneys(store.db, workspace_id, {}, { limit: 500 })
  return rows.map(({ name }) => name).toSorted()
}

/** Returns the names of the workspace's events that match, the newest first. */
export async function newestEventNames(store: Store, workspace_id: string, filter: object = {}) {
  const { rows } = await eventPage(
    store.events.newestEvents(workspace_id, filter, { limit: 500 }, readingIn(workspace_id)),
  )
  return rows.map(({ event_id }) => event_id)
}

/** Returns the names of the workspace's events in the order of storing. */
export async function eventNames(store: Store, workspace_id: string) {
  return (await newestEventNames(store, workspace_id)).toReversed()
}
