// engines: sqlite (what only SQLite has)

import { copyFileSync, renameSync, rmSync } from 'node:fs'
import { expect, it, onTestFinished } from 'vitest'
import { MemtableRing } from '../../../../server/storage/sqlite/index/memtable.ts'
import { standingsPath } from '../../../../server/storage/sqlite/standings/standings-file.ts'
import { StandingsFollower } from '../../../../server/storage/sqlite/standings/standings-follower.ts'
import { openStore } from '../../../fixtures/file-store.ts'
import { initialize, newSubject } from '../../../fixtures/store.ts'

const CUSTOMERS = 24_000

/** A store with customers and without standings, and a follower of it that has processed nothing. */
async function unfollowedStore(most = CUSTOMERS) {
  const store = await openStore()
  const { workspace_id, journey_id } = await newSubject(store)
  const customers = Array.from({ length: most - 1 }, (_, index) => `user-${index + 2}`)
  for (let from = 0; from < customers.length; from += 500) {
    const some = customers.slice(from, from + 500)
    await Promise.all(some.map((own) => initialize(store, { workspace_id, journey_id }, own)))
  }
  await store.close()
  rmSync(standingsPath(store.path))

  const follower = new StandingsFollower(store.path, new MemtableRing(), Date.now)
  onTestFinished(() => follower.close())
  const report = () => {
    const query = { kind: 'report', workspaceId: workspace_id, journeyId: journey_id, filter: {} } as const
    return follower.answer(query, new AbortController().signal)
  }
  return { path: store.path, follower, report }
}

it('are answered from committed standings while a large slice is being processed', async () => {
  const { follower, report } = await unfollowedStore()
  let isFollowed = false
  const followed = follower.follow().then((slice) => {
    isFollowed = true
    return slice
  })
  expect(await report()).toMatchObject({ enrolled: 0 })
  expect(isFollowed).toBe(false)
  expect(await followed).toMatchObject({ isAll: true })
  expect(await report()).toMatchObject({ enrolled: CUSTOMERS })
})

it('of a file that is followed from scratch are not as of what the file before it was', async () => {
  const { follower, report } = await unfollowedStore()
  await follower.follow()
  expect(await report()).toMatchObject({ enrolled: CUSTOMERS, as_of_ms: expect.any(Number) })
  follower.recover({ isDamaged: true })
  const followed = follower.follow()
  expect(await report()).toMatchObject({ enrolled: 0, as_of_ms: null })
  await followed
  expect(await report()).toMatchObject({ enrolled: CUSTOMERS, as_of_ms: expect.any(Number) })
})

it('that are being read when the file is closed after a failure can be repeated', async () => {
  const { follower, report } = await unfollowedStore()
  await follower.follow()
  const reading = report()
  follower.recover({ isDamaged: false })
  await expect(reading).rejects.toMatchObject({ name: 'Unavailable', reason: 'storage_unavailable' })
  expect(await report()).toMatchObject({ enrolled: CUSTOMERS })
})

it('are not read from another store that took the place of this one during a failure', async () => {
  const { path, follower, report } = await unfollowedStore(1)
  await follower.follow()
  copyFileSync(path, `${path}.other`)
  renameSync(path, `${path}.away`)
  renameSync(`${path}.other`, path)
  follower.recover({ isDamaged: false })
  await expect(report()).rejects.toThrow('it is not the file that the server has opened')
  renameSync(`${path}.away`, path)
  expect(await report()).toMatchObject({ enrolled: 1 })
})
