// engines: sqlite, postgres

import { beforeAll, describe, expect, it } from 'vitest'
import { type Cairn, startCairn, type Workspace } from '../fixtures/cairn.ts'
import { customerInJourney } from '../fixtures/customer.ts'
import { scrape, sumOf } from '../fixtures/exposition.ts'

const query = { dry_run: true }
const NO_CUSTOMER = `cus_${'0'.repeat(26)}`
const NO_EVENT = `evt_${'0'.repeat(26)}`

/** A server of its own, because the tests compare all of its metrics. */
let cairn: Cairn

beforeAll(async () => {
  cairn = await startCairn()
  return cairn.stop
})

const COUNTERS = ['cairn_customers_initialized_total', 'cairn_events_received_total', 'cairn_events_total']

/** The numbers of customers and events, and the counts of events. */
async function kept({ client }: Workspace) {
  const [customers, events, activity] = [
    await client.listCustomers(),
    await client.listEvents(),
    await client.getActivity(),
  ]
  const samples = await scrape(cairn)
  const counters = COUNTERS.map((name) => sumOf(samples, name))
  return [customers.data?.data.length, events.data?.data.length, activity.data?.total, counters]
}

describe('initializeCustomer with dry_run', () => {
  const ada = { client_customer_id: 'user-2', customer_type: 'account', customer_name: 'Ada' } as const

  it('answers 201 for a new customer, and creates nothing', async () => {
    const { workspace } = await customerInJourney(cairn)
    const { client, journey_id } = workspace
    const before = await kept(workspace)
    for (let time = 0; time < 2; time += 1) {
      const { data, response } = await client.initializeCustomer({ body: { ...ada, journey_id }, query })
      expect(response.status).toBe(201)
      expect(data).toEqual({ customer_id: NO_CUSTOMER, created: true, dry_run: true })
    }
    expect(await kept(workspace)).toEqual(before)
  })

  it('answers 200 for a known customer, and leaves name and journeys unchanged', async () => {
    const { workspace, event } = await customerInJourney(cairn)
    const { client } = workspace
    const other = await client.createJourney({ body: { name: 'Renewal' } })
    const journey_id = other.data?.journey_id ?? ''
    const body = { ...ada, client_customer_id: 'user-1', customer_type: 'contact', journey_id } as const
    const { data, response } = await client.initializeCustomer({ body, query })
    expect(response.status).toBe(200)
    expect(data).toEqual({ customer_id: event.customer_id, created: false, dry_run: true })
    const stored = await client.getCustomer({ path: event })
    expect(stored.data?.customer_name).toBe('Ada Lovelace')
    const outside = await client.createEvent({ body: { ...event, journey_id } })
    expect(outside.error?.code).toBe('customer_not_in_journey')
  })

  it('is refused as without it', async () => {
    const { workspace } = await customerInJourney(cairn)
    const { client, journey_id } = workspace
    const unknown = await client.initializeCustomer({ body: { ...ada, journey_id: 'jrn_unknown' }, query })
    expect(unknown.error?.code).toBe('journey_not_found')
    await client.archiveJourney({ path: { journey_id } })
    const archived = await client.initializeCustomer({ body: { ...ada, journey_id }, query })
    expect(archived.error?.code).toBe('journey_archived')
  })
})

describe('createEvent with dry_run', () => {
  it('answers 201, stores and counts nothing, and uses up no message_id', async () => {
    const { workspace, event } = await customerInJourney(cairn)
    const { client } = workspace
    const before = await kept(workspace)
    const body = { ...event, message_id: 'm-1' }
    for (let time = 0; time < 2; time += 1) {
      const { data, response } = await client.createEvent({ body, query })
      expect(response.status).toBe(201)
      expect(data).toMatchObject({ success: true, id: NO_EVENT, duplicate: false, dry_run: true })
    }
    expect(await kept(workspace)).toEqual(before)
    const real = await client.createEvent({ body: { ...body, event_id: 'plan_chosen' } })
    expect(real.response.status).toBe(201)
    expect(real.data).not.toHaveProperty('dry_run')
  })

  it('recognizes what is stored', async () => {
    const { workspace, event } = await customerInJourney(cairn)
    const { client } = workspace
    const body = { ...event, message_id: 'm-1' }
    const { data: first } = await client.createEvent({ body })
    const again = await client.createEvent({ body, query })
    expect(again.response.status).toBe(200)
    expect(again.data).toEqual({ ...first, duplicate: true, dry_run: true })
    const other = await client.createEvent({ body: { ...body, event_id: 'plan_chosen' }, query })
    expect(other.error?.code).toBe('message_id_conflict')
  })

  it('stores with dry_run=false, and refuses other values', async () => {
    const { workspace, event } = await customerInJourney(cairn)
    const { client } = workspace
    const { data } = await client.createEvent({ body: event, query: { dry_run: false } })
    expect(data).toMatchObject({ duplicate: false })
    expect(data).not.toHaveProperty('dry_run')
    expect(data?.id).not.toBe(NO_EVENT)
    const headers = { 'x-service-key': workspace.secret_key, 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body: JSON.stringify(event) }
    const refused = await cairn.fetch('/events/create?dry_run=1', init)
    expect(await refused.json()).toMatchObject({
      code: 'invalid_request',
      errors: [{ parameter: 'dry_run' }],
    })
  })
})

describe('createEvents with dry_run', () => {
  it('gives each event its outcome, also between two of one batch, and stores none', async () => {
    const { workspace, event } = await customerInJourney(cairn)
    const { client } = workspace
    const { data: first } = await client.createEvent({ body: { ...event, message_id: 'known' } })
    const before = await kept(workspace)
    const events = [
      { ...event, message_id: 'known' },
      { ...event, message_id: 'new' },
      { ...event, message_id: 'new' },
      { ...event, message_id: 'new', event_id: 'other' },
      { ...event, message_id: 'known', event_id: 'other' },
      { ...event, journey_id: 'jrn_unknown' },
      { ...event, customer_id: NO_CUSTOMER },
      { ...event, occurred_at: '2999-01-01T00:00:00Z' },
      { ...event, custom_variables: 'x'.repeat(70_000) },
      event,
    ]
    const { data } = await client.createEvents({ body: { events }, query })
    expect(data?.results.map(({ status, id, problem }) => [problem?.code ?? status, id])).toEqual([
      ['duplicate', first?.id],
      ['created', NO_EVENT],
      ['duplicate', NO_EVENT],
      ['message_id_conflict', null],
      ['message_id_conflict', null],
      ['journey_not_found', null],
      ['customer_not_found', null],
      ['occurred_at_in_future', null],
      ['event_too_large', null],
      ['created', NO_EVENT],
    ])
    expect(data).toMatchObject({ received: 10, created: 2, duplicate: 2, rejected: 6, dry_run: true })
    expect(await kept(workspace)).toEqual(before)
    const real = await client.createEvents({ body: { events } })
    expect(real.data?.results.map(({ status, problem }) => problem?.code ?? status)).toEqual(
      data?.results.map(({ status, problem }) => problem?.code ?? status),
    )
  })

  it('counts against the rate of the key', async () => {
    // The clock stands still, so buckets are not refilled, however long a request takes.
    const now_ms = Date.now()
    const limited = await startCairn({ rateLimit: 1, now: () => now_ms })
    const { workspace, event } = await customerInJourney(limited)
    const { response } = await workspace.client.createEvent({ body: event, query })
    expect(response.status).toBe(201)
    const refused = await workspace.client.createEvent({ body: event, query })
    expect(refused.error?.code).toBe('rate_limited')
    await limited.stop()
  })
})
