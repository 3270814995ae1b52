import { copyFileSync, readFileSync, rmSync } from 'node:fs'
import { expect, it } from 'vitest'
import { commandLine } from '../../../server/storage/audit-log.ts'
import { findCustomer } from '../../../server/storage/customers.ts'
import { eraseCustomer, findErasure } from '../../../server/storage/removals/erasures.ts'
import { withPatience } from '../../patience.ts'
import { initialize, insert, newSubject, type Subject } from '../store.ts'
import { openStore, openStoreForTest, type Store } from './file-store.ts'

async function erase(store: Store, { workspace_id, customer_id }: Subject) {
  const customer = { workspace_id, customer_id, may_return: false }
  await store.db.transaction().execute(async (db) => {
    await eraseCustomer(db, store.removals, customer, commandLine(Date.now()))
  })
  store.removals.begin()
  await completed(store, { workspace_id, customer_id })
}

async function completed(store: Store, { workspace_id, customer_id }: Omit<Subject, 'journey_id'>) {
  const now = async () => (await findErasure(store.db, workspace_id, customer_id))?.completed_ms
  await expect.poll(now, withPatience).toEqual(expect.any(Number))
}

it('erases again who was erased before an older store was put back', async () => {
  const first = await openStore()
  const subject = await newSubject(first)
  const { workspace_id, customer_id } = subject
  await insert(first, subject)
  await first.close()
  const backup = `${first.path}.before`
  copyFileSync(first.path, backup)

  const second = await openStore({ path: first.path })
  await erase(second, subject)
  await second.close()
  const journal = readFileSync(`${first.path}-erasures`, 'utf8')
  expect(journal).toContain(customer_id)
  expect(journal).not.toContain('user-1')

  rmSync(first.path)
  copyFileSync(backup, first.path)
  const third = await openStoreForTest({ path: first.path })
  expect(await findCustomer(third.db, workspace_id, customer_id)).toBeUndefined()
  const code = { code: 'customer_erased' }
  expect(await insert(third, subject)).toMatchObject(code)
  expect(await initialize(third, subject, 'user-1')).toMatchObject(code)
  await completed(third, subject)
  expect(await findErasure(third.db, workspace_id, customer_id)).toMatchObject({ events: 1 })
  expect(readFileSync(`${first.path}-erasures`, 'utf8')).toBe(journal)
})
