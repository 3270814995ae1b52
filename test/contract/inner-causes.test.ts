// engines: sqlite, postgres

import { randomUUID } from 'node:crypto'
import { closeSync, fstatSync, openSync, writeSync } from 'node:fs'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { sqlitePath } from '../../server/storage/sqlite/store-files.ts'
import { type Cairn, startCairn } from '../fixtures/cairn.ts'
import { type ContractOperation, shownProblems } from '../fixtures/contract/document.ts'
import { newAddress, type RawRequest, type Send } from '../fixtures/contract/target.ts'
import { engine } from '../fixtures/engine.ts'
import { withPatience } from '../fixtures/patience.ts'
import { runSql } from '../fixtures/postgres/sql.ts'
import { declaring, namedBy, newPlace, type Place, requestTo, sendTo, UNKNOWN } from './requests.ts'

function sendThrough(cairn: Cairn): Send {
  return ({ path, method, headers, body }) =>
    cairn.fetch(path, { method, ...(headers && { headers }), ...(body !== undefined && { body }) })
}

async function placeIn(cairn: Cairn): Promise<Place> {
  return await newPlace({ cairn, send: sendThrough(cairn) })
}

/** Names of nothing that exists, for requests that are refused before that matters. */
function unknown(operation: ContractOperation): Record<string, string> {
  return Object.fromEntries(namedBy(operation).map((name) => [name, UNKNOWN]))
}

describe('with the rate limit reached, every operation with a credential answers 429', () => {
  let cairn: Cairn

  beforeAll(async () => {
    const now_ms = Date.now()
    cairn = await startCairn({ rateLimit: 1, now: () => now_ms })
  })
  afterAll(() => cairn.stop())

  const rows = declaring('429').filter(([, , caller]) => caller !== 'nobody')

  it.each(rows)('%s', async (_name, operation, caller) => {
    const place = await placeIn(cairn)
    const headers = place.headers[caller] ?? {}
    const path = caller === 'key' ? '/journeys' : '/session'
    for (const _ of [1, 2]) expect((await place.send({ method: 'GET', path, headers })).status).toBe(200)
    const reply = await sendTo(place, operation, caller, { names: unknown(operation) })
    expect([reply.status, (await reply.json()).code]).toEqual([429, 'rate_limited'])
  })
})

describe('after too many wrong guesses, every operation that accepts one answers 429', () => {
  const guessed = ['token', 'password', 'current_password']
  const rows = declaring('429').filter(([, operation]) => {
    const shows = shownProblems(operation).some(({ name }) => name === 'too_many_attempts')
    return shows || operation.operationId === 'joinWorkspace'
  })
  let cairn: Cairn
  let requests: Map<string, RawRequest>

  // Everything before the first guess: the server stores failed sign-ins some time later.
  beforeAll(async () => {
    const now_ms = Date.now()
    cairn = await startCairn({ trustedProxies: ['127.0.0.1'], now: () => now_ms })
    requests = new Map()
    for (const [name, operation, caller] of rows) {
      const place = await placeIn(cairn)
      const headers = { ...place.headers[caller], 'x-forwarded-for': newAddress() }
      requests.set(name, await requestTo(place, operation, caller, { headers }))
    }
  })
  afterAll(() => cairn.stop())

  it.each(rows)('%s', async (name) => {
    const right = requests.get(name) as RawRequest
    const send = sendThrough(cairn)
    const body = JSON.parse(right.body ?? '')
    // Only the first field: a wrong token with a password that is too short does not count as a guess.
    const [field = ''] = guessed.filter((name) => name in body)
    const guess = () => send({ ...right, body: JSON.stringify({ ...body, [field]: UNKNOWN }) })
    let reply = await guess()
    for (let guesses = 1; reply.status !== 429 && guesses < 100; guesses += 1) {
      expect([401, 404, 409]).toContain(reply.status)
      reply = await guess()
    }
    expect([reply.status, (await reply.json()).code]).toEqual([429, 'too_many_attempts'])
    // Nothing of the request is checked: the right one is refused too.
    expect((await send(right)).status).toBe(429)
  })
})

/** Requests to every operation that declares the status, by all allowed callers, as rows of a table of tests. */
async function requestsTo(
  place: Place,
  rows: ReturnType<typeof declaring>,
): Promise<Map<string, RawRequest>> {
  const requests = new Map<string, RawRequest>()
  for (const [name, operation, caller] of rows) {
    requests.set(name, await requestTo(place, operation, caller, {}))
  }
  return requests
}

const TABLES_OF_PAGES = [
  'members',
  'invitations',
  'setup_links',
  'password_links',
  'audit_log',
  'service_keys',
  'journeys',
  'customers',
  'events',
  'event_counts',
]

describe.each([
  // Even though the caller is known.
  [
    'a key',
    ['key'],
    [
      'events',
      'event_counts',
      'enrolments',
      'customers',
      'journeys',
      'refusals',
      'erasures',
      'event_definitions',
      'webhooks',
      'view_links',
      'views',
      'definition_violations',
    ],
  ],
  ['a page', ['person'], TABLES_OF_PAGES],
  ['a visitor', ['nobody'], TABLES_OF_PAGES],
])(
  'without the tables, every operation answers %s with 500 and the log has the cause',
  (name, callers, tables) => {
    const rows = declaring('500').filter(([, , caller]) => callers.includes(caller))
    let cairn: Cairn
    let requests: Map<string, RawRequest>

    beforeAll(async () => {
      cairn = await startCairn()
      const place = await placeIn(cairn)
      requests = await requestsTo(place, rows)
      await untilSettled(place)
      const drops = tables.map((table) => `DROP TABLE ${table} ${engine === 'sqlite' ? '' : 'CASCADE'}`)
      // Only the list of sessions shows it; authentication does not need it.
      const others = ['ALTER TABLE sessions DROP COLUMN browser']
      // A session refers to a person, and a visitor has none. Renamed instead of dropped, because sessions refer to it.
      if (name === 'a visitor') others.push('ALTER TABLE people RENAME TO people_before')
      await change(cairn, [...drops, ...others])
    })
    afterAll(() => cairn.stop())

    it.each(rows)('%s', async (name) => {
      const reply = await sendThrough(cairn)(requests.get(name) as RawRequest)
      expect(reply.status).toBe(500)
      const { request_id, detail } = await reply.json()
      expect(detail).not.toMatch(/table|SQL/i)
      const line = cairn.log.find((entry) => entry.request_id === request_id && entry.err)
      expect(JSON.stringify(line?.err)).toMatch(/no such table|no such column|has no column|does not exist/)
    })
  },
)

describe('with the store destroyed, every operation answers 503', () => {
  const rows = declaring('503')
  let cairn: Cairn
  let requests: Map<string, RawRequest>

  beforeAll(async () => {
    const first = await startCairn()
    const place = await placeIn(first)
    requests = await requestsTo(place, rows)
    await first.stop()
    cairn = await startCairn({ databaseUrl: first.databaseUrl })
    // The process now has only the key cached, and nothing else of the store.
    await cairn.fetch('/journeys?limit=0', { headers: place.headers.key ?? {} })
    await destroy(cairn)
  })
  afterAll(() => cairn.stop())

  it.each(rows)('%s', async (name, { operationId }, caller) => {
    const reply = await sendThrough(cairn)(requests.get(name) as RawRequest)
    // SQLite keeps refusals in a file of their own, but needs the store to look up the session.
    if (engine === 'sqlite' && operationId === 'getRefusalSummary' && caller === 'key') {
      return expect(reply.status).toBe(200)
    }
    // SQLite has cached this page of the file since the start.
    if (engine === 'sqlite' && operationId === 'getSetup') return expect(reply.status).toBe(200)
    expect(reply.status).toBe(503)
    expect(await reply.json()).toMatchObject({ code: 'storage_unavailable' })
  })
})

/** Waits until everything stored before is in the order of arrival: an export ends at what was settled last. */
async function untilSettled({ send, headers: { key: headers = {} } }: Place) {
  const begun_ms = Date.now()
  const ask = async () => (await send({ method: 'GET', path: '/events?order=oldest', headers })).json()
  await vi.waitUntil(async () => Date.parse((await ask()).caught_up_to) >= begun_ms, withPatience)
}

/** Changes the schema, ignoring dependencies. */
async function change({ databaseUrl }: Cairn, statements: string[]) {
  if (engine === 'postgres') return void (await runSql(databaseUrl, ...statements))
  const path = sqlitePath(databaseUrl)
  for (const statement of statements) {
    // Refusals are in a file of their own.
    const file = new Database(statement.includes('TABLE refusals') ? `${path}-refusals` : path)
    file.pragma('foreign_keys = OFF')
    file.exec(statement)
    file.close()
  }
}

/** Destroys the store: of a file everything but its header, of a PostgreSQL database everything. */
async function destroy({ databaseUrl }: Cairn) {
  if (engine === 'sqlite') return overwrite(sqlitePath(databaseUrl))
  const database = new URL(databaseUrl).pathname.slice(1)
  await runSql(
    inject('postgres').url,
    `ALTER DATABASE ${database} ALLOW_CONNECTIONS false`,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database}'`,
  )
}

/** Overwrites the file after its first page, which identifies it as a database. */
function overwrite(path: string) {
  const file = openSync(path, 'r+')
  const page_bytes = 4096
  const { size } = fstatSync(file)
  writeSync(file, Buffer.alloc(size - page_bytes, randomUUID()), 0, size - page_bytes, page_bytes)
  closeSync(file)
}
