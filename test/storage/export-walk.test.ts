// engines: sqlite, postgres

import { expect, it } from 'vitest'
import { firstPosition } from '../../server/domain/cursors.ts'
import { assertThere } from '../../server/operations/exports.ts'
import { exportLines, settled } from '../../server/storage/exports/export-walk.ts'
import { removeWorkspace } from '../../server/storage/removals/workspace-removals.ts'
import { insert, newSubject, openStoreForTest, readingIn } from '../fixtures/store.ts'

it('has no last line if its workspace is removed before the last read', async () => {
  const store = await openStoreForTest()
  const subject = await newSubject(store)
  const { workspace_id } = subject
  await insert(store, subject)
  const reading = readingIn(workspace_id)
  const bound = await settled(Date.now(), reading.signal, () =>
    store.events.eventsBound(workspace_id, reading),
  )
  const walk = { workspace_id, filter: {}, format: 'ndjson' } as const
  const parts = exportLines({
    list: 'events',
    filter: {},
    after: firstPosition('evt'),
    limit: undefined,
    format: 'ndjson',
    bound,
    signal: reading.signal,
    read: (after, most) => store.events.eventSlice({ ...walk, after, most, bound: bound.place }, reading),
    assertThere: () => assertThere(store.db, workspace_id),
    onEnd: () => expect.unreachable(),
  })
  expect((await parts.next()).done).toBe(false)
  await store.db.transaction().execute((db) => removeWorkspace(db, workspace_id, Date.now()))
  const rest = async () => {
    for await (const _ of parts);
  }
  await expect(rest()).rejects.toMatchObject({ code: 'unauthorized' })
})

it('reports a disconnected caller while it waits, and no error', async () => {
  const controller = new AbortController()
  const gone = new Error('gone')
  const look = async () => {
    setImmediate(() => controller.abort(gone))
    return { caughtUp_ms: 0 }
  }
  await expect(settled(1, controller.signal, look)).rejects.toBe(gone)
})

it('is refused, not truncated, if events acknowledged before it are not settled', async () => {
  const { signal } = new AbortController()
  const refused = settled(1, signal, async () => ({ caughtUp_ms: 0 }), 10)
  await expect(refused).rejects.toMatchObject({ name: 'Unavailable', reason: 'overloaded' })
})
