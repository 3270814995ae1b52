// engines: postgres (what only PostgreSQL has)

import { describe, expect, it } from 'vitest'
import { PACKED_EVENT, PackedEvents } from '../../server/storage/postgres/arrivals/packed-events.ts'
import { EMPTY, newDatabase } from '../fixtures/postgres/databases.ts'
import { runSql } from '../fixtures/postgres/sql.ts'

const EVENTS = [
  { id: '0193a1b2c3d47abc8def0123456789ab', customer_id: '0'.repeat(32), at_ms: 0, event_id: 'signed_up' },
  {
    id: 'f'.repeat(32),
    customer_id: `${'0'.repeat(31)}1`,
    at_ms: -62_135_596_800_000,
    event_id: 'übersetzt 🎉 ',
  },
  { id: '0'.repeat(32), customer_id: 'f'.repeat(32), at_ms: 253_402_300_799_999, event_id: 'x'.repeat(200) },
  { id: `00${'0a'.repeat(15)}`, customer_id: '00'.repeat(16), at_ms: -1, event_id: '0' },
]

describe('packed events', () => {
  it('are what their rows are', async () => {
    const rows = EVENTS.map(
      ({ id, customer_id, at_ms, event_id }, place) =>
        `(${place}, '${id}'::uuid, '${customer_id}'::uuid, ${at_ms}::bigint, '${event_id}')`,
    )
    const [row] = await runSql(
      await newDatabase(EMPTY),
      `SELECT string_agg(${PACKED_EVENT}, ''::bytea ORDER BY place) AS events
      FROM (VALUES ${rows.join()}) AS events (place, id, customer_id, at_ms, event_id)`,
    )
    const packed = new PackedEvents(row?.events as Buffer)
    expect(
      Array.from({ length: packed.length }, (_, index) => ({
        id: packed.id(index),
        customer_id: packed.customer(index),
        at_ms: packed.at_ms(index),
        event_id: packed.name(index),
      })),
    ).toEqual(EVENTS)
    const instants = EVENTS.map(({ id }) => Number.parseInt(id.slice(0, 12), 16))
    expect(EVENTS.map((_, index) => packed.created_ms(index))).toEqual(instants)
  })
})
