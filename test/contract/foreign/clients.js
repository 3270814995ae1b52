import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createClient, createConfig } from './dist/hey-api/client/index.ts'
import * as heyApi from './dist/hey-api/index.ts'
import * as oazapfts from './dist/oazapfts.ts'
import * as orval from './dist/orval.ts'
import * as redocly from './dist/redocly.ts'
import { startServer } from './server.js'

const { baseUrl, journey_id, secret_key, publishable_key, stop } = await startServer()

after(stop)

test('a client by Hey API initializes a customer, saves an event and reads it back', async () => {
  const client = createClient(createConfig({ baseUrl, auth: publishable_key }))
  const initialized = await heyApi.initializeCustomer({
    client,
    body: {
      client_customer_id: 'hey-api',
      journey_id,
      customer_type: 'contact',
      customer_name: 'Ada Lovelace',
    },
  })
  // A publishable key cannot find out whether the customer is new.
  assert.equal(initialized.response?.status, 200)
  assert.equal(initialized.data?.created, false)
  const { customer_id } = initialized.data
  const created = await heyApi.createEvent({
    client,
    body: { journey_id, customer_id, event_id: 'noted', custom_variables: 'Asked for an invoice' },
  })
  assert.equal(created.response?.status, 201)
  assert.ok(created.data?.success)
  const server = createClient(createConfig({ baseUrl, auth: secret_key }))
  const listed = await heyApi.listCustomerEvents({
    client: server,
    path: { customer_id },
    query: { limit: 1 },
  })
  assert.equal(listed.data?.data[0]?.id, created.data.id)
  assert.equal(listed.data?.data[0]?.custom_variables, 'Asked for an invoice')
  const refused = await heyApi.listEvents({ client })
  assert.equal(refused.error?.code, 'secret_key_required')
})

test('a client by oazapfts initializes a customer, saves an event and reads it back', async () => {
  const publishable = { baseUrl, headers: { 'x-service-key': publishable_key } }
  const initialized = await oazapfts.initializeCustomer(
    {
      client_customer_id: 'oazapfts',
      journey_id,
      customer_type: 'account',
      customer_name: 'Analytical Engines',
    },
    {},
    publishable,
  )
  assert.ok(initialized.status === 200)
  assert.equal(initialized.data.created, false)
  const { customer_id } = initialized.data
  const created = await oazapfts.createEvent(
    { journey_id, customer_id, event_id: 'plan_chosen', custom_variables: { seats: 12 } },
    {},
    publishable,
  )
  assert.ok(created.status === 201)
  assert.equal(created.data.success, true)
  const secret = { baseUrl, headers: { 'x-service-key': secret_key } }
  const listed = await oazapfts.listCustomerEvents(customer_id, { limit: 1 }, secret)
  assert.ok(listed.status === 200)
  assert.equal(listed.data.data[0]?.id, created.data.id)
  assert.deepEqual(listed.data.data[0]?.custom_variables, { seats: 12 })
  const refused = await oazapfts.listEvents({}, publishable)
  assert.ok(refused.status === 403)
  assert.equal(refused.data.code, 'secret_key_required')
})

test('a client by orval initializes a customer, saves an event and reads it back', async () => {
  const publishable = { baseUrl, headers: { 'x-service-key': publishable_key } }
  const initialized = await orval.initializeCustomer(
    { client_customer_id: 'orval', journey_id, customer_type: 'contact', customer_name: 'Ada Lovelace' },
    {},
    publishable,
  )
  assert.ok(initialized.status === 200)
  const { customer_id } = initialized.data
  const event = { journey_id, customer_id, event_id: 'plan_chosen', custom_variables: { seats: 12 } }
  const created = await orval.createEvent(event, {}, publishable)
  assert.ok(created.status === 201)
  const secret = { baseUrl, headers: { 'x-service-key': secret_key } }
  const listed = await orval.listCustomerEvents(customer_id, { limit: 1 }, secret)
  assert.ok(listed.status === 200)
  assert.equal(listed.data.data[0]?.id, created.data.id)
  assert.deepEqual(listed.data.data[0]?.custom_variables, { seats: 12 })
  const refused = await orval.listEvents({}, publishable)
  assert.ok(refused.status === 403)
  assert.equal(refused.data.code, 'secret_key_required')
})

test('a client by Redocly initializes a customer, saves an event and reads it back', async () => {
  redocly.configure({ serverUrl: baseUrl })
  const publishable = { headers: { 'x-service-key': publishable_key } }
  const initialized = await redocly.initializeCustomer(
    {
      body: {
        client_customer_id: 'redocly',
        journey_id,
        customer_type: 'contact',
        customer_name: 'Ada Lovelace',
      },
    },
    publishable,
  )
  assert.ok(initialized.data)
  const { customer_id } = initialized.data
  const body = { journey_id, customer_id, event_id: 'plan_chosen', custom_variables: { seats: 12 } }
  const created = await redocly.createEvent({ body }, publishable)
  assert.equal(created.data?.success, true)
  const secret = { headers: { 'x-service-key': secret_key } }
  const listed = await redocly.listCustomerEvents({ path: { customer_id }, query: { limit: 1 } }, secret)
  assert.equal(listed.data?.data[0]?.id, created.data.id)
  assert.deepEqual(listed.data.data[0]?.custom_variables, { seats: 12 })
  const refused = await redocly.listEvents({}, publishable)
  assert.equal(refused.error?.code, 'secret_key_required')
})
