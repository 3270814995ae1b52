// engines: sqlite (what only SQLite has)

import { randomInt, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { firstPosition } from '../../../server/domain/cursors.ts'
import { PAGE_BYTES, type Page, type PageRows } from '../../../server/domain/paging.ts'
import type { Reading } from '../../../server/storage/database.ts'
import type { EventFilter } from '../../../server/storage/events/event-filter.ts'
import { pageNumber } from '../../../server/storage/sqlite/index/run.ts'
import { SPAN_EVENTS } from '../../../server/storage/sqlite/index/zone-map.ts'
import { LOOKED_AT } from '../../../server/storage/sqlite/reader/list-positions.ts'
import { temporaryFolder } from '../../fixtures/cairn.ts'
import { connect, openStore, openStoreForTest, type Store } from '../../fixtures/file-store.ts'
import { withPatience } from '../../fixtures/patience.ts'
import { entriesInRuns, entriesOfEvents } from '../../fixtures/run-contents.ts'
import {
  addJourney,
  eventPage,
  idOf,
  initialize,
  insert,
  newEvent,
  newSubject,
  readingIn,
  type Subject,
} from '../../fixtures/store.ts'

/** An idle store creates a run of this many events, and compacts seven such runs into one. */
const RUN = 10_000
const RUNS = 8

/** How many events stay in the memtable. */
const TAIL = 3_000

type Stored = {
  id: string
  journey_id: string
  customer_id: string
  event_id: string
  message_id: string | null
  received_ms: number
  at_ms: number
}

/** The events stored, in order. */
const stored: Stored[] = []
let store: Store
let subject: Subject
let reading: Reading
let journeys: string[]
let customers: string[]
let now = Date.parse('2026-11-20T12:00:00Z')

/** Stores events of all kinds, some dated by their sender; the clock stands still, steps back and jumps forward. */
async function fill(count: number) {
  for (let made = 0; made < count; made += 1000) {
    now += [0, 1, 5, -20, 60_000, 0, 2][made % 7] ?? 0
    const events = Array.from({ length: 1000 }, (_, index) => {
      // One customer has a third of all events.
      const customer_id = index % 3 === 0 ? customers[0] : customers[randomInt(customers.length)]
      return newEvent(subject, {
        journey_id: journeys[randomInt(journeys.length)] ?? '',
        customer_id: customer_id ?? '',
        event_id:
          index % 500 === 0 ? `rare-${randomInt(20)}` : (['seen', 'clicked', 'bought'][randomInt(3)] ?? ''),
        occurred_ms: index % 4 === 0 ? now - randomInt(10_000_000) : null,
        message_id: [null, randomUUID(), `text ${made} ${index} ${randomUUID()}`][index % 3] ?? null,
      })
    })
    const received_ms = now
    const outcomes = await store.events.insertEvents(subject.workspace_id, events)
    for (const [index, outcome] of outcomes.entries()) {
      const { occurred_ms, ...event } = events[index] ?? newEvent(subject)
      stored.push({ ...event, id: idOf(outcome), received_ms, at_ms: occurred_ms ?? received_ms })
    }
  }
}

async function untilIndexed(limit: number) {
  await vi.waitUntil(() => store.statistics().unindexedEvents < limit, { ...withPatience, interval: 20 })
}

/** All identifiers of a list, read in pages of this size. */
async function walk(
  read: (page: {
    limit: number
    after?: NonNullable<PageRows<unknown>['next']>
  }) => Promise<PageRows<{ id: string }>>,
  limit: number,
): Promise<string[]> {
  const ids: string[] = []
  let after: PageRows<unknown>['next'] = null
  do {
    const page: PageRows<{ id: string }> = await read(after ? { limit, after } : { limit })
    expect(page.rows.length).toBeLessThanOrEqual(limit)
    ids.push(...page.rows.map(({ id }) => id))
    after = page.next
  } while (after)
  return ids
}

function matches({ journey_id, customer_id, event_id, from_ms, to_ms }: EventFilter) {
  return (event: Stored) =>
    (journey_id === undefined || event.journey_id === journey_id) &&
    (customer_id === undefined || event.customer_id === customer_id) &&
    (event_id === undefined || event.event_id === event_id) &&
    (from_ms === undefined || event.received_ms >= from_ms) &&
    (to_ms === undefined || event.received_ms < to_ms)
}

beforeAll(async () => {
  store = await openStore({ now: () => now })
  subject = await newSubject(store)
  reading = readingIn(subject.workspace_id)
  journeys = [subject.journey_id, (await addJourney(store, subject)).journey_id]
  customers = []
  for (let made = 0; made < 40; made += 1) {
    for (const journey_id of journeys) {
      const { workspace_id } = subject
      customers[made] = idOf(await initialize(store, { workspace_id, journey_id }, `user-${made}`))
    }
  }
  for (let run = 0; run < RUNS; run += 1) {
    await fill(RUN)
    await untilIndexed(RUN)
  }
  await fill(TAIL)
  return () => store.close()
})

describe('lists of events in several runs, in a compacted one and in the memtable', () => {
  it('find events in compacted runs and in others', async () => {
    const runs = connect(store.path)
      .prepare<[], number>('SELECT last_seq - first_seq + 1 FROM event_runs')
      .pluck()
    await vi.waitFor(() => expect(Math.max(...runs.all())).toBeGreaterThanOrEqual(7 * RUN), withPatience)
    expect(runs.all().length).toBeLessThan(RUNS)
    expect(store.statistics().unindexedEvents).toBeGreaterThan(0)
  })

  it('use runs that match the events', () => {
    const file = connect(store.path)
    expect(entriesInRuns(file)).toEqual(entriesOfEvents(file))
  })

  it.each<[string, () => EventFilter]>([
    ['nothing', () => ({})],
    ['a journey', () => ({ journey_id: journeys[1] ?? '', from_ms: stored.at(-15_000)?.received_ms ?? 0 })],
    ['a name', () => ({ event_id: 'rare-7' })],
    ['a name of a journey', () => ({ journey_id: journeys[0] ?? '', event_id: 'rare-3' })],
    ['a customer', () => ({ customer_id: customers[0] ?? '' })],
    ['a customer and a rare name', () => ({ customer_id: customers[0] ?? '', event_id: 'rare-0' })],
    ['a name that there is not', () => ({ event_id: 'never' })],
    [
      'a time',
      () => ({ from_ms: stored[20_000]?.received_ms ?? 0, to_ms: stored[40_000]?.received_ms ?? 0 }),
    ],
    ['an empty time', () => ({ from_ms: now + 1 })],
    [
      'a customer and a time',
      () => ({ customer_id: customers[5] ?? '', from_ms: stored[50_000]?.received_ms ?? 0 }),
    ],
  ])('give each event once, the newest first, narrowed to %s', async (_name, filterOf) => {
    const filter = filterOf()
    const expected = stored.filter(matches(filter)).toReversed()
    const read = (page: Parameters<typeof store.events.newestEvents>[2]) =>
      eventPage(store.events.newestEvents(subject.workspace_id, filter, page, reading))
    expect(await walk(read, 500)).toEqual(expected.map(({ id }) => id))
  })

  it('fill a page, except if two conditions rarely hold together: then it ends after a number of events', async () => {
    const [customer_id = ''] = customers
    const read = (filter: EventFilter) =>
      eventPage(store.events.newestEvents(subject.workspace_id, filter, { limit: 50 }, reading))
    const hot = stored.filter(matches({ customer_id })).toReversed()
    expect(hot.length).toBeGreaterThan(2 * LOOKED_AT)
    expect((await read({ customer_id })).rows).toHaveLength(50)
    expect((await read({ customer_id, from_ms: stored[0]?.received_ms ?? 0 })).rows).toHaveLength(50)

    // A rare event of the customer beyond the limit of events examined.
    const event_id = hot.findLast((event) => event.event_id.startsWith('rare-'))?.event_id ?? ''
    const early = await read({ customer_id, event_id })
    const all = hot.filter(matches({ event_id })).map(({ id }) => id)
    expect(early.rows.map(({ id }) => id)).toEqual(all.slice(0, early.rows.length))
    expect(early.rows.length).toBeLessThan(all.length)
    const passed = hot.findIndex(({ id }) => id === early.next?.id)
    expect(passed).toBeGreaterThanOrEqual(LOOKED_AT - 1)
    // Those in the memtable are skipped without reading their rows.
    expect(passed).toBeLessThan(LOOKED_AT + TAIL)
  })

  it('end a page if the next event would make it exceed a megabyte', async () => {
    const own = await newSubject(store)
    const { workspace_id, customer_id } = own
    const event_id = 'large'
    const custom_variables = JSON.stringify('x'.repeat(60_000))
    const events = Array.from({ length: 40 }, () => newEvent(own, { event_id, custom_variables }))
    const outcomes = await store.events.insertEvents(workspace_id, events)
    const ids = outcomes.map(idOf).toReversed()
    const least = Math.floor(PAGE_BYTES / (custom_variables.length + 1000))
    const most = Math.floor(PAGE_BYTES / custom_variables.length)
    for (const read of [
      (page: Page) => eventPage(store.events.newestEvents(workspace_id, { event_id }, page, reading)),
      (page: Page) => eventPage(store.events.customerEvents(workspace_id, customer_id, page, reading)),
    ]) {
      const { rows } = await read({ limit: 500 })
      expect(rows.length).toBeGreaterThanOrEqual(least)
      expect(rows.length).toBeLessThanOrEqual(most)
      expect(await walk(read, 500)).toEqual(ids)
    }
  })

  it('return each event of a customer once, latest first', async () => {
    for (const [customer_id, limit] of [
      [customers[0], 499],
      [customers[7], 33],
    ] as const) {
      const order = stored.map((event, index) => ({ ...event, index }))
      const expected = order
        .filter((event) => event.customer_id === customer_id)
        .toSorted((a, b) => b.at_ms - a.at_ms || b.index - a.index)
      const ids = await walk(
        (page) =>
          eventPage(store.events.customerEvents(subject.workspace_id, customer_id ?? '', page, reading)),
        limit,
      )
      expect(ids).toEqual(expected.map(({ id }) => id))
    }
  })

  it('recognize every message that was stored', async () => {
    const sent = stored.filter(({ message_id }) => message_id !== null)
    const known = new Map(sent.map(({ message_id, id }) => [message_id, id]))
    for (let at = 0; at < sent.length; at += 1000) {
      const again = sent.slice(at, at + 1000).map(({ message_id }) => newEvent(subject, { message_id }))
      const outcomes = await store.events.insertEvents(subject.workspace_id, again)
      // Different content under a known message: a conflict wherever it is found, and stored nowhere.
      expect(new Set(outcomes.map((outcome) => ('code' in outcome ? outcome.code : outcome.status)))).toEqual(
        new Set(['message_id_conflict']),
      )
    }
    expect(known.size).toBe(sent.length)
  })
})

describe('a slice of an export', () => {
  it('ends after a maximum number of events examined without a match', async () => {
    const kept = 100
    const removed = 2 * LOOKED_AT + 500
    const store = await openStoreForTest()
    const subject = await newSubject(store)
    const { workspace_id } = subject
    const ids: string[] = []
    for (let made = 0; made < removed + 2 * kept; made += 1000) {
      const events = Array.from({ length: 1000 }, () => newEvent(subject))
      ids.push(...(await store.events.insertEvents(workspace_id, events)).map(idOf))
    }
    connect(store.path)
      .prepare('DELETE FROM events WHERE seq > ? AND seq <= ?')
      .run(kept, kept + removed)

    const reading = readingIn(workspace_id)
    const { place } = await store.events.eventsBound(workspace_id, reading)
    const form = { most: Number.MAX_SAFE_INTEGER, format: 'ndjson' } as const
    const sizes: number[] = []
    const found: string[] = []
    let after = firstPosition('evt')
    for (let isLast = false; !isLast; ) {
      const request = { workspace_id, filter: {}, after, bound: place, ...form }
      const slice = await store.events.eventSlice(request, reading)
      const lines = new TextDecoder().decode(slice.bytes).trimEnd().split('\n')
      found.push(...lines.filter(Boolean).map((line) => JSON.parse(line).id))
      sizes.push(slice.lines)
      after = slice.next
      isLast = slice.isLast
    }
    expect(found).toEqual([...ids.slice(0, kept), ...ids.slice(kept + removed)])
    expect(sizes).toEqual([kept, 0, ids.length - kept - removed])
  })
})

describe('a list without anything to show', () => {
  it('ends after a maximum number of removed events, where the next ones were removed with their run', async () => {
    const store = await openStoreForTest()
    const subject = await newSubject(store)
    const { workspace_id, customer_id } = subject
    for (let made = 0; made < LOOKED_AT + 3 * SPAN_EVENTS; made += SPAN_EVENTS) {
      const events = Array.from({ length: SPAN_EVENTS }, () => newEvent(subject))
      await store.events.insertEvents(workspace_id, events)
    }
    const file = connect(store.path)
    const last = file.prepare<[], number>('SELECT max(seq) FROM events').pluck().get() ?? 0
    file.exec('DELETE FROM events')
    const other = { ...subject, customer_id: idOf(await initialize(store, subject, 'user-2')) }
    await insert(store, other)
    // The page ends with this event.
    const span = Math.floor((last - LOOKED_AT + 1) / SPAN_EVENTS)
    expect(file.prepare('DELETE FROM event_spans WHERE span = ?').run(span + 1).changes).toBe(1)
    const pages: number[] = []
    for (let page: Page | undefined = { limit: 10 }; page; ) {
      const read = store.events.newestEvents(workspace_id, { customer_id }, page, readingIn(workspace_id))
      const { rows, next } = await eventPage(read)
      pages.push(rows.length)
      page = next ? { limit: 10, after: next } : undefined
    }
    expect(pages).toEqual([0, 0])
  })

  it('ends after a maximum number of events of a customer that all have one time', async () => {
    const store = await openStoreForTest()
    const subject = await newSubject(store)
    const { workspace_id, customer_id } = subject
    const count = 2 * LOOKED_AT + 500
    const occurred_ms = Date.parse('2026-11-20T12:00:00Z')
    const wanted: string[] = []
    for (let made = 0; made < count; made += 500) {
      const isWanted = (index: number) => made % 5000 === 0 && index === 7
      const events = Array.from({ length: 500 }, (_, index) =>
        newEvent(subject, {
          occurred_ms,
          custom_variables: `{"plan":"${isWanted(index) ? 'pro' : 'free'}"}`,
        }),
      )
      const ids = (await store.events.insertEvents(workspace_id, events)).map(idOf)
      wanted.push(...ids.filter((_, index) => isWanted(index)))
    }
    const variables = [{ name: 'plan', value: 'pro' }]
    const found: string[] = []
    let pages = 0
    for (let page: (Page & { variables: typeof variables }) | undefined = { limit: 500, variables }; page; ) {
      const read = store.events.customerEvents(workspace_id, customer_id, page, readingIn(workspace_id))
      const { rows, next } = await eventPage(read)
      found.push(...rows.map(({ id }) => id))
      pages += 1
      page = next ? { limit: 500, variables, after: next } : undefined
    }
    expect(pages).toBe(3)
    expect(found).toEqual(wanted.toReversed())
  })
})

describe('a timeline of one time, of which most was removed', () => {
  it('has pages of a maximum number of events, and each event that is left once', async () => {
    const store = await openStoreForTest()
    const subject = await newSubject(store)
    const { workspace_id, customer_id } = subject
    const occurred_ms = Date.parse('2026-11-20T12:00:00Z')
    for (let made = 0; made < 3 * LOOKED_AT; made += 500) {
      const events = Array.from({ length: 500 }, () => newEvent(subject, { occurred_ms, event_id: 'seen' }))
      await store.events.insertEvents(workspace_id, events)
    }
    const kept = await insert(store, subject, { occurred_ms, event_id: 'last' })
    const file = connect(store.path)
    // Some are alone in their span, some share it, and a whole page has none.
    file.exec(`DELETE FROM events WHERE event_id = 'seen' AND NOT (seq % 4700 < 3 AND seq < ${LOOKED_AT})`)
    const left = file.prepare<[], number>('SELECT count(*) FROM events').pluck().get()
    const pages: string[][] = []
    for (let page: Page | undefined = { limit: 500 }; page; ) {
      const read = store.events.customerEvents(workspace_id, customer_id, page, readingIn(workspace_id))
      const { rows, next } = await eventPage(read)
      pages.push(rows.map(({ id }) => id))
      page = next ? { limit: 500, after: next } : undefined
    }
    expect(pages.length).toBeGreaterThan(2)
    expect(pages[0]).toEqual([idOf(kept)])
    expect(pages[1]).toEqual([])
    const found = pages.flat()
    expect(found.length).toBe(left)
    expect(found).toEqual([...new Set(found)].toSorted().toReversed())
  })
})

describe('pages of a run that was never finished', () => {
  it('are removed before another run uses their numbers', async () => {
    const path = join(temporaryFolder(), 'cairn.db')
    const before = await openStoreForTest({ path })
    await insert(before, await newSubject(before))
    await before.close()
    const file = connect(path)
    const first = pageNumber(7, 'postings', 0)
    const places = JSON.stringify(Array.from({ length: 500 }, (_, place) => first + place))
    file.prepare(`INSERT INTO event_pages SELECT value, x'00' FROM json_each(?)`).run(places)
    await openStoreForTest({ path })
    const pages = file.prepare<[], number>('SELECT count(*) FROM event_pages').pluck()
    await vi.waitFor(() => expect(pages.get()).toBe(0), withPatience)
  })

  it('are not those of the run that is made in its place', async () => {
    const path = join(temporaryFolder(), 'cairn.db')
    const before = await openStore({ path })
    const subject = await newSubject(before)
    const { workspace_id } = subject
    for (let sent = 0; sent < RUN; sent += 1000) {
      const events = Array.from({ length: 1000 }, (_, index) =>
        newEvent(subject, { message_id: `${sent + index}` }),
      )
      await before.events.insertEvents(workspace_id, events)
    }
    await expect.poll(() => before.statistics().unindexedEvents, withPatience).toBe(0)
    await before.close()
    // As if the server had been killed before it completed the run.
    const file = connect(path)
    file.exec('DELETE FROM event_runs; UPDATE event_indexing SET indexed_seq = 0')
    const again = await openStoreForTest({ path })
    await expect.poll(() => again.statistics().unindexedEvents, withPatience).toBe(0)
    expect(file.prepare('SELECT run FROM event_runs').pluck().all()).toEqual([2])
    const first = pageNumber(2, 'postings', 0)
    const left = file.prepare<[number]>('SELECT page FROM event_pages WHERE page < ? LIMIT 1').pluck()
    await vi.waitFor(() => expect(left.get(first)).toBeUndefined(), withPatience)
    expect(await insert(again, subject, { message_id: '0' })).toMatchObject({ status: 'duplicate' })
  })
})
