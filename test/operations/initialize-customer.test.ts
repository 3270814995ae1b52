// engines: sqlite, postgres

import { describe, expect } from 'vitest'
import { it as base } from '../fixtures/it.ts'

const it = base.extend('body', ({ workspace }) => {
  const names = { customer_type: 'contact', customer_name: 'Ada Lovelace' } as const
  return { ...names, client_customer_id: 'user-8412', journey_id: workspace.journey_id }
})

describe('initializeCustomer', () => {
  it('answers 201 for a new customer and 200 with the same customer_id for a known one', async ({
    client,
    body,
  }) => {
    const first = await client.initializeCustomer({ body })
    expect(first.response.status).toBe(201)
    expect(first.data).toEqual({ customer_id: expect.stringMatching(/^cus_/), created: true })
    const second = await client.initializeCustomer({ body })
    expect(second.response.status).toBe(200)
    expect(second.data).toEqual({ customer_id: first.data?.customer_id, created: false })
  })

  it('replaces the name, and only the name', async ({ client, body }) => {
    const { data } = await client.initializeCustomer({ body })
    const path = { customer_id: data?.customer_id ?? '' }
    const before = await client.getCustomer({ path })
    await client.initializeCustomer({ body })
    expect((await client.getCustomer({ path })).data).toEqual(before.data)
    await client.initializeCustomer({ body: { ...body, customer_name: 'Ada King' } })
    const after = await client.getCustomer({ path })
    expect(after.data).toEqual({
      ...before.data,
      customer_name: 'Ada King',
      updated_at: expect.any(String),
    })
  })

  it('distinguishes an account and a contact with the same identifier', async ({ client, body }) => {
    const contact = await client.initializeCustomer({ body })
    const account = await client.initializeCustomer({ body: { ...body, customer_type: 'account' } })
    expect(account.response.status).toBe(201)
    expect(account.data?.customer_id).not.toBe(contact.data?.customer_id)
  })

  it('keeps the customer_id in a second journey', async ({ client, body }) => {
    const first = await client.initializeCustomer({ body })
    const renewal = await client.createJourney({ body: { name: 'Renewal' } })
    const journey_id = renewal.data?.journey_id ?? ''
    const second = await client.initializeCustomer({ body: { ...body, journey_id } })
    expect(second.data).toEqual({ customer_id: first.data?.customer_id, created: false })
    const event = { journey_id, customer_id: first.data?.customer_id ?? '', event_id: 'renewed' }
    expect((await client.createEvent({ body: event })).response.status).toBe(201)
  })

  it('creates one customer for 200 concurrent first calls', async ({ client, body }) => {
    const answers = await Promise.all(Array.from({ length: 200 }, () => client.initializeCustomer({ body })))
    expect(answers.filter(({ response }) => response.status === 201)).toHaveLength(1)
    expect(answers.filter(({ response }) => response.status === 200)).toHaveLength(199)
    expect(new Set(answers.map(({ data }) => data?.customer_id)).size).toBe(1)
    expect((await client.listCustomers()).data?.data).toHaveLength(1)
  })

  it('refuses an unknown journey with 404 and an archived one with 409, and creates no customer', async ({
    client,
    body,
  }) => {
    const unknown = await client.initializeCustomer({ body: { ...body, journey_id: 'jrn_unknown' } })
    expect(unknown.error).toMatchObject({ status: 404, code: 'journey_not_found' })
    await client.archiveJourney({ path: { journey_id: body.journey_id } })
    const archived = await client.initializeCustomer({ body })
    expect(archived.error).toMatchObject({ status: 409, code: 'journey_archived' })
    expect((await client.listCustomers()).data?.data).toEqual([])
  })

  it('refuses a known customer too in an archived journey, and changes nothing', async ({ client, body }) => {
    const renewal = await client.createJourney({ body: { name: 'Renewal' } })
    const { data } = await client.initializeCustomer({ body })
    const customer_id = data?.customer_id ?? ''
    const before = await client.getCustomer({ path: { customer_id } })
    // It is enrolled in one of them and not in the other.
    for (const journey_id of [body.journey_id, renewal.data?.journey_id ?? '']) {
      await client.archiveJourney({ path: { journey_id } })
      for (const customer_name of [body.customer_name, 'Ada King']) {
        const { error } = await client.initializeCustomer({ body: { ...body, journey_id, customer_name } })
        expect(error).toMatchObject({ status: 409, code: 'journey_archived' })
      }
      await client.restoreJourney({ path: { journey_id } })
    }
    expect((await client.getCustomer({ path: { customer_id } })).data).toEqual(before.data)
    const event = { journey_id: renewal.data?.journey_id ?? '', customer_id, event_id: 'renewed' }
    expect((await client.createEvent({ body: event })).error?.code).toBe('customer_not_in_journey')
  })

  it('accepts 255 characters in each name and refuses 256 or none, naming every field', async ({
    client,
    body,
  }) => {
    const long = { client_customer_id: 'x'.repeat(255), customer_name: '\u{1F600}'.repeat(255) }
    expect((await client.initializeCustomer({ body: { ...body, ...long } })).response.status).toBe(201)
    const tooLong = { client_customer_id: 'x'.repeat(256), customer_name: '' }
    const { error } = await client.initializeCustomer({ body: { ...body, ...tooLong } })
    expect(error?.errors?.map(({ pointer }) => pointer)).toEqual(['/client_customer_id', '/customer_name'])
  })
})
