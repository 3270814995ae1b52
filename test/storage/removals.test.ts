// engines: sqlite, postgres

import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { engine } from '../fixtures/engine.ts'
import { followed } from '../fixtures/following.ts'
import { withPatience } from '../fixtures/patience.ts'
import {
  eventPage,
  idOf,
  inAnotherJourney,
  initialize,
  insert,
  newEvent,
  newSubject,
  openStore,
  openStoreForTest,
  readingIn,
  type Store,
  type Subject,
} from '../fixtures/store.ts'
import { beginErasure } from './erase.ts'
import { allRemoved, beginJourneyRemoval, completeRemovals } from './removing.ts'

/** Removes a customer, and waits until the removal is complete. */
async function remove(store: Store, subject: Subject) {
  await beginErasure(store, subject)
  await completeRemovals(store)
}

/** A second customer in the same journey. */
async function another(store: Store, subject: Subject): Promise<Subject> {
  return { ...subject, customer_id: idOf(await initialize(store, subject, randomUUID())) }
}

async function insertMany(store: Store, subject: Subject, count: number, name: string) {
  for (let left = count; left > 0; left -= 1000) {
    const events = Array.from({ length: Math.min(left, 1000) }, () => newEvent(subject, { event_id: name }))
    await store.events.insertEvents(subject.workspace_id, events)
  }
}

/** Names of all events of a workspace, read page by page from both ends, each list to its end. */
async function walked(store: Store, { workspace_id, journey_id }: Subject, begun_ms = Date.now()) {
  const names: string[] = []
  for (let after: { ms: number; id: string } | undefined, pages = 0; ; pages += 1) {
    if (pages > 200) throw new Error('the list has no end')
    const page = { limit: 500, ...(after && { after }) }
    const { rows, next } = await eventPage(
      store.events.newestEvents(workspace_id, { journey_id }, page, readingIn(workspace_id)),
    )
    names.push(...rows.map(({ event_id }) => event_id))
    if (!next) break
    after = next
  }
  const { rows } = await followed(store, workspace_id, { limit: 500, filter: { journey_id }, begun_ms })
  return { newest: names, oldest: rows.map(({ event_id }) => event_id) }
}

describe('a customer who is removed from a store', () => {
  let store: Store

  beforeAll(async () => {
    store = await openStore()
  })
  afterAll(() => store.close())

  it('disappears from all lists, with its events, while those of others stay', async () => {
    const kept = await newSubject(store)
    const gone = await another(store, kept)
    for (const [subject, event_id] of [
      [kept, 'a'],
      [gone, 'b'],
      [kept, 'c'],
      [gone, 'd'],
    ] as const) {
      await insert(store, subject, { event_id })
    }
    await remove(store, gone)
    expect(await walked(store, kept)).toEqual({ newest: ['c', 'a'], oldest: ['a', 'c'] })
    const own = store.events.customerEvents(gone.workspace_id, gone.customer_id, { limit: 10 }, readingIn(''))
    expect((await eventPage(own)).rows).toEqual([])
  })

  it('accepts no events from that moment on', async () => {
    const gone = await newSubject(store)
    const message_id = randomUUID()
    for (const status of ['created', 'duplicate']) {
      expect(await insert(store, gone, { message_id })).toMatchObject({ status })
    }
    await beginErasure(store, gone)
    for (const event of [{}, { message_id }]) {
      expect(await insert(store, gone, event)).toEqual({ status: 'rejected', code: 'customer_erased' })
    }
    await completeRemovals(store)
  })

  it('leaves the earlier events of its customers in their timelines, if its journey is removed', async () => {
    const kept = await newSubject(store)
    const { workspace_id, customer_id } = kept
    await insertMany(store, kept, 5, 'earlier')
    const { journey_id } = await inAnotherJourney(store, kept)
    await insertMany(store, { ...kept, journey_id }, 40, 'later')
    await beginJourneyRemoval(store, { workspace_id, journey_id })
    await completeRemovals(store)
    const timeline = store.events.customerEvents(
      workspace_id,
      customer_id,
      { limit: 10 },
      readingIn(workspace_id),
    )
    const { rows, next } = await eventPage(timeline)
    expect(rows.map(({ event_id }) => event_id)).toEqual(Array(5).fill('earlier'))
    expect(next).toBeNull()
  })

  it('accepts no events if its journey is removed, not even a resend of a stored one', async () => {
    const gone = await newSubject(store)
    const { workspace_id, journey_id } = gone
    const message_id = randomUUID()
    for (const status of ['created', 'duplicate']) {
      expect(await insert(store, gone, { message_id })).toMatchObject({ status })
    }
    await beginJourneyRemoval(store, { workspace_id, journey_id })
    for (const event of [{}, { message_id }]) {
      expect(await insert(store, gone, event)).toEqual({ status: 'rejected', code: 'journey_not_found' })
    }
    await completeRemovals(store)
  })

  it('counts in no report, and changes nothing for others', async () => {
    const kept = await newSubject(store)
    const gone = await another(store, kept)
    for (const subject of [kept, gone]) await insert(store, subject)
    const { workspace_id, journey_id } = kept
    const reading = readingIn(workspace_id)
    const report = () => store.standings.report(workspace_id, journey_id, {}, reading)
    const rows = async () =>
      (await store.standings.customers(workspace_id, journey_id, {}, { limit: 9 }, reading))?.rows
    await expect.poll(async () => (await report())?.enrolled, withPatience).toBe(2)
    await remove(store, gone)
    await expect.poll(async () => (await report())?.enrolled, withPatience).toBe(1)
    expect(await rows()).toMatchObject([{ customer_id: kept.customer_id }])
    const journeys = await store.standings.customerJourneys(
      workspace_id,
      gone.customer_id,
      { limit: 9 },
      reading,
    )
    expect(journeys.rows).toEqual([])
  })

  it('is passed by the list of a customer’s journeys while it goes on', async () => {
    const first = await newSubject(store)
    const { workspace_id, customer_id } = first
    const journeys = [first]
    for (let count = 2; count <= 4; count += 1) journeys.push(await inAnotherJourney(store, first))
    const reading = readingIn(workspace_id)
    const page = async (after?: { ms: number; id: string }, limit = 2) =>
      await store.standings.customerJourneys(
        workspace_id,
        customer_id,
        { limit, ...(after && { after }) },
        reading,
      )
    await expect.poll(async () => (await page(undefined, 9)).rows.length, withPatience).toBe(4)
    const { next } = await page()
    await beginJourneyRemoval(store, { workspace_id, journey_id: next?.id ?? '' })
    const again = await page()
    expect(again.next).toEqual(next)
    const rest = await page(again.next ?? undefined)
    expect(rest.next).toBeNull()
    const listed = [...again.rows, ...rest.rows].map(({ journey_id }) => journey_id)
    expect(new Set(listed).size).toBe(listed.length)
    expect(rest.rows).toHaveLength(2)
    await completeRemovals(store)
  })

  it('leaves pages that continue over more removed events than a page examines', async () => {
    const kept = await newSubject(store)
    const gone = await another(store, kept)
    await insert(store, kept, { event_id: 'first' })
    await insertMany(store, gone, 12_000, 'between')
    await insert(store, kept, { event_id: 'middle' })
    await insertMany(store, gone, 12_000, 'between')
    await insert(store, kept, { event_id: 'last' })
    await remove(store, gone)
    const names = ['first', 'middle', 'last']
    expect(await walked(store, kept)).toEqual({ newest: names.toReversed(), oldest: names })
  })
})

describe('a store that is opened again', () => {
  it('continues removals that had begun', async () => {
    const before = await openStore()
    const kept = await newSubject(before)
    const gone = await another(before, kept)
    await insert(before, kept, { event_id: 'kept' })
    await insertMany(before, gone, 3_000, 'gone')
    await beginErasure(before, gone)
    await before.close()
    const store = await openStoreForTest({ databaseUrl: before.databaseUrl })
    await allRemoved(store)
    expect(await walked(store, kept)).toEqual({ newest: ['kept'], oldest: ['kept'] })
  })

  it('reuses no identifier, even if the newest event and the newest customer are removed', async () => {
    const noon_ms = Date.parse('2026-11-20T12:00:00Z')
    const now = () => noon_ms
    const before = await openStore({ now })
    const kept = await newSubject(before)
    const gone = await another(before, kept)
    await insert(before, kept, { event_id: 'first' })
    const removed = idOf(await insert(before, gone, { event_id: 'gone' }))
    await remove(before, gone)
    await before.close()
    const store = await openStoreForTest({ databaseUrl: before.databaseUrl, now })
    const next = await another(store, kept)
    const made = idOf(await insert(store, next, { event_id: 'second' }))
    expect(made > removed).toBe(true)
    const names = ['first', 'second']
    if (engine === 'sqlite') {
      expect(await walked(store, kept, noon_ms)).toEqual({ newest: names.toReversed(), oldest: names })
    }
    const own = await eventPage(
      store.events.customerEvents(next.workspace_id, next.customer_id, { limit: 10 }, readingIn('')),
    )
    expect(own.rows).toMatchObject([{ id: made }])
  })
})

it('contains exactly what was not removed, whatever is stored and removed meanwhile', async () => {
  const store = await openStoreForTest()
  const step = fc.record({
    whose: fc.nat(4),
    isRemoved: fc.boolean(),
    count: fc.integer({ min: 1, max: 30 }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      const first = await newSubject(store)
      const customers = [first]
      while (customers.length < 5) customers.push(await another(store, first))
      const gone = new Set<number>()
      const expected: { whose: number; name: string }[] = []
      for (const [index, { whose, isRemoved, count }] of steps.entries()) {
        const subject = customers[whose] ?? first
        if (gone.has(whose)) continue
        if (isRemoved && gone.size < 4) {
          gone.add(whose)
          await beginErasure(store, subject)
          store.removals.begin()
          continue
        }
        await insertMany(store, subject, count, `${index}`)
        for (let at = 0; at < count; at += 1) expected.push({ whose, name: `${index}` })
      }
      await allRemoved(store)
      const names = expected.filter(({ whose }) => !gone.has(whose)).map(({ name }) => name)
      expect(await walked(store, first)).toEqual({ newest: names.toReversed(), oldest: names })
    }),
    { numRuns: 5 },
  )
})
