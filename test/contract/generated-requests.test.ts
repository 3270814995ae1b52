import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { allowed, broken } from './arbitraries.ts'
import { type ContractOperation, operations, type Parameter, resolved } from './document.ts'
import {
  curl,
  newCustomer,
  newJourney,
  openTarget,
  type RawRequest,
  settings,
  type Target,
} from './target.ts'

/** With `settings.requests` many of them a test takes as long as it takes. */
const TIMEOUT_MS = 60_000 + settings.requests * 100

type Real = { journey_id: string; customer_id: string }
type Values = { body?: unknown; path: Record<string, unknown>; query: Record<string, unknown> }

let target: Target

beforeAll(async () => {
  target = await openTarget()
})
afterAll(() => target.stop())

const each = operations.map((operation) => [operation.operationId, operation] as const)
const withBody = operations
  .filter(({ body }) => body)
  .map((operation) => [operation.operationId, operation] as const)
const withQuery = operations
  .filter(({ parameters }) => parameters.some((parameter) => parameter.in === 'query'))
  .map((operation) => [operation.operationId, operation] as const)

/** What the contract allows for an operation; identifiers are those of real things half of the time. */
function values({ body, parameters }: ContractOperation, real: Real): fc.Arbitrary<Values> {
  const of = (place: Parameter['in']) => {
    const declared = parameters.filter((parameter) => parameter.in === place)
    const fields = declared.map(({ name, schema }) => [name, orReal(name, allowed(schema), real)])
    return fc.record(Object.fromEntries(fields), place === 'path' ? {} : { requiredKeys: [] })
  }
  const content = body ? allowed(body.schema).chain((value) => withReal(value, real)) : fc.constant(undefined)
  return fc.record({ body: content, path: of('path').map(sendable), query: of('query') })
}

function orReal(name: string, arbitrary: fc.Arbitrary<unknown>, real: Real): fc.Arbitrary<unknown> {
  return name in real ? fc.oneof(arbitrary, fc.constant(real[name as keyof Real])) : arbitrary
}

function withReal(value: unknown, real: Real): fc.Arbitrary<unknown> {
  const known = Object.entries(real).filter(([name]) => name in (value as object))
  return fc.oneof(fc.constant(value), fc.constant({ ...(value as object), ...Object.fromEntries(known) }))
}

/** No URL can carry `.` or `..` as a name: whoever sends it takes them for steps between folders. */
function sendable(path: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(path).map(([name, value]) => [name, /^\.\.?$/.test(value) ? 'x' : value]),
  )
}

function requestOf({ method, path }: ContractOperation, values: Values): RawRequest {
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(values.path[name])))
  const query = new URLSearchParams(
    Object.entries(values.query).map(([name, value]) => [name, String(value)]),
  )
  return {
    method,
    path: query.size > 0 ? `${filled}?${query}` : filled,
    headers: {
      'x-service-key': target.secretKey,
      ...(values.body !== undefined && { 'content-type': 'application/json' }),
    },
    body: values.body === undefined ? undefined : JSON.stringify(values.body),
  }
}

/** Sends each generated request; where one fails, says by which command it can be sent again. */
async function holds<T>(
  arbitrary: fc.Arbitrary<T>,
  request: (value: T) => RawRequest,
  check: (reply: Response, value: T) => Promise<void>,
) {
  await fc.assert(
    fc.asyncProperty(arbitrary, async (value) => {
      const sent = request(value)
      try {
        await check(await target.send(sent), value)
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error)
        throw new Error(`${message}\nSend it again with: ${curl(sent)}`, { cause: error })
      }
    }),
    { numRuns: settings.requests },
  )
}

async function realThings(): Promise<Real> {
  const journey_id = await newJourney(target)
  return { journey_id, customer_id: await newCustomer(target, journey_id) }
}

describe('a request that the contract allows gets a success or a problem of state', () => {
  it.each(each)('%s', { timeout: TIMEOUT_MS }, async (_id, operation) => {
    const real = await realThings()
    await holds(
      values(operation, real),
      (value) => requestOf(operation, value),
      async (reply) => {
        expect([200, 201, 404, 409]).toContain(reply.status)
      },
    )
  })
})

describe('a body that breaks one rule is refused with a pointer to that fault and no other', () => {
  it.each(withBody)('%s', { timeout: TIMEOUT_MS }, async (_id, operation) => {
    const real = await realThings()
    const schema = operation.body?.schema ?? {}
    const path = Object.fromEntries(operation.parameters.map(({ name }) => [name, real[name as keyof Real]]))
    await holds(
      broken(schema),
      ({ value }) => requestOf(operation, { body: value, path, query: {} }),
      async (reply, { pointer, rule }) => {
        const problem = await reply.json()
        expect([reply.status, problem.code], rule).toEqual([400, 'invalid_request'])
        const pointers = new Set(problem.errors.map((fault: { pointer: string }) => fault.pointer))
        expect([...pointers], rule).toEqual([pointer])
      },
    )
  })
})

describe('a query that breaks one rule is refused with the name of the parameter', () => {
  it.each(withQuery)('%s', { timeout: TIMEOUT_MS }, async (_id, operation) => {
    const real = await realThings()
    const path = Object.fromEntries(operation.parameters.map(({ name }) => [name, real[name as keyof Real]]))
    const parameters = operation.parameters.filter((parameter) => parameter.in === 'query')
    const breaches = fc.constantFrom(...parameters).chain(({ name, schema }) => {
      return fc.record({ name: fc.constant(name), value: brokenText(schema) })
    })
    await holds(
      fc.oneof(breaches, fc.constant({ name: 'no_such_parameter', value: '1' })),
      ({ name, value }) => requestOf(operation, { path, query: { [name]: value } }),
      async (reply, { name }) => {
        const problem = await reply.json()
        expect([reply.status, problem.code]).toEqual([400, 'invalid_request'])
        const names = new Set(problem.errors.map((fault: { parameter: string }) => fault.parameter))
        expect([...names]).toEqual([name])
      },
    )
  })
})

/** Texts that a parameter's schema does not allow. */
function brokenText(schema: Parameter['schema']): fc.Arbitrary<string> {
  const { type, minimum = 0, maximum = 0, maxLength = 0, enum: values } = resolved(schema)
  if (type === 'integer') {
    const outside = fc.constantFrom(minimum - 1, maximum + 1, 1e15).map(String)
    return fc.oneof(outside, fc.constantFrom('', 'ten', '0x10', '1e1', '1.5', ' 1', '１'))
  }
  if (values) return fc.string().filter((text) => !values.includes(text))
  return fc.constantFrom('', '\0', 'x'.repeat(maxLength + 1))
}

describe('whatever the request, the wrong key, media type or method is refused as such', () => {
  it.each(each)('%s', { timeout: TIMEOUT_MS }, async (_id, operation) => {
    const real = await realThings()
    const spoiled = fc.constantFrom('no key', 'wrong key', 'media type', 'method')
    const others = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'].filter(
      (method) => !operations.some((other) => other.path === operation.path && other.method === method),
    )
    await holds(
      fc.record({ values: values(operation, real), spoiled, method: fc.constantFrom(...others) }),
      ({ values, spoiled, method }) => {
        const request = requestOf(operation, values)
        const { 'x-service-key': _, ...withoutKey } = request.headers ?? {}
        if (spoiled === 'no key') return { ...request, headers: withoutKey }
        if (spoiled === 'wrong key')
          return { ...request, headers: { ...withoutKey, 'x-service-key': 'sk_wrong' } }
        if (spoiled === 'method') return { ...request, method, body: undefined }
        return { ...request, headers: { ...request.headers, 'content-type': 'text/plain' } }
      },
      async (reply, { spoiled }) => {
        if (spoiled === 'method') {
          expect(reply.status).toBe(405)
          expect(reply.headers.get('allow')).toContain(operation.method)
        } else if (spoiled === 'media type') {
          // Without a body there is nothing that could be of the wrong type.
          expect(operation.body ? [415] : [200, 201, 404, 409]).toContain(reply.status)
        } else {
          expect(reply.status).toBe(401)
        }
      },
    )
  })
})
