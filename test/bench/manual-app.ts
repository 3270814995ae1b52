import express, { type ErrorRequestHandler } from 'express'
import { middleware as openApiValidator } from 'express-openapi-validator'
import type { Kysely } from 'kysely'
import { pino } from 'pino'
import { TypeID } from 'typeid-js'
import { type CustomerBody, type EventBody, isSameContent, storedContent, withLogLine } from './peer.ts'

export type ManualTables = {
  journeys: { journey_id: string; name: string }
  customers: {
    customer_id: string
    customer_type: string
    client_customer_id: string
    customer_name: string
    created_ms: number
  }
  enrolments: { journey_id: string; customer_id: string }
  events: {
    id: string
    journey_id: string
    customer_id: string
    event_id: string
    custom_variables: string | null
    occurred_ms: number | null
    received_ms: number
    message_id: string | null
  }
}

class Refusal extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

type ManualOptions = {
  db: Kysely<ManualTables>
  /** Returns the key_id of a valid key. */
  checkKey: (key: string | undefined) => Promise<string | undefined> | string | undefined
  port: number
}

/**
 * Express, express-openapi-validator and Kysely, combined as in their manuals, on any engine. The validator is mounted
 * once with our contract and looks up the operation of each request. Every request is one transaction.
 */
export function serveManual({ db, checkKey, port }: ManualOptions) {
  const log = pino()
  const app = express()

  app.use((req, res, next) => {
    withLogLine(req, res, log)
    next()
  })
  app.use(express.json())
  app.use(
    openApiValidator({
      apiSpec: new URL('../../openapi.yaml', import.meta.url).pathname,
      validateRequests: true,
      validateResponses: false,
      validateSecurity: {
        handlers: {
          PublishableKey: async (req) => (await checkKey(req.get('x-service-key'))) !== undefined,
          SecretKey: async (req) => (await checkKey(req.get('x-service-key'))) !== undefined,
        },
      },
    }),
  )

  app.post('/v1/customers/initialize', async (req, res) => {
    const { journey_id, client_customer_id, customer_type, customer_name } = req.body as CustomerBody
    const reply = await db.transaction().execute(async (db) => {
      const journey = await db
        .selectFrom('journeys')
        .select('journey_id')
        .where('journey_id', '=', journey_id)
        .executeTakeFirst()
      if (!journey) throw new Refusal(404, 'journey_not_found')
      const known = await db
        .selectFrom('customers')
        .select(['customer_id', 'customer_name'])
        .where('customer_type', '=', customer_type)
        .where('client_customer_id', '=', client_customer_id)
        .executeTakeFirst()
      const customer_id = known?.customer_id ?? new TypeID('cus').toString()
      if (!known) {
        const created_ms = Date.now()
        await db
          .insertInto('customers')
          .values({ customer_id, customer_type, client_customer_id, customer_name, created_ms })
          .execute()
      } else if (known.customer_name !== customer_name) {
        await db
          .updateTable('customers')
          .set({ customer_name })
          .where('customer_id', '=', customer_id)
          .execute()
      }
      await db
        .insertInto('enrolments')
        .values({ journey_id, customer_id })
        .onConflict((conflict) => conflict.doNothing())
        .execute()
      return { customer_id, created: !known }
    })
    res.status(reply.created ? 201 : 200).json(reply)
  })

  app.post('/v1/events/create', async (req, res) => {
    const body = req.body as EventBody
    const content = storedContent(body)
    const { message_id = null } = body
    const reply = await db.transaction().execute(async (db) => {
      if (message_id !== null) {
        const stored = await db
          .selectFrom('events')
          .selectAll()
          .where('message_id', '=', message_id)
          .executeTakeFirst()
        if (stored && !isSameContent(stored, content)) throw new Refusal(409, 'message_id_conflict')
        if (stored) return { id: stored.id, duplicate: true, received_ms: stored.received_ms }
      }
      const journey = await db
        .selectFrom('journeys')
        .select('journey_id')
        .where('journey_id', '=', content.journey_id)
        .executeTakeFirst()
      if (!journey) throw new Refusal(404, 'journey_not_found')
      const customer = await db
        .selectFrom('customers')
        .leftJoin('enrolments', (join) =>
          join
            .onRef('enrolments.customer_id', '=', 'customers.customer_id')
            .on('enrolments.journey_id', '=', content.journey_id),
        )
        .select('enrolments.journey_id as enrolled_in')
        .where('customers.customer_id', '=', content.customer_id)
        .executeTakeFirst()
      if (!customer) throw new Refusal(404, 'customer_not_found')
      if (customer.enrolled_in === null) throw new Refusal(409, 'customer_not_in_journey')
      const received_ms = Date.now()
      const id = new TypeID('evt').toString()
      await db
        .insertInto('events')
        .values({ ...content, id, received_ms, message_id })
        .execute()
      return { id, duplicate: false, received_ms }
    })
    const { id, duplicate, received_ms } = reply
    const received_at = new Date(received_ms).toISOString()
    res.status(duplicate ? 200 : 201).json({ success: true, id, duplicate, received_at })
  })

  const onError: ErrorRequestHandler = (error, _req, res, _next) => {
    res.status(error.status ?? 500).json({ title: error.message, errors: error.errors })
  }
  app.use(onError)
  app.listen(port, '127.0.0.1')
}
