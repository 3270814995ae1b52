// engines: sqlite, postgres

import { beforeAll, describe, expect, it } from 'vitest'
import { type Cairn, startCairn, type Workspace } from '../fixtures/cairn.ts'
import { operations } from '../fixtures/contract/document.ts'
import { customerInJourney } from '../fixtures/customer.ts'
import { refusal, send } from '../fixtures/requests.ts'
import { createKey } from '../fixtures/service-keys.ts'

const ORIGIN = 'https://app.example.com'
const PATHS = ['/customers/initialize', '/events/create', '/events/batch']

let cairn: Cairn
let workspace: Workspace
let event: { journey_id: string; customer_id: string; event_id: string }

beforeAll(async () => {
  cairn = await startCairn({ now: () => 0 })
  ;({ workspace, event } = await customerInJourney(cairn))
  return cairn.stop
})

/** The CORS headers of a response. */
function corsOf(reply: Response) {
  const header = (name: string) => reply.headers.get(`access-control-${name}`)
  return {
    origin: header('allow-origin'),
    exposed: header('expose-headers')?.toLowerCase().split(', ').sort(),
    credentials: header('allow-credentials'),
  }
}

const open = {
  origin: '*',
  exposed: ['ratelimit', 'ratelimit-policy', 'retry-after', 'x-request-id'],
  credentials: null,
}
const closed = { origin: null, exposed: undefined, credentials: null }

describe('a preflight', () => {
  const preflight = {
    origin: ORIGIN,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'content-type,x-service-key',
  }

  it.each(PATHS)('is answered with 204 on %s, without a key', async (path) => {
    const reply = await send(cairn, `OPTIONS ${path}`, { headers: preflight })
    expect(reply.status).toBe(204)
    expect(await reply.text()).toBe('')
    expect(corsOf(reply)).toEqual(open)
    expect(reply.headers.get('access-control-allow-methods')).toBe('POST')
    expect(reply.headers.get('access-control-max-age')).toBe('86400')
    // The star stands for every header except authorization.
    expect(reply.headers.get('access-control-allow-headers')).toBe('*, authorization')
  })

  it('is answered, whatever it requests and contains', async () => {
    for (const headers of [
      {},
      { ...preflight, 'access-control-request-method': 'DELETE' },
      { ...preflight, 'x-service-key': 'wrong' },
      { ...preflight, origin: 'null' },
    ]) {
      for (const line of ['OPTIONS /events/create', 'OPTIONS /events/create?a=%zz']) {
        const reply = await send(cairn, line, { headers })
        expect(reply.status).toBe(204)
        expect(corsOf(reply)).toEqual(open)
      }
    }
  })

  it('does not count against the rate limit of a key', async () => {
    const { key } = await createKey(cairn, workspace, 'publishable', { rate_limit: 1 })
    for (const _ of Array(10)) await send(cairn, 'OPTIONS /events/create', { key, headers: preflight })
    const reply = await send(cairn, 'POST /events/create', { key, body: JSON.stringify(event) })
    expect(reply.status).toBe(201)
  })

  it('is refused with 405 on every other path, without CORS headers', async () => {
    const others = new Set(operations.map(({ path }) => path).filter((path) => !PATHS.includes(path)))
    for (const path of others) {
      const reply = await send(cairn, `OPTIONS ${path.replace(/\{\w+\}/, 'x')}`, { headers: preflight })
      expect([path, reply.status]).toEqual([path, 405])
      expect(corsOf(reply)).toEqual(closed)
    }
  })
})

describe('a page of any origin', () => {
  const customer = () => ({
    client_customer_id: 'c-1',
    journey_id: event.journey_id,
    customer_type: 'account',
    customer_name: 'A',
  })

  it('can read every response of the ingestion paths, refusals included', async () => {
    const { publishable_key: key } = workspace
    const spent = await createKey(cairn, workspace, 'publishable', { rate_limit: 1 })
    const foreign = await createKey(cairn, workspace, 'publishable', { allowed_origins: ['https://a.b'] })
    for (const _ of Array(2)) await send(cairn, 'POST /events/create', { key: spent.key, body: '{}' })
    const create = (change: object) => JSON.stringify({ ...event, ...change })
    const large = 'x'.repeat(1_000_000)
    const plain = { 'content-type': 'text/plain' }
    for (const [status, line, sent] of [
      [201, 'POST /customers/initialize', { key: workspace.secret_key, body: JSON.stringify(customer()) }],
      [200, 'POST /customers/initialize', { key, body: JSON.stringify(customer()) }],
      [201, 'POST /events/create', { key, body: create({ message_id: 'm' }) }],
      [200, 'POST /events/create', { key, body: create({ message_id: 'm' }) }],
      [400, 'POST /events/create', { key, body: '{' }],
      [400, 'POST /events/create', { key, body: '{}' }],
      [400, 'POST /customers/initialize?a=1', { key, body: JSON.stringify(customer()) }],
      [401, 'POST /events/create', { body: '{}' }],
      [401, 'POST /customers/initialize', { key: 'wrong', body: large }],
      [403, 'POST /events/create', { key: foreign.key, body: '{}' }],
      [404, 'POST /events/create', { key, body: create({ journey_id: 'jrn_unknown' }) }],
      [404, 'POST /customers/initialize', { key, body: JSON.stringify({ ...customer(), journey_id: 'x' }) }],
      [405, 'GET /events/create', {}],
      [405, 'HEAD /events/create', { key }],
      [405, 'GET /customers/initialize', { key: workspace.secret_key }],
      [405, 'DELETE /customers/initialize', { key }],
      [404, 'POST /events/create', { key, body: create({ message_id: 'm', event_id: 'other' }) }],
      [409, 'POST /events/create', { key, body: create({ occurred_at: '2090-01-01T00:00:00Z' }) }],
      [413, 'POST /events/create', { key, body: large }],
      [415, 'POST /events/create', { key, body: '{}', headers: plain }],
      [429, 'POST /events/create', { key: spent.key, body: '{}' }],
    ] as const) {
      const headers = { origin: ORIGIN, ...('headers' in sent && sent.headers) }
      const reply = await send(cairn, line, { ...sent, headers })
      expect([line, reply.status]).toEqual([line, status])
      expect(corsOf(reply)).toEqual(open)
    }
  })

  it('can read no response of any other operation', async () => {
    const headers = { origin: ORIGIN }
    for (const { method, path, accepts } of operations) {
      if (accepts.includes('PublishableKey')) continue
      const line = `${method} ${path.replace(/\{\w+\}/, 'x')}`
      for (const key of [workspace.secret_key, workspace.publishable_key, 'wrong']) {
        expect(corsOf(await send(cairn, line, { key, headers }))).toEqual(closed)
      }
    }
    for (const path of ['/v1/nowhere', '/v1/openapi.yaml', '/healthz', '/readyz', '/docs/', '/nowhere']) {
      expect(corsOf(await fetch(cairn.url + path, { headers }))).toEqual(closed)
    }
  })
})

describe('a key with allowed origins', () => {
  const createEvent = (key: string, headers: Record<string, string | string[]>) =>
    send(cairn, 'POST /events/create', { key, headers, body: JSON.stringify(event) })

  it('is valid for each of them and without an Origin', async () => {
    const allowed_origins = [ORIGIN, 'http://localhost:5173']
    const { key } = await createKey(cairn, workspace, 'publishable', { allowed_origins })
    for (const origin of allowed_origins) expect((await createEvent(key, { origin })).status).toBe(201)
    expect((await createEvent(key, {})).status).toBe(201)
  })

  it.each([
    'https://other.example.com',
    'http://app.example.com',
    'https://app.example.com:8443',
    'https://app.example.com:80',
    'https://app.example.com/',
    'https://app.example.com.evil.test',
    'https://evil.test/https://app.example.com',
    'https://x.app.example.com',
    'https://app.example.com.',
    'https://user@app.example.com',
    'null',
    '*',
    '',
    'https://app.example.com, https://app.example.com',
  ])('is refused for the origin %j', async (origin) => {
    const { key } = await createKey(cairn, workspace, 'publishable', { allowed_origins: [ORIGIN] })
    const reply = await createEvent(key, { origin })
    expect(await refusal(reply)).toEqual({ status: 403, code: 'origin_not_allowed' })
  })

  it.each([
    ['https://app.example.com:443', ORIGIN],
    ['https://APP.example.com', ORIGIN],
    ['HTTPS://app.example.com', ORIGIN],
    [ORIGIN, 'https://app.example.com:443'],
    ['http://localhost', 'http://localhost:80'],
    ['http://[::1]:5173', 'http://[0:0:0:0:0:0:0:1]:5173'],
    ['http://[0:0::1]', 'http://[::1]'],
  ])('is valid for %j if its list has %j, which is the same origin', async (origin, allowed) => {
    const { key } = await createKey(cairn, workspace, 'publishable', { allowed_origins: [allowed] })
    expect((await createEvent(key, { origin })).status).toBe(201)
  })

  it('is refused if two origins are sent', async () => {
    const { key } = await createKey(cairn, workspace, 'publishable', { allowed_origins: [ORIGIN] })
    expect((await createEvent(key, { origin: [ORIGIN, 'https://evil.test'] })).status).toBe(403)
  })

  it('does not affect other keys', async () => {
    for (const key of [workspace.publishable_key, workspace.secret_key]) {
      expect((await createEvent(key, { origin: 'https://anywhere.test' })).status).toBe(201)
    }
  })
})
