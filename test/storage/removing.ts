import { expect } from 'vitest'
import { removals } from '../../server/storage/removals/removals.ts'
import { withPatience } from '../fixtures/patience.ts'
import type { Store, Subject } from '../fixtures/store.ts'

/** Removes a journey; the removal of its data starts within some seconds. */
export async function beginJourneyRemoval(
  store: Store,
  { workspace_id, journey_id }: Pick<Subject, 'workspace_id' | 'journey_id'>,
) {
  const journey = { workspace_id, journey_id, begun_ms: Date.now() }
  await store.db.transaction().execute((db) => store.removals.removeJourney(db, journey))
}

/** Waits until every removal is complete. */
export async function allRemoved({ db }: Pick<Store, 'db'>) {
  await expect.poll(() => removals(db), withPatience).toEqual([])
}

/** Starts the removals that are left, and waits until every one is complete. */
export async function completeRemovals(store: Store) {
  store.removals.begin()
  await allRemoved(store)
}
