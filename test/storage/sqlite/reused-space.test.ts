// engines: sqlite (what only SQLite has)

import { statSync } from 'node:fs'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { DAY_MS } from '../../../server/domain/durations.ts'
import type { Page } from '../../../server/domain/paging.ts'
import { pageNumber } from '../../../server/storage/sqlite/index/run.ts'
import { SPAN_EVENTS } from '../../../server/storage/sqlite/index/zone-map.ts'
import { updateSettings } from '../../../server/storage/tables/workspaces.ts'
import { openStoreForTest } from '../../fixtures/file-store.ts'
import { withPatience } from '../../fixtures/patience.ts'
import {
  connectTo,
  eventPage,
  idOf,
  inAnotherJourney,
  insert,
  newEvent,
  newSubject,
  readingIn,
} from '../../fixtures/store.ts'
import { allRemoved, beginJourneyRemoval, completeRemovals } from '../removing.ts'

/** From so many on, an idle store flushes its memtable. */
const IDLE_EVENTS = 10_000

/** More than that. */
const EVENTS = 12_000

it('reuses the space of events removed by age, and of their indexes', async () => {
  let now_ms = Date.now()
  const store = await openStoreForTest({ now: () => now_ms })
  const subject = await newSubject(store)
  const { workspace_id } = subject
  await store.db.transaction().execute((db) => updateSettings(db, workspace_id, { retention_days: 1 }))
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
    await allRemoved(store)
    expect(await count('event_runs')).toBe(0)
    await expect.poll(() => count('event_pages'), withPatience).toBe(0)
    // Those of what is in the memtable, and of where one run ends and the next begins; and the first, of events 0 to 1,023,
    // because there is no event 0.
    expect(await count('event_spans')).toBeLessThanOrEqual(3 * round + 1)
    await file.run('PRAGMA wal_checkpoint(TRUNCATE)')
    sizes.push(statSync(store.path).size)
  }
  // The first round has made it grow. The counts, and the log of removals, may take a few pages more.
  expect(sizes.at(-1)).toBeLessThan(1.2 * (sizes[0] ?? 0))
})

it('lists by time what is in the same span as events of a run that was removed', async () => {
  let now_ms = Date.now()
  const store = await openStoreForTest({ now: () => now_ms })
  const gone = await newSubject(store)
  const { workspace_id } = gone
  const kept = await inAnotherJourney(store, gone)
  const file = await connectTo(store.databaseUrl)
  for (let sent = 0; sent < EVENTS; sent += 1000) {
    await store.events.insertEvents(
      workspace_id,
      Array.from({ length: 1000 }, () => newEvent(gone)),
    )
  }
  const runs = () => file.run('SELECT last_seq FROM event_runs')
  await expect.poll(runs, withPatience).toHaveLength(1)
  const [run] = await runs()
  expect(Number(run?.last_seq) % SPAN_EVENTS).not.toBe(SPAN_EVENTS - 1)
  now_ms += DAY_MS
  const id = idOf(await insert(store, kept))
  await beginJourneyRemoval(store, gone)
  await completeRemovals(store)
  await expect.poll(runs, withPatience).toEqual([])
  const filter = { from_ms: now_ms }
  const list = store.events.newestEvents(workspace_id, filter, { limit: 10 }, readingIn(workspace_id))
  expect((await eventPage(list)).rows.map(({ id }) => id)).toEqual([id])
})

it('lists the events of a run that has got the number of a removed one', async () => {
  const store = await openStoreForTest()
  const first = await newSubject(store)
  const { workspace_id, customer_id } = first
  const file = await connectTo(store.databaseUrl)
  /** Stores events until the idle store has made a run of them. @returns the number of the run, and the events */
  const fillRun = async (subject: typeof first) => {
    const ids: string[] = []
    for (let sent = 0; sent < EVENTS; sent += 1000) {
      const events = Array.from({ length: 1000 }, () => newEvent(subject))
      ids.push(...(await store.events.insertEvents(workspace_id, events)).map(idOf))
    }
    const most = EVENTS - IDLE_EVENTS
    await expect.poll(() => store.statistics().unindexedEvents, withPatience).toBeLessThanOrEqual(most)
    const [last] = await file.run('SELECT max(run) AS run FROM event_runs')
    return { run: Number(last?.run), ids }
  }
  const reading = readingIn(workspace_id)
  const listed = async (read: (page: Page) => ReturnType<typeof store.events.newestEvents>) => {
    const ids: string[] = []
    for (let page: Page | undefined = { limit: 500 }; page; ) {
      const { rows, next } = await eventPage(read(page))
      ids.push(...rows.map(({ id }) => id))
      page = next ? { limit: 500, after: next } : undefined
    }
    return ids
  }
  const ofJourney = ({ journey_id }: typeof first) =>
    listed((page) => store.events.newestEvents(workspace_id, { journey_id }, page, reading))
  const timeline = () =>
    listed((page) => store.events.customerEvents(workspace_id, customer_id, page, reading))

  const kept = await fillRun(first)
  const gone = await inAnotherJourney(store, first)
  const removed = await fillRun(gone)
  // Every reading thread knows both runs now.
  expect(await ofJourney(gone)).toEqual(removed.ids.toReversed())
  expect(await timeline()).toHaveLength(2 * EVENTS)
  await beginJourneyRemoval(store, gone)
  await completeRemovals(store)
  await expect
    .poll(
      () => file.run(`SELECT page FROM event_pages WHERE page >= ${pageNumber(removed.run, 'postings', 0)}`),
      withPatience,
    )
    .toEqual([])
  // A writer that failed is opened again, and then knows only the runs that are left.
  await store.db.transaction().execute(async (db) => await sql.raw('PRAGMA query_only = 1').execute(db))
  await expect(insert(store, first)).rejects.toMatchObject({ name: 'Unavailable' })
  const later = await inAnotherJourney(store, first)
  const refilled = await fillRun(later)
  expect(refilled.run).toBe(removed.run)
  expect(await ofJourney(later)).toEqual(refilled.ids.toReversed())
  expect(await timeline()).toEqual([...kept.ids, ...refilled.ids].toReversed())
})
