// engines: sqlite, postgres

import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Cairn, startCairn, type Workspace } from '../cairn.ts'
import { withPatience } from '../patience.ts'
import { signUp } from '../people.ts'
import { storedText } from '../storage/store.ts'
import { settled } from './settled.ts'

let cairn: Cairn

beforeAll(async () => {
  cairn = await startCairn()
  return cairn.stop
})

/** What a customer is called, found nowhere else. */
function newNames(journey_id: string) {
  const own = randomUUID()
  const customer_name = `Grace ${randomUUID()}`
  return { client_customer_id: `own-${own}`, journey_id, customer_type: 'contact', customer_name } as const
}

/** A customer with an event that says something about it. */
async function newCustomer({ client, journey_id }: Workspace) {
  const names = newNames(journey_id)
  const made = await client.initializeCustomer({ body: names })
  const customer_id = made.data?.customer_id ?? ''
  const event = {
    journey_id,
    customer_id,
    event_id: 'signed_up',
    message_id: `message ${randomUUID()}`,
    custom_variables: { email: `${randomUUID()}@example.com` },
  }
  await client.createEvent({ body: event })
  return { names, customer_id, event, path: { customer_id } }
}

/** Erases a customer, and waits until nothing of it is left. */
async function erased({ client }: Workspace, path: { customer_id: string }, may_return = false) {
  const first = await client.eraseCustomer({ path, query: { may_return } })
  const now = async () => (await client.eraseCustomer({ path })).data
  await expect.poll(async () => (await now())?.completed_at, withPatience).toEqual(expect.any(String))
  return { first: first.data, last: await now() }
}

describe('a customer who was erased', () => {
  it('is found nowhere, with no event and no refusal, nor in the bytes of what is kept', async () => {
    const workspace = await cairn.workspace()
    const { client, journey_id } = workspace
    const { names, customer_id, event, path } = await newCustomer(workspace)
    const kept = await newCustomer(workspace)
    await client.initializeCustomer({ body: { ...names, journey_id: 'jrn_unknown' } })
    await client.createEvent({ body: { ...event, journey_id: 'jrn_unknown', message_id: randomUUID() } })
    await client.createEvents({ body: { events: [{ ...event, journey_id: 'jrn_unknown' }] } })
    await client.createEvent({ body: { ...kept.event, journey_id: 'jrn_unknown', message_id: randomUUID() } })
    // Kept behind the answers, which a busy machine is late with.
    await expect.poll(async () => (await client.listRefusals()).data?.data.length).toBe(4)
    const texts = [
      names.client_customer_id,
      names.customer_name,
      event.message_id,
      event.custom_variables.email,
    ]
    const storedBefore = await storedText(cairn.databaseUrl)
    expect(texts.map((text) => storedBefore.includes(text))).toEqual([true, true, true, true])

    const { last } = await erased(workspace, path)
    expect(last).toMatchObject({ customer_id, may_return: false, events: 1 })
    expect((await client.getCustomer({ path })).error?.code).toBe('customer_not_found')
    expect((await client.listCustomers()).data?.data).toMatchObject([{ customer_id: kept.customer_id }])
    expect((await client.listCustomers({ query: { search: 'grace' } })).data?.data).toHaveLength(1)
    expect((await client.listEvents()).data?.data).toMatchObject([{ customer_id: kept.customer_id }])
    expect((await client.listRefusals()).data?.data).toMatchObject([{ customer_id: kept.customer_id }])
    const report = await settled(() => client.getJourneyReport({ path: { journey_id } }))
    expect(report).toMatchObject({ enrolled: 1 })
    const stored = await storedText(cairn.databaseUrl)
    expect(texts.filter((text) => stored.includes(text))).toEqual([])
  })

  it('is found in no request that was rejected, however that named it', async () => {
    const workspace = await cairn.workspace()
    const { client, journey_id } = workspace
    const { names, customer_id, event, path } = await newCustomer(workspace)
    const { client_customer_id } = names
    const number = String(Date.now())
    const numbered = await client.initializeCustomer({ body: { ...names, client_customer_id: number } })
    /** What each says about the customer, and what else is not to stay. */
    const mark = `mark ${randomUUID()}`
    const long = Array.from({ length: 1_000 }, (_, index) => ({ event_id: `filler ${index}`, journey_id }))
    const escaped = [...client_customer_id]
      .map((character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join('')
    const bodies = [
      JSON.stringify({ mark, customerId: customer_id }),
      JSON.stringify({ mark, clientCustomerId: client_customer_id }),
      JSON.stringify({ mark, event: { ...event, journey_id: 'x' } }),
      JSON.stringify({ mark, data: [event] }),
      JSON.stringify([{ ...event, mark }]),
      JSON.stringify({ mark, events: { first: event } }),
      JSON.stringify({ ...event, mark, customer_id: ` ${customer_id}` }),
      JSON.stringify({ mark, user: `\u00a0${client_customer_id} ` }),
      JSON.stringify({ mark, [client_customer_id]: true }),
      JSON.stringify({ mark, custom_variables: JSON.stringify({ user: client_customer_id }) }),
      JSON.stringify({ mark, url: `https://example.com/${customer_id}/edit` }),
      `{"mark":"${mark}","user":"${escaped}"}`,
      // The head that is kept ends before the identifier, in it, and before an event that begins with something about it.
      JSON.stringify({ events: [...long.slice(0, 280), { mark, pad: 'x'.repeat(9_000), customer_id }] }),
      JSON.stringify({ note: mark, pad: 'x'.repeat(16_384 - 70), customerId: customer_id }),
      JSON.stringify({ note: mark, pad: 'x'.repeat(20_000), customerId: customer_id }),
    ]
    const post = (path: string, body: string) =>
      cairn.fetch(path, {
        method: 'POST',
        headers: { 'x-service-key': workspace.secret_key, 'content-type': 'application/json' },
        body,
      })
    for (const path of ['/events/create', '/events/batch', '/customers/initialize']) {
      for (const body of bodies) expect((await post(path, body)).status).toBe(400)
      expect((await post(path, `{"mark":"${mark}","customerId":${number}}`)).status).toBe(400)
    }
    const others = [
      JSON.stringify({ mark: 'other', customerId: customer_id.slice(0, -1) }),
      JSON.stringify({ mark: 'other', user: client_customer_id.slice(0, -1) }),
      JSON.stringify({
        events: [{ ...event, mark: 'other', customer_id: 'cus_unknown', message_id: 'other' }],
      }),
    ]
    for (const body of others) expect((await post('/events/batch', body)).status).toBe(400)
    const listed = async () =>
      (await client.listRefusals({ query: { limit: 500 } })).data?.data.map(({ sent }) => sent) ?? []
    await expect.poll(async () => (await listed()).length, withPatience).toBe(3 * (bodies.length + 1) + 3)
    await erased(workspace, path)
    await erased(workspace, { customer_id: numbered.data?.customer_id ?? '' })
    expect((await listed()).filter((sent) => !sent.includes('filler')).toSorted()).toEqual(others.toSorted())
    const stored = await storedText(cairn.databaseUrl)
    expect([client_customer_id, number, mark].filter((text) => stored.includes(text))).toEqual([])

    // What comes later and is refused for its form is not kept either, and other requests are.
    for (const path of ['/events/create', '/events/batch', '/customers/initialize']) {
      for (const body of bodies) expect((await post(path, body)).status).toBe(400)
    }
    const late = { ...names, unknown: true }
    expect((await post('/customers/initialize', JSON.stringify(late))).status).toBe(400)
    expect((await post('/events/create', '{"mark":"last"}')).status).toBe(400)
    await expect.poll(async () => (await listed())[0], withPatience).toBe('{"mark":"last"}')
    const kept = (await listed()).filter((sent) => !sent.includes('filler') && sent !== '')
    expect(kept.toSorted()).toEqual([...others, '{"mark":"last"}'].toSorted())
    const after = await storedText(cairn.databaseUrl)
    expect([client_customer_id, names.customer_name, mark].filter((text) => after.includes(text))).toEqual([])
  })

  it('is refused with 410 whatever comes of it: events, resends, initialization, trials and batches', async () => {
    const workspace = await cairn.workspace()
    const { client } = workspace
    const { names, event, path } = await newCustomer(workspace)
    await client.eraseCustomer({ path })
    const { message_id: _, ...late } = event
    const refused = [
      await client.createEvent({ body: event }),
      await client.createEvent({ body: late }),
      await client.createEvent({ body: late, query: { dry_run: true } }),
      await client.initializeCustomer({ body: names }),
      await client.initializeCustomer({ body: names, query: { dry_run: true } }),
    ]
    const told = refused.map(({ error }) => ({ status: error?.status, code: error?.code }))
    expect(told).toEqual(refused.map(() => ({ status: 410, code: 'customer_erased' })))
    const { data } = await client.createEvents({ body: { events: [late] } })
    expect(data?.results).toMatchObject([
      { status: 'rejected', problem: { status: 410, code: 'customer_erased' } },
    ])
    expect((await client.listRefusals()).data?.data).toEqual([])
  })

  it('may return as a new one without a history, where that was chosen', async () => {
    const workspace = await cairn.workspace()
    const { client } = workspace
    const { names, customer_id, event, path } = await newCustomer(workspace)
    const { last } = await erased(workspace, path, true)
    expect(last).toMatchObject({ may_return: true })
    const { data } = await client.initializeCustomer({ body: names })
    expect(data).toEqual({ customer_id: expect.not.stringMatching(customer_id), created: true })
    const again = { customer_id: data?.customer_id ?? '' }
    expect((await client.listCustomerEvents({ path: again })).data?.data).toEqual([])
    expect((await client.createEvent({ body: event })).error?.code).toBe('customer_erased')
    expect((await client.createEvent({ body: { ...event, ...again } })).data?.duplicate).toBe(false)
  })

  it('is in the audit log with who, when and how much, and without its name', async () => {
    const workspace = await cairn.workspace()
    const owner = await signUp(cairn, workspace, 'owner')
    const { names, customer_id, path } = await newCustomer(workspace)
    const headers = { 'x-workspace-id': workspace.workspace_id }
    expect((await owner.fetch(`DELETE /customers/${customer_id}`, { headers })).status).toBe(200)
    await erased(workspace, path)
    const log = await (await owner.fetch('GET /audit-log?area=customers', { headers })).json()
    expect(log.data).toMatchObject([
      {
        action: 'customer_erased',
        actor: { kind: 'person' },
        subject: { kind: 'customer', id: customer_id, name: customer_id },
        after: { journeys: 1, may_return: false, events: 1 },
      },
    ])
    expect(JSON.stringify(log)).not.toContain(names.customer_name)
  })
})

describe('listErasures', () => {
  it('gives each erasure once, as it is by then, and goes on from its end for ever', async () => {
    const workspace = await cairn.workspace()
    const { client } = workspace
    const { data: empty } = await client.listErasures()
    expect(empty).toEqual({
      data: [],
      next_cursor: expect.any(String),
      caught_up_to: expect.stringMatching(/Z$/),
    })
    const ids: string[] = []
    for (const mayReturn of [false, true, false]) {
      const { customer_id, path } = await newCustomer(workspace)
      await erased(workspace, path, mayReturn)
      await client.eraseCustomer({ path })
      ids.push(customer_id)
    }
    let cursor = empty?.next_cursor ?? ''
    for (const [index, customer_id] of ids.entries()) {
      const { data } = await client.listErasures({ query: { cursor, limit: 1 } })
      const erasure = { customer_id, may_return: index === 1, events: 1, completed_at: expect.any(String) }
      expect(data?.data).toMatchObject([erasure])
      if (index < 2) expect(data?.caught_up_to).toBeNull()
      else expect(Date.parse(data?.caught_up_to ?? '')).toBeGreaterThan(Date.parse(empty?.caught_up_to ?? ''))
      cursor = data?.next_cursor ?? ''
    }
    const { data: end } = await client.listErasures({ query: { cursor } })
    expect(end).toMatchObject({ data: [], next_cursor: cursor })
  })
})
