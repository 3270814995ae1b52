// engines: sqlite, postgres

import { beforeAll, describe, expect, it, vi } from 'vitest'
import type { Position } from '../../server/domain/cursors.ts'
import type { Transaction } from '../../server/storage/database.ts'
import { eraseCustomer, oldestErasures } from '../../server/storage/removals/erasures.ts'
import { engine } from '../fixtures/engine.ts'
import { followed, followedCustomers, forwardPage } from '../fixtures/following.ts'
import { withPatience } from '../fixtures/patience.ts'
import { runSql } from '../fixtures/postgres/sql.ts'
import {
  addJourney,
  connectTo,
  idOf,
  initialize,
  insert,
  newEvent,
  newSubject,
  openStore,
  openStoreForTest,
  readingIn,
  type Store,
} from '../fixtures/store.ts'

let store: Store

beforeAll(async () => {
  store = await openStore()
  return store.close
})

describe('oldestEvents', () => {
  it.each([1, 3, 100])('returns each event once in pages of %i, in order of arrival', async (limit) => {
    const subject = await newSubject(store)
    const ids: string[] = []
    for (let index = 0; index < 7; index += 1) ids.push(idOf(await insert(store, subject)))
    const { rows } = await followed(store, subject.workspace_id, { limit })
    expect(rows.map(({ id }) => id)).toEqual(ids)
  })

  it('continues after its end, even in an empty workspace', async () => {
    const subject = await newSubject(store)
    const { workspace_id } = subject
    const begin = await followed(store, workspace_id)
    expect(begin.rows).toEqual([])
    const first = idOf(await insert(store, subject))
    const second = await followed(store, workspace_id, { from: begin.next })
    expect(second.rows.map(({ id }) => id)).toEqual([first])
    const third = idOf(await insert(store, subject))
    const last = await followed(store, workspace_id, { from: second.next })
    expect(last.rows.map(({ id }) => id)).toEqual([third])
  })

  it('misses nothing and repeats nothing while others store events', async () => {
    const subject = await newSubject(store)
    const { workspace_id } = subject
    const stored: string[] = []
    let isOver = false
    const storing = Array.from({ length: 4 }, async () => {
      while (!isOver) {
        const events = Array.from({ length: 1 + Math.floor(Math.random() * 9) }, () => newEvent(subject))
        stored.push(...(await store.events.insertEvents(workspace_id, events)).map(idOf))
      }
    })
    const seen: string[] = []
    let next: Awaited<ReturnType<typeof forwardPage>>['next'] | undefined
    while (seen.length < 300) {
      const page = await forwardPage(store, workspace_id, { limit: 40, ...(next && { after: next }) })
      next = page.next
      seen.push(...page.rows.map(({ id }) => id))
    }
    isOver = true
    await Promise.all(storing)
    const rest = await followed(store, workspace_id, { ...(next && { from: next }) })
    seen.push(...rest.rows.map(({ id }) => id))
    expect(seen.toSorted()).toEqual(stored.toSorted())
  })

  it('returns what a filter selects', async () => {
    const subject = await newSubject(store)
    const { workspace_id, journey_id, customer_id } = subject
    const other = idOf(
      await store.events.initializeCustomer(workspace_id, {
        journey_id,
        client_customer_id: 'user-2',
        customer_type: 'account',
        customer_name: 'Grace',
      }),
    )
    const all: string[] = []
    for (const event_id of ['a', 'b', 'a', 'b', 'c']) {
      all.push(idOf(await insert(store, subject, { event_id })))
      all.push(idOf(await insert(store, { ...subject, customer_id: other }, { event_id })))
    }
    const given = async (filter: object) => {
      const { rows } = await followed(store, workspace_id, { limit: 2, filter })
      return rows.map(({ id }) => all.indexOf(id))
    }
    expect(await given({ event_id: 'a' })).toEqual([0, 1, 4, 5])
    expect(await given({ customer_id })).toEqual([0, 2, 4, 6, 8])
    expect(await given({ journey_id, customer_id: other, event_id: 'b' })).toEqual([3, 7])
    expect(await given({ journey_id: 'jrn_00000000000000000000000000' })).toEqual([])
    expect(await given({ to_ms: 0 })).toEqual([])
    expect(await given({ from_ms: Date.now() + 60_000 })).toEqual([])
    expect(await given({ from_ms: Date.now() - 60_000, to_ms: Date.now() + 60_000 })).toHaveLength(10)
  })

  it('examines at most ten thousand events for a page, and continues after them', async () => {
    const subject = await newSubject(store)
    const { workspace_id } = subject
    for (let batch = 0; batch < 11; batch += 1) {
      const events = Array.from({ length: 1000 }, () => newEvent(subject))
      await store.events.insertEvents(workspace_id, events)
    }
    const rare = idOf(await insert(store, subject, { event_id: 'rare' }))
    const filter = { event_id: 'rare', journey_id: subject.journey_id }
    await followed(store, workspace_id)
    const page = await forwardPage(store, workspace_id, { limit: 10 }, filter)
    // With an index for them nothing has to be examined.
    if (engine === 'postgres') expect(page).toMatchObject({ rows: [], caughtUpTo: null })
    const { rows } = await followed(store, workspace_id, { filter })
    expect(rows.map(({ id }) => id)).toEqual([rare])
  })

  it('keeps the order if the clock steps back', async () => {
    let now = Date.now()
    const stepping = await openStoreForTest({ now: () => now })
    const subject = await newSubject(stepping)
    const ids: string[] = []
    let from: Awaited<ReturnType<typeof followed>>['next'] | undefined
    for (const step of [0, -3_600_000, 1, 3_600_000 * 24, -5]) {
      now += step
      ids.push(idOf(await insert(stepping, subject)), idOf(await insert(stepping, subject)))
      const begun_ms = engine === 'postgres' ? Date.now() : now
      const { rows, next } = await followed(stepping, subject.workspace_id, {
        begun_ms,
        ...(from && { from }),
      })
      expect(rows.map(({ id }) => id)).toEqual(ids.slice(-2))
      from = next
    }
    const { rows } = await followed(stepping, subject.workspace_id, { limit: 3, begun_ms: 0 })
    expect(rows.map(({ id }) => id)).toEqual(ids)
  })

  it('is not blocked by a transaction that does not end', async () => {
    const subject = await newSubject(store)
    const others = await connectTo(store.databaseUrl)
    await others.run(engine === 'postgres' ? 'BEGIN; CREATE TABLE held (one integer)' : 'BEGIN')
    const id = idOf(await insert(store, subject))
    const { rows } = await followed(store, subject.workspace_id)
    expect(rows.map((event) => event.id)).toEqual([id])
    await others.run('ROLLBACK')
  })
})

describe('oldestCustomers', () => {
  it('returns each customer once while others are created, with every kind of filter', async () => {
    const subject = await newSubject(store)
    const { workspace_id } = subject
    const made = ['user-1']
    const making = [0, 1].map(async (maker) => {
      for (let index = 0; index < 40; index += 1) {
        const own = `user-${maker}-${index}`
        made.push(own)
        await initialize(store, subject, own)
      }
    })
    const first = await followedCustomers(store, workspace_id, { limit: 7 })
    await Promise.all(making)
    // A customer who enters another journey does not arrive here again.
    const { journey_id } = await addJourney(store, { workspace_id })
    await initialize(store, { workspace_id, journey_id }, 'user-0-0')
    const rest = await followedCustomers(store, workspace_id, { limit: 7, from: first.next })
    expect([...first.own, ...rest.own].toSorted()).toEqual(made.toSorted())
    const again = await followedCustomers(store, workspace_id)
    expect(again.own).toEqual([...first.own, ...rest.own])
    const found = await followedCustomers(store, workspace_id, { filter: { search: 'user-1-' } })
    expect(found.own).toEqual(again.own.filter((own) => own.startsWith('user-1-')))
    const one = await followedCustomers(store, workspace_id, { filter: { client_customer_id: 'user-1-7' } })
    expect(one.own).toEqual(['user-1-7'])
    const none = await followedCustomers(store, workspace_id, { filter: { customer_type: 'account' } })
    expect(none.own).toEqual([])
  })
})

describe('oldestErasures', () => {
  it('returns no erasure that is committed before one that began earlier', async () => {
    const subject = await newSubject(store)
    const { workspace_id } = subject
    const later = idOf(await initialize(store, subject, 'user-2'))
    // A server runs its transactions one after another; a file has one server.
    const other = engine === 'sqlite' ? store : await openStoreForTest({ databaseUrl: store.databaseUrl })
    const erase = (db: Transaction, customer_id: string) =>
      eraseCustomer(db, store.removals, { workspace_id, customer_id, may_return: true }, author)
    const walked = async (after?: Position) => {
      const reading = readingIn(workspace_id)
      const page = { limit: 10, ...(after && { after }) }
      const clock_ms = await store.clock_ms(reading)
      return await oldestErasures(store.lists(reading), workspace_id, page, clock_ms)
    }
    const begun = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    const first = store.db.transaction().execute(async (db) => {
      await erase(db, subject.customer_id)
      begun.resolve()
      await held.promise
    })
    await begun.promise
    const second = other.db.transaction().execute((db) => erase(db, later))
    await Promise.race([second, vi.waitUntil(() => isHeldUp(store), withPatience)]).catch(held.reject)
    const before = await walked()
    held.resolve()
    await Promise.all([first, second])
    const after = await walked(before.next)
    expect(before.rows).toEqual([])
    expect(after.rows.map(({ customer_id }) => customer_id)).toEqual([subject.customer_id, later])
  })
})

const author = {
  at_ms: Date.now(),
  address: null,
  request_id: null,
  actor: { kind: 'unknown', id: null, name: null },
} as const

/** Whether a transaction waits for another one. */
async function isHeldUp({ databaseUrl, statistics }: Store): Promise<boolean> {
  if (engine === 'sqlite') return statistics().waitingTransactions > 0
  const waiting =
    "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
  return (await runSql(databaseUrl, waiting)).length > 0
}
