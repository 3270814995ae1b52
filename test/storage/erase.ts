import { expect } from 'vitest'
import { eraseCustomer, findErasure } from '../../server/storage/removals/erasures.ts'
import { commandLine } from '../../server/storage/tables/audit-log.ts'
import { withPatience } from '../fixtures/patience.ts'
import type { Store, Subject } from '../fixtures/store.ts'

/** Erases a customer and waits until nothing of it is left. */
export async function erase(store: Store, subject: Subject) {
  await beginErasure(store, subject)
  store.removals.begin()
  await completed(store, subject)
}

/** Erases a customer; the removal of its data starts within some seconds. */
export async function beginErasure(store: Store, { workspace_id, customer_id }: Subject) {
  const customer = { workspace_id, customer_id, may_return: false }
  await store.db.transaction().execute(async (db) => {
    await eraseCustomer(db, store.removals, customer, commandLine(Date.now()))
  })
}

export async function completed(store: Store, { workspace_id, customer_id }: Subject) {
  const now = async () => (await findErasure(store.db, workspace_id, customer_id))?.completed_ms
  await expect.poll(now, withPatience).toEqual(expect.any(Number))
}
