// engines: sqlite, postgres

import { beforeAll, describe, expect, it } from 'vitest'
import type { Cairn, Workspace } from '../fixtures/cairn.ts'
import { operations } from '../fixtures/contract/document.ts'
import { invalidRequest, problemOf, refusal, send } from '../fixtures/requests.ts'
import { sharedCairn } from '../fixtures/shared-cairn.ts'

let cairn: Cairn
let workspace: Workspace

beforeAll(async () => {
  cairn = await sharedCairn()
  workspace = await cairn.workspace()
})

/** Every path of the contract with the methods that it declares and whether browsers may call it. */
const paths = [...new Set(operations.map(({ path }) => path))].map((path) => {
  const declared = operations.filter((operation) => operation.path === path)
  return {
    path: path.replace(/\{\w+\}/g, 'x'),
    methods: declared.map(({ method }) => method),
    isForBrowsers: declared.some(({ accepts }) => accepts.includes('PublishableKey')),
  }
})
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'PURGE']

describe('a method that a path does not have', () => {
  it.each(paths)('is 405 on $path, with Allow', async ({ path, methods, isForBrowsers }) => {
    const allowed = isForBrowsers ? [...methods, 'OPTIONS'] : methods
    for (const method of METHODS.filter((method) => !allowed.includes(method))) {
      for (const key of [undefined, 'wrong', workspace.publishable_key, workspace.secret_key]) {
        const reply = await send(cairn, `${method} ${path}`, key === undefined ? {} : { key })
        expect([method, reply.status]).toEqual([method, 405])
        expect(reply.headers.get('allow')).toBe(allowed.join(', '))
        if (method === 'HEAD') expect(await reply.text()).toBe('')
        else expect((await problemOf(reply)).code).toBe('method_not_allowed')
      }
    }
  })

  it('does not match a templated path: GET /customers/initialize is not getCustomer', async () => {
    for (const line of ['GET /customers/initialize', 'HEAD /customers/initialize']) {
      const reply = await send(cairn, line, { key: workspace.secret_key })
      expect(reply.status).toBe(405)
      expect(reply.headers.get('allow')).toBe('POST, OPTIONS')
    }
  })

  it.each([
    ...['/', '/admin', '/admin/', '/admin/journeys'],
    ...['/docs', '/docs/', '/docs/operations', '/v1/openapi.yaml', '/healthz', '/readyz'],
  ])('is 405 on the page or probe %s, with Allow', async (path) => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const reply = await fetch(`${cairn.url}${path}`, { method })
      expect([method, reply.status, reply.headers.get('allow')]).toEqual([method, 405, 'GET, HEAD'])
    }
  })

  it('is 405 with a query and with a body too', async () => {
    for (const line of ['DELETE /customers?limit=x', 'PUT /events/create?a']) {
      expect((await send(cairn, line, { body: '{' })).status).toBe(405)
    }
  })
})

describe('a path that is not in the contract', () => {
  it.each([
    '/',
    '',
    '/customer',
    '/customers/',
    '/customers/x/',
    '/customers/x/events/',
    '/customers/x/events/y',
    '/customers//events',
    '/customers/initialize/',
    '/Customers/initialize',
    '/customers/Initialize/events/',
    '/CUSTOMERS',
    '/events/create/',
    '/events/Create',
    '/events/createx',
    '/events/../customers',
    '/./customers',
    '//customers',
    '/customers%2Finitialize',
    '/customers/x%2Fevents/y',
    '/%63ustomers',
    '/journeys/x/Archive',
    '/journeys/x/archive/',
    '/customers;v=1',
    '/customers\\initialize',
    '/__proto__',
    '/constructor',
  ])('is 404 with and without a key: %s', async (path) => {
    for (const method of ['GET', 'POST', 'OPTIONS', 'DELETE']) {
      for (const sent of [{}, { key: workspace.secret_key }]) {
        const reply = await send(cairn, `${method} ${path}`, sent)
        expect(await refusal(reply)).toEqual({ status: 404, code: 'not_found' })
        expect(reply.headers.get('content-type')).toBe('application/problem+json')
        expect(reply.headers.has('access-control-allow-origin')).toBe(false)
      }
    }
  })

  it.each([
    '/v1x/customers',
    '/v2/customers',
    '/V1/customers',
    '/customers',
    '//v1/customers',
    '/v1%2Fcustomers',
  ])('is 404 outside the base path, as a problem: %s', async (path) => {
    const reply = await fetch(cairn.url + path, { headers: { 'x-service-key': workspace.secret_key } })
    expect(reply.headers.get('content-type')).toBe('application/problem+json')
    expect(reply.headers.get('x-request-id')).toBeTruthy()
    expect(await reply.clone().json()).toMatchObject({ detail: expect.stringContaining('/v1 and a path') })
    expect(await refusal(reply)).toEqual({ status: 404, code: 'not_found' })
  })
})

describe('a path parameter', () => {
  it.each(['%', '%a', '%zz', 'a%', '%ff', '%c3', '%ED%A0%80', '%C0%80', '%F4%90%80%80'])(
    'that is not valid percent-encoded UTF-8 names nothing: 404 for %s',
    async (text) => {
      for (const path of [`/customers/${text}`, `/customers/${text}/events`, `/journeys/${text}`]) {
        const reply = await send(cairn, `GET ${path}`, { key: workspace.secret_key })
        expect(await refusal(reply)).toEqual({ status: 404, code: 'not_found' })
      }
    },
  )

  it.each([
    ['%00', 'must not contain a NUL character'],
    ['a%00b', 'must not contain a NUL character'],
    ['x'.repeat(256), 'must NOT have more than 255 characters'],
  ])('that is malformed is named: %s', async (text, detail) => {
    for (const [line, parameter] of [
      [`GET /customers/${text}`, 'customer_id'],
      [`GET /customers/${text}/events`, 'customer_id'],
      [`GET /journeys/${text}`, 'journey_id'],
      [`POST /journeys/${text}/archive`, 'journey_id'],
      [`POST /journeys/${text}/restore`, 'journey_id'],
    ] as const) {
      expect(await refusal(await send(cairn, line, { key: workspace.secret_key }))).toEqual(
        invalidRequest({ parameter, detail }),
      )
    }
  })

  it('is reported together with the faults of the body', async () => {
    const line = `PATCH /journeys/${'x'.repeat(256)}?a=1`
    const reply = await send(cairn, line, { key: workspace.secret_key, body: '{"nmae":1}' })
    const { errors } = await refusal(reply)
    expect(errors?.map(({ parameter, pointer }) => parameter ?? pointer)).toEqual([
      'a',
      'journey_id',
      '/nmae',
    ])
  })

  it.each([
    'x'.repeat(255),
    encodeURIComponent('\u{1f600}'.repeat(255)),
    'a%2Fb',
    '%2e%2e',
    '..',
    '.',
    '%25',
    '+',
    "';--",
    '%F0%9F%98%80',
    'cus_00000000000000000000000000',
  ])('that names nothing has a 404 code of its own: %s', async (text) => {
    const customer = await send(cairn, `GET /customers/${text}`, { key: workspace.secret_key })
    expect(await refusal(customer)).toEqual({ status: 404, code: 'customer_not_found' })
    const journey = await send(cairn, `GET /journeys/${text}`, { key: workspace.secret_key })
    expect(await refusal(journey)).toEqual({ status: 404, code: 'journey_not_found' })
  })
})
