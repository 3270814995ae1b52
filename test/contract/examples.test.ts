import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { problems } from '../../server/problems.ts'
import { type ContractOperation, contractDocument, operations } from './document.ts'
import { assertValid } from './reply-check.ts'
import { newCustomer, newJourney, openTarget, type Target } from './target.ts'

let target: Target

beforeAll(async () => {
  target = await openTarget()
})
afterAll(() => target.stop())

const withBody = operations.filter(({ body }) => body !== undefined)

/** What an example's identifiers stand for in this run; the same one wherever it occurs. */
type Actual = Map<string, string>

function actual(value: unknown, names: Actual): unknown {
  return JSON.parse(JSON.stringify(value), (_name, text) => names.get(text) ?? text)
}

/** Identifiers, instants and request ids, which differ from run to run, taken out. */
function shape(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (name, text) => {
    if (typeof text !== 'string') return text
    if (name === 'request_id') return 'request id'
    if (name === 'message_id') return 'message id'
    return text.replace(/^(\w{3})_[0-9a-z]{26}$/, '$1_…').replace(/^\d{4}-\d\d-\d\dT.*Z$/, 'instant')
  })
}

/** The reply that the contract shows under the name of a request. */
function namedReply({ replies }: ContractOperation, name: string) {
  const found = Object.entries(replies).flatMap(([status, { content }]) =>
    Object.values(content).flatMap(({ examples }) => {
      const example = examples[name]
      return example ? [{ status: Number(status), body: example.value }] : []
    }),
  )
  expect(found, `one reply named ${name}`).toHaveLength(1)
  return found[0]
}

describe('every example of a request is answered with the reply of its name', () => {
  it.each(withBody.map((operation) => [operation.operationId, operation] as const))(
    '%s',
    async (_id, operation) => {
      const names: Actual = new Map()
      const examples = Object.entries(operation.body?.examples ?? {})
      expect(examples.length).toBeGreaterThan(0)
      const text = JSON.stringify(operation)
      for (const id of text.match(/jrn_[0-9a-z]{26}/g) ?? [])
        if (!names.has(id)) names.set(id, await newJourney(target))
      for (const id of text.match(/cus_[0-9a-z]{26}/g) ?? []) {
        const [journey = ''] = text.match(/jrn_[0-9a-z]{26}/) ?? []
        if (!names.has(id)) names.set(id, await newCustomer(target, names.get(journey) ?? ''))
      }
      for (const name of ['client_customer_id', 'message_id']) {
        for (const [, value = ''] of text.matchAll(new RegExp(`"${name}":"([^"]+)"`, 'g'))) {
          names.set(value, randomUUID())
        }
      }
      for (const [name, example] of examples) {
        const expected = namedReply(operation, name)
        const reply = await send(operation, actual(example?.value, names), names)
        const body = await reply.json()
        expect(reply.status, JSON.stringify(body)).toBe(expected?.status)
        expect(shape(body), name).toEqual(shape(expected?.body))
      }
    },
  )
})

async function send({ method, path, parameters }: ContractOperation, body: unknown, names: Actual) {
  const journey = parameters.find(({ name }) => name === 'journey_id')
  if (journey) await prepare(names.get(String(journey.example)) ?? '')
  return await target.send({
    method,
    path: path.replace('{journey_id}', names.get(String(journey?.example)) ?? ''),
    headers: { 'x-service-key': target.secretKey, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}

const prepared = new Set<string>()

/** Gives a journey, once, what the examples of other operations show of it. */
async function prepare(journey_id: string) {
  if (prepared.has(journey_id)) return
  prepared.add(journey_id)
  const create = operations.find(({ operationId }) => operationId === 'createJourney')
  await target.send({
    method: 'PATCH',
    path: `/journeys/${journey_id}`,
    headers: { 'x-service-key': target.secretKey, 'content-type': 'application/json' },
    body: JSON.stringify(create?.body?.examples.with_steps?.value),
  })
}

describe('every example fits its schema', () => {
  it.each(operations.map((operation) => [operation.operationId, operation] as const))(
    '%s',
    (_id, operation) => {
      let checked = 0
      const media = [
        operation.body,
        ...Object.values(operation.replies).flatMap(({ content }) => Object.values(content)),
      ]
      for (const { schema, examples } of media.filter((type) => type !== undefined)) {
        for (const [name, example] of Object.entries(examples)) {
          assertValid(`${operation.operationId}, example ${name},`, schema, example?.value)
          checked += 1
        }
      }
      for (const { name, schema, example } of operation.parameters) {
        assertValid(`${operation.operationId}, parameter ${name},`, schema, example)
      }
      expect(checked).toBeGreaterThan(0)
    },
  )
})

describe('the examples of problems', () => {
  const { components } = contractDocument() as {
    components: {
      examples: Record<string, { value: { code: keyof typeof problems } & Record<string, unknown> }>
    }
    schemas: unknown
  }

  it.each(Object.entries(components.examples))('say what the server says: %s', (_name, { value }) => {
    const { status, title } = problems[value.code]
    expect(value).toMatchObject({ status, title, type: `/docs/problems#${value.code}` })
  })

  it('are those of the codes that an operation can answer, and of all of them', () => {
    const shown = new Set(Object.values(components.examples).map(({ value }) => value.code))
    // No operation answers the first two: they are for what is no operation. The third is only said of a batch's item.
    expect([...shown, 'not_found', 'method_not_allowed', 'event_too_large'].sort()).toEqual(
      Object.keys(problems).sort(),
    )
  })
})
