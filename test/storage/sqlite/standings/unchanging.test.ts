// engines: sqlite (what only SQLite has)

import { expect, it, vi } from 'vitest'
import { openStoreForTest } from '../../../fixtures/file-store.ts'
import { withPatience } from '../../../fixtures/patience.ts'
import { initialize, newEvent, newSubject, readingIn } from '../../../fixtures/store.ts'

it('advances past more events without effect than one slice contains', async () => {
  const store = await openStoreForTest()
  const subject = await newSubject(store)
  const { workspace_id, journey_id } = subject
  const batch = Array.from({ length: 1_000 }, () => newEvent(subject, { event_id: 'other' }))
  const isIn = async () => {
    const since_ms = Date.now()
    const report = () => store.standings.report(workspace_id, journey_id, {}, readingIn(workspace_id))
    await vi.waitUntil(async () => ((await report())?.as_of_ms ?? 0) >= since_ms, withPatience)
    return (await report())?.enrolled
  }
  await store.events.insertEvents(workspace_id, batch)
  expect(await isIn()).toBe(1)
  for (let count = 0; count < 70; count += 1) await store.events.insertEvents(workspace_id, batch)
  await initialize(store, subject, 'user-2')
  expect(await isIn()).toBe(2)
})
