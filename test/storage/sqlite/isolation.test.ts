// engines: sqlite (what only SQLite has)

import { join } from 'node:path'
import Database from 'better-sqlite3'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Page } from '../../../server/domain/paging.ts'
import { SPAN_EVENTS } from '../../../server/storage/sqlite/index/zone-map.ts'
import { sqlitePath } from '../../../server/storage/sqlite/store-files.ts'
import { Unavailable } from '../../../server/storage/unavailable.ts'
import { startCairnForTest, temporaryFolder } from '../../fixtures/cairn.ts'
import { customerInJourney } from '../../fixtures/customer.ts'
import { connect, openStore, openStoreForTest, type Store } from '../../fixtures/file-store.ts'
import {
  eventPage,
  initialize,
  insert,
  newEvent,
  newSubject,
  readingIn,
  type Subject,
} from '../../fixtures/store.ts'
import { eventNames } from '../stored-names.ts'

let store: Store

beforeAll(async () => {
  store = await openStore()
  poison(store.path)
  return store.close
})

/**
 * Makes every event and customer named `poison` fail, and every `venom` end the transaction, like a bug in the program.
 */
function poison(path: string) {
  const connection = new Database(path)
  for (const [name, resolution] of [
    ['poison', 'ABORT'],
    ['venom', 'ROLLBACK'],
  ]) {
    connection.exec(`CREATE TRIGGER ${name} BEFORE INSERT ON events WHEN NEW.event_id = '${name}'
      BEGIN SELECT RAISE(${resolution}, 'poisoned'); END`)
  }
  connection.exec(`CREATE TRIGGER poisoner BEFORE INSERT ON customers WHEN NEW.client_customer_id = 'poison'
    BEGIN SELECT RAISE(ABORT, 'poisoned'); END`)
  connection.close()
}

/** Sends one event of each name in the same iteration of the event loop, so that they form one group. */
async function insertGroup(subject: Subject, event_ids: string[]) {
  return await Promise.allSettled(event_ids.map((event_id) => insert(store, subject, { event_id })))
}

describe('an event that the engine refuses', () => {
  it.each([
    ['first', ['poison', 'a', 'b', 'c']],
    ['last', ['a', 'b', 'c', 'poison']],
    ['alone', ['poison']],
    ['not the only one', ['a', 'poison', 'poison', 'b', 'poison']],
  ])('does not prevent its neighbours from being stored if it is %s', async (_place, event_ids) => {
    const subject = await newSubject(store)
    const answers = await insertGroup(subject, event_ids)
    expect(answers.map(({ status }) => status)).toEqual(
      event_ids.map((name) => (name === 'poison' ? 'rejected' : 'fulfilled')),
    )
    expect(await eventNames(store, subject.workspace_id)).toEqual(
      event_ids.filter((name) => name !== 'poison'),
    )
  })

  it('does not prevent its neighbours from being stored if the engine rolls back the whole transaction', async () => {
    const subject = await newSubject(store)
    await insertGroup(subject, ['a', 'venom', 'b'])
    expect(await eventNames(store, subject.workspace_id)).toEqual(['a', 'b'])
  })

  it('fails its whole request, with all events in it', async () => {
    const subject = await newSubject(store)
    const batch = ['x', 'poison', 'y'].map((event_id) => newEvent(subject, { event_id }))
    const answers = await Promise.allSettled([
      insert(store, subject, { event_id: 'a' }),
      store.events.insertEvents(subject.workspace_id, batch),
      insert(store, subject, { event_id: 'b' }),
    ])
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(await eventNames(store, subject.workspace_id)).toEqual(['a', 'b'])
  })

  it('does not break the deduplication of its neighbours', async () => {
    const subject = await newSubject(store)
    const answers = await Promise.allSettled([
      insert(store, subject, { message_id: 'm-1' }),
      insert(store, subject, { event_id: 'poison', message_id: 'm-2' }),
      insert(store, subject, { message_id: 'm-1' }),
      insert(store, subject, { event_id: 'other', message_id: 'm-1' }),
      insert(store, subject, { message_id: 'm-2' }),
    ])
    expect(answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : 'failed'))).toMatchObject([
      { status: 'created' },
      'failed',
      { status: 'duplicate' },
      { status: 'rejected', code: 'message_id_conflict' },
      { status: 'created' },
    ])
  })

  it('leaves no trace: exactly the stored events are recognized and listed, even after a restart', async () => {
    const path = join(temporaryFolder(), 'cairn.db')
    const before = await openStore({ path })
    poison(path)
    const subject = await newSubject(before)
    const names = ['a', 'poison', 'b', 'venom', 'c']
    const send = (store: Store, names: string[], message_prefix: string) =>
      Promise.allSettled(
        names.map((event_id) => insert(store, subject, { event_id, message_id: message_prefix + event_id })),
      )
    const statuses = (answers: Awaited<ReturnType<typeof send>>) =>
      answers.map((answer) => (answer.status === 'fulfilled' ? answer.value.status : 'failed'))
    const mixed = ['created', 'failed', 'created', 'failed', 'created']
    expect(statuses(await send(before, names, '1-'))).toEqual(mixed)
    // Whole groups that fail, and then one that gets the numbers that they would have had.
    for (const name of ['poison', 'venom']) {
      expect(statuses(await send(before, [name], `alone-${name}-`))).toEqual(['failed'])
    }
    expect(statuses(await send(before, names, '2-'))).toEqual(mixed)
    const seqs = connect(path).prepare<[], number>('SELECT seq FROM events ORDER BY seq').pluck().all()
    expect(seqs).toEqual([1, 2, 3, 4, 5, 6])

    const recognized = async (store: Store) => {
      const stored = ['a', 'b', 'c']
      for (const prefix of ['1-', '2-']) {
        expect(statuses(await send(store, stored, prefix))).toEqual(Array(3).fill('duplicate'))
      }
      const page = { limit: 100 }
      const { workspace_id, customer_id } = subject
      const reading = readingIn(workspace_id)
      for (const { rows } of [
        await eventPage(store.events.newestEvents(workspace_id, {}, page, reading)),
        await eventPage(store.events.customerEvents(workspace_id, customer_id, page, reading)),
      ]) {
        expect(rows.map(({ event_id }) => event_id).toReversed()).toEqual([...stored, ...stored])
      }
    }
    await recognized(before)
    await before.close()
    const after = await openStoreForTest({ path })
    await recognized(after)
    const harmless = ['1-poison', '2-venom', 'alone-poison-poison'].map((message_id) =>
      insert(after, subject, { message_id }),
    )
    expect(await Promise.all(harmless)).toMatchObject(Array(3).fill({ status: 'created' }))
  })

  it('keeps lists in order if its group would have begun a span', async () => {
    const subject = await newSubject(store)
    const { workspace_id } = subject
    const named = (event_ids: string[]) => event_ids.map((event_id) => newEvent(subject, { event_id }))
    const last = connect(store.path).prepare<[], number>('SELECT seq FROM events ORDER BY seq DESC').pluck()
    await insert(store, subject, { event_id: 'old' })
    // Two more fit into the span, and the third begins another.
    const room = SPAN_EVENTS - 3 - (last.get() ?? 0)
    await store.events.insertEvents(workspace_id, named(Array(room).fill('old')))
    const group = store.events.insertEvents(workspace_id, named(['x', 'y', 'z', 'poison']))
    await expect(group).rejects.toThrow('poisoned')
    for (const event_id of ['a', 'b', 'c']) await insert(store, subject, { event_id })
    const seen: (string | undefined)[] = []
    let page: Page = { limit: 1 }
    while (seen.length < 4) {
      const { rows, next } = await eventPage(
        store.events.newestEvents(workspace_id, {}, page, readingIn(workspace_id)),
      )
      seen.push(rows[0]?.event_id)
      if (next) page = { limit: 1, after: next }
    }
    expect(seen).toEqual(['c', 'b', 'a', 'old'])
  })

  it('is a fault and no outage', async () => {
    const subject = await newSubject(store)
    const [answer] = await insertGroup(subject, ['poison'])
    expect(answer).toMatchObject({ reason: { message: expect.stringContaining('poisoned') } })
    expect(answer).not.toMatchObject({ reason: expect.any(Unavailable) })
  })

  it('is answered with 500, and the log has the cause', async () => {
    const cairn = await startCairnForTest()
    const { workspace, event } = await customerInJourney(cairn)
    poison(sqlitePath(cairn.databaseUrl))
    const { error } = await workspace.client.createEvent({ body: { ...event, event_id: 'poison' } })
    expect(error).toMatchObject({ status: 500, code: 'internal_error' })
    expect(JSON.stringify(error)).not.toContain('poisoned')
    const logged = cairn.log.find(({ request_id, err }) => request_id === error?.request_id && err)
    expect(logged).toMatchObject({ err: { message: expect.stringContaining('poisoned') } })
    expect((await workspace.client.createEvent({ body: event })).response.status).toBe(201)
  })
})

describe('a customer that the engine refuses', () => {
  it('does not prevent the events before and after it from being stored, once', async () => {
    const subject = await newSubject(store)
    const answers = await Promise.allSettled([
      insert(store, subject, { event_id: 'a' }),
      initialize(store, subject, 'poison'),
      insert(store, subject, { event_id: 'b' }),
    ])
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(await eventNames(store, subject.workspace_id)).toEqual(['a', 'b'])
  })
})

describe('a missing table', () => {
  it('does not affect what does not need it', async () => {
    const store = await openStoreForTest()
    const subject = await newSubject(store)
    connect(store.path).exec('DROP TABLE events')
    const answers = await Promise.allSettled([
      initialize(store, subject, 'user-2'),
      insert(store, subject),
      initialize(store, subject, 'user-3'),
    ])
    expect(answers).toMatchObject([
      { value: { created: true } },
      { reason: { message: expect.stringContaining('no such table') } },
      { value: { created: true } },
    ])
    const customers = connect(store.path).prepare('SELECT client_customer_id FROM customers').pluck().all()
    expect(customers).toEqual(['user-1', 'user-2', 'user-3'])
  })
})
