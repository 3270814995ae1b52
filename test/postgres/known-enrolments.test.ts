// engines: postgres (what only PostgreSQL has)

import { describe, expect, it } from 'vitest'
import { KnownEnrolments } from '../../server/storage/postgres/writer/known-enrolments.ts'
import { isDistributed } from '../fixtures/engine.ts'
import { newDatabase } from '../fixtures/postgres/databases.ts'
import { runSql } from '../fixtures/postgres/sql.ts'
import { idOf, initialize, insert, newSubject, openStoreForTest } from '../fixtures/store.ts'
import { erase } from '../storage/erase.ts'

const created = { status: 'created' }

describe('an enrolment that a writer has seen', () => {
  // On Citus, where a standby may have replaced a single node, each is looked up.
  it.skipIf(isDistributed)('is not looked up again', async () => {
    const store = await openStoreForTest()
    const subject = await newSubject(store)
    expect(await insert(store, subject)).toMatchObject(created)
    // Nothing but an erasure or the removal of a journey does this.
    await runSql(store.databaseUrl, 'DELETE FROM enrolments')
    expect(await insert(store, subject)).toMatchObject(created)
  })

  it('ends with the erasure of its customer by another server', async () => {
    const databaseUrl = await newDatabase()
    const [first, second] = [await openStoreForTest({ databaseUrl }), await openStoreForTest({ databaseUrl })]
    const subject = await newSubject(first)
    const customer_id = idOf(await initialize(first, subject, 'user-2'))
    const other = { ...subject, customer_id }
    for (const one of [subject, other]) expect(await insert(first, one)).toMatchObject(created)

    await erase(second, subject)
    // Looked up with an enrolment that is still valid, and without it.
    expect(await insert(first, subject)).toMatchObject({ status: 'rejected', code: 'customer_erased' })
    expect(await insert(first, other)).toMatchObject(created)
    expect(await insert(first, subject)).toMatchObject({ status: 'rejected', code: 'customer_erased' })
    expect(await insert(first, other)).toMatchObject(created)
    const stored = await runSql(databaseUrl, 'SELECT count(*)::int AS count FROM events')
    expect(stored).toEqual([{ count: 3 }])
  })

  it('is only found in groups with others that are looked up', async () => {
    const store = await openStoreForTest()
    const subject = await newSubject(store)
    const customer_id = idOf(await initialize(store, subject, 'user-2'))
    const erased = { ...subject, customer_id }
    for (const one of [subject, erased]) expect(await insert(store, one)).toMatchObject(created)
    await erase(store, erased)
    const later = { ...subject, customer_id: idOf(await initialize(store, subject, 'user-3')) }
    const outcomes = await Promise.all([subject, erased, later].map((one) => insert(store, one)))
    expect(outcomes).toMatchObject([created, { code: 'customer_erased' }, created])
  })

  it('is of one workspace', async () => {
    const store = await openStoreForTest()
    const [one, other] = [await newSubject(store), await newSubject(store)]
    for (const subject of [one, other]) expect(await insert(store, subject)).toMatchObject(created)
    const { workspace_id, journey_id } = other
    const foreign = [
      { ...one, workspace_id },
      { ...one, workspace_id, journey_id },
    ]
    const outcomes = await Promise.all(foreign.map((subject) => insert(store, subject)))
    expect(outcomes).toMatchObject([{ code: 'journey_not_found' }, { code: 'customer_not_found' }])
  })
})

describe('known enrolments', () => {
  it('are those of the last state', () => {
    const known = new KnownEnrolments()
    known.add('wsp_1', '0', ['a', 'b'])
    known.add('wsp_1', '1', ['b'])
    expect(['a', 'b', 'c'].filter((pair) => known.has('wsp_1', pair))).toEqual(['b'])
    expect(known.stateOf('wsp_1')).toBe('1')
    expect(known.has('wsp_2', 'b')).toBe(false)
    // What was seen before stays forgotten.
    known.add('wsp_1', '0', [])
    expect(['a', 'b'].filter((pair) => known.has('wsp_1', pair))).toEqual([])
  })

  it('are bounded, and keep those that are used', () => {
    const known = new KnownEnrolments()
    known.add('wsp_1', '0', ['used', 'unused'])
    let isUsed = true
    for (let number = 0; number < 200_000; number += 1) {
      known.add('wsp_1', '0', [`pair ${number}`])
      if (number % 10_000 === 0) isUsed &&= known.has('wsp_1', 'used')
    }
    expect(isUsed).toBe(true)
    expect(known.has('wsp_1', 'unused')).toBe(false)
    const all = Array.from({ length: 200_000 }, (_, number) => `pair ${number}`)
    const kept = all.filter((pair) => known.has('wsp_1', pair)).length
    expect(kept).toBeGreaterThanOrEqual(50_000)
    expect(kept).toBeLessThanOrEqual(100_000)
  })
})
