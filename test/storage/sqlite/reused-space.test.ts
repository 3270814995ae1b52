// engines: sqlite (what only SQLite has)

import { statSync } from 'node:fs'
import { expect, it } from 'vitest'
import { removals } from '../../../server/storage/removals/removals.ts'
import { updateRetention } from '../../../server/storage/tables/workspaces.ts'
import { openStoreForTest } from '../../fixtures/file-store.ts'
import { withPatience } from '../../fixtures/patience.ts'
import { connectTo, newEvent, newSubject } from '../../fixtures/store.ts'

const DAY_MS = 86_400_000

/** From so many on, an idle store flushes its memtable. */
const IDLE_EVENTS = 10_000

/** More than that. */
const EVENTS = 12_000

it('reuses the space of events removed by age, and of their indexes', async () => {
  let now_ms = Date.now()
  const store = await openStoreForTest({ now: () => now_ms })
  const subject = await newSubject(store)
  const { workspace_id } = subject
  await store.db.transaction().execute((db) => updateRetention(db, workspace_id, 1))
  const file = await connectTo(store.databaseUrl)
  const count = async (table: string) => Number((await file.run(`SELECT count(*) AS n FROM ${table}`))[0]?.n)
  const custom_variables = JSON.stringify({ text: 'x'.repeat(200) })
  const sizes: number[] = []
  for (let round = 1; round <= 4; round += 1) {
    for (let sent = 0; sent < EVENTS; sent += 1000) {
      const events = Array.from({ length: 1000 }, (_, index) =>
        newEvent(subject, { custom_variables, message_id: `${round} ${sent + index}` }),
      )
      await store.events.insertEvents(workspace_id, events)
    }
    await expect.poll(() => count('event_runs'), withPatience).toBe(1)
    // An idle moment before the last batch flushes what has come until then, and the rest stays in the memtable.
    await expect
      .poll(() => store.statistics().unindexedEvents, withPatience)
      .toBeLessThanOrEqual(EVENTS - IDLE_EVENTS)
    now_ms += 2 * DAY_MS
    store.removals.begin()
    await expect.poll(() => count('events'), withPatience).toBe(0)
    await expect.poll(() => removals(store.db), withPatience).toEqual([])
    expect(await count('event_runs')).toBe(0)
    await expect.poll(() => count('event_pages'), withPatience).toBe(0)
    expect(await count('event_spans')).toBeLessThanOrEqual(2 * round)
    await file.run('PRAGMA wal_checkpoint(TRUNCATE)')
    sizes.push(statSync(store.path).size)
  }
  // The first round has made it grow. The counts, and the log of removals, may take a few pages more.
  expect(sizes.at(-1)).toBeLessThan(1.2 * (sizes[0] ?? 0))
})
