// engines: sqlite, postgres

import { beforeAll, describe, expect, it } from 'vitest'
import type { OperationRequest } from '../../client/index.ts'
import { newServiceKey } from '../../server/domain/service-keys.ts'
import { type Cairn, startCairn, type Workspace } from '../fixtures/cairn.ts'
import { customerInJourney } from '../fixtures/customer.ts'
import { scrape, sumOf } from '../fixtures/exposition.ts'
import { signUp } from '../fixtures/people.ts'
import { keptRefusals } from '../fixtures/refusals.ts'
import { createKey } from '../fixtures/service-keys.ts'
import { storedText } from '../fixtures/store.ts'

const NOW = Date.parse('2026-11-20T12:00:00.000Z')

type Query = NonNullable<OperationRequest<'listRefusals'>['query']>

let cairn: Cairn
let now_ms = NOW

beforeAll(async () => {
  cairn = await startCairn({ now: () => now_ms })
  return cairn.stop
})

/** Sends a raw body, with the secret key. */
async function post(path: string, key: string, body: string) {
  const headers = { 'x-service-key': key, 'content-type': 'application/json' }
  return await cairn.fetch(path, { method: 'POST', headers, body })
}

describe('a request that is refused for its contents', () => {
  it('is kept redacted, and is then not replayed', async () => {
    const { workspace, event } = await customerInJourney(cairn)
    const { client, secret_key } = workspace
    const password = 'nine-lives-of-a-moth'
    const variables = { [secret_key]: secret_key, password, deep: JSON.stringify({ api_key: [password] }) }
    await post('/events/create', secret_key, JSON.stringify({ ...event, service_key: secret_key, password }))
    const late = {
      ...event,
      journey_id: 'jrn_unknown',
      event_id: newServiceKey('secret'),
      custom_variables: variables,
    }
    await post('/events/batch', secret_key, JSON.stringify({ events: [late] }))
    const [item, whole] = await keptRefusals(client, 2)
    expect(item).toMatchObject({ event_id: '[redacted by Cairn]', code: 'journey_not_found' })
    expect(JSON.parse(whole?.sent ?? '')).toMatchObject({
      ...event,
      service_key: '[redacted by Cairn]',
      password: '[redacted by Cairn]',
    })
    const stored = await storedText(cairn.databaseUrl)
    expect([secret_key, password].filter((secret) => stored.includes(secret))).toEqual([])
    const { data } = await client.replayRefusals({ body: {} })
    expect(data?.results.map(({ outcome }) => outcome)).toEqual(['incomplete', 'incomplete'])
  })

  it('is kept with its reason, its references and what was sent', async () => {
    const { workspace, event } = await customerInJourney(cairn)
    const { client, secret_key } = workspace
    const sent = JSON.stringify({ ...event, customer_id: 'cus_unknown' }, null, 2)
    const reply = await post('/events/create', secret_key, sent)
    const { request_id } = await reply.json()
    await keptRefusals(client, 1)
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
        replay: null,
      },
    ])
    const [refusal] = data?.data ?? []
    const path = { refusal_id: refusal?.refusal_id ?? '' }
    expect((await client.getRefusal({ path })).data).toEqual(refusal)
  })

  it('is kept with every fault, of every ingestion operation', async () => {
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
    const kept = await keptRefusals(client, 4, { order: 'oldest' })
    expect(kept.map(({ operation, code, status }) => [operation, code, status])).toEqual([
      ['createEvent', 'invalid_request', 400],
      ['createEvents', 'invalid_request', 400],
      ['createEvent', 'invalid_request', 400],
      ['initializeCustomer', 'journey_archived', 409],
    ])
    expect(kept[0]).toMatchObject({ errors, journey_id, customer_id: null, event_id: 'signed_up' })
    expect(kept[1]?.errors.map(({ pointer }) => pointer)).toEqual([
      '/events/1/evnt_id',
      '/events/1/customer_id',
    ])
    expect(kept[2]?.errors).toEqual([{ parameter: 'dry', detail: expect.any(String) }])
  })

  it('is kept once a customer was erased, whatever characters it contains', async () => {
    const { workspace, event } = await customerInJourney(cairn)
    const { client } = workspace
    await client.eraseCustomer({ path: { customer_id: event.customer_id } })
    const custom_variables = { note: '\0' }
    const elsewhere = { ...event, journey_id: 'jrn_unknown', customer_id: 'cus_unknown' }
    await client.createEvents({ body: { events: [{ ...elsewhere, custom_variables }, elsewhere] } })
    const kept = await keptRefusals(client, 2, { order: 'oldest' })
    expect(kept.map(({ sent }) => JSON.parse(sent).custom_variables)).toEqual([custom_variables, undefined])
  })

  it('is kept with the names of what it refers to if they are valid, whatever characters they contain', async () => {
    const { workspace, event } = await customerInJourney(cairn)
    const sent = { journey_id: 'jrn\nunknown', customer_id: 'a\0b', event_id: 'x'.repeat(256) }
    await post('/events/create', workspace.secret_key, JSON.stringify({ ...event, ...sent }))
    expect(await keptRefusals(workspace.client, 1)).toMatchObject([
      { code: 'invalid_request', journey_id: 'jrn\nunknown', customer_id: null, event_id: null },
    ])
  })

  it('is kept per rejected event of a batch', async () => {
    const { workspace, event } = await customerInJourney(cairn)
    const { client } = workspace
    const large = { ...event, event_id: 'large', custom_variables: 'x'.repeat(70_000) }
    const events = [event, { ...event, journey_id: 'jrn_unknown' }, event, large]
    await client.createEvents({ body: { events } })
    const kept = await keptRefusals(client, 2, { order: 'oldest' })
    expect(kept.map(({ item, code, status, event_id }) => [item, code, status, event_id])).toEqual([
      [1, 'journey_not_found', 404, 'signed_up'],
      [3, 'event_too_large', 413, 'large'],
    ])
    const [small, cut] = kept
    expect(JSON.parse(small?.sent ?? '')).toMatchObject({ ...event, journey_id: 'jrn_unknown' })
    expect(cut?.sent).toHaveLength(16_384)
    expect(cut?.sent_bytes).toBeGreaterThan(70_000)
    expect(small?.request_id).toBe(cut?.request_id)
  })

  it('is not kept for other reasons, or if nothing would have been stored', async () => {
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
    await post('/events/create', secret_key, JSON.stringify({ ...event, customer_id: 'cus_last' }))
    expect(await keptRefusals(client, 1)).toMatchObject([{ customer_id: 'cus_last' }])
  })
})

describe('a request that is not kept', () => {
  /** The counts of requests that are not stored, by code, with the key's name. */
  async function counted({ client }: Workspace, names: Record<string, string>) {
    const { data } = await client.getRefusalSummary()
    expect(data?.groups).toEqual([])
    const sums = (data?.unsaved ?? []).map(({ code, key_id, count, kinds }) => [
      names[key_id] ?? key_id,
      code,
      count,
      kinds.requests,
    ])
    return sums.sort()
  }

  it('is counted if its body cannot be read, and nothing of it is stored', async () => {
    const { workspace, event } = await customerInJourney(cairn)
    const { key, key_id } = await createKey(cairn, workspace, 'secret')
    const names = { [key_id]: 'secret' }
    const body = JSON.stringify({ ...event, event_id: 'of-nobodys-business' })
    const headers = {
      'x-service-key': key,
      'content-type': 'application/json',
      'x-request-id': 'chosen-by-sender',
    }
    const send = (path: string, change: RequestInit) =>
      cairn.fetch(path, { method: 'POST', headers, body, ...change })
    await send('/events/create', { body: body.slice(1) })
    await send('/events/batch', { body: body.slice(1) })
    await send('/events/create', { body: '' })
    await send('/events/create', { body: JSON.stringify('x'.repeat(70_000)) })
    await send('/events/create', { headers: { ...headers, 'content-type': 'text/plain' } })
    await send('/events/create?dry_run=true', { body: body.slice(1) })
    await send('/journeys', { body: body.slice(1) })
    await expect
      .poll(() => counted(workspace, names))
      .toEqual([
        ['secret', 'body_too_large', 1, 1],
        ['secret', 'invalid_json', 2, 2],
        ['secret', 'invalid_request', 1, 1],
        ['secret', 'unsupported_media_type', 1, 1],
      ])
    const stored = await storedText(cairn.databaseUrl)
    expect(['of-nobodys-business', 'chosen-by-sender'].filter((text) => stored.includes(text))).toEqual([])
  })

  it('is counted for the workspace of a key that is not valid or not for the page, and for nobody with an unknown key', async () => {
    const { workspace, event } = await customerInJourney(cairn)
    const stranger = await cairn.workspace()
    const revoked = await createKey(cairn, workspace, 'publishable')
    const expired = await createKey(cairn, workspace, 'publishable', { expires_ms: now_ms + 3_600_000 })
    const elsewhere = await createKey(cairn, workspace, 'publishable', {
      allowed_origins: ['https://shop.example.com'],
    })
    const owner = (await signUp(cairn, workspace, 'owner')).client(workspace.workspace_id)
    await owner.revokeServiceKey({ path: { key_id: revoked.key_id } })
    now_ms += 2 * 3_600_000
    const names = {
      [revoked.key_id]: 'revoked',
      [expired.key_id]: 'expired',
      [elsewhere.key_id]: 'elsewhere',
    }
    const send = (key: string, path = '/events/create', origin?: string) => {
      const headers = {
        'x-service-key': key,
        'content-type': 'application/json',
        ...(origin && { origin }),
      }
      return cairn.fetch(path, { method: 'POST', headers, body: JSON.stringify(event) })
    }
    expect((await send(revoked.key)).status).toBe(401)
    expect((await send(revoked.key, '/events/batch')).status).toBe(401)
    expect((await send(revoked.key, '/events/create?dry_run=true')).status).toBe(401)
    expect((await send(revoked.key, '/journeys')).status).toBe(401)
    expect((await send(expired.key)).status).toBe(401)
    expect((await send(elsewhere.key, '/events/create', 'https://other.example.com')).status).toBe(403)
    expect((await send(newServiceKey('secret'))).status).toBe(401)
    expect((await send('sk_wrong')).status).toBe(401)
    await expect
      .poll(() => counted(workspace, names))
      .toEqual([
        ['elsewhere', 'origin_not_allowed', 1, 1],
        ['expired', 'unauthorized', 1, 1],
        ['revoked', 'unauthorized', 2, 2],
      ])
    expect(await counted(stranger, {})).toEqual([])
    now_ms = NOW
  })

  it('costs a row per minute however many come with a revoked key', async () => {
    const { workspace, event } = await customerInJourney(cairn)
    const { key, key_id } = await createKey(cairn, workspace, 'publishable')
    const owner = (await signUp(cairn, workspace, 'owner')).client(workspace.workspace_id)
    await owner.revokeServiceKey({ path: { key_id } })
    const kept = async () => sumOf(await scrape(cairn), 'cairn_refusals_total', { outcome: 'kept' })
    const before = await kept()
    for (let round = 0; round < 20; round += 1) {
      await Promise.all(Array.from({ length: 50 }, () => post('/events/create', key, JSON.stringify(event))))
    }
    await expect
      .poll(() => counted(workspace, { [key_id]: 'revoked' }))
      .toEqual([['revoked', 'unauthorized', 1000, 1000]])
    expect((await kept()) - before).toBe(1)
  })
})

describe('getRefusalSummary', () => {
  it('groups by code, field and key, alone and in batches, with counts over time and an example', async () => {
    const { workspace, event } = await customerInJourney(cairn)
    const { client, secret_key } = workspace
    const other = await createKey(cairn, workspace, 'publishable')
    const unknown = { ...event, customer_id: 'cus_unknown' }
    const misspelt = { ...event, evnt_id: 'x' }
    await client.createEvent({ body: unknown })
    await post('/events/create', secret_key, JSON.stringify(misspelt))
    now_ms = NOW + 60_000
    await client.createEvents({ body: { events: [unknown, event, unknown] } })
    await post('/events/batch', secret_key, JSON.stringify({ events: [event, event, misspelt] }))
    await cairn.client(other.key).createEvent({ body: unknown })
    now_ms = NOW + 120_000
    const span = {
      received_from: new Date(NOW).toISOString(),
      received_to: new Date(now_ms).toISOString(),
      periods: 2,
    }
    await keptRefusals(client, 6)
    const { data } = await client.getRefusalSummary({ query: span })
    const [first, second, third, ...more] = data?.groups ?? []
    const of_key = (await client.listRefusals({ query: { order: 'oldest' } })).data?.data[0]?.key_id
    expect(data).toMatchObject({ from: span.received_from, to: span.received_to })
    expect(data).toMatchObject({ count: 6, left_out: 0, counts: [2, 4], groups_omitted: 0, unsaved: [] })
    const kinds = { events: 4, requests: 2, customers: 0 }
    expect(data?.kinds).toEqual(kinds)
    expect(data?.period_kinds).toEqual([
      { events: 1, requests: 1, customers: 0 },
      { events: 3, requests: 1, customers: 0 },
    ])
    const { data: activity } = await client.getActivity()
    expect(activity?.total.rejected).toBe(kinds.events)
    const found = { code: 'customer_not_found', field: null, detail: null }
    const [at, later] = ['2026-11-20T12:00:00.000Z', '2026-11-20T12:01:00.000Z']
    expect(first).toMatchObject({ ...found, key_id: of_key, count: 3, counts: [1, 2] })
    expect(first).toMatchObject({ first_at: at, last_at: later })
    const shape = { code: 'invalid_request', field: '/evnt_id', key_id: of_key, count: 2, counts: [1, 1] }
    expect(second).toMatchObject(shape)
    expect(third).toMatchObject({ ...found, key_id: other.key_id, count: 1, counts: [0, 1] })
    expect(more).toEqual([])
    const example = await client.getRefusal({ path: { refusal_id: second?.example_id ?? '' } })
    expect(example.data).toMatchObject({ operation: 'createEvents', errors: [{ detail: second?.detail }] })
    const narrowed = await client.getRefusalSummary({ query: { ...span, key_id: other.key_id, periods: 1 } })
    expect(narrowed.data).toMatchObject({ count: 1, counts: [1] })
    const nothing = { ...span, received_to: span.received_from }
    expect((await client.getRefusalSummary({ query: nothing })).data).toMatchObject({ count: 0, groups: [] })
    now_ms = NOW
  })

  it('reveals no name of a field that may be a value, wherever it was sent', async () => {
    const { workspace, event } = await customerInJourney(cairn)
    const { client, secret_key } = workspace
    const email = 'ada@example.com'
    const phone = '0049-151-2345678'
    const item = {
      type: 'object',
      properties: { price: { type: 'number' } },
      additionalProperties: false,
    } as const
    const variables = { type: 'object', properties: { items: { type: 'array', items: item } } } as const
    const definition = { event_id: event.event_id, mode: 'enforce', variables } as const
    const owner = await signUp(cairn, workspace, 'owner')
    expect((await owner.client().defineEvent({ body: definition })).response.status).toBe(201)
    const send = (path: string, body: unknown) => post(path, secret_key, JSON.stringify(body))
    await send('/events/create', { ...event, [email]: 1 })
    await send('/events/batch', { events: [event, { ...event, [phone]: 1 }] })
    await send(`/events/create?${email}=1`, event)
    await send('/events/create', { ...event, custom_variables: { items: [{ [email]: 1 }] } })
    await send('/events/create', { ...event, custom_variables: { items: [{ price: '1' }] } })
    await keptRefusals(client, 5)
    const { data } = await client.getRefusalSummary()
    expect(data?.groups.map(({ field, count }) => [field, count])).toEqual([
      [null, 2],
      ['/custom_variables/items/0', 1],
      ['/custom_variables/items/0/price', 1],
      ['?', 1],
    ])
    expect(JSON.stringify(data)).not.toMatch(/ada|0049/)
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
    await expect.poll(() => found({})).toEqual([journey, customer])
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

  it('is recorded in the audit log once an hour per reader', async () => {
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
    expect((await noted())?.length).toBe(3)
    // The clock was set back.
    now_ms = NOW
    for (const _ of [1, 2]) await workspace.client.listRefusals()
    expect((await noted())?.length).toBe(4)
  })

  it('is for secret keys, owners and admins, not for viewers', async () => {
    const { workspace } = await customerInJourney(cairn)
    const viewer = await signUp(cairn, workspace, 'viewer')
    const path = { refusal_id: 'ref_unknown' }
    for (const { error } of [
      await viewer.client().listRefusals(),
      await viewer.client().getRefusalSummary(),
      await viewer.client().getRefusal({ path }),
      await viewer.client().replayRefusals({ body: {} }),
    ]) {
      expect(error?.code).toBe('role_not_allowed')
    }
    const admin = await signUp(cairn, workspace, 'admin')
    expect((await admin.client().listRefusals()).response.status).toBe(200)
    const browser = cairn.client(workspace.publishable_key)
    expect((await browser.listRefusals()).error?.code).toBe('secret_key_required')
  })
})

describe('replayRefusals', () => {
  /** Sends two events, one with a `message_id`, and a customer, which are refused because the journey is archived. */
  async function archived() {
    const { workspace, event } = await customerInJourney(cairn)
    const { client, journey_id } = workspace
    const path = { journey_id }
    await client.archiveJourney({ path })
    await post('/events/create', workspace.secret_key, JSON.stringify({ ...event, event_id: 'without' }))
    const own = { ...event, event_id: 'with', message_id: 'm-1', occurred_at: '2026-11-19T08:00:00.000Z' }
    await client.createEvents({ body: { events: [own] } })
    const bob = {
      client_customer_id: 'user-2',
      customer_type: 'contact',
      customer_name: 'Bob',
      journey_id,
    } as const
    await client.initializeCustomer({ body: bob })
    await keptRefusals(client, 3)
    return { client, workspace, event, bob, restore: () => client.restoreJourney({ path }) }
  }

  it('stores what was refused once its cause is fixed, exactly once', async () => {
    const { client, restore } = await archived()
    const still = await client.replayRefusals({ body: {} })
    expect(still.data).toMatchObject({
      replayed: 0,
      refused: 3,
      codes: [{ code: 'journey_archived', count: 3 }],
    })
    await restore()
    now_ms = NOW + 60_000
    const { data } = await client.replayRefusals({ body: { code: 'journey_archived' } })
    expect(data).toMatchObject({
      replayed: 3,
      duplicate: 0,
      refused: 0,
      incomplete: 0,
      codes: [],
      next_cursor: null,
    })
    const events = await client.listEvents()
    expect(
      events.data?.data.map(({ event_id, occurred_at, message_id }) => [event_id, occurred_at, message_id]),
    ).toEqual([
      ['with', '2026-11-19T08:00:00.000Z', 'm-1'],
      ['without', '2026-11-20T12:00:00.000Z', `refusal:${data?.results[0]?.refusal_id}`],
    ])
    const again = await client.replayRefusals({ body: {} })
    expect(again.data).toMatchObject({ replayed: 0, duplicate: 3, refused: 0 })
    expect(again.data?.results.map(({ id }) => id)).toEqual(data?.results.map(({ id }) => id))
    expect((await client.listEvents()).data?.data).toHaveLength(2)
    const [kept] = (await client.listRefusals({ query: { order: 'oldest' } })).data?.data ?? []
    const id = data?.results[0]?.id
    expect(kept?.replay).toEqual({ at: '2026-11-20T12:01:00.000Z', outcome: 'duplicate', id, code: null })
    expect((await client.listRefusals()).data?.data).toHaveLength(3)
    now_ms = NOW
  })

  it('counts what it stores in the metrics of the key that sent it, also if a person replays it', async () => {
    const { client, workspace, restore } = await archived()
    const owner = await signUp(cairn, workspace, 'owner')
    await restore()
    const [first] = (await client.listRefusals()).data?.data ?? []
    const counts = async () => {
      const samples = await scrape(cairn)
      const of = (name: string, more = {}) => sumOf(samples, name, { key_id: first?.key_id ?? '', ...more })
      return [
        of('cairn_events_received_total'),
        of('cairn_events_total', { outcome: 'created' }),
        of('cairn_customers_initialized_total', { outcome: 'created' }),
      ]
    }
    const [received = 0, created = 0, customers = 0] = await counts()
    expect((await owner.client().replayRefusals({ body: {} })).data?.replayed).toBe(3)
    expect(await counts()).toEqual([received + 2, created + 2, customers + 1])
  })

  it('shows the outcome with dry_run, and changes nothing', async () => {
    const { client, restore } = await archived()
    const dry_run = true
    const query = { dry_run }
    const counted = async () => {
      const samples = await scrape(cairn)
      const names = ['cairn_customers_initialized_total', 'cairn_events_received_total']
      return names.map((name) => sumOf(samples, name))
    }
    const countedBefore = await counted()
    const before = await client.replayRefusals({ body: {}, query })
    expect(before.data).toMatchObject({ replayed: 0, refused: 3, dry_run })
    await restore()
    const { data } = await client.replayRefusals({ body: {}, query })
    expect(data).toMatchObject({ replayed: 3, duplicate: 0, refused: 0, dry_run })
    expect((await client.listEvents()).data?.data).toEqual([])
    const { data: list } = await client.listRefusals()
    expect(list?.data.map(({ replay }) => replay)).toEqual([null, null, null])
    expect((await client.getActivity()).data?.total.created).toBe(0)
    expect(await counted()).toEqual(countedBefore)
  })

  it('finds a duplicate in what its sender has resent in the meantime', async () => {
    const { workspace, event } = await customerInJourney(cairn)
    const { client, journey_id } = workspace
    await client.archiveJourney({ path: { journey_id } })
    const body = { ...event, message_id: 'm-1' }
    await client.createEvent({ body })
    await client.restoreJourney({ path: { journey_id } })
    const { data: sent } = await client.createEvent({ body })
    await keptRefusals(client, 1)
    const { data } = await client.replayRefusals({ body: {} })
    expect(data?.results).toMatchObject([{ outcome: 'duplicate', id: sent?.id, code: null }])
    expect((await client.listEvents()).data?.data).toHaveLength(1)
  })

  it('stores one event for several refusals with the same message, with the time of the first', async () => {
    const { workspace, event } = await customerInJourney(cairn)
    const { client, journey_id } = workspace
    await client.archiveJourney({ path: { journey_id } })
    for (let time = 0; time < 3; time += 1) {
      now_ms = NOW + time * 1000
      await client.createEvent({ body: { ...event, message_id: 'm-1' } })
    }
    await client.restoreJourney({ path: { journey_id } })
    await keptRefusals(client, 3)
    const { data } = await client.replayRefusals({ body: {}, query: { limit: 2 } })
    expect(data?.results.map(({ outcome }) => outcome)).toEqual(['replayed', 'duplicate'])
    expect(data?.results[1]?.id).toBe(data?.results[0]?.id)
    const rest = await client.replayRefusals({ body: {}, query: { cursor: data?.next_cursor ?? '' } })
    expect(rest.data?.results).toMatchObject([{ outcome: 'duplicate', id: data?.results[0]?.id }])
    const { data: events } = await client.listEvents()
    expect(events?.data.map(({ occurred_at }) => occurred_at)).toEqual(['2026-11-20T12:00:00.000Z'])
    now_ms = NOW
  })

  it('replays one refusal, or a page per call, and continues after them', async () => {
    const { client, restore } = await archived()
    await restore()
    const { data: list } = await client.listRefusals()
    const refusal_id = list?.data[1]?.refusal_id ?? ''
    const one = await client.replayRefusals({ body: { refusal_id } })
    expect(one.data?.results).toMatchObject([{ refusal_id, outcome: 'replayed' }])
    const other = await client.replayRefusals({ body: { refusal_id, code: 'event_too_large' } })
    expect(other.data?.results).toEqual([])
    const ended = { received_to: list?.data[1]?.received_at ?? '' }
    expect((await client.replayRefusals({ body: { refusal_id, ...ended } })).data?.results).toEqual([])
    const outcomes = []
    let cursor: string | null | undefined
    do {
      const query = { limit: 1, ...(cursor && { cursor }) }
      const { data } = await client.replayRefusals({ body: {}, query })
      outcomes.push(...(data?.results.map(({ outcome }) => outcome) ?? []))
      cursor = data?.next_cursor
    } while (cursor)
    expect(outcomes).toEqual(['replayed', 'duplicate', 'replayed'])
  })

  it('edits nothing: a malformed event and a conflict stay, and half an event is not sent', async () => {
    const { workspace, event } = await customerInJourney(cairn)
    const { client, secret_key } = workspace
    await post('/events/create', secret_key, JSON.stringify({ ...event, evnt_id: 'x' }))
    await post('/events/batch', secret_key, JSON.stringify({ events: [event, { ...event, evnt_id: 'x' }] }))
    await client.createEvent({ body: { ...event, message_id: 'm-1' } })
    await client.createEvent({ body: { ...event, message_id: 'm-1', event_id: 'other' } })
    const long = { ...event, custom_variables: 'x'.repeat(20_000), customer_id: 'cus_unknown' }
    await client.createEvent({ body: long })
    await keptRefusals(client, 4)
    const { data } = await client.replayRefusals({ body: {} })
    expect(data?.results.map(({ outcome, code }) => [outcome, code])).toEqual([
      ['refused', 'invalid_request'],
      ['refused', 'invalid_request'],
      ['refused', 'message_id_conflict'],
      ['incomplete', null],
    ])
    expect(data?.codes).toEqual([
      { code: 'invalid_request', count: 2 },
      { code: 'message_id_conflict', count: 1 },
    ])
    expect((await client.listEvents()).data?.data).toHaveLength(1)
    expect((await client.listRefusals()).data?.data).toHaveLength(4)
  })

  it('leaves the name of a customer unchanged that is known by now', async () => {
    const { client, bob, restore } = await archived()
    await restore()
    const { data: known } = await client.initializeCustomer({ body: { ...bob, customer_name: 'Robert' } })
    const { data } = await client.replayRefusals({ body: { operation: 'initializeCustomer' } })
    expect(data?.results).toMatchObject([{ outcome: 'duplicate', id: known?.customer_id }])
    const customer = await client.getCustomer({ path: { customer_id: known?.customer_id ?? '' } })
    expect(customer.data?.customer_name).toBe('Robert')
  })

  it('says replayed of a known customer that it enrols, and duplicate once it is enrolled', async () => {
    const { client, bob, restore } = await archived()
    await restore()
    const other = await client.createJourney({ body: { name: 'Other' } })
    const { data: known } = await client.initializeCustomer({
      body: { ...bob, journey_id: other.data?.journey_id ?? '' },
    })
    const { customer_id = '' } = known ?? {}
    const body = { operation: 'initializeCustomer' } as const
    const outcomes: unknown[] = []
    for (const query of [{ dry_run: true }, {}, { dry_run: true }, {}]) {
      const { data } = await client.replayRefusals({ body, query })
      outcomes.push(...(data?.results ?? []).map(({ outcome, id }) => [outcome, id]))
    }
    expect(outcomes).toEqual([
      ['replayed', customer_id],
      ['replayed', customer_id],
      ['duplicate', customer_id],
      ['duplicate', customer_id],
    ])
    const event = { journey_id: bob.journey_id, customer_id, event_id: 'signed_up' }
    expect((await client.createEvent({ body: event })).response.status).toBe(201)
  })

  it('is in the audit log, and dry runs are not', async () => {
    const { workspace, event } = await customerInJourney(cairn)
    const owner = await signUp(cairn, workspace, 'owner')
    await workspace.client.createEvent({ body: { ...event, customer_id: 'cus_unknown' } })
    const person = owner.client()
    await keptRefusals(person, 1)
    const body = { customer_id: 'cus_unknown', journey_id: event.journey_id }
    await person.replayRefusals({ body, query: { dry_run: true } })
    await person.replayRefusals({ body })
    const { data } = await person.listAuditLog({ query: { area: 'refusals' } })
    expect(data?.data.map(({ action, after }) => [action, after])).toEqual([
      // A customer_id that Cairn did not assign may be anything, also a name.
      ['refusals_replayed', { ...body, customer_id: true }],
      ['refusals_read', null],
    ])
  })
})
