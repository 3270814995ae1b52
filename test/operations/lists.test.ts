// engines: sqlite, postgres

import { describe, expect, vi } from 'vitest'
import type { Schemas } from '../../client/index.ts'
import { inStore } from '../../server/cli/store.ts'
import { startCairnForTest } from '../fixtures/cairn.ts'
import { customerInJourney, initialize } from '../fixtures/customer.ts'
import { it } from '../fixtures/it.ts'
import { withPatience } from '../fixtures/patience.ts'
import { addMember, newPerson, signUp } from '../fixtures/people.ts'

type Page<Item> = { data?: { data: Item[]; next_cursor: string | null } | undefined }

/** All items of a list, read page by page. */
async function pages<Item>(
  read: (query: { limit: number; cursor?: string }) => Promise<Page<Item>>,
  limit: number,
) {
  const items: Item[] = []
  let cursor: string | null | undefined
  do {
    const { data } = await read({ limit, ...(cursor && { cursor }) })
    items.push(...(data?.data ?? []))
    cursor = data?.next_cursor
  } while (cursor)
  return items
}

describe('listEvents', () => {
  it.for([1, 2, 3, 7, 8])(
    'gives each event once in pages of %i, newest arrival first',
    async (limit, { event, client }) => {
      const sent = await Promise.all(Array.from({ length: 7 }, () => client.createEvent({ body: event })))
      const ids = sent
        .map(({ data }) => data?.id)
        .sort()
        .reverse()
      const listed = await pages((query) => client.listEvents({ query }), limit)
      expect(listed.map(({ id }) => id)).toEqual(ids)
    },
  )

  it('returns 50 if no limit is given', async ({ event, client }) => {
    await Promise.all(Array.from({ length: 51 }, () => client.createEvent({ body: event })))
    const { data } = await client.listEvents()
    expect(data?.data).toHaveLength(50)
    expect(data?.next_cursor).not.toBeNull()
  })

  it('names the customer of each event by the current name, in both orders and on its timeline', async ({
    event,
    client,
  }) => {
    const { journey_id } = event
    const known = { client_customer_id: 'user "8412"', journey_id, customer_type: 'contact' } as const
    const ada = await client.initializeCustomer({ body: { ...known, customer_name: 'Ada Lovelace' } })
    const customer_id = ada.data?.customer_id ?? ''
    await client.createEvent({ body: event })
    await client.createEvent({ body: { ...event, customer_id } })
    await client.initializeCustomer({ body: { ...known, customer_name: 'Ada "Countess" King' } })

    const own = (await client.getCustomer({ path: { customer_id: event.customer_id } })).data
    const others = [own?.customer_name, own?.client_customer_id]
    const named = ['Ada "Countess" King', 'user "8412"']
    const namesOf = (data: Schemas['EventPage'] | undefined) =>
      data?.data.map(({ customer_name, client_customer_id }) => [customer_name, client_customer_id])
    expect(namesOf((await client.listEvents()).data)).toEqual([named, others])
    const forward = async () => namesOf((await client.listEvents({ query: { order: 'oldest' } })).data)
    await expect.poll(forward).toEqual([others, named])
    expect(namesOf((await client.listCustomerEvents({ path: { customer_id } })).data)).toEqual([named])
  })

  it('keeps its position while events arrive', async ({ event, client }) => {
    for (let count = 0; count < 4; count += 1) await client.createEvent({ body: event })
    const before = (await client.listEvents()).data?.data ?? []
    const first = await client.listEvents({ query: { limit: 2 } })
    await client.createEvent({ body: event })
    const cursor = first.data?.next_cursor ?? ''
    const second = await client.listEvents({ query: { cursor } })
    expect([...(first.data?.data ?? []), ...(second.data?.data ?? [])]).toEqual(before)
  })

  it('filters by journey, customer, name and time span, alone and together', async () => {
    let now = Date.parse('2026-11-20T12:00:00Z')
    const cairn = await startCairnForTest({ now: () => now })
    const { workspace, event } = await customerInJourney(cairn)
    const { client } = workspace
    const renewal = await client.createJourney({ body: { name: 'Renewal' } })
    const other_journey = renewal.data?.journey_id ?? ''
    const other_customer = await initialize(workspace, 'user-2')
    await initialize({ ...workspace, journey_id: other_journey }, 'user-1')
    const send = async (change: object) => {
      now += 1000
      const { data } = await client.createEvent({ body: { ...event, ...change } })
      return data?.id
    }
    const plain = await send({})
    const named = await send({ event_id: 'a:b,c&d=e+ü' })
    const journey = await send({ journey_id: other_journey })
    const customer = await send({ customer_id: other_customer })
    const ids = async (query: object) => (await client.listEvents({ query })).data?.data.map(({ id }) => id)

    expect(await ids({})).toEqual([customer, journey, named, plain])
    expect(await ids({ event_id: 'a:b,c&d=e+ü' })).toEqual([named])
    for (const id of [plain, journey]) expect(await ids({ id: id ?? '' })).toEqual([id])
    expect(await ids({ id: journey ?? '', event_id: 'a:b,c&d=e+ü' })).toEqual([])
    for (const id of [
      'evt_7zzzzzzzzzzzzzzzzzzzzzzzzz',
      `evt_${'0'.repeat(26)}`,
      event.customer_id,
      'evt_1',
    ]) {
      expect(await ids({ id })).toEqual([])
    }
    const forward = await client.listEvents({ query: { order: 'oldest', id: journey ?? '' } })
    expect(forward.data?.next_cursor).not.toBeNull()
    expect(await ids({ journey_id: other_journey })).toEqual([journey])
    expect(await ids({ customer_id: other_customer })).toEqual([customer])
    expect(await ids({ customer_id: event.customer_id, journey_id: event.journey_id })).toEqual([
      named,
      plain,
    ])
    const span = { received_from: '2026-11-20T13:00:02+01:00', received_to: '2026-11-20T12:00:04Z' }
    expect(await ids(span)).toEqual([journey, named])
    expect(await ids({ ...span, event_id: 'signed_up' })).toEqual([journey])
  })

  it('shows which key sent events, and filters by it', async ({ cairn, workspace, event }) => {
    const { client } = workspace
    const browser = cairn.client(workspace.publishable_key)
    const sent = [client, browser, client, browser, browser]
    for (const by of sent) expect((await by.createEvent({ body: event })).response.status).toBe(201)
    await browser.createEvents({ body: { events: [event, event] } })
    const keysOf = async (query: object) =>
      (await client.listEvents({ query })).data?.data.map(({ key_id }) => key_id) ?? []
    const all = await keysOf({})
    const [website = '', server = ''] = all.slice(3).map((key_id) => key_id ?? '')
    expect(website).not.toBe(server)
    expect(all).toEqual([website, website, website, website, server, website, server])
    expect(website).toMatch(/^key_[0-9a-z]{26}$/)

    expect(await keysOf({ key_id: website })).toEqual(Array(5).fill(website))
    expect(await keysOf({ key_id: server, event_id: event.event_id })).toEqual([server, server])
    expect(await keysOf({ key_id: server, limit: 1 })).toEqual([server])
    const forward = async () => await keysOf({ key_id: server, order: 'oldest' })
    await expect.poll(forward).toEqual([server, server])
    const { customer_id } = event
    expect(await keysOf({ key_id: website, customer_id })).toHaveLength(5)
    for (const key_id of ['key_unknown', 'key_7zzzzzzzzzzzzzzzzzzzzzzzzz', event.journey_id]) {
      expect(await keysOf({ key_id })).toEqual([])
    }
    const other = await customerInJourney(cairn)
    await other.workspace.client.createEvent({ body: other.event })
    expect((await other.workspace.client.listEvents({ query: { key_id: website } })).data?.data).toEqual([])
  })

  it('filters by when events occurred, which is when they were received if nothing else was sent', async () => {
    let now = Date.parse('2026-11-20T12:00:00Z')
    const cairn = await startCairnForTest({ now: () => now })
    const { workspace, event } = await customerInJourney(cairn)
    const { client } = workspace
    const send = async (occurred_at?: string) => {
      now += 1000
      const { data } = await client.createEvent({ body: { ...event, ...(occurred_at && { occurred_at }) } })
      return data?.id
    }
    const late = await send('2026-11-19T08:00:00Z')
    const undated = await send()
    const ahead = await send('2026-11-20T12:59:00Z')
    const before = await send('2026-11-20T07:59:59.999Z')
    const { customer_id } = event
    const ids = async (query: object) => {
      const newest = (await client.listEvents({ query })).data?.data.map(({ id }) => id)
      const forward = async () =>
        (await client.listEvents({ query: { ...query, order: 'oldest' } })).data?.data.map(({ id }) => id)
      await expect.poll(forward).toEqual(newest?.toReversed())
      return newest
    }

    const morning = { occurred_from: '2026-11-20T09:00:00+01:00' }
    expect(await ids(morning)).toEqual([ahead, undated])
    expect(await ids({ occurred_to: '2026-11-20T08:00:00Z' })).toEqual([before, late])
    expect(await ids({ ...morning, occurred_to: '2026-11-20T12:00:02.000Z' })).toEqual([])
    expect(await ids({ ...morning, occurred_to: '2026-11-20T12:00:02.001Z' })).toEqual([undated])
    expect(await ids({ ...morning, customer_id, received_from: '2026-11-20T12:00:03Z' })).toEqual([ahead])
    expect(await ids({ occurred_from: '2026-11-20T12:59:00Z' })).toEqual([ahead])
  })

  it('returns an empty list for filters that match nothing, and for an empty time span', async ({
    event,
    client,
  }) => {
    await client.createEvent({ body: event })
    const nothing = [
      { journey_id: 'jrn_unknown' },
      { customer_id: 'cus_unknown' },
      { event_id: 'never' },
      { received_from: '2026-01-02T00:00:00Z', received_to: '2026-01-01T00:00:00Z' },
    ]
    for (const query of nothing) {
      const { data } = await client.listEvents({ query })
      expect(data).toEqual({ data: [], next_cursor: null })
    }
  })

  it.for([`000000000000${'0'.repeat(26)}`, `ffffffffffff7${'z'.repeat(25)}`])(
    'accepts every cursor of the declared form: %s',
    async (cursor, { event, client }) => {
      await client.createEvent({ body: event })
      const path = { customer_id: event.customer_id }
      const answers = await Promise.all([
        client.listEvents({ query: { cursor } }),
        client.listCustomerEvents({ path, query: { cursor } }),
        client.listCustomers({ query: { cursor } }),
        client.listJourneys({ query: { cursor } }),
      ])
      const expected = cursor.startsWith('0') ? 0 : 1
      expect(answers.map(({ data }) => data?.data.length)).toEqual(Array(4).fill(expected))
    },
  )
})

describe('listCustomerEvents', () => {
  it('orders by the time of occurrence, whatever the order of arrival', async ({ event, client }) => {
    const days = ['03', '01', '02', '02', '04']
    for (const day of days) {
      await client.createEvent({
        body: { ...event, event_id: `day ${day}`, occurred_at: `2026-01-${day}T00:00:00Z` },
      })
    }
    const path = { customer_id: event.customer_id }
    for (const limit of [1, 2, 5]) {
      const listed = await pages((query) => client.listCustomerEvents({ path, query }), limit)
      expect(listed.map(({ event_id }) => event_id)).toEqual([
        'day 04',
        'day 03',
        'day 02',
        'day 02',
        'day 01',
      ])
      expect(new Set(listed.map(({ id }) => id)).size).toBe(5)
    }
  })

  it('has the events of all journeys and of no other customer', async ({ workspace, event }) => {
    const { client } = workspace
    const renewal = await client.createJourney({ body: { name: 'Renewal' } })
    const journey_id = renewal.data?.journey_id ?? ''
    await initialize({ ...workspace, journey_id }, 'user-1')
    const other = await initialize(workspace, 'user-2')
    await client.createEvent({ body: event })
    await client.createEvent({ body: { ...event, journey_id } })
    await client.createEvent({ body: { ...event, customer_id: other } })
    const { data } = await client.listCustomerEvents({ path: { customer_id: event.customer_id } })
    expect(data?.data.map((listed) => listed.journey_id)).toEqual([journey_id, event.journey_id])
  })
})

describe('listCustomers', () => {
  it('lists newest first, page by page', async ({ workspace }) => {
    const ids: string[] = []
    for (const name of ['a', 'b', 'c', 'd', 'e']) ids.unshift(await initialize(workspace, name))
    for (const limit of [1, 2, 5]) {
      const listed = await pages((query) => workspace.client.listCustomers({ query }), limit)
      expect(listed.map(({ customer_id }) => customer_id)).toEqual(ids)
    }
  })

  it('finds a customer by its own identifier and type', async ({ workspace }) => {
    const { client, journey_id } = workspace
    const contact = await initialize(workspace, 'same:id')
    const account = await client.initializeCustomer({
      body: { client_customer_id: 'same:id', journey_id, customer_type: 'account', customer_name: 'Acme' },
    })
    await initialize(workspace, 'other')
    const ids = async (query: object) => {
      return (await client.listCustomers({ query })).data?.data.map(({ customer_id }) => customer_id)
    }
    expect(await ids({ client_customer_id: 'same:id' })).toEqual([account.data?.customer_id, contact])
    expect(await ids({ client_customer_id: 'same:id', customer_type: 'contact' })).toEqual([contact])
    expect(await ids({ customer_type: 'account' })).toEqual([account.data?.customer_id])
  })

  it('says on request when each customer’s latest event occurred, and how many it has', async ({
    cairn,
    workspace,
  }) => {
    const { client, journey_id } = workspace
    const [none, two] = [await initialize(workspace, 'without'), await initialize(workspace, 'with')]
    const events = ['2026-03-01T10:00:00.000Z', '2026-01-01T00:00:00Z'].map((occurred_at) => {
      return { journey_id, customer_id: two, event_id: 'signed_up', occurred_at }
    })
    await client.createEvents({ body: { events } })
    const neighbour = await cairn.workspace()
    await neighbour.client.createEvent({
      body: {
        journey_id: neighbour.journey_id,
        customer_id: await initialize(neighbour, 'with'),
        event_id: 'signed_up',
      },
    })
    const activities = async (order: 'newest' | 'oldest') => {
      const { data } = await client.listCustomers({ query: { include: 'activity', order } })
      return new Map(data?.data.map(({ customer_id, activity }) => [customer_id, activity]))
    }
    const expected = new Map([
      [none, { last_event_at: null, event_count: 0, event_count_is_exact: true }],
      [two, { last_event_at: '2026-03-01T10:00:00.000Z', event_count: 2, event_count_is_exact: true }],
    ])
    expect(await activities('newest')).toEqual(expected)
    // A forward walk has only what every replica agrees on.
    await expect.poll(() => activities('oldest'), withPatience).toEqual(expected)
    const { data } = await client.listCustomers()
    expect(data?.data.map((customer) => 'activity' in customer)).toEqual([false, false])
  })

  it('counts no more than the latest two hundred events of a customer, on pages of at most fifty', async ({
    workspace,
  }) => {
    const { client, journey_id } = workspace
    const customer_id = await initialize(workspace, 'busy')
    const occurredAt = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString()
    const event = { journey_id, customer_id, event_id: 'viewed' }
    const activity = async () => {
      return (await client.listCustomers({ query: { include: 'activity' } })).data?.data[0]?.activity
    }
    const batch = (from: number, to: number) => {
      const seconds = Array.from({ length: to - from }, (_, index) => from + index)
      return { events: seconds.map((second) => ({ ...event, occurred_at: occurredAt(second) })) }
    }
    await client.createEvents({ body: batch(0, 199) })
    expect(await activity()).toEqual({
      last_event_at: occurredAt(198),
      event_count: 199,
      event_count_is_exact: true,
    })
    await client.createEvents({ body: batch(199, 500) })
    expect(await activity()).toEqual({
      last_event_at: occurredAt(499),
      event_count: 200,
      event_count_is_exact: false,
    })
    for (let index = 0; index < 50; index += 1) await initialize(workspace, `other-${index}`)
    const { data } = await client.listCustomers({ query: { include: 'activity', limit: 500 } })
    expect(data?.data).toHaveLength(50)
    const rest = await client.listCustomers({
      query: { include: 'activity', cursor: data?.next_cursor ?? '' },
    })
    expect(rest.data?.data.map((customer) => customer.customer_id)).toEqual([customer_id])
    expect(rest.data?.next_cursor).toBeNull()
  })
})

describe('a page that ends among rows of the same millisecond', () => {
  it('is followed by the rest of them, in every list', async () => {
    const now = Date.parse('2026-11-20T12:00:00Z')
    const cairn = await startCairnForTest({ now: () => now })
    const { workspace, event } = await customerInJourney(cairn)
    const owner = await signUp(cairn, workspace, 'owner')
    const [key, person] = [workspace.client, owner.client()]
    const numbers = ['1', '2', '3', '4']
    for (const number of numbers) {
      await initialize(workspace, `more-${number}`)
      await key.createJourney({ body: { name: `Journey ${number}` } })
      await key.createEvent({ body: { ...event, occurred_at: '2026-11-20T11:00:00Z' } })
      await person.createServiceKey({ body: { kind: 'secret', name: number } })
      const email = `${number}@example.com`
      const invited = await person.createInvitation({ body: { email, role: 'viewer' } })
      expect(invited.response.status).toBe(201)
      await addMember(cairn, workspace, await newPerson(cairn), 'viewer')
    }
    // The command line and the tests create members with the clock of this machine.
    await inStore(cairn.databaseUrl, (db) => db.updateTable('members').set({ joined_ms: now }).execute())

    const path = { customer_id: event.customer_id }
    const { journey_id, event_id } = event
    type Query = { limit: number; cursor?: string }
    const lists: Record<string, (query: Query) => Promise<Page<object>>> = {
      events: (query) => key.listEvents({ query }),
      'events of a name': (query) => key.listEvents({ query: { ...query, journey_id, event_id } }),
      'a timeline': (query) => key.listCustomerEvents({ path, query }),
      customers: (query) => key.listCustomers({ query }),
      'customers of a type': (query) => key.listCustomers({ query: { ...query, customer_type: 'contact' } }),
      'customers that a search finds': (query) => key.listCustomers({ query: { ...query, search: 'ada' } }),
      journeys: (query) => key.listJourneys({ query }),
      'journeys of a status': (query) => key.listJourneys({ query: { ...query, status: 'active' } }),
      'journeys that a search finds': (query) => key.listJourneys({ query: { ...query, search: 'jou' } }),
      'service keys': (query) => person.listServiceKeys({ query }),
      'service keys that work': (query) => person.listServiceKeys({ query: { ...query, status: 'active' } }),
      members: (query) => person.listMembers({ query }),
      invitations: (query) => person.listInvitations({ query }),
      'audit log': (query) => person.listAuditLog({ query }),
      'audit log of an actor': (query) =>
        person.listAuditLog({ query: { ...query, actor_id: owner.person_id } }),
      'audit log of an area': (query) => person.listAuditLog({ query: { ...query, area: 'journeys' } }),
    }
    for (const [name, read] of Object.entries(lists)) {
      const all = (await read({ limit: 500 })).data?.data ?? []
      expect(all.length, name).toBeGreaterThanOrEqual(numbers.length)
      for (const limit of [1, 2, 3]) expect(await pages(read, limit), `${name}, ${limit}`).toEqual(all)
    }
  })
})

describe('a list with order=oldest', () => {
  it('has a cursor also if it is empty, says so, and continues from there', async ({ event, client }) => {
    const read = async (list: 'listEvents' | 'listCustomers', cursor?: string | null) => {
      const query = { order: 'oldest', limit: 1, ...(cursor && { cursor }) } as const
      const { data } = await client[list]({ query })
      if (!data) throw new Error('refused')
      return data
    }
    const empty = await read('listEvents')
    expect(empty).toEqual({
      data: [],
      next_cursor: expect.any(String),
      caught_up_to: expect.stringMatching(/Z$/),
    })
    const { data: first } = await client.createEvent({ body: event })
    const { data: second } = await client.createEvent({ body: event })
    const ids: (string | undefined)[] = []
    let cursor = empty.next_cursor
    while (ids.length < 2) {
      const page = await read('listEvents', cursor)
      for (const item of page.data) ids.push('id' in item ? item.id : undefined)
      cursor = page.next_cursor
    }
    expect(ids).toEqual([first?.id, second?.id])
    const customers = await vi.waitUntil(async () => {
      const page = await read('listCustomers')
      return page.data.length > 0 && page
    }, withPatience)
    expect(customers.data).toMatchObject([{ customer_id: event.customer_id }])
    expect((await read('listCustomers', customers.next_cursor)).data).toEqual([])
  })
})
