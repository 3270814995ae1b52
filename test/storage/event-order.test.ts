// engines: sqlite, postgres

import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Schemas } from '../../client/index.ts'
import { cursorPosition, cursorText } from '../../server/domain/cursors.ts'
import type { PageRows } from '../../server/domain/paging.ts'
import { engine } from '../fixtures/engine.ts'
import {
  eventPage,
  idOf,
  insert,
  newSubject,
  openStore,
  openStoreForTest,
  readingIn,
  type Store,
  type Subject,
} from '../fixtures/store.ts'
import { newestEventNames } from './stored-names.ts'

const NOON = Date.parse('2026-11-20T12:00:00Z')

/** The lists of events, each as a function of a page request. */
const lists = {
  newestEvents: ({ events }: Store, { workspace_id }: Subject, page: { limit: number; cursor?: string }) =>
    eventPage(events.newestEvents(workspace_id, {}, pageAfter(page), readingIn(workspace_id))),
  customerEvents: (
    { events }: Store,
    { workspace_id, customer_id }: Subject,
    page: { limit: number; cursor?: string },
  ) => eventPage(events.customerEvents(workspace_id, customer_id, pageAfter(page), readingIn(workspace_id))),
}

function pageAfter({ limit, cursor }: { limit: number; cursor?: string }) {
  return cursor === undefined ? { limit } : { limit, after: cursorPosition(cursor, 'evt') }
}

/** Reads a list page by page; `between` runs after each page. */
async function walk(
  read: (page: { limit: number; cursor?: string }) => Promise<PageRows<Schemas['Event']>>,
  limit: number,
  between: () => Promise<unknown> = async () => {},
): Promise<string[]> {
  const seen: string[] = []
  let cursor: string | undefined
  while (true) {
    const { rows, next } = await read(cursor === undefined ? { limit } : { limit, cursor })
    seen.push(...rows.map(({ event_id }) => event_id))
    if (seen.length > 100) throw new Error(`the list has no end: ${seen}`)
    if (!next) return seen
    cursor = cursorText(next)
    await between()
  }
}

describe('identifiers of events', () => {
  // One of several servers on PostgreSQL follows a clock that is set back, see `ascendingIds`.
  const back_ms = engine === 'sqlite' ? 3_600_000 : 10_000

  it('ascend in the order of storing, even if the clock steps back or stands still', async () => {
    let now = NOON
    const store = await openStoreForTest({ now: () => now })
    const subject = await newSubject(store)
    const ids: string[] = []
    for (const step of [0, 0, 1, -1, -back_ms + 1, 0, back_ms, 5, -1]) {
      now += step
      for (let count = 0; count < 20; count += 1) ids.push(idOf(await insert(store, subject)))
    }
    expect(ids).toEqual(ids.toSorted())
    expect(new Set(ids).size).toBe(ids.length)
  })
})

describe('the time of receipt', () => {
  it('is that of the clock again once a clock that was ahead is set right', async () => {
    let now = NOON + 5 * 3_600_000
    const store = await openStoreForTest({ now: () => now })
    const subject = await newSubject(store)
    await insert(store, subject)
    now = NOON
    const times: [unknown, unknown][] = []
    for (const message_id of ['a', 'b', 'a']) {
      const outcome = await insert(store, subject, { message_id })
      times.push([outcome.status, outcome.status === 'rejected' ? undefined : outcome.received_ms])
      now += 60_000
    }
    expect(times).toEqual([
      ['created', NOON],
      ['created', NOON + 60_000],
      ['duplicate', NOON],
    ])
    const { rows } = await lists.customerEvents(store, subject, { limit: 10 })
    expect(rows.map(({ occurred_at }) => occurred_at)).toEqual([
      new Date(NOON + 5 * 3_600_000).toISOString(),
      new Date(NOON + 60_000).toISOString(),
      new Date(NOON).toISOString(),
    ])
  })
})

describe('a span of time', () => {
  it('contains exactly the events received in it, even if the clock stepped back meanwhile', async () => {
    let now = NOON
    const store = await openStoreForTest({ now: () => now })
    const subject = await newSubject(store)
    const stored: { event_id: string; received_ms: number }[] = []
    for (const step of [0, -5, 10, -5, 20]) {
      now += step
      const event_id = `${stored.length}`
      const outcome = await insert(store, subject, { event_id })
      if (outcome.status !== 'created') throw new Error(`refused: ${outcome.status}`)
      stored.unshift({ event_id, received_ms: outcome.received_ms })
    }
    const { workspace_id } = subject
    const received = (filter: { from_ms?: number; to_ms?: number }) =>
      newestEventNames(store, workspace_id, filter)
    const instants = [-6, -5, -4, 0, 1, 5, 6, 19, 20, 21].map((ms) => NOON + ms)
    for (const from_ms of instants) {
      for (const to_ms of instants) {
        const within = stored.filter(({ received_ms }) => from_ms <= received_ms && received_ms < to_ms)
        expect(await received({ from_ms, to_ms })).toEqual(within.map(({ event_id }) => event_id))
      }
      const from = stored.filter(({ received_ms }) => from_ms <= received_ms)
      expect(await received({ from_ms })).toEqual(from.map(({ event_id }) => event_id))
    }
  })
})

describe.each(['newestEvents', 'customerEvents'] as const)('%s', (name) => {
  let now = NOON
  let store: Store

  beforeAll(async () => {
    store = await openStore({ now: () => now })
    return store.close
  })

  beforeEach(() => {
    now = NOON
  })

  it('lists events with the same timestamp in reverse order of storing', async () => {
    const subject = await newSubject(store)
    for (const event_id of ['a', 'b', 'c']) await insert(store, subject, { event_id })
    const { rows } = await lists[name](store, subject, { limit: 10 })
    expect(rows.map(({ event_id }) => event_id)).toEqual(['c', 'b', 'a'])
  })

  it('returns each event once, whatever the page size', async () => {
    const subject = await newSubject(store)
    const stored: { event_id: string; at_ms: number; id: string }[] = []
    // Three at the same time, a clock that steps back, and events dated by their sender.
    for (const [event_id, step, occurred_ms] of [
      ['a', 0, undefined],
      ['b', 0, undefined],
      ['c', 0, undefined],
      ['d', -5, undefined],
      ['e', 5, NOON - 5],
      ['f', 10, NOON],
      ['g', 0, NOON],
    ] as const) {
      now += step
      const outcome = await insert(store, subject, { event_id, occurred_ms: occurred_ms ?? null })
      if (outcome.status !== 'created') throw new Error(`refused: ${outcome.status}`)
      stored.push({ event_id, at_ms: occurred_ms ?? outcome.received_ms, id: outcome.id })
    }
    // After a step back of the clock, the receipt time in the response is what counts.
    if (name === 'customerEvents') stored.sort((a, b) => a.at_ms - b.at_ms || (a.id < b.id ? -1 : 1))
    const expected = stored
      .map(({ event_id }) => event_id)
      .toReversed()
      .join('')
    for (const limit of [1, 2, 3, 4, 5, 6, 7, 8]) {
      const seen = await walk((page) => lists[name](store, subject, page), limit)
      expect(seen.join(''), `${limit} on a page`).toBe(expected)
    }
  })

  it('returns each event once while new ones arrive between pages', async () => {
    const subject = await newSubject(store)
    const old = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
    for (const event_id of old) await insert(store, subject, { event_id })
    for (const limit of [1, 2, 3]) {
      const first = await lists[name](store, subject, { limit: 1 })
      const arrived: string[] = []
      const seen = await walk(
        (page) => lists[name](store, subject, page),
        limit,
        async () => {
          // At the same time as the newest event, and later.
          const event_id = `new-${limit}-${arrived.length}`
          arrived.push(event_id)
          await insert(store, subject, { event_id })
          now += arrived.length % 2
        },
      )
      expect(seen[0]).toBe(first.rows[0]?.event_id)
      expect(seen.filter((event_id) => arrived.includes(event_id))).toEqual([])
      expect(new Set(seen).size).toBe(seen.length)
      expect(seen.slice(-old.length)).toEqual(old.toReversed())
    }
  })

  it('accepts every cursor of the declared form', async () => {
    const subject = await newSubject(store)
    await insert(store, subject, { event_id: 'now' })
    await insert(store, subject, { event_id: 'first', occurred_ms: Date.parse('1900-01-01T00:00:00Z') })
    const read = async (cursor: string) => {
      const { rows } = await lists[name](store, subject, { limit: 10, cursor })
      return rows.map(({ event_id }) => event_id)
    }
    const all = name === 'newestEvents' ? ['first', 'now'] : ['now', 'first']
    // The order of arrival is that of identifiers; only the timeline uses the timestamps.
    const byInstant = (then: string[], otherwise: string[]) => (name === 'newestEvents' ? otherwise : then)
    const [least, greatest] = ['0'.repeat(26), '7'.padEnd(26, 'z')]
    expect(await read('f'.repeat(12) + greatest)).toEqual(all)
    expect(await read('0'.repeat(12) + least)).toEqual([])
    expect(await read('0'.repeat(12) + greatest)).toEqual(byInstant([], all))
    expect(await read('f'.repeat(12) + least)).toEqual(byInstant(all, []))
    const { rows } = await lists[name](store, subject, { limit: 1 })
    const { occurred_at, received_at } = rows[0] ?? { occurred_at: '', received_at: '' }
    const ms = Date.parse(name === 'newestEvents' ? received_at : occurred_at)
    expect(await read(cursorText({ ms, id: least }))).toEqual(byInstant(['first'], []))
    expect(await read(cursorText({ ms, id: greatest }))).toEqual(all)
    expect(await read(cursorText({ ms: ms - 1, id: greatest }))).toEqual(byInstant(['first'], all))
  })
})
