// engines: sqlite (what only SQLite has)

import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { sqlitePath } from '../../../server/storage/sqlite/store-files.ts'
import { withPatience } from '../../fixtures/patience.ts'
import { openStore, openStoreForTest, readingIn, type Store } from '../../fixtures/store.ts'

const workspace_id = 'wsp_of_a_test'

function offer({ refusals }: Store, sent: string) {
  const names = { journey_id: null, customer_id: null, event_id: null }
  const request = { key_id: 'key_a', request_id: 'r-1', operation: 'createEvent', item: null, ...names }
  const head = new TextEncoder().encode(sent)
  refusals.offer(
    { workspace_id, received_ms: Date.now(), code: 'journey_not_found', status: 404, ...request },
    () => ({ head, bytes: head.length }),
  )
}

async function listed({ refusals }: Store) {
  const wanted = { page: { limit: 10 }, order: 'newest' } as const
  const { rows } = await refusals.list(workspace_id, {}, wanted, readingIn(workspace_id))
  return rows.map(({ sent }) => sent)
}

it('refusals are in a separate file, which only its owner can read, and not in the store', async () => {
  const store = await openStore()
  const path = sqlitePath(store.databaseUrl)
  offer(store, '"what a customer sent"')
  // A list waits a second for writes in progress; a busy machine may take longer.
  await expect.poll(() => listed(store), withPatience).toEqual(['"what a customer sent"'])
  await store.close()
  expect(statSync(`${path}-refusals`).mode & 0o777).toBe(0o600)
  expect(readFileSync(`${path}-refusals`).includes('what a customer sent')).toBe(true)
  expect(readFileSync(path).includes('what a customer sent')).toBe(false)
})

it('a damaged file of refusals is replaced, and blocks nobody', async () => {
  const first = await openStore()
  for (let count = 0; count < 300; count += 1) offer(first, JSON.stringify('x'.repeat(1000)))
  await expect.poll(() => listed(first), withPatience).toHaveLength(10)
  await first.close()
  const path = `${sqlitePath(first.databaseUrl)}-refusals`
  // The header stays valid, so that it still looks like a database.
  const bytes = readFileSync(path)
  writeFileSync(path, bytes.fill(0x5a, 4096))
  const { databaseUrl } = first
  const failures: Error[] = []
  const store = await openStoreForTest({ databaseUrl, onRefusalsFailure: (error) => failures.push(error) })
  const met: unknown[] = []
  await listed(store).catch((error) => met.push(error))
  offer(store, '"after"')
  await expect.poll(() => listed(store), withPatience).toEqual(['"after"'])
  // Either by that list, or by the deletion of what has expired.
  expect([...met, ...failures]).toHaveLength(1)
})

it('a file of refusals that is removed under a server is created again, without what was in it', async () => {
  const store = await openStoreForTest()
  const path = `${sqlitePath(store.databaseUrl)}-refusals`
  offer(store, '"before"')
  await expect.poll(() => listed(store), withPatience).toEqual(['"before"'])
  rmSync(path)
  expect(await listed(store)).toEqual([])
  offer(store, '"after"')
  await expect.poll(() => listed(store), withPatience).toEqual(['"after"'])
  expect(existsSync(path)).toBe(true)
})

it('refusals are kept if the log of their file is removed under a server', async () => {
  const store = await openStoreForTest()
  const log = `${sqlitePath(store.databaseUrl)}-refusals-wal`
  offer(store, '"before"')
  await expect.poll(() => listed(store), withPatience).toEqual(['"before"'])
  rmSync(log)
  offer(store, '"after"')
  await expect.poll(() => listed(store), withPatience).toEqual(['"after"', '"before"'])
  expect(existsSync(log)).toBe(true)
})
