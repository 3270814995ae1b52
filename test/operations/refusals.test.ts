import { beforeAll, describe, expect, it } from 'vitest'
import type { OperationRequest } from '../../client/index.ts'
import { type Cairn, startCairn } from '../cairn.ts'
import { createKey } from '../http/service-keys.ts'
import { signUp } from '../people.ts'
import { customerInJourney } from './customer.ts'

const NOW = Date.parse('2026-11-20T12:00:00.000Z')

type Query = NonNullable<OperationRequest<'listRefusals'>['query']>

let cairn: Cairn
let now_ms = NOW

beforeAll(async () => {
  cairn = await startCairn({ now: () => now_ms })
  return cairn.stop
})

/** Sends a body as it stands, with the secret key. */
async function post(path: string, key: string, body: string) {
  const headers = { 'x-service-key': key, 'content-type': 'application/json' }
  return await cairn.fetch(path, { method: 'POST', headers, body })
}

describe('a request that is refused for its content', () => {
  it('is kept with its reason, its references and what was sent', async () => {
    const { workspace, event } = await customerInJourney(cairn)
    const { client, secret_key } = workspace
    const sent = JSON.stringify({ ...event, customer_id: 'cus_unknown' }, null, 2)
    const reply = await post('/events/create', secret_key, sent)
    const { request_id } = await reply.json()
    const { data } = await client.listRefusals()
    expect(data?.next_cursor).toBe(null)
    expect(data?.data).toEqual([
      {
        refusal_id: expect.any(String),
        received_at: '2026-11-20T12:00:00.000Z',
        request_id,
        key_id: expect.any(String),
        operation: 'createEvent',
        status: 404,
        code: 'customer_not_found',
        errors: [],
        errors_omitted: 0,
        item: null,
        journey_id: event.journey_id,
        customer_id: 'cus_unknown',
        event_id: 'signed_up',
        sent,
        sent_bytes: sent.length,
        left_out: 0,
      },
    ])
    const [refusal] = data?.data ?? []
    const path = { refusal_id: refusal?.refusal_id ?? '' }
    expect((await client.getRefusal({ path })).data).toEqual(refusal)
  })

  it('is kept with every fault, of whatever operation of ingestion', async () => {
    const { workspace, event } = await customerInJourney(cairn)
    const { client, secret_key, journey_id } = workspace
    const wrong = { ...event, customer_id: 7, evnt_id: 'x' }
    const reply = await post('/events/create', secret_key, JSON.stringify(wrong))
    const { errors } = await reply.json()
    await post('/events/batch', secret_key, JSON.stringify({ events: [event, wrong] }))
    await post('/events/create?dry=1', secret_key, JSON.stringify(event))
    const customer = { client_customer_id: 'user-1', customer_type: 'contact', customer_name: 'Ada' } as const
    await client.archiveJourney({ path: { journey_id } })
    await client.initializeCustomer({ body: { ...customer, journey_id } })
    const { data } = await client.listRefusals({ query: { order: 'oldest' } })
    expect(data?.data.map(({ operation, code, status }) => [operation, code, status])).toEqual([
      ['createEvent', 'invalid_request', 400],
      ['createEvents', 'invalid_request', 400],
      ['createEvent', 'invalid_request', 400],
      ['initializeCustomer', 'journey_archived', 409],
    ])
    expect(data?.data[0]).toMatchObject({ errors, journey_id, customer_id: null, event_id: 'signed_up' })
    expect(data?.data[1]?.errors.map(({ pointer }) => pointer)).toEqual([
      '/events/1/evnt_id',
      '/events/1/customer_id',
    ])
    expect(data?.data[2]?.errors).toEqual([{ parameter: 'dry', detail: expect.any(String) }])
  })

  it('is kept by each rejected event of a batch', async () => {
    const { workspace, event } = await customerInJourney(cairn)
    const { client } = workspace
    const large = { ...event, event_id: 'large', custom_variables: 'x'.repeat(70_000) }
    const events = [event, { ...event, journey_id: 'jrn_unknown' }, event, large]
    await client.createEvents({ body: { events } })
    const { data } = await client.listRefusals({ query: { order: 'oldest' } })
    expect(data?.data.map(({ item, code, status, event_id }) => [item, code, status, event_id])).toEqual([
      [1, 'journey_not_found', 404, 'signed_up'],
      [3, 'event_too_large', 413, 'large'],
    ])
    const [small, cut] = data?.data ?? []
    expect(JSON.parse(small?.sent ?? '')).toMatchObject({ ...event, journey_id: 'jrn_unknown' })
    expect(cut?.sent).toHaveLength(16_384)
    expect(cut?.sent_bytes).toBeGreaterThan(70_000)
    expect(small?.request_id).toBe(cut?.request_id)
  })

  it('is not kept where the reason is another, or nothing would have been stored', async () => {
    const { workspace, event } = await customerInJourney(cairn)
    const { client, secret_key } = workspace
    const body = JSON.stringify({ ...event, journey_id: 'jrn_unknown' })
    await post('/events/create?dry_run=true', secret_key, body)
    await post('/events/create?dry_run=true', secret_key, '{}')
    await client.createEvents({ body: { events: [JSON.parse(body)] }, query: { dry_run: true } })
    await post('/events/create', 'sk_wrong', body)
    await post('/events/create', secret_key, body.slice(1))
    await post('/events/create', secret_key, '')
    await post('/events/create', secret_key, JSON.stringify('x'.repeat(70_000)))
    await post('/journeys', secret_key, '{}')
    const headers = { 'x-service-key': secret_key, 'content-type': 'text/plain' }
    await cairn.fetch('/events/create', { method: 'POST', headers, body })
    const { data } = await client.listRefusals()
    expect(data?.data).toEqual([])
  })
})

describe('listRefusals', () => {
  it('finds by code, operation, key, journey, customer, name and time', async () => {
    const { workspace, event } = await customerInJourney(cairn)
    const { client } = workspace
    const other = await createKey(cairn, workspace, 'publishable')
    await client.createEvent({ body: { ...event, customer_id: 'cus_unknown' } })
    now_ms = NOW + 1000
    await cairn
      .client(other.key)
      .createEvent({ body: { ...event, journey_id: 'jrn_unknown', event_id: 'b' } })
    now_ms = NOW
    const found = async (query: Query) =>
      (await client.listRefusals({ query })).data?.data.map(({ code }) => code)
    const [customer, journey] = ['customer_not_found', 'journey_not_found'] as const
    expect(await found({})).toEqual([journey, customer])
    expect(await found({ code: customer })).toEqual([customer])
    expect(await found({ operation: 'createEvents' })).toEqual([])
    expect(await found({ key_id: other.key_id })).toEqual([journey])
    expect(await found({ journey_id: 'jrn_unknown' })).toEqual([journey])
    expect(await found({ customer_id: 'cus_unknown' })).toEqual([customer])
    expect(await found({ event_id: 'b', code: journey })).toEqual([journey])
    expect(await found({ received_from: '2026-11-20T12:00:00.001Z' })).toEqual([journey])
    expect(await found({ received_to: '2026-11-20T12:00:00.001Z', order: 'oldest' })).toEqual([customer])
    const elsewhere = await cairn.workspace()
    expect((await elsewhere.client.listRefusals()).data?.data).toEqual([])
  })

  it('is noted in the audit log once an hour for each who reads', async () => {
    const { workspace } = await customerInJourney(cairn)
    const owner = await signUp(cairn, workspace, 'owner')
    const person = owner.client()
    for (let time = 0; time < 3; time += 1) {
      await person.listRefusals()
      await workspace.client.listRefusals()
    }
    await workspace.client.getRefusal({ path: { refusal_id: 'unknown' } })
    const noted = async () => {
      const { data } = await person.listAuditLog({ query: { area: 'refusals' } })
      return data?.data.map(({ action, actor }) => [action, actor.kind])
    }
    const each = [
      ['refusals_read', 'service_key'],
      ['refusals_read', 'person'],
    ]
    expect(await noted()).toEqual(each)
    now_ms = NOW + 3_600_000
    await workspace.client.listRefusals()
    now_ms = NOW
    expect((await noted())?.length).toBe(3)
  })

  it('is for secret keys, owners and admins, not for viewers', async () => {
    const { workspace } = await customerInJourney(cairn)
    const viewer = await signUp(cairn, workspace, 'viewer')
    expect((await viewer.client().listRefusals()).error?.code).toBe('role_not_allowed')
    const admin = await signUp(cairn, workspace, 'admin')
    expect((await admin.client().listRefusals()).response.status).toBe(200)
    const browser = cairn.client(workspace.publishable_key)
    expect((await browser.listRefusals()).error?.code).toBe('secret_key_required')
  })
})
