import { describe, expect, it } from 'vitest'
import { sqlitePath } from '../../server/storage/storage.ts'
import { Unavailable } from '../../server/storage/unavailable.ts'
import { startCairnForTest } from '../cairn.ts'
import { customerInJourney } from '../operations/customer.ts'
import {
  connect,
  initialize,
  insert,
  newSubject,
  openStore,
  type Store,
  type Subject,
  storedEvents,
} from './store.ts'

/** Lets every event of the name `poison` fail, as a fault of the program would. */
function poison(path: string, resolution: 'ABORT' | 'ROLLBACK' = 'ABORT') {
  connect(path).exec(`CREATE TRIGGER poison BEFORE INSERT ON events WHEN NEW.event_id = 'poison'
    BEGIN SELECT RAISE(${resolution}, 'poisoned'); END`)
}

/** Sends one event of each name in the same turn, so that they are one group. */
async function insertGroup(store: Store, subject: Subject, event_ids: string[]) {
  return await Promise.allSettled(event_ids.map((event_id) => insert(store, subject, { event_id })))
}

describe('an event that the engine refuses', () => {
  it.each([
    ['first', ['poison', 'a', 'b', 'c']],
    ['last', ['a', 'b', 'c', 'poison']],
    ['alone', ['poison']],
    ['not the only one', ['a', 'poison', 'poison', 'b', 'poison']],
  ])('leaves its neighbours stored where it is %s', async (_place, event_ids) => {
    const store = await openStore()
    const subject = await newSubject(store)
    poison(store.path)
    const answers = await insertGroup(store, subject, event_ids)
    expect(answers.map(({ status }) => status)).toEqual(
      event_ids.map((name) => (name === 'poison' ? 'rejected' : 'fulfilled')),
    )
    expect(storedEvents(connect(store.path))).toEqual(event_ids.filter((name) => name !== 'poison'))
  })

  it('leaves its neighbours stored where the engine undoes the whole transaction', async () => {
    const store = await openStore()
    const subject = await newSubject(store)
    poison(store.path, 'ROLLBACK')
    await insertGroup(store, subject, ['a', 'poison', 'b'])
    expect(storedEvents(connect(store.path))).toEqual(['a', 'b'])
  })

  it('takes with it the events that were to be stored with it, whole', async () => {
    const store = await openStore()
    const subject = await newSubject(store)
    poison(store.path)
    const { workspace_id, ...references } = subject
    const batch = ['x', 'poison', 'y'].map((event_id) => ({ ...references, event_id }))
    const answers = await Promise.allSettled([
      insert(store, subject, { event_id: 'a' }),
      store.events.insertEvents(workspace_id, batch),
      insert(store, subject, { event_id: 'b' }),
    ])
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(storedEvents(connect(store.path))).toEqual(['a', 'b'])
  })

  it('does not make its neighbours forget what a resend is', async () => {
    const store = await openStore()
    const subject = await newSubject(store)
    poison(store.path)
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

  it('is a fault and no outage', async () => {
    const store = await openStore()
    const subject = await newSubject(store)
    poison(store.path)
    const [answer] = await insertGroup(store, subject, ['poison'])
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

describe('a table that is gone', () => {
  it('leaves working what does not need it', async () => {
    const store = await openStore()
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
