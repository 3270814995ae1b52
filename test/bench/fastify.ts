import { randomUUID } from 'node:crypto'
import { fastify } from 'fastify'
import { pino } from 'pino'
import { TypeID } from 'typeid-js'
import {
  type CustomerBody,
  type EventBody,
  isSameContent,
  keyCheck,
  openPeerStore,
  peerOptions,
  storedContent,
} from './peer.ts'

/**
 * The peer `fastify`: Fastify with its schema validation, plain tables, and group commit in the process: all requests of
 * one iteration of the event loop share a transaction. (A commit blocks the event loop; the next group collects meanwhile.)
 */
type Outcome<Reply> = { status: number; reply: Reply | { code: string } }
type EventReply = { success: true; id: string; duplicate: boolean; received_at: string }
type CustomerReply = { customer_id: string; created: boolean }
type StoredEvent = ReturnType<typeof storedContent> & { id: string; received_ms: number }

const options = peerOptions()
const database = openPeerStore(options)
const checkKey = keyCheck(database)

const statements = {
  journey: database.prepare<[string]>('SELECT 1 FROM journeys WHERE journey_id = ?'),
  message: database.prepare<[string], StoredEvent>('SELECT * FROM events WHERE message_id = ?'),
  enrolled: database.prepare<[string, string], { enrolled: number }>(
    `SELECT EXISTS (SELECT 1 FROM enrolments WHERE journey_id = ? AND enrolments.customer_id = customers.customer_id)
      AS enrolled FROM customers WHERE customer_id = ?`,
  ),
  insertEvent: database.prepare(
    `INSERT INTO events (id, journey_id, customer_id, event_id, custom_variables, occurred_ms, received_ms, message_id)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  ),
  customer: database.prepare<[string, string], { customer_id: string; customer_name: string }>(
    'SELECT customer_id, customer_name FROM customers WHERE customer_type = ? AND client_customer_id = ?',
  ),
  insertCustomer: database.prepare('INSERT INTO customers VALUES (?, ?, ?, ?, ?)'),
  rename: database.prepare('UPDATE customers SET customer_name = ? WHERE customer_id = ?'),
  enrol: database.prepare('INSERT INTO enrolments VALUES (?, ?) ON CONFLICT DO NOTHING'),
}

function insertEvent(body: EventBody): Outcome<EventReply> {
  const content = storedContent(body)
  const { message_id = null } = body
  const stored = message_id === null ? undefined : statements.message.get(message_id)
  if (stored && !isSameContent(stored, content)) return refused(409, 'message_id_conflict')
  if (stored) return eventReply(200, stored)
  const { journey_id, customer_id, event_id, custom_variables, occurred_ms } = content
  if (!statements.journey.get(journey_id)) return refused(404, 'journey_not_found')
  const customer = statements.enrolled.get(journey_id, customer_id)
  if (!customer) return refused(404, 'customer_not_found')
  if (!customer.enrolled) return refused(409, 'customer_not_in_journey')
  const event = { id: new TypeID('evt').toString(), received_ms: Date.now() }
  const { id, received_ms } = event
  statements.insertEvent.run(
    id,
    journey_id,
    customer_id,
    event_id,
    custom_variables,
    occurred_ms,
    received_ms,
    message_id,
  )
  return eventReply(201, event)
}

function eventReply(status: 200 | 201, { id, received_ms }: { id: string; received_ms: number }) {
  const received_at = new Date(received_ms).toISOString()
  return { status, reply: { success: true as const, id, duplicate: status === 200, received_at } }
}

/** Each event of a batch has an outcome of its own, as with our server. */
function insertBatch(events: readonly EventBody[]) {
  const results = events.map((body) => {
    const { status, reply } = insertEvent(body)
    if ('code' in reply) return { status: 'rejected', code: reply.code }
    return { status: status === 201 ? 'created' : 'duplicate', id: reply.id, received_at: reply.received_at }
  })
  const created = results.filter(({ status }) => status === 'created').length
  return { received: events.length, created, results }
}

function initialize(body: CustomerBody): Outcome<CustomerReply> {
  const { journey_id, customer_type, client_customer_id, customer_name } = body
  if (!statements.journey.get(journey_id)) return refused(404, 'journey_not_found')
  const known = statements.customer.get(customer_type, client_customer_id)
  const customer_id = known?.customer_id ?? new TypeID('cus').toString()
  if (!known) {
    statements.insertCustomer.run(customer_id, customer_type, client_customer_id, customer_name, Date.now())
  } else if (known.customer_name !== customer_name) {
    statements.rename.run(customer_name, customer_id)
  }
  statements.enrol.run(journey_id, customer_id)
  return { status: known ? 200 : 201, reply: { customer_id, created: !known } }
}

function refused(status: number, code: string) {
  return { status, reply: { code } }
}

type Waiting = { work: () => Outcome<unknown>; resolve(outcome: Outcome<unknown>): void }
let waiting: Waiting[] = []

/** Runs work in one transaction with all requests of the same iteration; resolves when it is on disk. */
function inGroup<Reply>(work: () => Outcome<Reply>): Promise<Outcome<Reply>> {
  return new Promise((resolve) => {
    if (waiting.length === 0) setImmediate(commitGroup)
    waiting.push({ work, resolve: (outcome) => resolve(outcome as Outcome<Reply>) })
  })
}

const runGroup = database.transaction((group: Waiting[]) => group.map(({ work }) => work()))

function commitGroup() {
  const group = waiting
  waiting = []
  const outcomes = runGroup.immediate(group)
  for (const [index, outcome] of outcomes.entries()) group[index]?.resolve(outcome)
}

const name = { type: 'string', minLength: 1, maxLength: 255 }
const eventSchema = {
  body: {
    type: 'object',
    required: ['journey_id', 'customer_id', 'event_id'],
    additionalProperties: false,
    properties: {
      journey_id: name,
      customer_id: name,
      event_id: name,
      custom_variables: { type: ['object', 'string'], maxProperties: 100 },
      occurred_at: { type: 'string', format: 'date-time' },
      message_id: { type: 'string', minLength: 1, maxLength: 128 },
    },
  },
  response: {
    '2xx': {
      type: 'object',
      properties: {
        success: { type: 'boolean' },
        id: { type: 'string' },
        duplicate: { type: 'boolean' },
        received_at: { type: 'string' },
      },
    },
  },
}
const batchSchema = {
  body: {
    type: 'object',
    required: ['events'],
    additionalProperties: false,
    properties: { events: { type: 'array', minItems: 1, maxItems: 1000, items: eventSchema.body } },
  },
  response: {
    '2xx': {
      type: 'object',
      properties: {
        received: { type: 'integer' },
        created: { type: 'integer' },
        results: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              status: { type: 'string' },
              code: { type: 'string' },
              id: { type: 'string' },
              received_at: { type: 'string' },
            },
          },
        },
      },
    },
  },
}
const customerSchema = {
  body: {
    type: 'object',
    required: ['journey_id', 'client_customer_id', 'customer_type', 'customer_name'],
    additionalProperties: false,
    properties: {
      journey_id: name,
      client_customer_id: name,
      customer_type: { enum: ['account', 'contact'] },
      customer_name: name,
    },
  },
  response: {
    '2xx': {
      type: 'object',
      properties: { customer_id: { type: 'string' }, created: { type: 'boolean' } },
    },
  },
}

const log = pino()
const app = fastify({
  genReqId: () => randomUUID(),
  // By default the validator silently removes unknown fields; Cairn rejects them.
  ajv: {
    customOptions: { removeAdditional: false, coerceTypes: false, allErrors: true, allowUnionTypes: true },
  },
})
app.addHook('onRequest', async (request, reply) => {
  reply.header('X-Request-Id', request.id)
  const { 'x-service-key': key } = request.headers
  if (checkKey(typeof key === 'string' ? key : undefined) === undefined) {
    await reply.code(401).send({ code: 'unauthorized' })
  }
})
app.addHook('onResponse', async (request, reply) => {
  const duration_ms = Math.round(reply.elapsedTime * 1000) / 1000
  const { id: request_id, method, url: operation } = request
  log.info({ request_id, method, operation, status: reply.statusCode, duration_ms })
})
app.post<{ Body: CustomerBody }>(
  '/v1/customers/initialize',
  { schema: customerSchema },
  async ({ body }, reply) => {
    const outcome = await inGroup(() => initialize(body))
    return reply.code(outcome.status).send(outcome.reply)
  },
)
app.post<{ Body: EventBody }>('/v1/events/create', { schema: eventSchema }, async ({ body }, reply) => {
  const outcome = await inGroup(() => insertEvent(body))
  return reply.code(outcome.status).send(outcome.reply)
})
app.post<{ Body: { events: EventBody[] } }>(
  '/v1/events/batch',
  { schema: batchSchema, bodyLimit: 8 * 1024 * 1024 },
  async ({ body: { events } }) => {
    const { reply } = await inGroup(() => ({ status: 200, reply: insertBatch(events) }))
    return reply
  },
)
await app.listen({ port: options.port, host: '127.0.0.1' })
