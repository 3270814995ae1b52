// engines: sqlite, postgres

import { describe, expect, it, vi } from 'vitest'
import { newId } from '../../server/domain/identifiers.ts'
import { Unavailable } from '../../server/storage/unavailable.ts'
import { engine } from '../fixtures/engine.ts'
import { withPatience } from '../fixtures/patience.ts'
import {
  addJourney,
  connectTo,
  holdWrites,
  idOf,
  initialize,
  insert,
  newEvent,
  newSubject,
  openStoreForTest,
  type Store,
  type Subject,
  storedEvents,
} from '../fixtures/store.ts'
import { serveStoreForTest } from './served-store.ts'

/** Limit of waiting rows of one workspace, if no other sends. */
const WAITING_ROWS = 20_000

const overloaded = { reason: { name: 'Unavailable', reason: 'overloaded' } }

function insertMany({ events }: Store, subject: Subject, rows: number) {
  return events.insertEvents(
    subject.workspace_id,
    Array.from({ length: rows }, () => newEvent(subject)),
  )
}

/** Takes the lock like another program, so that the writer waits, and everything else behind it. */
async function holdWriter(store: Store, subject: Subject) {
  const other = await connectTo(store.databaseUrl)
  const letWrite = await holdWrites(other)
  const taken: Promise<unknown>[] = [insert(store, subject)]
  // Once it has been sent to the writer, it no longer counts as waiting.
  await vi.waitUntil(() => store.statistics().waitingRows === 0, withPatience)
  return {
    other,
    taken,
    /** Waits until everything accepted is stored. */
    async release() {
      await letWrite()
      await Promise.all(taken)
    },
  }
}

describe('a full queue', () => {
  it('refuses at once, and stores what it had accepted', async () => {
    const store = await openStoreForTest()
    const subject = await newSubject(store)
    const { other, taken, release } = await holdWriter(store, subject)
    for (let rows = 0; rows < WAITING_ROWS; rows += 1_000) taken.push(insertMany(store, subject, 1_000))
    const refused = await Promise.allSettled([
      insert(store, subject, { event_id: 'refused' }),
      insertMany(store, subject, 2),
    ])
    expect(refused).toMatchObject([overloaded, overloaded])
    expect(() => store.assertAvailable('write', subject.workspace_id)).toThrow('overloaded')
    expect(() => store.assertAvailable('read')).not.toThrow()

    await release()
    expect(await other.run('SELECT event_id, count(*) AS count FROM events GROUP BY event_id')).toEqual([
      { event_id: 'signed_up', count: WAITING_ROWS + 1 },
    ])
    expect(await insert(store, subject)).toMatchObject({ status: 'created' })
  })

  it('of one workspace leaves as much space for others as it uses', async () => {
    const store = await openStoreForTest()
    const greedy = await newSubject(store)
    const modest = await newSubject(store)
    const { taken, release } = await holdWriter(store, greedy)
    taken.push(insertMany(store, greedy, WAITING_ROWS))
    for (let rows = 0; rows < WAITING_ROWS / 2; rows += 1_000) taken.push(insertMany(store, modest, 1_000))
    const refused = await Promise.allSettled([insert(store, greedy), insert(store, modest)])
    expect(refused).toMatchObject([overloaded, overloaded])
    await release()
  })

  it('of all workspaces refuses everybody', async () => {
    const store = await openStoreForTest()
    const subject = await newSubject(store)
    const { taken, release } = await holdWriter(store, subject)
    taken.push(insertMany(store, subject, 2 * WAITING_ROWS))
    const refused = await Promise.allSettled([
      insert(store, { ...subject, workspace_id: newId('wsp') }),
      store.assertWritable(),
    ])
    expect(refused).toMatchObject([overloaded, overloaded])
    expect(() => store.assertAvailable('write')).toThrow('overloaded')
    await release()
  })

  it('accepts what fits and refuses the next', async () => {
    const store = await openStoreForTest()
    const subject = await newSubject(store)
    const { other, taken, release } = await holdWriter(store, subject)
    taken.push(insertMany(store, subject, WAITING_ROWS - 1), insert(store, subject))
    await expect(insert(store, subject)).rejects.toMatchObject(overloaded.reason)
    await release()
    expect(await storedEvents(other)).toHaveLength(WAITING_ROWS + 1)
  })

  it('causes a 503 over HTTP before the body is read', async () => {
    const { store, url, workspace } = await serveStoreForTest()
    const subject = { ...workspace, customer_id: idOf(await initialize(store, workspace, 'user-1')) }
    const { taken, release } = await holdWriter(store, subject)
    const isFull = () => {
      try {
        store.assertAvailable('write', subject.workspace_id)
        return false
      } catch {
        return true
      }
    }
    // PostgreSQL may accept something more while the first write is blocked.
    for (let round = 0; round < 2; round += 1) {
      while (!isFull()) taken.push(insertMany(store, subject, 1_000))
      await fetch(`${url}/healthz`)
    }
    const headers = { 'x-service-key': workspace.secret_key, 'content-type': 'application/json' }
    const send = (body: string) => fetch(`${url}/v1/events/create`, { method: 'POST', headers, body })
    for (const reply of [await send('{}'), await send('no JSON')]) {
      expect(reply.status).toBe(503)
      expect(reply.headers.get('retry-after')).toBe('1')
      expect(await reply.json()).toMatchObject({ code: 'overloaded' })
    }
    await release()
    expect((await send('{}')).status).toBe(400)
  })
})

describe('transactions that wait', () => {
  it('do not block events, however many there are', async () => {
    const store = await openStoreForTest()
    const subject = await newSubject(store)
    let finished = 0
    let isStored = false
    const makeJourney = async () => {
      await addJourney(store, subject)
      finished += 1
    }
    // They do not stop before the event is stored. On a busy machine the last ones are refused, as they waited too long.
    const transactions = Array.from({ length: 100 }, async () => {
      while (!isStored) await makeJourney().catch((error) => expect(error).toBeInstanceOf(Unavailable))
    })
    await insert(store, subject)
    isStored = true
    // SQLite's one writer alternates; PostgreSQL has several that run concurrently, each as fast as it can.
    if (engine === 'sqlite') expect(finished).toBeLessThan(10)
    await Promise.all(transactions)
  })
})
