// engines: postgres (SQLite has one writer)

import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { newId } from '../../server/domain/identifiers.ts'
import { uuidOf } from '../../server/storage/postgres/connection/uuids.ts'
import { removals } from '../../server/storage/removals/removals.ts'
import { commandLine } from '../../server/storage/tables/audit-log.ts'
import { createJourney } from '../../server/storage/tables/audited-changes.ts'
import { isDistributed } from '../fixtures/engine.ts'
import { withPatience } from '../fixtures/patience.ts'
import { runSql } from '../fixtures/postgres/sql.ts'
import { idOf, initialize, insert, newSubject, openStoreForTest } from '../fixtures/store.ts'
import { beginErasure } from '../storage/erase.ts'
import { allRemoved, beginJourneyRemoval, completeRemovals } from '../storage/removing.ts'

/** Another program's transaction. */
async function transaction(databaseUrl: string): Promise<Client> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  onTestFinished(() => client.end())
  await client.query('BEGIN')
  return client
}

// On Citus it waits on another node.
describe.skipIf(isDistributed)('a write that began before a removal and ends after it has begun', () => {
  it.each([
    { what: 'customer', begin: beginErasure },
    { what: 'journey', begin: beginJourneyRemoval },
  ])('leaves nothing of a $what behind', async ({ begin }) => {
    const store = await openStoreForTest()
    const { databaseUrl } = store
    const other = await openStoreForTest({ databaseUrl })
    const subject = await newSubject(store)
    const message_id = randomUUID()
    const holding = await transaction(databaseUrl)
    const taken = [uuidOf(subject.workspace_id), message_id, randomUUID()]
    await holding.query('INSERT INTO event_messages VALUES ($1, $2, $3)', taken)
    const writing = insert(store, subject, { message_id }).then(
      ({ status }) => status,
      ({ reason }) => reason,
    )
    const waiting = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()
      AND query LIKE '%WITH looked_up%'`
    await expect.poll(async () => (await runSql(databaseUrl, waiting)).length, withPatience).toBe(1)
    // With a later identifier.
    await insert(other, subject)
    await begin(other, subject)
    other.removals.begin()
    const places = async () => (await removals(store.db)).map(({ place }) => place)
    await expect.poll(places, withPatience).toEqual([expect.stringContaining('"blind":["')])
    await holding.query('ROLLBACK')
    // The latter if all this took longer than the server waits for a statement.
    expect(['created', 'overloaded']).toContain(await writing)
    await allRemoved(store)
    for (const table of ['events', 'event_messages']) {
      expect(await runSql(databaseUrl, `SELECT * FROM ${table}`)).toEqual([])
    }
  })
})

describe('a removal that a server of version 1.1 has begun', () => {
  it('begins again, because that has walked without waiting for writes', async () => {
    const store = await openStoreForTest()
    const subject = await newSubject(store)
    await insert(store, subject)
    await beginJourneyRemoval(store, subject)
    await runSql(
      store.databaseUrl,
      `UPDATE removals SET place = place::jsonb || jsonb_build_object('after', replace(id::text, '-', '')) FROM events`,
    )
    await completeRemovals(store)
    expect(await runSql(store.databaseUrl, 'SELECT * FROM events')).toEqual([])
  })
})

describe('the message of an event that is being removed', () => {
  it('can be used again at once, and stays with the new event', async () => {
    const store = await openStoreForTest()
    const subject = await newSubject(store)
    const { workspace_id } = subject
    const message_id = randomUUID()
    const before = idOf(await insert(store, subject, { message_id }))
    const journey_id = newId('jrn')
    const journey = { journey_id, name: 'Second', description: '', steps: [] }
    const author = commandLine(Date.now())
    await store.db.transaction().execute((db) => createJourney(db, workspace_id, journey, author))
    await initialize(store, { workspace_id, journey_id }, 'user-1')

    // The removal waits for this.
    const writing = await transaction(store.databaseUrl)
    await writing.query('LOCK TABLE event_messages IN ROW EXCLUSIVE MODE')
    await beginJourneyRemoval(store, subject)
    store.removals.begin()
    const second = { ...subject, journey_id }
    const after = idOf(await insert(store, second, { message_id }))
    expect(after).not.toBe(before)
    expect(await removals(store.db)).toHaveLength(1)
    await writing.query('COMMIT')
    await allRemoved(store)
    expect(await insert(store, second, { message_id })).toMatchObject({ status: 'duplicate', id: after })
  })
})
