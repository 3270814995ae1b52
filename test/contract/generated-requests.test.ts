// engines: sqlite, postgres

import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type ContractOperation,
  operations,
  type Parameter,
  resolved,
} from '../fixtures/contract/document.ts'
import { curl, openTarget, type RawRequest, settings, type Target } from '../fixtures/contract/target.ts'
import { allowed, broken } from './arbitraries.ts'
import { type Caller, callersOf, namedBy, namesFor, newPlace, type Place, pathTo } from './requests.ts'

/** Timeout of every test; with `settings.requests` it grows with their number. */
const TIMEOUT_MS = 300_000 + settings.requests * 100

/**
 * Operations that consume what they name, or the session they are sent with: each request gets its own. So does one
 * that creates a workspace, because a person with several workspaces must say which one a request is about.
 */
const CONSUMING = [
  'setUp',
  'signOut',
  'signOutEverywhere',
  'endSession',
  'changePassword',
  'removeMember',
  'revokeInvitation',
  'acceptInvitation',
  'joinWorkspace',
  'resetPassword',
  'createWorkspace',
  'rotateServiceKey',
  'revokeServiceKey',
]

/** Creating what one of them needs takes the time of many requests. */
const SCENES = Math.ceil(settings.requests / 5)

/** A request that is refused for one reason, whatever else it contains, needs fewer cases. */
const REFUSED = Math.ceil(settings.requests / 4)

/** Placeholder for the name of something real, which is created when the request is sent. */
const REAL = 'something real'

type Values = Record<'path' | 'query' | 'header', Record<string, unknown>> & {
  body?: unknown
  caller: Caller
}

let target: Target

beforeAll(async () => {
  target = await openTarget()
})
afterAll(() => target.stop())

/** The operations that can be tested here and satisfy the condition, as rows of a table of tests. */
function rowsOf(holds: (operation: ContractOperation) => boolean): [string, ContractOperation][] {
  return operations
    .filter((operation) => callersOf(operation).length > 0 && holds(operation))
    .map((operation) => [operation.operationId, operation])
}

/** Values that the contract allows for an operation; half of the names are those of real things. */
function values(operation: ContractOperation, callers = callersOf(operation)): fc.Arbitrary<Values> {
  const { body, parameters } = operation
  const names = namedBy(operation)
  const of = (place: Parameter['in']) => {
    const declared = parameters.filter((parameter) => parameter.in === place)
    const fields: Record<string, fc.Arbitrary<unknown>> = {}
    for (const { name, schema } of declared) {
      const value = allowed(schema)
      fields[name] = names.includes(name) ? fc.oneof(value, fc.constant(REAL)) : value
    }
    const required = declared.filter((parameter) => parameter.required).map(({ name }) => name)
    return fc.record(fields, { requiredKeys: required })
  }
  const content = body
    ? allowed(body.schema).chain((value) => withReal(value, names))
    : fc.constant(undefined)
  return fc.constantFrom(...callers).chain((caller) =>
    fc.record({
      caller: fc.constant(caller),
      body: content,
      path: of('path').map(sendable),
      query: of('query'),
      header: headers(operation, caller),
    }),
  )
}

function withReal(value: unknown, names: string[]): fc.Arbitrary<unknown> {
  const known = names.filter((name) => name in (value as object))
  const real = Object.fromEntries(known.map((name) => [name, REAL]))
  return fc.oneof(fc.constant(value), fc.constant({ ...(value as object), ...real }))
}

/** The header parameters: a person names its workspace or none; with a key the name is ignored. */
function headers({ parameters }: ContractOperation, caller: Caller): fc.Arbitrary<Record<string, unknown>> {
  const declared = parameters.filter((parameter) => parameter.in === 'header')
  const text = caller === 'person' ? fc.constant(REAL) : fc.stringMatching(/^[!-~]{1,255}$/)
  return fc.record(Object.fromEntries(declared.map(({ name }) => [name, text])), { requiredKeys: [] })
}

/** No URL can contain `.` or `..` as a name: senders resolve them as folders. */
function sendable(path: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(path).map(([name, value]) => [name, /^\.\.?$/.test(value) ? 'x' : value]),
  )
}

/** Where an operation can be sent, and the names it uses. */
type Scene = { place: Place; names: Record<string, string> }

async function newScene(operation: ContractOperation): Promise<Scene> {
  const place = await newPlace(target)
  const names = await namesFor(place, operation)
  return { place, names: { ...names, 'x-workspace-id': place.inside?.workspace.workspace_id ?? '' } }
}

/** The request of a caller, with real things in place of the placeholders. */
function requestOf(
  operation: ContractOperation,
  { caller, body, path, query, header }: Partial<Values> & Pick<Values, 'caller'>,
  { place, names }: Scene,
): RawRequest {
  const real = (value: unknown, name: string) => (value === REAL ? names[name] : value)
  const filled = (fields: object = {}) =>
    Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, real(value, name)]))
  const search = new URLSearchParams(
    Object.entries(filled(query)).map(([name, value]) => [name, String(value)]),
  )
  const target = pathTo(operation, filled(path))
  return {
    method: operation.method,
    path: search.size > 0 ? `${target}?${search}` : target,
    headers: {
      ...place.headers[caller],
      ...(operation.body && { 'content-type': 'application/json' }),
      ...(filled(header) as Record<string, string>),
    },
    body: operation.body && JSON.stringify(isObject(body) ? filled(body) : body),
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A path in which everything is real. */
function realPath({ parameters }: ContractOperation): Record<string, unknown> {
  return Object.fromEntries(
    parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => [name, REAL]),
  )
}

/** Sends each generated request; if one fails, the message contains the command that sends it again. */
async function holds<T>(
  arbitrary: fc.Arbitrary<T>,
  request: (value: T) => RawRequest | Promise<RawRequest>,
  check: (reply: Response, value: T) => Promise<void>,
  numRuns = settings.requests,
) {
  await fc.assert(
    fc.asyncProperty(arbitrary, async (value) => {
      const sent = await request(value)
      try {
        await check(await target.send(sent), value)
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error)
        throw new Error(`${message}\nSend it again with: ${curl(sent)}`, { cause: error })
      }
    }),
    { numRuns },
  )
}

/** Successes and problems that depend on state. */
async function assertAllowed(reply: Response) {
  expect([200, 201, 204, 401, 403, 404, 409, 429]).toContain(reply.status)
  if (reply.status === 401) expect((await reply.json()).code).toBe('sign_in_refused')
  // What a key asks for belongs to a person.
  if (reply.status === 403) expect((await reply.json()).code).toBe('session_required')
  // For an address, an account or a link with too many wrong guesses.
  if (reply.status === 429) expect((await reply.json()).code).toBe('too_many_attempts')
}

describe('a valid request gets a success or a problem of state', () => {
  it.each(rowsOf(() => true))('%s', { timeout: TIMEOUT_MS }, async (operationId, operation) => {
    const isConsuming = CONSUMING.includes(operationId)
    const shared = await newScene(operation)
    await holds(
      values(operation),
      async (value) => requestOf(operation, value, isConsuming ? await newScene(operation) : shared),
      assertAllowed,
      isConsuming ? SCENES : settings.requests,
    )
  })
})

describe('a body that violates one rule is refused with a pointer to exactly that fault', () => {
  it.each(rowsOf(({ body }) => body !== undefined))('%s', { timeout: TIMEOUT_MS }, async (_id, operation) => {
    const scene = await newScene(operation)
    const path = realPath(operation)
    const caller = fc.constantFrom(...callersOf(operation))
    await holds(
      fc.record({ caller, breach: broken(operation.body?.schema ?? {}) }),
      ({ caller, breach }) => requestOf(operation, { caller, body: breach.value, path }, scene),
      async (reply, { breach: { pointer, rule } }) => {
        const problem = await reply.json()
        expect([reply.status, problem.code], rule).toEqual([400, 'invalid_request'])
        const pointers = new Set(problem.errors.map((fault: { pointer: string }) => fault.pointer))
        expect([...pointers], rule).toEqual([pointer])
      },
    )
  })
})

const takesQuery = ({ parameters }: ContractOperation) =>
  parameters.some((parameter) => parameter.in === 'query')

describe('a query that violates one rule is refused with the name of the parameter', () => {
  it.each(rowsOf(takesQuery))('%s', { timeout: TIMEOUT_MS }, async (_id, operation) => {
    const scene = await newScene(operation)
    const path = realPath(operation)
    const parameters = operation.parameters.filter((parameter) => parameter.in === 'query')
    const breaches = fc.constantFrom(...parameters).chain(({ name, schema }) => {
      return fc.record({ name: fc.constant(name), value: brokenText(schema) })
    })
    const needed = parameters.filter((parameter) => parameter.required)
    const required = Object.fromEntries(needed.map(({ name, example }) => [name, example]))
    const unknown = fc.constant({ name: 'no_such_parameter', value: '1' })
    const caller = fc.constantFrom(...callersOf(operation))
    const body = operation.body ? allowed(operation.body.schema) : fc.constant(undefined)
    await holds(
      fc.record({ caller, body, breach: fc.oneof(breaches, unknown) }),
      ({ caller, body, breach: { name, value } }) =>
        requestOf(operation, { caller, body, path, query: { ...required, [name]: value } }, scene),
      async (reply, { breach: { name } }) => {
        const problem = await reply.json()
        expect([reply.status, problem.code]).toEqual([400, 'invalid_request'])
        const names = new Set(problem.errors.map((fault: { parameter: string }) => fault.parameter))
        expect([...names]).toEqual([name])
      },
    )
  })
})

/** Texts that a parameter's schema rejects. */
function brokenText(schema: Parameter['schema']): fc.Arbitrary<string> {
  const { type, minimum = 0, maximum = 0, maxLength = 0, enum: values } = resolved(schema)
  if (type === 'integer') {
    const outside = fc.constantFrom(minimum - 1, maximum + 1, 1e15).map(String)
    return fc.oneof(outside, fc.constantFrom('', 'ten', '0x10', '1e1', '1.5', ' 1', '１'))
  }
  if (values) return fc.string().filter((text) => !values.includes(text))
  return fc.constantFrom('', '\0', 'x'.repeat(maxLength + 1))
}

type Credentials = { headers: Record<string, string>; status: number; code: string }

/** Invalid credentials for an operation, and the response to each. */
function wrongCredentials(
  { method }: ContractOperation,
  caller: Caller,
  { place }: Scene,
): Record<string, Credentials> {
  const foreign = { origin: 'http://elsewhere.example.com', 'sec-fetch-site': 'cross-site' }
  const unauthorized = { status: 401, code: 'unauthorized' }
  const foreignOrigin = { status: 403, code: 'foreign_origin' }
  const { cookie = '' } = place.headers.person ?? {}
  switch (caller) {
    case 'key':
      return {
        'no key': { headers: {}, ...unauthorized },
        'wrong key': { headers: { 'x-service-key': 'sk_wrong' }, ...unauthorized },
      }
    case 'person':
      return {
        'no session': { headers: { ...place.headers.nobody }, ...unauthorized },
        'wrong session': {
          headers: { ...place.headers.nobody, cookie: 'cairn_session=wrong' },
          ...unauthorized,
        },
        // Reads need no origin, because a page elsewhere does not see the response.
        ...(method !== 'GET' && {
          'no origin': { headers: { cookie }, ...foreignOrigin },
          'foreign origin': { headers: { cookie, ...foreign }, ...foreignOrigin },
        }),
      }
    case 'nobody':
      return {
        'no origin': { headers: {}, ...foreignOrigin },
        'foreign origin': { headers: foreign, ...foreignOrigin },
      }
  }
}

/** Whether everybody may read it from anywhere, so that no credential is wrong. */
function isOpen(operation: ContractOperation): boolean {
  return operation.method === 'GET' && callersOf(operation).every((caller) => caller === 'nobody')
}

describe('whatever the request, an invalid credential is refused as such', () => {
  it.each(rowsOf((operation) => !isOpen(operation)))(
    '%s',
    { timeout: TIMEOUT_MS },
    async (_id, operation) => {
      const scene = await newScene(operation)
      const sent = values(operation).chain((value) => {
        const wrong = wrongCredentials(operation, value.caller, scene)
        return fc.record({ value: fc.constant(value), wrong: fc.constantFrom(...Object.values(wrong)) })
      })
      await holds(
        sent,
        ({ value, wrong }) => {
          const { headers, ...request } = requestOf(operation, value, scene)
          const own = Object.keys(scene.place.headers[value.caller] ?? {})
          const others = Object.entries(headers ?? {}).filter(([name]) => !own.includes(name))
          return { ...request, headers: { ...Object.fromEntries(others), ...wrong.headers } }
        },
        async (reply, { wrong: { status, code } }) => {
          expect([reply.status, (await reply.json()).code]).toEqual([status, code])
        },
        REFUSED,
      )
    },
  )
})

describe('whatever the request, a key may not call operations for people', () => {
  const forPeople = operations.filter(({ accepts }) => accepts.length === 1 && accepts[0] === 'SessionCookie')

  it.each(forPeople.map((operation) => [operation.operationId, operation] as const))(
    '%s',
    { timeout: TIMEOUT_MS },
    async (_id, operation) => {
      const scene = { place: await newPlace(target), names: {} }
      await holds(
        values(operation, ['key']),
        (value) => requestOf(operation, value, scene),
        async (reply) => {
          expect([reply.status, (await reply.json()).code]).toEqual([403, 'session_required'])
        },
        REFUSED,
      )
    },
  )
})

describe('whatever the request, an unsupported media type is refused as such', () => {
  it.each(rowsOf(({ body }) => body !== undefined))('%s', { timeout: TIMEOUT_MS }, async (_id, operation) => {
    const scene = await newScene(operation)
    await holds(
      values(operation),
      (value) => {
        const request = requestOf(operation, value, scene)
        return { ...request, headers: { ...request.headers, 'content-type': 'text/plain' } }
      },
      async (reply) => {
        expect([reply.status, (await reply.json()).code]).toEqual([415, 'unsupported_media_type'])
      },
      REFUSED,
    )
  })
})

describe('whatever the request, an undeclared method is refused as such', () => {
  it.each(rowsOf(() => true))('%s', { timeout: TIMEOUT_MS }, async (_id, operation) => {
    const scene = await newScene(operation)
    const others = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'].filter(
      (method) => !operations.some((other) => other.path === operation.path && other.method === method),
    )
    await holds(
      fc.record({ value: values(operation), method: fc.constantFrom(...others) }),
      ({ value, method }) => ({ ...requestOf(operation, value, scene), method, body: undefined }),
      async (reply) => {
        expect(reply.status).toBe(405)
        expect(reply.headers.get('allow')).toContain(operation.method)
      },
      REFUSED,
    )
  })
})
