// engines: sqlite (what only SQLite has)

import { copyFileSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { findCustomer } from '../../../server/storage/tables/customers.ts'
import { openStore, openStoreForTest } from '../../fixtures/file-store.ts'
import { newSubject } from '../../fixtures/store.ts'
import { completed, erase } from '../erase.ts'

it('records its erasures next to the file, where restoring an older store does not replace them', async () => {
  const first = await openStore()
  const subject = await newSubject(first)
  const { workspace_id, customer_id } = subject
  await first.close()
  const backup = `${first.path}.before`
  copyFileSync(first.path, backup)

  const second = await openStore({ path: first.path })
  await erase(second, subject)
  await second.close()
  const noted = readFileSync(`${first.path}-erasures`, 'utf8')
  expect(noted).toContain(customer_id)

  copyFileSync(backup, first.path)
  const third = await openStoreForTest({ path: first.path })
  expect(await findCustomer(third.db, workspace_id, customer_id)).toBeUndefined()
  await completed(third, subject)
  expect(readFileSync(`${first.path}-erasures`, 'utf8')).toBe(noted)
})
