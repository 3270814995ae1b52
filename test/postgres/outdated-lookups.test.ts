// engines: postgres (SQLite looks up and stores in one transaction)

import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { isDistributed } from '../fixtures/engine.ts'
import { withPatience } from '../fixtures/patience.ts'
import { newDatabase } from '../fixtures/postgres/databases.ts'
import { runSql } from '../fixtures/postgres/sql.ts'
import {
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
import { erase } from '../storage/erase.ts'
import { beginJourneyRemoval, completeRemovals } from '../storage/removing.ts'
import { startProxy } from './proxy.ts'

/** In the first statement that stores a group; on Citus it is one of several. */
const STORING = isDistributed ? 'SELECT journey_id FROM journeys' : 'INTO event_messages'

/** A server that can be stopped between looking up references and storing, and another one. */
async function twoServers() {
  const databaseUrl = await newDatabase()
  const proxy = await startProxy(databaseUrl)
  const stopped = await openStoreForTest({ databaseUrl: proxy.url })
  const other = await openStoreForTest({ databaseUrl })
  const subject = await newSubject(other)
  return { databaseUrl, proxy, stopped, other, subject }
}

/** Sends again after 503, the answer if a statement was held for longer than a server waits. */
async function persistently<Result>(send: () => Promise<Result>): Promise<Result> {
  return await send().catch((error) => {
    expect(error).toMatchObject({ reason: 'storage_unavailable' })
    return send()
  })
}

async function removeJourney(store: Store, subject: Subject) {
  await beginJourneyRemoval(store, subject)
  await completeRemovals(store)
}

async function counted(store: Store, { workspace_id }: Subject) {
  const span = { by: 'hour', from_ms: Date.now() - 3_600_000, to_ms: Date.now() } as const
  return (await countedActivity(store.activity(workspace_id, span, readingIn(workspace_id)))).total
}

it.each([
  { what: 'customer', remove: erase, code: 'customer_erased', message_id: 'a text' },
  { what: 'customer', remove: erase, code: 'customer_erased', message_id: null },
  { what: 'journey', remove: removeJourney, code: 'journey_not_found', message_id: 'a text' },
  { what: 'journey', remove: removeJourney, code: 'journey_not_found', message_id: null },
])(
  'stores nothing of a $what that was removed by another server after it was looked up: message_id $message_id',
  async ({ what, remove, code, message_id }) => {
    const { databaseUrl, proxy, stopped, other, subject } = await twoServers()
    const held = proxy.hold(STORING)
    const outcome = persistently(() => insert(stopped, subject, { message_id }))
    const letThrough = await held
    await remove(other, subject)
    letThrough()
    expect(await outcome).toEqual({ status: 'rejected', code })
    for (const table of ['events', 'event_messages']) {
      expect(await runSql(databaseUrl, `SELECT * FROM ${table}`)).toEqual([])
    }
    expect(await counted(stopped, subject)).toEqual({ created: 0, duplicate: 0, rejected: 1 })
    // The name of a removed journey does not come back with what is counted.
    const queue = () => runSql(databaseUrl, 'SELECT 1 AS one FROM event_arrivals')
    await expect.poll(queue, withPatience).toEqual([])
    const series = await runSql(databaseUrl, 'SELECT journey_id FROM event_series')
    expect(series).toEqual([{ journey_id: what === 'journey' ? '' : subject.journey_id }])
  },
)

it('stores the events of the others', async () => {
  const { proxy, stopped, other, subject } = await twoServers()
  const kept = { ...subject, customer_id: idOf(await initialize(other, subject, 'user-2')) }
  const known = { message_id: randomUUID() }
  const { id } = (await insert(other, kept, known)) as { id: string }
  const held = proxy.hold(STORING)
  const sentTwice = newEvent(subject, { message_id: randomUUID() })
  const events = [sentTwice, newEvent(kept), newEvent(kept, known), sentTwice, newEvent(kept)]
  const outcomes = persistently(() => stopped.events.insertEvents(subject.workspace_id, events))
  const letThrough = await held
  await erase(other, subject)
  letThrough()
  expect(await outcomes).toMatchObject([
    { status: 'rejected', code: 'customer_erased' },
    { status: 'created' },
    { status: 'duplicate', id },
    { status: 'rejected', code: 'customer_erased' },
    { status: 'created' },
  ])
  expect(await counted(stopped, subject)).toEqual({ created: 3, duplicate: 1, rejected: 2 })
})
