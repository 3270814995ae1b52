// engines: postgres (what only PostgreSQL has)

import { expect, it } from 'vitest'
import { isDistributed } from '../fixtures/engine.ts'
import { DANISH, newDatabase } from '../fixtures/postgres/databases.ts'
import { runSql } from '../fixtures/postgres/sql.ts'
import { insert, newSubject, openStoreForTest, readingIn } from '../fixtures/store.ts'

/** Copies the only event to one every 12 ms. The identifiers sort otherwise in Danish. */
const COPIES = `
  INSERT INTO events
  SELECT (jsonb_populate_record(event, jsonb_build_object('id', (
    substr(digits, 1, 8) || '-' || substr(digits, 9) || '-7000-8000-' || lpad(to_hex(number), 12, '0')
  )))).*
  FROM events AS event, generate_series(1, 60000) AS number,
    LATERAL (SELECT lpad(to_hex(x'019e0aa80000'::bigint + number * 12), 12, '0') AS digits) AS at`

// On Citus every database of the nodes has the sorting of its server.
it.skipIf(isDistributed)(
  'events are counted once, and the oldest is found, whatever language sorts text',
  async () => {
    const first_ms = 0x019e0aa80000
    const databaseUrl = await newDatabase(DANISH)
    const store = await openStoreForTest({ databaseUrl, now: () => first_ms })
    const subject = await newSubject(store)
    await insert(store, subject)
    await runSql(databaseUrl, COPIES)
    const { workspace_id, journey_id } = subject
    const reading = readingIn(workspace_id)
    const counted = { events: 60_001, isAll: true }
    expect(await store.events.countEvents(workspace_id, {}, reading)).toEqual(counted)
    expect(await store.events.countEvents(workspace_id, { journey_id }, reading)).toEqual(counted)
    expect(await store.events.oldestReceived(workspace_id, { journey_id }, reading)).toBe(first_ms)
    const from_ms = first_ms + 12
    expect(await store.events.oldestReceived(workspace_id, { journey_id, from_ms }, reading)).toBe(from_ms)
  },
)
