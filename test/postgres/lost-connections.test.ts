// engines: postgres (what only PostgreSQL has)

import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { PERIOD_MS } from '../../server/storage/activity/activity.ts'
import { uuidOf } from '../../server/storage/postgres/connection/uuids.ts'
import { eraseCustomer } from '../../server/storage/removals/erasures.ts'
import { commandLine } from '../../server/storage/tables/audit-log.ts'
import { updateServiceKey } from '../../server/storage/tables/service-keys.ts'
import { Unavailable } from '../../server/storage/unavailable.ts'
import { isDistributed } from '../fixtures/engine.ts'
import { followedCustomers } from '../fixtures/following.ts'
import { withPatience } from '../fixtures/patience.ts'
import { newDatabase } from '../fixtures/postgres/databases.ts'
import { runSql } from '../fixtures/postgres/sql.ts'
import {
  addJourney,
  countedActivity,
  idOf,
  initialize,
  insert,
  newEvent,
  newSubject,
  openStoreForTest,
  readingIn,
  type Store,
  type Subject,
} from '../fixtures/store.ts'
import { beginErasure, completed, erase } from '../storage/erase.ts'
import { type DatabaseProxy, type Fate, startProxy } from './proxy.ts'

/** Found in the statement that stores events, and in the one for customers. */
const EVENTS = 'INSERT INTO event_messages'
const CUSTOMERS = 'INSERT INTO customers'
/** In the first statement that finds out whether events were stored. */
const OUTCOME = 'SELECT $1 FROM workspaces WHERE workspaces.workspace_id = $2'
/** Only the statement, because the isolation level contains the same word. */
const COMMIT = 'COMMIT\0'

async function storeBehindProxy(): Promise<{ store: Store; proxy: DatabaseProxy; url: string }> {
  const url = await newDatabase()
  const proxy = await startProxy(url)
  return { store: await openStoreForTest({ databaseUrl: proxy.url }), proxy, url }
}

async function storedEvents(url: string): Promise<unknown> {
  const [row] = await runSql(url, 'SELECT count(*)::int AS events FROM events')
  return row?.events
}

async function customersCalled(url: string, name: string) {
  return await runSql(url, `SELECT customer_id FROM customers WHERE client_customer_id = '${name}'`)
}

/** Creates a customer on a connection that is lost before the answer; nothing arrives any more until the proxy thaws. */
async function madeUnheard(
  { store, proxy, url }: Awaited<ReturnType<typeof storeBehindProxy>>,
  subject: Subject,
  name: string,
) {
  const cut = proxy.cutAt(CUSTOMERS, 'after')
  const outcome = initialize(store, subject, name)
  await cut
  proxy.freeze()
  const [made] = await customersCalled(url, name)
  return { outcome, customer_id: String(made?.customer_id) }
}

/** An erasure that is not committed yet. */
async function erasureInProgress(store: Store, { workspace_id, customer_id }: Subject) {
  const [erased, mayCommit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const customer = { workspace_id, customer_id, may_return: false }
  const done = store.db.transaction().execute(async (db) => {
    await eraseCustomer(db, store.removals, customer, commandLine(Date.now()))
    erased.resolve()
    await mayCommit.promise
  })
  await erased.promise
  return {
    async commit() {
      mayCommit.resolve()
      await done
    },
  }
}

/** Finds what waits to create customers. */
const WAITING_CUSTOMERS = `SELECT 1 AS one FROM pg_stat_activity WHERE wait_event_type = 'Lock'
  AND datname = current_database() AND query LIKE '%INTO customers %'`

/** Another program's session, in a transaction that it keeps open. */
async function session(url: string): Promise<Client> {
  const client = new Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  await client.query('BEGIN')
  return client
}

const fates: [string, Fate][] = [
  ['before PostgreSQL has it', 'before'],
  ['while PostgreSQL is at it', 'during'],
  ['when PostgreSQL has committed it', 'after'],
]

// On Citus a group is stored in several statements, of which none commits it.
describe.skipIf(isDistributed)('a connection that dies under a write', () => {
  it.each(fates)('%s, lets events be stored once and answered accordingly', async (_when, fate) => {
    const { store, proxy, url } = await storeBehindProxy()
    const subject = await newSubject(store)
    const events = [
      newEvent(subject, { message_id: randomUUID() }),
      newEvent(subject, { message_id: 'a text' }),
      newEvent(subject),
      newEvent(subject, { message_id: 'a text', custom_variables: '{"other":true}' }),
      newEvent(subject, { journey_id: 'jrn_none' }),
    ]
    proxy.cutAt(EVENTS, fate, 3)
    const outcomes = await store.events.insertEvents(subject.workspace_id, events)
    expect(outcomes).toMatchObject([
      { status: 'created' },
      { status: 'created' },
      { status: 'created' },
      { status: 'rejected', code: 'message_id_conflict' },
      { status: 'rejected', code: 'journey_not_found' },
    ])
    // What PostgreSQL has committed by the next attempt is not sent again.
    const cuts = { before: [3], during: [1, 2, 3], after: [1] }
    expect(cuts[fate]).toContain(proxy.cuts())
    expect(await storedEvents(url)).toBe(3)
    const { workspace_id } = subject
    const span = { by: 'day', from_ms: Date.now() - PERIOD_MS.day, to_ms: Date.now() + 1 } as const
    const { total } = await countedActivity(store.activity(workspace_id, span, readingIn(workspace_id)))
    expect(total).toEqual({ created: 3, duplicate: 0, rejected: 2 })
    const again = await insert(store, subject, { message_id: 'a text' })
    expect(again).toMatchObject({ status: 'duplicate', id: outcomes[1] && idOf(outcomes[1]) })
  })

  it('lets events be counted once, even if another server has indexed them in the meantime', async () => {
    const { store, proxy, url } = await storeBehindProxy()
    const subject = await newSubject(store)
    await openStoreForTest({ databaseUrl: url })
    const { workspace_id } = subject
    const groups = [
      { events: [newEvent(subject), newEvent(subject, { message_id: 'a text' })], text: EVENTS },
      { events: [newEvent(subject, { journey_id: 'jrn_none' })], text: 'INSERT INTO event_arrivals' },
    ]
    for (const { events, text } of groups) {
      const cut = proxy.cutAt(text, 'after')
      const outcomes = store.events.insertEvents(workspace_id, events)
      await cut
      proxy.freeze()
      await vi.waitUntil(async () => {
        return (await runSql(url, 'SELECT FROM event_arrivals')).length === 0
      }, withPatience)
      proxy.thaw()
      await outcomes
    }
    expect(proxy.cuts()).toBe(2)
    const span = { by: 'day', from_ms: Date.now() - PERIOD_MS.day, to_ms: Date.now() + 1 } as const
    const { total } = await countedActivity(store.activity(workspace_id, span, readingIn(workspace_id)))
    expect(total).toEqual({ created: 2, duplicate: 0, rejected: 1 })
    expect(await storedEvents(url)).toBe(2)
  })

  it('stores a message whose event was removed in the meantime as a new one', async () => {
    const { store, proxy, url } = await storeBehindProxy()
    const subject = await newSubject(store)
    await insert(store, subject, { message_id: 'removed' })
    const events = ['removed', 'new', null].map((message_id) => newEvent(subject, { message_id }))
    const cut = proxy.cutAt(EVENTS, 'after')
    const outcomes = store.events.insertEvents(subject.workspace_id, events)
    await cut
    proxy.freeze()
    const removed = "DELETE FROM events WHERE message_text = 'removed' RETURNING id"
    await runSql(
      url,
      `WITH removed AS (${removed}) DELETE FROM event_messages WHERE event_id IN (SELECT id FROM removed)`,
    )
    proxy.thaw()
    expect((await outcomes).map(({ status }) => status)).toEqual(['created', 'created', 'created'])
    expect(await storedEvents(url)).toBe(3)
    const ofNone = 'SELECT FROM event_messages WHERE event_id NOT IN (SELECT id FROM events)'
    expect(await runSql(url, ofNone)).toEqual([])
    expect(await insert(store, subject, { message_id: 'removed' })).toMatchObject({ status: 'duplicate' })
  })

  it.each(fates)('%s, lets a customer be created once and answered accordingly', async (_when, fate) => {
    const { store, proxy, url } = await storeBehindProxy()
    const subject = await newSubject(store)
    proxy.cutAt(CUSTOMERS, fate, 2)
    const made = await initialize(store, subject, 'user-2')
    expect(made).toMatchObject({ status: 'stored', created: true, enrolled: true })
    expect(proxy.cuts()).toBe(2)
    const again = { ...made, created: false, enrolled: false }
    expect(await initialize(store, subject, 'user-2')).toEqual(again)
    const rows = await runSql(url, "SELECT customer_id FROM customers WHERE client_customer_id = 'user-2'")
    expect(rows).toEqual([{ customer_id: idOf(made) }])
  })

  it('does not bring back a customer that was erased in the meantime', async () => {
    const { store, proxy, url } = await storeBehindProxy()
    const subject = await newSubject(store)
    const { workspace_id } = subject
    const second = await openStoreForTest({ databaseUrl: url })
    const { outcome, customer_id } = await madeUnheard({ store, proxy, url }, subject, 'user-2')
    await beginErasure(second, { ...subject, customer_id })
    proxy.thaw()
    expect(await outcome).toEqual({ status: 'refused', code: 'customer_erased' })
    expect(await customersCalled(url, 'user-2')).toEqual([])

    // One that may return gets another identifier.
    const again = await madeUnheard({ store, proxy, url }, subject, 'user-3')
    const customer = { workspace_id, customer_id: again.customer_id, may_return: true }
    await second.db.transaction().execute(async (db) => {
      await eraseCustomer(db, second.removals, customer, commandLine(Date.now()))
    })
    proxy.thaw()
    const returned = await again.outcome
    expect(returned).toMatchObject({ status: 'stored', created: true })
    expect(idOf(returned)).not.toBe(again.customer_id)
  })

  it('does not bring back a customer that is being erased at that moment', async () => {
    const { store, proxy, url } = await storeBehindProxy()
    const subject = await newSubject(store)
    const second = await openStoreForTest({ databaseUrl: url })
    const { outcome, customer_id } = await madeUnheard({ store, proxy, url }, subject, 'user-2')
    const erasure = await erasureInProgress(second, { ...subject, customer_id })
    proxy.thaw()
    await vi.waitUntil(async () => (await runSql(url, WAITING_CUSTOMERS)).length > 0, withPatience)
    await erasure.commit()
    expect(await outcome).toEqual({ status: 'refused', code: 'customer_erased' })
    expect(await customersCalled(url, 'user-2')).toEqual([])
  })

  it('does not enrol a customer that was erased in the meantime', async () => {
    const { store, proxy, url } = await storeBehindProxy()
    const subject = await newSubject(store)
    const second = await openStoreForTest({ databaseUrl: url })
    const { journey_id } = await addJourney(store, subject)
    const cut = proxy.cutAt(CUSTOMERS, 'before')
    const outcome = initialize(store, { ...subject, journey_id }, 'user-1')
    await cut
    proxy.freeze()
    await erase(second, subject)
    proxy.thaw()
    expect(await outcome).toEqual({ status: 'refused', code: 'customer_erased' })
  })

  it('nor does an initialization that began before the customer was created elsewhere', async () => {
    const { store, proxy, url } = await storeBehindProxy()
    const subject = await newSubject(store)
    const second = await openStoreForTest({ databaseUrl: url })
    const held = proxy.hold(CUSTOMERS)
    const outcome = initialize(store, subject, 'user-2')
    const letThrough = await held
    const customer_id = idOf(await initialize(second, subject, 'user-2'))
    const erasure = await erasureInProgress(second, { ...subject, customer_id })
    letThrough()
    await vi.waitUntil(async () => (await runSql(url, WAITING_CUSTOMERS)).length > 0, withPatience)
    await erasure.commit()
    expect(await outcome).toEqual({ status: 'refused', code: 'customer_erased' })
    expect(await customersCalled(url, 'user-2')).toEqual([])
  })

  it('is an outage if what finds out the outcome is refused, and nothing is stored again', async () => {
    const { store, proxy, url } = await storeBehindProxy()
    const subject = await newSubject(store)
    const cut = proxy.cutAt(EVENTS, 'after')
    const outcomes = [insert(store, subject), insert(store, subject)]
    const refused = outcomes.map((outcome) =>
      expect(outcome).rejects.toMatchObject({ reason: 'storage_unavailable' }),
    )
    await cut
    proxy.freeze()
    await runSql(url, 'ALTER TABLE event_following RENAME TO elsewhere')
    proxy.thaw()
    await Promise.all(refused)
    expect(await storedEvents(url)).toBe(2)
  })

  it('is found out about for as long as the database is read-only', async () => {
    const { store, proxy, url } = await storeBehindProxy()
    const subject = await newSubject(store)
    const cut = proxy.cutAt(EVENTS, 'after')
    const outcome = insert(store, subject)
    await cut
    proxy.freeze()
    const name = new URL(url).pathname.slice(1)
    await runSql(url, `ALTER DATABASE ${name} SET default_transaction_read_only = on`)
    proxy.cutAll()
    proxy.thaw()
    for (const _ of ['refused', 'refused again']) {
      const letThrough = await proxy.hold(OUTCOME)
      letThrough()
    }
    await runSql(
      url,
      'SET default_transaction_read_only = off',
      `ALTER DATABASE ${name} RESET default_transaction_read_only`,
    )
    expect(await outcome).toMatchObject({ status: 'created' })
    expect(await storedEvents(url)).toBe(1)
  })

  it('allows a resend only when the first outcome is known', async () => {
    const { store, proxy, url } = await storeBehindProxy()
    const subject = await newSubject(store)
    const other = await session(url)
    await other.query('LOCK TABLE event_messages IN EXCLUSIVE MODE')
    proxy.cutAt(EVENTS, 'during')
    const events = [newEvent(subject, { message_id: 'waits' }), newEvent(subject)]
    const outcomes = store.events.insertEvents(subject.workspace_id, events)
    // The lost statement, and the one that finds out its outcome, by what they begin with: PostgreSQL tells no more of them.
    // A follower of the store may wait for the latter.
    const waiting = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()
      AND query LIKE '%WITH looked_up%'`
    await vi.waitUntil(async () => (await runSql(url, waiting)).length === 2, withPatience)
    await other.query('COMMIT')
    expect(await outcomes).toMatchObject([{ status: 'created' }, { status: 'created' }])
    expect(await storedEvents(url)).toBe(2)
    expect(await insert(store, subject, { message_id: 'waits' })).toMatchObject({ status: 'duplicate' })
    const { workspace_id } = subject
    const span = { by: 'day', from_ms: Date.now() - PERIOD_MS.day, to_ms: Date.now() + 1 } as const
    const { total } = await countedActivity(store.activity(workspace_id, span, readingIn(workspace_id)))
    expect(total).toEqual({ created: 2, duplicate: 1, rejected: 0 })
  })

  it('is an outage if a customer was erased and the lost statement may still store something', async () => {
    const { store, proxy, url } = await storeBehindProxy()
    const subject = await newSubject(store)
    const { workspace_id } = subject
    const kept = { ...subject, customer_id: idOf(await initialize(store, subject, 'user-2')) }
    const second = await openStoreForTest({ databaseUrl: url })
    const message_id = randomUUID()
    const other = await session(url)
    const taken = [uuidOf(workspace_id), message_id, randomUUID()]
    await other.query('INSERT INTO event_messages VALUES ($1, $2, $3)', taken)
    const cut = proxy.cutAt(EVENTS, 'during')
    const events = [newEvent(subject, { message_id }), newEvent(kept)]
    const refused = expect(store.events.insertEvents(workspace_id, events)).rejects.toMatchObject({
      reason: 'storage_unavailable',
    })
    await cut
    const letThrough = await proxy.hold(EVENTS)
    await beginErasure(second, subject)
    second.removals.begin()
    letThrough()
    await refused
    await other.query('ROLLBACK')
    // The lost statement stores both, unless it has waited for too long; nothing else does. The erasure waits for it.
    await completed(second, subject)
    const customers = await runSql(url, `SELECT replace(customer_id::text, '-', '') AS customer FROM events`)
    expect([[], [{ customer: uuidOf(kept.customer_id) }]]).toContainEqual(customers)
    expect(await runSql(url, 'SELECT * FROM event_messages')).toEqual([])
  })

  it('during a transaction is reported as an outage, and caches of what it may have changed are dropped', async () => {
    const onKeyChange = vi.fn()
    const url = await newDatabase()
    const proxy = await startProxy(url)
    const store = await openStoreForTest({ databaseUrl: proxy.url, onKeyChange })
    const { workspace_id } = await newSubject(store)
    // After this nothing else is committed by this store.
    await followedCustomers(store, workspace_id)
    const [key] = await runSql(url, 'SELECT key_id FROM service_keys LIMIT 1')
    proxy.cutAt(COMMIT, 'after')
    const revoking = store.db
      .transaction()
      .execute((db) => updateServiceKey(db, String(key?.key_id), { revoked_ms: 1 }))
    await expect(revoking).rejects.toThrow(new Unavailable('storage_unavailable'))
    expect(onKeyChange).toHaveBeenCalled()
    expect(await runSql(url, 'SELECT FROM service_keys WHERE revoked_ms = 1')).toHaveLength(1)
  })
})

describe('a change whose connection is cut off before it is committed', () => {
  it('does not hide the next one of another server', async () => {
    const onOutsideChange = vi.fn()
    const url = await newDatabase()
    const proxy = await startProxy(url)
    const store = await openStoreForTest({ databaseUrl: proxy.url, onOutsideChange })
    const second = await openStoreForTest({ databaseUrl: url })
    await newSubject(second)
    const [key] = await runSql(url, 'SELECT key_id FROM service_keys LIMIT 1')
    const revoke = (by: Store) =>
      by.db.transaction().execute((db) => updateServiceKey(db, String(key?.key_id), { revoked_ms: 1 }))
    const polled = async () => {
      onOutsideChange.mockClear()
      await revoke(second)
      await expect.poll(() => onOutsideChange.mock.calls.length).toBeGreaterThan(0)
    }
    // Now the store has seen the last change.
    await polled()
    await polled()
    proxy.cutAt(COMMIT, 'before')
    await expect(revoke(store)).rejects.toThrow(new Unavailable('storage_unavailable'))
    expect(proxy.cuts()).toBe(1)
    await polled()
  })

  it('nor do changes that were lost in a fail-over', async () => {
    const onOutsideChange = vi.fn()
    const url = await newDatabase()
    await openStoreForTest({ databaseUrl: url, onOutsideChange })
    const told = async (changes: string) => {
      onOutsideChange.mockClear()
      await runSql(url, `UPDATE cairn_store SET changes = ${changes}`)
      await expect.poll(() => onOutsideChange.mock.calls.length).toBeGreaterThan(0)
    }
    await told('changes + 5')
    await told('changes - 5')
    await told('changes + 5')
  })
})

describe('connections that are cut off while nothing runs', () => {
  it('are reopened without any error', async () => {
    const { store, proxy } = await storeBehindProxy()
    const subject = await newSubject(store)
    for (let round = 0; round < 5; round += 1) {
      expect(await insert(store, subject)).toMatchObject({ status: 'created' })
      proxy.cutAll()
    }
  })
})

describe('a network that forwards nothing', () => {
  it('is waited for, and what it delayed is stored once', async () => {
    const { store, proxy, url } = await storeBehindProxy()
    const subject = await newSubject(store)
    proxy.freeze()
    const outcome = insert(store, subject, { message_id: 'held back' })
    setTimeout(proxy.thaw, 1_500)
    expect(await outcome).toMatchObject({ status: 'created' })
    expect(await storedEvents(url)).toBe(1)
  })
})

describe.skipIf(isDistributed)('two transactions that wait for each other', () => {
  it('are resolved by PostgreSQL, and the events are stored all the same', async () => {
    const { store, url } = await storeBehindProxy()
    const subject = await newSubject(store)
    const [first = '', second = ''] = [randomUUID(), randomUUID()].sort()
    await insert(store, subject)
    const other = await session(url)
    const take = (message: string) =>
      other.query('INSERT INTO event_messages SELECT workspace_id, $1, $1 FROM events', [message])
    // So that PostgreSQL cancels Cairn's statement, and not this one.
    await other.query("SET LOCAL deadlock_timeout = '1h'")
    await take(second)
    const events = [first, second].map((message_id) => newEvent(subject, { message_id }))
    const outcomes = store.events.insertEvents(subject.workspace_id, events)
    const waiting =
      "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    await vi.waitUntil(async () => (await runSql(url, waiting)).length === 1, withPatience)
    await take(first)
    await other.query('ROLLBACK')
    expect(await outcomes).toMatchObject([{ status: 'created' }, { status: 'created' }])
  })
})
