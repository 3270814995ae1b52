// engines: sqlite, postgres

import { randomInt, randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Cairn, startCairn, type Workspace } from '../fixtures/cairn.ts'
import { withPatience } from '../fixtures/patience.ts'
import { signUp } from '../fixtures/people.ts'
import { keptRefusals } from '../fixtures/refusals.ts'
import { storedText } from '../fixtures/store.ts'
import { settled } from './settled.ts'

/** A server of its own, because the tests search the bytes of the whole store. */
let cairn: Cairn

beforeAll(async () => {
  cairn = await startCairn()
  return cairn.stop
})

/** Names of a customer that occur nowhere else. */
function newNames(journey_id: string) {
  const own = randomUUID()
  const customer_name = `Grace ${randomUUID()}`
  return { client_customer_id: `own-${own}`, journey_id, customer_type: 'contact', customer_name } as const
}

/** A customer with an event that contains data about it. */
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

/** Erases a customer, and waits until the erasure is complete. */
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
    // Refusals are stored after the response, which takes longer on a busy machine.
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

  it('is found in no rejected request, however it referred to the customer', async () => {
    const workspace = await cairn.workspace()
    const { client, journey_id } = workspace
    const { names, customer_id, event, path } = await newCustomer(workspace)
    const { client_customer_id } = names
    // No time in milliseconds, which other rows may have.
    const number = String(randomInt(2 ** 47, 2 ** 48 - 1))
    const numbered = await client.initializeCustomer({ body: { ...names, client_customer_id: number } })
    /** Part of what each request says about the customer, which must not stay. */
    const mark = `mark ${randomUUID()}`
    const long = Array.from({ length: 1_000 }, (_, index) => ({ event_id: `filler ${index}`, journey_id }))
    const named = long.map((item) => ({ ...item, customer_id: 'cus_01jd3zd8k2fn7w4t6r9v3y5qbc' }))
    const fields = Object.fromEntries(
      long.slice(0, 800).map((_, index) => [`field_${index}`, 'x'.repeat(20)]),
    )
    const inJson = (text: string) => JSON.stringify({ text })
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
      // The stored beginning ends before the identifier, in it, and before an event that begins with data about it.
      JSON.stringify({ events: [...long.slice(0, 280), { mark, pad: 'x'.repeat(9_000), customer_id }] }),
      JSON.stringify({ note: mark, pad: 'x'.repeat(16_384 - 70), customerId: customer_id }),
      JSON.stringify({ note: mark, pad: 'x'.repeat(20_000), customerId: customer_id }),
      // What the stored beginning lacks is in the row next to it, or named after the list that is cut.
      JSON.stringify({ mark, ...event, custom_variables: fields, customer_id: client_customer_id }),
      JSON.stringify({ events: [...named.slice(0, 200), { ...named[0], mark, [client_customer_id]: 1 }] }),
      JSON.stringify({ events: [{ mark }, ...long.slice(0, 400)], customer: client_customer_id }),
      JSON.stringify({
        custom_variables: { list: [{ mark }, ...long.slice(0, 400)] },
        customerId: client_customer_id,
      }),
      // JSON in JSON, four levels deep, and parts of a longer text.
      JSON.stringify({ mark, a: [1, 2, 3].reduce(inJson, JSON.stringify({ user: client_customer_id })) }),
      JSON.stringify({ mark, from: `mailto:${client_customer_id}?subject=x` }),
    ]
    /** Forms of the customer's name that only a search for the name finds. */
    const variants = [
      JSON.stringify({ mark, who: `\u200b${client_customer_id.toUpperCase()}` }),
      JSON.stringify({ mark, url: `https://example.com/?u=${encodeURIComponent(client_customer_id)}&x=%20` }),
    ]
    const post = (path: string, body: string) =>
      cairn.fetch(path, {
        method: 'POST',
        headers: { 'x-service-key': workspace.secret_key, 'content-type': 'application/json' },
        body,
      })
    for (const path of ['/events/create', '/events/batch', '/customers/initialize']) {
      for (const body of [...bodies, ...variants]) expect((await post(path, body)).status).toBe(400)
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
    await expect
      .poll(async () => (await listed()).length, withPatience)
      .toBe(3 * (bodies.length + variants.length + 1) + others.length)
    await erased(workspace, path)
    await erased(workspace, { customer_id: numbered.data?.customer_id ?? '' })
    expect((await listed()).filter((sent) => !sent.includes('filler')).toSorted()).toEqual(others.toSorted())
    const stored = await storedText(cairn.databaseUrl)
    expect([client_customer_id, number, mark].filter((text) => stored.includes(text))).toEqual([])

    // Later requests that are refused for their form are not stored either; other requests are.
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

  it('removes no rejected request that only looks like its own', async () => {
    const workspace = await cairn.workspace()
    const { client } = workspace
    const { names, path } = await newCustomer(workspace)
    const ids = ['0', 'customer_id', 'contact'].map(async (client_customer_id) => {
      const { data } = await client.initializeCustomer({ body: { ...names, client_customer_id } })
      return { customer_id: data?.customer_id ?? '' }
    })
    const bodies = [
      { customer_type: 'contact', seats: 0, customer_id: 'nobody', event_id: 7 },
      { customer_id: `${names.client_customer_id}9` },
      { custom_variables: { total: 0 }, customer_id: 1 },
    ]
    const post = async (body: object) => {
      const headers = { 'x-service-key': workspace.secret_key, 'content-type': 'application/json' }
      const reply = await cairn.fetch('/events/create', {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      })
      expect(reply.status).toBe(400)
    }
    const kept = async () =>
      (await client.listRefusals({ query: { limit: 500 } })).data?.data.map(({ sent }) => JSON.parse(sent))
    for (const body of bodies) await post(body)
    await expect.poll(kept, withPatience).toEqual(bodies.toReversed())
    for (const own of [path, ...(await Promise.all(ids))]) await erased(workspace, own)
    expect(await kept()).toEqual(bodies.toReversed())
    for (const body of bodies) await post(body)
    await expect.poll(kept, withPatience).toEqual([...bodies, ...bodies].toReversed())
  })

  it('leaves the count of others with similar ones unchanged', async () => {
    const workspace = await cairn.workspace()
    const { client } = workspace
    const { names, customer_id, path } = await newCustomer(workspace)
    const { customer_id: other } = await newCustomer(workspace)
    const rejected = async (event_id: string, count: number, first: object = {}) => {
      const event = { journey_id: 'jrn_unknown', customer_id: other, event_id }
      const events = Array.from({ length: count }, (_, index) => ({ ...event, ...(index === 0 && first) }))
      expect((await client.createEvents({ body: { events } })).data?.rejected).toBe(count)
    }
    const count = async () => (await client.getRefusalSummary()).data?.count
    // After the limit of rows per key and code, the next row of each event name counts those that follow it.
    await rejected('fills', 1_000)
    await rejected('before', 200, { customer_id })
    await expect.poll(count, withPatience).toBe(1_200)
    await erased(workspace, path)
    // The customer's own row counts nothing else any more, unless it counts others.
    const left = (await count()) ?? 0
    expect(left).toBeGreaterThanOrEqual(1_199)
    await rejected('after', 200, { custom_variables: { by: names.client_customer_id } })
    await expect.poll(count, withPatience).toBe(left + 200)
  })

  it('is refused with 410 for everything: events, resends, initialization, dry runs and batches', async () => {
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
    // Nothing of it is kept or counted: what is rejected next is the first.
    await client.createEvent({ body: { ...late, customer_id: 'cus_unknown' } })
    expect(await keptRefusals(client, 1)).toMatchObject([{ code: 'customer_not_found' }])
    expect((await client.getRefusalSummary()).data?.count).toBe(1)
  })

  it('may not return because of a body, which is ignored', async () => {
    const workspace = await cairn.workspace()
    const { client, secret_key } = workspace
    const { names, customer_id } = await newCustomer(workspace)
    const { status } = await cairn.fetch(`/customers/${customer_id}`, {
      method: 'DELETE',
      headers: { 'x-service-key': secret_key, 'content-type': 'application/json' },
      body: JSON.stringify({ may_return: true }),
    })
    expect(status).toBe(200)
    expect((await client.initializeCustomer({ body: names })).error?.code).toBe('customer_erased')
  })

  it('may return as a new one without a history, if that was chosen', async () => {
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

  it('is in the audit log with who, when and how much, but without its name', async () => {
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

  it('is not in the audit log of exports that looked for it', async () => {
    const workspace = await cairn.workspace()
    const { client } = workspace
    const { names, customer_id, path } = await newCustomer(workspace)
    const { client_customer_id, customer_name } = names
    await client.exportCustomers({ query: { search: customer_name, customer_type: 'contact' } })
    await client.exportCustomers({ query: { client_customer_id } })
    await client.exportEvents({ query: { customer_id, event_id: 'signed_up' } })
    await client.exportEvents({ query: { customer_id: client_customer_id } })
    await client.replayRefusals({ body: { customer_id: client_customer_id } })
    await erased(workspace, path)
    const owner = await signUp(cairn, workspace, 'owner')
    const { data } = await owner.client().listAuditLog({ query: { area: 'exports' } })
    expect(data?.data.map(({ after }) => after)).toEqual([
      { filter: { customer_id: true } },
      { filter: { customer_id, event_id: 'signed_up' } },
      { filter: { client_customer_id: true } },
      { filter: { search: true, customer_type: 'contact' } },
    ])
    const stored = await storedText(cairn.databaseUrl)
    expect([client_customer_id, customer_name].filter((text) => stored.includes(text))).toEqual([])
  })
})

describe('listErasures', () => {
  it('lists each erasure once, in its current state, and can be followed indefinitely', async () => {
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
