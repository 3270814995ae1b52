// engines: sqlite, postgres

import { describe, expect } from 'vitest'
import { startCairnForTest } from '../fixtures/cairn.ts'
import { customerInJourney } from '../fixtures/customer.ts'
import { it } from '../fixtures/it.ts'
import { send } from '../fixtures/requests.ts'

const HOUR_MS = 3_600_000

/** The customer's fields in a list. */
const named = { customer_name: 'Ada Lovelace', client_customer_id: 'user-1' }

describe('createEvent', () => {
  it('answers 201 and lists the event at once', async ({ event, client }) => {
    const created = await client.createEvent({
      body: { ...event, occurred_at: '2026-11-20T09:30:00.2509+01:00', custom_variables: { plan: 'team' } },
    })
    expect(created.response.status).toBe(201)
    expect(created.data).toMatchObject({ success: true, duplicate: false })
    const listed = await client.listEvents()
    expect(listed.data?.data).toEqual([
      {
        ...event,
        ...named,
        id: created.data?.id,
        custom_variables: { plan: 'team' },
        occurred_at: '2026-11-20T08:30:00.250Z',
        received_at: created.data?.received_at,
        message_id: expect.any(String),
        key_id: expect.stringMatching(/^key_/),
      },
    ])
  })

  it('uses the time of receipt if occurred_at is absent', async ({ event, client }) => {
    const { data } = await client.createEvent({ body: event })
    const listed = await client.listEvents()
    expect(listed.data?.data[0]?.occurred_at).toBe(data?.received_at)
  })

  it.for([
    ['an empty object', {}],
    ['a string', 'Asked for an invoice'],
    ['an empty string', ''],
    ['nested values', { a: [1, -0.5, 1e300, true, null, { b: 'ä\u0000\u{1F600}' }], '': 1 }],
    ['names that objects have', JSON.parse('{"__proto__": {"a": 1}, "constructor": 2, "toString": 3}')],
    ['integers at the edge of a double', { safe: Number.MAX_SAFE_INTEGER, least: Number.MIN_VALUE }],
  ])('returns custom_variables equal as JSON: %s', async ([_name, custom_variables], { event, client }) => {
    await client.createEvent({ body: { ...event, custom_variables } })
    const listed = await client.listEvents()
    expect(JSON.stringify(listed.data?.data[0]?.custom_variables)).toBe(JSON.stringify(custom_variables))
  })

  it('keeps the names of variables as they were sent, whatever another workspace has sent', async ({
    cairn,
    event,
    api,
  }) => {
    const withVariable = (name: string) => {
      return JSON.stringify({ ...event, custom_variables: {} }).replace('{}', `{"plan":1,"${name}":2}`)
    }
    const { secret_key: key } = await cairn.workspace()
    // V8 remembers the shape of an object that it has read some times.
    for (let times = 0; times < 10; times += 1)
      await send(cairn, 'POST /events/create', { key, body: withVariable('\\\\u') })
    const sent = await api('POST /events/create', { body: withVariable('\\u540d\\u524d') })
    expect(sent.status).toBe(201)
    expect(await (await api('GET /events')).text()).toContain('{"plan":1,"名前":2}')
  })

  it('accepts 100 top-level variables and refuses 101', async ({ event, client }) => {
    const variables = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`v${index}`, index]))
    const taken = await client.createEvent({ body: { ...event, custom_variables: variables(100) } })
    expect(taken.response.status).toBe(201)
    const refused = await client.createEvent({
      body: { ...event, custom_variables: variables(101) },
    })
    expect(refused.error).toMatchObject({ status: 400, errors: [{ pointer: '/custom_variables' }] })
  })

  it('accepts 255 characters of event_id, counted as characters, and refuses 256', async ({
    event,
    client,
  }) => {
    const taken = await client.createEvent({
      body: { ...event, event_id: '\u{1F600}'.repeat(255) },
    })
    expect(taken.response.status).toBe(201)
    const refused = await client.createEvent({ body: { ...event, event_id: 'x'.repeat(256) } })
    expect(refused.error?.errors).toEqual([
      { pointer: '/event_id', detail: 'must NOT have more than 255 characters' },
    ])
  })

  it('accepts occurred_at up to one hour ahead and refuses more', async () => {
    const now = Date.parse('2026-11-20T12:00:00Z')
    const cairn = await startCairnForTest({ now: () => now })
    const { workspace, event } = await customerInJourney(cairn)
    const at = (ms: number) => new Date(now + ms).toISOString()
    const taken = await workspace.client.createEvent({ body: { ...event, occurred_at: at(HOUR_MS) } })
    expect(taken.response.status).toBe(201)
    const refused = await workspace.client.createEvent({ body: { ...event, occurred_at: at(HOUR_MS + 1) } })
    expect(refused.error).toMatchObject({ status: 409, code: 'occurred_at_in_future' })
  })

  it.for([
    '2023-02-30T00:00:00Z',
    '2026-01-01T00:00:60Z',
    '2026-01-01T00:00:00',
    '2026-01-01 00:00:00Z',
    '2026-01-01T00:00:00.0000000001Z',
    '0001-01-01T00:00:00Z',
    'yesterday',
  ])('refuses occurred_at %s with its pointer', async (occurred_at, { event, client }) => {
    const { error } = await client.createEvent({ body: { ...event, occurred_at } })
    expect(error).toMatchObject({
      status: 400,
      code: 'invalid_request',
      errors: [{ pointer: '/occurred_at' }],
    })
  })

  it.for([
    ['2026-01-01T00:00:00.123456789Z', '2026-01-01T00:00:00.123Z'],
    ['1900-01-02T00:00:00+23:59', '1900-01-01T00:01:00.000Z'],
    ['2026-01-01T00:00:00-00:00', '2026-01-01T00:00:00.000Z'],
  ] as const)('accepts occurred_at %s', async ([occurred_at, stored], { event, client }) => {
    const { response } = await client.createEvent({ body: { ...event, occurred_at } })
    expect(response.status).toBe(201)
    const listed = await client.listEvents()
    expect(listed.data?.data[0]?.occurred_at).toBe(stored)
  })
})

describe('message_id', () => {
  it('answers a resend with 200 and stores it once', async ({ event, client }) => {
    const body = { ...event, message_id: 'm-1', custom_variables: { a: 1, b: { c: 2, d: 3 } } }
    const first = await client.createEvent({ body })
    const resend = await client.createEvent({
      body: { ...body, custom_variables: { b: { d: 3, c: 2 }, a: 1.0 } },
    })
    expect(resend.response.status).toBe(200)
    expect(resend.data).toEqual({ ...first.data, duplicate: true })
    expect((await client.listEvents()).data?.data).toHaveLength(1)
  })

  it.for([
    ['event_id', { event_id: 'other' }],
    ['custom_variables', { custom_variables: { a: 2 } }],
    ['absent custom_variables', { custom_variables: undefined }],
    ['occurred_at', { occurred_at: '2026-01-01T00:00:00.001Z' }],
    ['absent occurred_at', { occurred_at: undefined }],
    ['customer_id, even an unknown one', { customer_id: 'cus_unknown' }],
    ['journey_id, even an unknown one', { journey_id: 'jrn_unknown' }],
  ] as const)('refuses the same message_id with another %s', async ([_name, change], { event, client }) => {
    const body = {
      ...event,
      message_id: 'm-1',
      custom_variables: { a: 1 },
      occurred_at: '2026-01-01T00:00:00Z',
    }
    await client.createEvent({ body })
    const other = JSON.parse(JSON.stringify({ ...body, ...change }))
    const { error } = await client.createEvent({ body: other })
    expect(error).toMatchObject({ status: 409, code: 'message_id_conflict' })
  })

  it('compares occurred_at as an instant', async ({ event, client }) => {
    const body = { ...event, message_id: 'm-1', occurred_at: '2026-01-01T00:00:00Z' }
    await client.createEvent({ body })
    const resend = await client.createEvent({
      body: { ...body, occurred_at: '2026-01-01T01:00:00.0001+01:00' },
    })
    expect(resend.response.status).toBe(200)
  })

  it('recognizes a resend before any rule on journey or time', async () => {
    let now = Date.parse('2026-11-20T12:00:00Z')
    const cairn = await startCairnForTest({ now: () => now })
    const { workspace, event } = await customerInJourney(cairn)
    const body = { ...event, message_id: 'm-1', occurred_at: '2026-11-20T12:30:00Z' }
    await workspace.client.createEvent({ body })
    await workspace.client.archiveJourney({ path: { journey_id: event.journey_id } })
    now -= 2 * HOUR_MS
    const resend = await workspace.client.createEvent({ body })
    expect(resend.response.status).toBe(200)
    const conflict = await workspace.client.createEvent({ body: { ...body, event_id: 'other' } })
    expect(conflict.error?.code).toBe('message_id_conflict')
  })

  it('of a UUID in upper case differs from lower case, and each is returned as it was sent', async ({
    event,
    client,
  }) => {
    const lower = '0192f5a4-7c1e-7b3d-8a9f-0123456789ab'
    const sent = [lower, lower.toUpperCase(), lower.replace('ab', 'aB'), lower.replace('a4', 'A4')]
    const ids: (string | undefined)[] = []
    for (const message_id of sent) {
      const { data, response } = await client.createEvent({ body: { ...event, message_id } })
      expect(response.status).toBe(201)
      ids.push(data?.id)
    }
    const listed = await client.listEvents()
    expect(listed.data?.data.map(({ message_id }) => message_id)).toEqual(sent.toReversed())
    for (const [index, message_id] of sent.entries()) {
      const { data } = await client.createEvent({ body: { ...event, message_id } })
      expect(data).toMatchObject({ id: ids[index], duplicate: true })
    }
  })

  it('is unique in its workspace only', async ({ cairn }) => {
    for (const { workspace, event } of [await customerInJourney(cairn), await customerInJourney(cairn)]) {
      const { response } = await workspace.client.createEvent({ body: { ...event, message_id: 'same' } })
      expect(response.status).toBe(201)
    }
  })

  it('makes one event of 200 concurrent sends', async ({ event, client }) => {
    const body = { ...event, message_id: 'm-1' }
    const answers = await Promise.all(Array.from({ length: 200 }, () => client.createEvent({ body })))
    expect(answers.filter(({ response }) => response.status === 201)).toHaveLength(1)
    expect(answers.filter(({ response }) => response.status === 200)).toHaveLength(199)
    expect(new Set(answers.map(({ data }) => data?.id)).size).toBe(1)
    expect((await client.listEvents()).data?.data).toHaveLength(1)
  })
})

describe('references', () => {
  it('refuses an unknown journey, an unknown customer and a customer of another journey', async ({
    event,
    client,
  }) => {
    const other = await client.createJourney({ body: { name: 'Renewal' } })
    const code = async (change: object) => {
      const { error } = await client.createEvent({ body: { ...event, ...change } })
      return [error?.status, error?.code]
    }
    expect(await code({ journey_id: 'jrn_unknown' })).toEqual([404, 'journey_not_found'])
    expect(await code({ customer_id: 'cus_unknown' })).toEqual([404, 'customer_not_found'])
    expect(await code({ journey_id: other.data?.journey_id })).toEqual([409, 'customer_not_in_journey'])
  })

  it('says that customer_id is not the caller’s own identifier, alone, in a batch and in a path', async ({
    workspace,
    event,
  }) => {
    const { client } = workspace
    const own = /^customer_id is what initializeCustomer returned \(cus_…\), not your own identifier/
    const unknown = 'Use the customer_id that initializeCustomer returned in this workspace.'
    for (const [customer_id, detail] of [
      ['user-10001', expect.stringMatching(own)],
      ['cus_user10001', expect.stringMatching(own)],
      ['cus_01jd3zd8k2fn7w4t6r9v3y5qbc', unknown],
    ]) {
      const refused = { status: 404, code: 'customer_not_found', detail }
      const body = { ...event, customer_id }
      expect((await client.createEvent({ body })).error).toMatchObject(refused)
      expect((await client.createEvent({ body, query: { dry_run: true } })).error).toMatchObject(refused)
      const { data } = await client.createEvents({ body: { events: [body] } })
      expect(data?.results[0]?.problem).toMatchObject(refused)
      const path = { customer_id }
      expect((await client.getCustomer({ path })).error).toMatchObject(refused)
      expect((await client.listCustomerEvents({ path })).error).toMatchObject(refused)
      expect((await client.listCustomerJourneys({ path })).error).toMatchObject(refused)
      expect((await client.exportCustomer({ path })).error).toMatchObject(refused)
      expect((await client.eraseCustomer({ path })).error).toMatchObject(refused)
    }
  })

  it('refuses an archived journey and accepts a restored one', async ({ event, client }) => {
    const path = { journey_id: event.journey_id }
    await client.archiveJourney({ path })
    const refused = await client.createEvent({ body: event })
    expect(refused.error).toMatchObject({ status: 409, code: 'journey_archived' })
    await client.restoreJourney({ path })
    expect((await client.createEvent({ body: event })).response.status).toBe(201)
  })
})
