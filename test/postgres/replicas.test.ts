// engines: postgres (what only PostgreSQL has)

import { randomUUID } from 'node:crypto'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Position } from '../../server/domain/cursors.ts'
import { uuidOf } from '../../server/storage/postgres/connection/uuids.ts'
import { startCairnForTest } from '../fixtures/cairn.ts'
import { customerInJourney } from '../fixtures/customer.ts'
import { isDistributed } from '../fixtures/engine.ts'
import { followed, followedCustomers, forwardPage } from '../fixtures/following.ts'
import { withPatience } from '../fixtures/patience.ts'
import { newDatabase } from '../fixtures/postgres/databases.ts'
import { runSql } from '../fixtures/postgres/sql.ts'
import { head, openConnection } from '../fixtures/requests.ts'
import {
  connectTo,
  eventPage,
  idOf,
  initialize,
  insert,
  newEvent,
  newSubject,
  openStoreForTest,
  readingIn,
  type Store,
} from '../fixtures/store.ts'
import { within } from '../fixtures/within.ts'
import { startProxy } from './proxy.ts'

/** Two servers on one database, each with its clock. */
async function replicas(now = Date.now, otherNow = Date.now): Promise<[Store, Store]> {
  const databaseUrl = await newDatabase()
  const open = (now: () => number) => openStoreForTest({ databaseUrl, now })
  return await Promise.all([open(now), open(otherNow)])
}

describe('two replicas', () => {
  it('store each message once, even if both receive it', async () => {
    const [first, second] = await replicas()
    const subject = await newSubject(first)
    for (let round = 0; round < 20; round += 1) {
      const events = Array.from({ length: 20 }, () => newEvent(subject, { message_id: randomUUID() }))
      const answers = await Promise.all([
        first.events.insertEvents(subject.workspace_id, events),
        second.events.insertEvents(subject.workspace_id, events.toReversed()),
      ])
      const [own, others] = [answers[0], answers[1].toReversed()]
      for (const [index, outcome] of own.entries()) {
        const other = others[index]
        expect(other && idOf(other)).toBe(idOf(outcome))
        expect([outcome.status, other?.status].sort()).toEqual(['created', 'duplicate'])
      }
    }
  })

  it('accept one content of a message, and refuse the other', async () => {
    const [first, second] = await replicas()
    const subject = await newSubject(first)
    for (let round = 0; round < 20; round += 1) {
      const message_id = `message ${round}`
      const outcomes = await Promise.all([
        insert(first, subject, { message_id, custom_variables: '{"from":1}' }),
        insert(second, subject, { message_id, custom_variables: '{"from":2}' }),
      ])
      expect(outcomes.map(({ status }) => status).sort()).toEqual(['created', 'rejected'])
    }
  })

  it('create one customer for first calls to both', async () => {
    const [first, second] = await replicas()
    const subject = await newSubject(first)
    const calls = Array.from({ length: 100 }, (_, index) =>
      initialize(index % 2 ? first : second, subject, 'new'),
    )
    const outcomes = await Promise.all(calls)
    expect(new Set(outcomes.map(idOf)).size).toBe(1)
    expect(outcomes.filter((outcome) => 'created' in outcome && outcome.created)).toHaveLength(1)
  })

  it('find a customer by the words of its last name alone if both rename it at the same time', async () => {
    const databaseUrl = await newDatabase()
    const proxy = await startProxy(databaseUrl)
    const [first, second] = await Promise.all(
      [proxy.url, databaseUrl].map((databaseUrl) => openStoreForTest({ databaseUrl })),
    )
    if (!first || !second) throw new Error('a store is missing')
    const { workspace_id, journey_id } = await newSubject(first)
    const rename = (store: Store, customer_name: string) => {
      const customer = { client_customer_id: 'user-1', customer_type: 'contact' as const, customer_name }
      return store.events.initializeCustomer(workspace_id, { ...customer, journey_id })
    }
    const held = proxy.hold('UPDATE customers')
    const renamed = rename(first, 'Grace')
    const letThrough = await held
    await rename(second, 'Mary')
    letThrough()
    await renamed
    expect(
      await runSql(
        databaseUrl,
        'SELECT customer_name, word FROM customers JOIN customer_words USING (customer_id)',
      ),
    ).toEqual([{ customer_name: 'Grace', word: 'grace' }])
  })

  it('list every event that was stored before a walk began once, whatever their clocks say and others store', async () => {
    const [first, second] = await replicas(Date.now, () => Date.now() - 60_000)
    const subject = await newSubject(first)
    const { workspace_id } = subject
    const before = new Set<string>()
    for (let index = 0; index < 30; index += 1) {
      before.add(idOf(await insert(index % 2 ? first : second, subject)))
    }
    let isOver = false
    const storing = [first, second].map(async (store) => {
      while (!isOver) await insert(store, subject)
    })
    const seen: string[] = []
    for (let page: Parameters<Store['events']['newestEvents']>[2] | null = { limit: 7 }; page; ) {
      const list = second.events.newestEvents(workspace_id, {}, page, readingIn(workspace_id))
      const { rows, next } = await eventPage(list)
      seen.push(...rows.map(({ id }) => id))
      page = next && { limit: 7, after: next }
    }
    isOver = true
    await Promise.all(storing)
    expect(new Set(seen).size).toBe(seen.length)
    expect(seen).toEqual(expect.arrayContaining([...before]))
  })

  it('give followers each event once, whatever their clocks say', async () => {
    const [behind, ahead] = await replicas(
      () => Date.now() - 60_000,
      () => Date.now() + 60_000,
    )
    const subject = await newSubject(behind)
    const { workspace_id } = subject
    const stored: string[] = []
    let isOver = false
    const storing = [behind, ahead].map(async (store) => {
      while (!isOver) {
        const events = Array.from({ length: 1 + Math.floor(Math.random() * 5) }, () => newEvent(subject))
        stored.push(...(await store.events.insertEvents(workspace_id, events)).map(idOf))
      }
    })
    const seen: string[] = []
    let next: Position | undefined
    while (seen.length < 200) {
      const page = await forwardPage(ahead, workspace_id, { limit: 30, ...(next && { after: next }) })
      seen.push(...page.rows.map(({ id }) => id))
      next = page.next
    }
    isOver = true
    await Promise.all(storing)
    const rest = await followed(behind, workspace_id, { ...(next && { from: next }) })
    seen.push(...rest.rows.map(({ id }) => id))
    expect(seen.toSorted()).toEqual(stored.toSorted())
    // A walk that begins later sees the same.
    const again = await followed(ahead, workspace_id, { limit: 17 })
    expect(again.rows.map(({ id }) => id)).toEqual(seen)
  })

  it('give followers each customer once, whatever their clocks say', async () => {
    const [behind, ahead] = await replicas(
      () => Date.now() - 60_000,
      () => Date.now() + 60_000,
    )
    const subject = await newSubject(behind)
    const made = ['user-1']
    const making = [behind, ahead].map(async (store, maker) => {
      for (let index = 0; index < 40; index += 1) {
        const own = `user-${maker}-${index}`
        made.push(own)
        await initialize(store, subject, own)
      }
    })
    const first = await followedCustomers(ahead, subject.workspace_id, { limit: 9 })
    await Promise.all(making)
    const rest = await followedCustomers(behind, subject.workspace_id, { limit: 9, from: first.next })
    expect([...first.own, ...rest.own].toSorted()).toEqual(made.toSorted())
    const again = await followedCustomers(ahead, subject.workspace_id)
    expect(again.own).toEqual([...first.own, ...rest.own])
  })

  it('give followers events that are committed late (late arrivals)', async () => {
    const [first, second] = await replicas()
    const subject = await newSubject(first)
    const { workspace_id } = subject
    const other = await connectTo(first.databaseUrl)
    const message_id = randomUUID()
    await other.run('BEGIN')
    await other.run(
      `INSERT INTO event_messages VALUES ('${uuidOf(workspace_id)}', '${message_id}', gen_random_uuid())`,
    )
    // Waits for the transaction that has inserted its message.
    const late = insert(first, subject, { message_id })
    const waiting = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()
      AND query LIKE '%WITH looked_up%'`
    // On Citus it waits on another node.
    const isWaiting = async () => isDistributed || (await runSql(first.databaseUrl, waiting)).length === 1
    await vi.waitUntil(isWaiting, withPatience)
    const meanwhile = [idOf(await insert(second, subject)), idOf(await insert(second, subject))]
    const before = await followed(second, workspace_id)
    expect(before.rows.map(({ id }) => id)).toEqual(meanwhile)
    await other.run('ROLLBACK')
    const id = idOf(await late)
    expect(id < (meanwhile[1] ?? '')).toBe(true)
    const after = await followed(second, workspace_id, { from: before.next })
    expect(after.rows.map((event) => event.id)).toEqual([id])
    const all = await followed(first, workspace_id, { limit: 1 })
    expect(all.rows.map((event) => event.id)).toEqual([...meanwhile, id])
  })

  it('apply a revocation by one of them within a second', async () => {
    const databaseUrl = await newDatabase()
    const first = await startCairnForTest({ databaseUrl })
    const second = await startCairnForTest({ databaseUrl })
    const { workspace, event } = await customerInJourney(first)
    const client = second.client(workspace.secret_key)
    expect((await client.createEvent({ body: event })).response.status).toBe(201)
    // With the same statements as an operation of the first server, but without running that operation.
    await runSql(
      databaseUrl,
      `UPDATE service_keys SET revoked_ms = 1 WHERE kind = 'secret';
      UPDATE cairn_store SET changes = changes + 1`,
    )
    await within(1, async () => expect((await client.listEvents()).response.status).toBe(401))
  })

  it('do not trust a key after they were suspended, before they know what has changed meanwhile', async () => {
    const cairn = await startCairnForTest()
    const { workspace } = await customerInJourney(cairn)
    expect((await workspace.client.listJourneys()).response.status).toBe(200)
    const { socket, answer } = await openConnection(cairn)
    await runSql(
      cairn.databaseUrl,
      `UPDATE service_keys SET revoked_ms = 1 WHERE kind = 'secret';
      UPDATE cairn_store SET changes = changes + 1`,
    )
    socket.write(head('GET /journeys', { 'x-service-key': workspace.secret_key }))
    // The request has arrived when the process goes on.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_100)
    await vi.waitUntil(answer, withPatience)
    expect(answer()).toMatch(/^HTTP\/1\.1 401 /)
  })

  it('do not trust a key once it could not be confirmed for a second', async () => {
    const databaseUrl = await newDatabase()
    const proxy = await startProxy(databaseUrl)
    const cairn = await startCairnForTest({ databaseUrl: proxy.url })
    const other = await startCairnForTest({ databaseUrl })
    const { workspace } = await customerInJourney(other)
    const client = cairn.client(workspace.secret_key)
    expect((await client.listEvents()).response.status).toBe(200)
    proxy.freeze()
    await runSql(databaseUrl, "UPDATE service_keys SET revoked_ms = 1 WHERE kind = 'secret'")
    onTestFinished(proxy.thaw)
    const refused = vi.waitUntil(
      async () => (await client.listJourneys()).response.status === 503,
      withPatience,
    )
    await refused
    proxy.thaw()
    await vi.waitUntil(async () => (await client.listJourneys()).response.status === 401, withPatience)
  })
})
