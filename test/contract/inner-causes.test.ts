import { randomUUID } from 'node:crypto'
import { closeSync, fstatSync, openSync, writeSync } from 'node:fs'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inStore } from '../../server/cli/store.ts'
import { newId } from '../../server/domain/identifiers.ts'
import { newServiceKey } from '../../server/domain/service-keys.ts'
import { insertServiceKey } from '../../server/storage/service-keys.ts'
import { type Cairn, startCairn, startCairnForTest, type Workspace } from '../cairn.ts'
import { declaring, type Place, sendTo } from './requests.ts'

function placeIn(cairn: Cairn, { secret_key, journey_id }: Workspace, customer_id = 'cus_1'): Place {
  const send: Place['send'] = ({ path, method, headers, body }) => {
    return cairn.fetch(path, { method, ...(headers && { headers }), ...(body !== undefined && { body }) })
  }
  return { key: secret_key, journey_id, customer_id, send }
}

describe('a key that does not open an operation gets 403', () => {
  let cairn: Cairn

  beforeAll(async () => {
    cairn = await startCairn()
  })
  afterAll(() => cairn.stop())

  it.each(declaring('403'))('%s', async (_id, operation) => {
    const workspace = await cairn.workspace()
    const isForBrowsers = operation.accepts.includes('PublishableKey')
    const key = isForBrowsers
      ? await keyWithOrigin(cairn, workspace, 'https://www.example.com')
      : workspace.publishable_key
    const reply = await sendTo(placeIn(cairn, workspace), operation, {
      key,
      origin: 'https://elsewhere.example.com',
    })
    const { code } = await reply.json()
    expect([reply.status, code]).toEqual([403, isForBrowsers ? 'origin_not_allowed' : 'secret_key_required'])
  })
})

/** A key of the workspace that only pages of one origin may use. */
async function keyWithOrigin(
  { databaseUrl }: Cairn,
  { workspace_id }: Workspace,
  origin: string,
): Promise<string> {
  const token = newServiceKey('publishable')
  const key = { key_id: newId('key'), workspace_id, kind: 'publishable', name: 'Page' } as const
  const rules = { allowed_origins: [origin], rate_limit: null, created_ms: Date.now(), expires_ms: null }
  await inStore(databaseUrl, (db) => insertServiceKey(db, { ...key, ...rules, token }))
  return token
}

describe('with the rate used up, every operation answers 429', () => {
  it.each(declaring('429'))('%s', async (_id, operation) => {
    const cairn = await startCairnForTest({ rateLimit: 1, now: () => 1_800_000_000_000 })
    const place = placeIn(cairn, await cairn.workspace())
    await sendTo(place, operation)
    await sendTo(place, operation)
    expect((await sendTo(place, operation)).status).toBe(429)
  })
})

describe('with the tables gone, every operation answers 500 and the log has the cause', () => {
  let cairn: Cairn
  let place: Place

  beforeAll(async () => {
    cairn = await startCairn()
    place = placeIn(cairn, await cairn.workspace())
    const database = new Database(fileOf(cairn))
    database.pragma('foreign_keys = OFF')
    for (const table of ['events', 'enrolments', 'customers', 'journeys'])
      database.exec(`DROP TABLE ${table}`)
    database.close()
  })
  afterAll(() => cairn.stop())

  it.each(declaring('500'))('%s', async (_id, operation) => {
    const reply = await sendTo(place, operation)
    expect(reply.status).toBe(500)
    const { request_id, detail } = await reply.json()
    expect(detail).not.toMatch(/table|SQL/i)
    const line = cairn.log.find((entry) => entry.request_id === request_id && entry.err)
    expect(JSON.stringify(line?.err)).toContain('no such table')
  })
})

describe('with the file destroyed, every operation answers 503', () => {
  let cairn: Cairn
  let place: Place

  beforeAll(async () => {
    const first = await startCairn()
    const workspace = await first.workspace()
    await first.stop()
    cairn = await startCairn({ databaseUrl: first.databaseUrl })
    place = placeIn(cairn, workspace)
    // What the process has in memory now is the key, and nothing else of the file.
    await place.send({ method: 'GET', path: '/journeys?limit=0', headers: { 'x-service-key': place.key } })
    overwrite(fileOf(cairn))
  })
  afterAll(() => cairn.stop())

  it.each(declaring('503'))('%s', async (_id, operation) => {
    const reply = await sendTo(place, operation)
    expect(reply.status).toBe(503)
    expect(await reply.json()).toMatchObject({ code: 'storage_unavailable' })
  })
})

function fileOf({ databaseUrl }: Cairn): string {
  return databaseUrl.slice('sqlite:'.length)
}

/** Fills the file with nonsense behind its first page, the one by which it is known as a database. */
function overwrite(path: string) {
  const file = openSync(path, 'r+')
  const page_bytes = 4096
  const { size } = fstatSync(file)
  writeSync(file, Buffer.alloc(size - page_bytes, randomUUID()), 0, size - page_bytes, page_bytes)
  closeSync(file)
}
