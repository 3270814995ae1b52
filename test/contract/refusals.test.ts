import { randomUUID } from 'node:crypto'
import { closeSync, fstatSync, openSync, writeSync } from 'node:fs'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inStore } from '../../server/cli/store.ts'
import { newId } from '../../server/domain/identifiers.ts'
import { newServiceKey } from '../../server/domain/service-keys.ts'
import { insertServiceKey } from '../../server/storage/service-keys.ts'
import { type Cairn, startCairn, type Workspace } from '../cairn.ts'
import { type ContractOperation, operations } from './document.ts'

/** A workspace whose journey and customer the requests name. */
type Place = { cairn: Cairn; workspace: Workspace; customer_id: string; key: string }
type Sent = {
  key?: string | undefined
  origin?: string
  type?: string
  query?: string
  body?: unknown
  id?: string
}
type Cause = (operation: ContractOperation, place: Place) => Promise<Response>

const UNKNOWN = 'unknown'

let cairn: Cairn

beforeAll(async () => {
  cairn = await startCairn()
})
afterAll(() => cairn.stop())

async function placeIn(cairn: Cairn): Promise<Place> {
  const workspace = await cairn.workspace()
  const { data } = await workspace.client.initializeCustomer({ body: initialization(workspace.journey_id) })
  return { cairn, workspace, customer_id: data?.customer_id ?? '', key: workspace.secret_key }
}

function initialization(journey_id: string) {
  const customer = { client_customer_id: 'user-1', customer_type: 'contact', customer_name: 'Ada' } as const
  return { ...customer, journey_id }
}

/** The smallest body that each operation accepts. */
function bodyOf({ operationId }: ContractOperation, { workspace, customer_id }: Place): object | undefined {
  const { journey_id } = workspace
  const bodies: Record<string, object> = {
    initializeCustomer: initialization(journey_id),
    createEvent: { journey_id, customer_id, event_id: 'signed_up' },
    createJourney: { name: 'Renewal' },
    updateJourney: { name: 'Renewal' },
  }
  return bodies[operationId]
}

/** Sends what the operation accepts, but for what the cause of a refusal changes. */
async function send(operation: ContractOperation, place: Place, change: Sent = {}): Promise<Response> {
  const { key = place.key, query = '', type = 'application/json', body = bodyOf(operation, place) } = change
  const path = operation.path
    .replace('{journey_id}', change.id ?? place.workspace.journey_id)
    .replace('{customer_id}', change.id ?? place.customer_id)
  const headers = new Headers({ 'x-service-key': key })
  if (key === '') headers.delete('x-service-key')
  if (change.origin) headers.set('origin', change.origin)
  const json = typeof body === 'string' ? body : JSON.stringify(body)
  if (operation.body) headers.set('content-type', type)
  return await place.cairn.fetch(path + query, {
    method: operation.method,
    headers,
    ...(operation.body && { body: json }),
  })
}

/** A real cause of each status, for whatever operation declares it. */
const causes: Record<string, Cause> = {
  400: (operation, place) => send(operation, place, { query: '?no_such_parameter=1' }),
  401: (operation, place) => send(operation, place, { key: '' }),
  403: async (operation, place) => {
    if (!operation.accepts.includes('PublishableKey')) {
      return await send(operation, place, { key: place.workspace.publishable_key })
    }
    const key = await keyWithOrigin(place, 'https://www.example.com')
    return await send(operation, place, { key, origin: 'https://elsewhere.example.com' })
  },
  404: (operation, place) => {
    const body = bodyOf(operation, place)
    return send(
      operation,
      place,
      operation.path.includes('{') ? { id: UNKNOWN } : { body: { ...body, journey_id: UNKNOWN } },
    )
  },
  409: async (operation, place) => {
    const step = { event_id: 'signed_up', name: 'Signed up' }
    if (operation.path.startsWith('/journeys')) {
      return await send(operation, place, { body: { name: 'Renewal', steps: [step, step] } })
    }
    await place.workspace.client.archiveJourney({ path: { journey_id: place.workspace.journey_id } })
    return await send(operation, place)
  },
  413: (operation, place) => send(operation, place, { body: JSON.stringify({ name: 'x'.repeat(65_536) }) }),
  415: (operation, place) => send(operation, place, { type: 'text/plain' }),
}

/** A key of the place's workspace that only pages of one origin may use. */
async function keyWithOrigin({ cairn, workspace }: Place, origin: string): Promise<string> {
  const token = newServiceKey('publishable')
  const key = {
    key_id: newId('key'),
    workspace_id: workspace.workspace_id,
    kind: 'publishable',
    name: 'Page',
  } as const
  const rules = { allowed_origins: [origin], rate_limit: null, created_ms: Date.now(), expires_ms: null }
  await inStore(cairn.databaseUrl, (db) => insertServiceKey(db, { ...key, ...rules, token }))
  return token
}

function declaring(status: string): [string, ContractOperation][] {
  return operations
    .filter((operation) => operation.replies[status])
    .map((operation) => [operation.operationId, operation])
}

describe.each(Object.entries(causes))(
  'every operation that declares %s answers its cause so',
  (status, cause) => {
    it.each(declaring(status))('%s', async (_id, operation) => {
      const reply = await cause(operation, await placeIn(cairn))
      expect(reply.status).toBe(Number(status))
    })
  },
)

describe('with the rate used up, every operation answers 429', () => {
  it.each(declaring('429'))('%s', async (_id, operation) => {
    const limited = await startCairn({ rateLimit: 1, now: () => 1_800_000_000_000 })
    try {
      const place = await placeIn(limited)
      await send(operation, place)
      expect((await send(operation, place)).status).toBe(429)
    } finally {
      await limited.stop()
    }
  })
})

describe('with the tables gone, every operation answers 500 and the log has the cause', () => {
  let broken: Place

  beforeAll(async () => {
    broken = await placeIn(await startCairn())
    const database = new Database(fileOf(broken.cairn))
    database.pragma('foreign_keys = OFF')
    for (const table of ['events', 'enrolments', 'customers', 'journeys'])
      database.exec(`DROP TABLE ${table}`)
    database.close()
  })
  afterAll(() => broken.cairn.stop())

  it.each(declaring('500'))('%s', async (_id, operation) => {
    const reply = await send(operation, broken)
    expect(reply.status).toBe(500)
    const { request_id, detail } = await reply.json()
    expect(detail).not.toMatch(/table|SQL/i)
    const line = broken.cairn.log.find((entry) => entry.request_id === request_id && entry.err)
    expect(JSON.stringify(line?.err)).toContain('no such table')
  })
})

describe('with the file destroyed, every operation answers 503', () => {
  let broken: Place

  beforeAll(async () => {
    const first = await startCairn()
    const { workspace } = await placeIn(first)
    const { databaseUrl } = first
    await first.stop()
    // What the process has in memory now is the key and nothing else of the file.
    const cairn = await startCairn({ databaseUrl })
    broken = { cairn, workspace, customer_id: 'cus_1', key: workspace.secret_key }
    await cairn.fetch('/journeys?limit=0', { headers: { 'x-service-key': broken.key } })
    overwrite(fileOf(cairn))
  })
  afterAll(() => broken.cairn.stop())

  it.each(declaring('503'))('%s', async (_id, operation) => {
    const reply = await send(operation, broken)
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
