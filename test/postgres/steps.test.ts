// engines: postgres (how it stores on Citus; SQLite has no nodes)

import { randomUUID } from 'node:crypto'
import { expect, it, onTestFinished } from 'vitest'
import { insertWorkspace } from '../../server/cli/init.ts'
import { readAddress } from '../../server/domain/postgres-urls.ts'
import { Servers } from '../../server/storage/postgres/connection/connection.ts'
import { Pool } from '../../server/storage/postgres/connection/pool.ts'
import { readIdentity } from '../../server/storage/postgres/connection/store-identity.ts'
import { removeCustomer } from '../../server/storage/postgres/removals/postgres-removals.ts'
import { CustomerWriter } from '../../server/storage/postgres/writer/customer-writer.ts'
import { EventWriter } from '../../server/storage/postgres/writer/event-writer.ts'
import { eraseCustomer } from '../../server/storage/removals/erasures.ts'
import { commandLine } from '../../server/storage/tables/audit-log.ts'
import { isDistributed } from '../fixtures/engine.ts'
import { inStore } from '../fixtures/in-store.ts'
import { newDatabase } from '../fixtures/postgres/databases.ts'
import { runSql } from '../fixtures/postgres/sql.ts'
import { idOf, newEvent } from '../fixtures/store.ts'

/** Registers customers and stores events. @returns the outcomes, and what is in the tables, without identifiers */
async function stored(isDistributed: boolean) {
  const url = await newDatabase()
  const names = { workspace: randomUUID(), journey: 'Onboarding' }
  const { workspace_id, journey_id } = await inStore(url, (db) => insertWorkspace(db, names))
  const pool = new Pool({
    servers: new Servers(readAddress(url)),
    most: 2,
    mostWaiting: 10,
    statement_ms: 60_000,
    prepares: true,
  })
  onTestFinished(() => pool.close())
  const now = () => Date.parse('2026-11-26T12:00:00Z')
  const customers = new CustomerWriter({ pool, now, isDistributed })
  const identity = await readIdentity(pool)
  const events = new EventWriter({ pool, now, messageSalt: randomUUID(), identity, isDistributed })

  const call = (client_customer_id: string, customer_name: string) =>
    ({ client_customer_id, customer_name, customer_type: 'contact', journey_id }) as const
  const initialized = [
    ...(await customers.initialize(workspace_id, [call('1', 'Ada Lovelace'), call('2', 'Alan Turing')])),
    ...(await customers.initialize(workspace_id, [
      call('1', 'Ada King'),
      call('3', 'Emmy Noether'),
      call('3', 'E.'),
    ])),
    ...(await customers.initialize(workspace_id, [call('2', 'Alan Turing')])),
  ]
  const [first, second] = initialized.map(idOf)
  const ofFirst = { workspace_id, journey_id, customer_id: first ?? '' }
  const ofSecond = { ...ofFirst, customer_id: second ?? '' }
  const insert = (...sent: ReturnType<typeof newEvent>[]) =>
    events.insert(workspace_id, [{ key_id: '', events: sent, isDiscreet: false }])
  const outcomes = [
    ...(await insert(
      newEvent(ofFirst, { message_id: randomMessage('a') }),
      newEvent(ofFirst, { message_id: 'b', custom_variables: '{"n":1}' }),
      newEvent(ofSecond),
      newEvent(ofSecond, { message_id: 'b' }),
    )),
    ...(await insert(
      newEvent(ofFirst, { message_id: randomMessage('a') }),
      newEvent(ofFirst, { message_id: 'b', custom_variables: '{"n":2}' }),
      newEvent(ofFirst, { message_id: 'c', occurred_ms: 1 }),
      newEvent({ ...ofFirst, customer_id: 'nobody' }),
    )),
  ]
  const erased = { workspace_id, customer_id: ofSecond.customer_id, may_return: true }
  await inStore(url, (db) => eraseCustomer(db, { removeCustomer }, erased, commandLine(0)))
  outcomes.push(...(await insert(newEvent(ofSecond), newEvent(ofFirst, { message_id: 'd' }))))
  return {
    initialized: initialized.map((outcome) => ({ ...outcome, customer_id: idOf(outcome) === first })),
    outcomes: outcomes.map((outcome) => ('code' in outcome ? outcome.code : outcome.status)),
    customers: await runSql(
      url,
      'SELECT client_customer_id, customer_name, name_key FROM customers ORDER BY 1',
    ),
    words: await runSql(url, 'SELECT word FROM customer_words ORDER BY word'),
    enrolments: await runSql(url, 'SELECT count(*) FROM enrolments'),
    arrived: await runSql(
      url,
      `SELECT count(*), count(DISTINCT arrival) AS arrivals, count(*) FILTER (WHERE made) AS made
      FROM enrolment_arrivals, json_to_recordset(enrolments::json) AS rows (made boolean)`,
    ),
    events: await runSql(
      url,
      'SELECT event_id, at_ms, is_dated, message_text, custom_variables, key_id FROM events ORDER BY id',
    ),
    messages: await runSql(url, 'SELECT count(*) FROM event_messages'),
    counts: await runSql(
      url,
      `SELECT minute_ms, taken::jsonb AS taken, (SELECT json_agg(json_build_array(created, duplicate, rejected))
        FROM json_to_recordset(counts::json) AS rows (created int, duplicate int, rejected int)) AS counts
      FROM event_arrivals ORDER BY arrival`,
    ),
  }
}

/** A message_id that is a UUID. */
function randomMessage(digit: string): string {
  return `${digit.repeat(8)}-0000-4000-8000-000000000000`
}

const itOnOneServer = it.skipIf(isDistributed)

itOnOneServer('stores in several statements, as on Citus, exactly what it stores in one', async () => {
  const one = await stored(false)
  expect(one.outcomes).toEqual([
    'created',
    'created',
    'created',
    'message_id_conflict',
    'duplicate',
    'message_id_conflict',
    'created',
    'customer_not_found',
    'customer_erased',
    'created',
  ])
  expect(await stored(true)).toEqual(one)
})
