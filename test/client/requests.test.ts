// engines: none (opens no store)

import { describe, expect, it } from 'vitest'
import { type Client, createClient, UnexpectedResponseError } from '../../client/index.ts'
import { type Answer, html, json, problem, startScriptedServer } from './scripted-server.ts'

const serviceKey = 'sk_test'
const event = { journey_id: 'jrn_1', customer_id: 'cus_1', event_id: 'signed_up' }
const created = { success: true, id: 'evt_1', duplicate: false, received_at: '2026-11-20T08:29:58.007Z' }
const customer = {
  client_customer_id: 'user-8412',
  journey_id: 'jrn_1',
  customer_type: 'contact',
  customer_name: 'Ada Lovelace',
} as const
const emptyPage = { data: [], next_cursor: null }

describe('a request', () => {
  it('carries the service key, and the body as JSON', async () => {
    const { baseUrl, arrivals } = await startScriptedServer(
      json(201, { customer_id: 'cus_1', created: true }),
    )

    const { data, error, response } = await createClient({ baseUrl, serviceKey }).initializeCustomer({
      body: customer,
    })

    expect(data).toEqual({ customer_id: 'cus_1', created: true })
    expect(error).toBeUndefined()
    expect(response.status).toBe(201)
    expect(arrivals).toMatchObject([
      {
        method: 'POST',
        url: '/v1/customers/initialize',
        headers: { 'x-service-key': serviceKey, 'content-type': 'application/json' },
        body: JSON.stringify(customer),
      },
    ])
  })

  it('puts identifiers into the path and filters into the query, escaped', async () => {
    const { baseUrl, arrivals } = await startScriptedServer(json(200, emptyPage))
    const cairn = createClient({ baseUrl, serviceKey })

    await cairn.listCustomerEvents({ path: { customer_id: 'a/b?c$&' }, query: { limit: 10 } })
    await cairn.listEvents({ query: { event_id: 'a&b=c+d ü', received_from: '2026-11-20T00:00:00+01:00' } })

    expect(arrivals.map(({ method, url }) => [method, url])).toEqual([
      ['GET', '/v1/customers/a%2Fb%3Fc%24%26/events?limit=10'],
      ['GET', '/v1/events?event_id=a%26b%3Dc%2Bd%20%C3%BC&received_from=2026-11-20T00%3A00%3A00%2B01%3A00'],
    ])
  })

  it('needs no argument if the contract requires nothing', async () => {
    const { baseUrl, arrivals } = await startScriptedServer(json(200, emptyPage))

    const { data } = await createClient({ baseUrl, serviceKey }).listJourneys()

    expect(data).toEqual(emptyPage)
    expect(arrivals).toMatchObject([{ method: 'GET', url: '/v1/journeys', body: '' }])
    expect(arrivals[0]?.headers).not.toHaveProperty('content-type')
  })

  it.each(['.', '..'])(
    'refuses the identifier "%s", which a URL would take for a step upwards',
    async (customer_id) => {
      const { baseUrl, arrivals } = await startScriptedServer(json(200, emptyPage))

      const call = createClient({ baseUrl, serviceKey }).listCustomerEvents({ path: { customer_id } })

      await expect(call).rejects.toThrow(new TypeError('customer_id must not be . or ..'))
      expect(arrivals).toEqual([])
    },
  )

  it.each<[string, (cairn: Client) => Promise<unknown>]>([
    ['an identifier', (cairn) => cairn.getCustomer({ path: { customer_id: 'a\ud800' } })],
    ['a filter', (cairn) => cairn.listEvents({ query: { event_id: '\udc00b' } })],
  ])('rejects with a URIError for a lone surrogate in %s, and is not sent', async (_name, call) => {
    const { baseUrl, arrivals } = await startScriptedServer(json(200, emptyPage))

    await expect(call(createClient({ baseUrl, serviceKey }))).rejects.toThrow(URIError)
    expect(arrivals).toEqual([])
  })

  it('outlives the page for ingestion, as long as all such bodies together fit into 64 KiB', async () => {
    const { cairn, keepalive } = await clientThatNotesKeepalive()
    const message_id = 'm-1'
    const rest_bytes = JSON.stringify({ ...event, message_id, custom_variables: '' }).length
    const bodyOf = (size_bytes: number) => ({
      ...event,
      message_id,
      // Each ü is two bytes.
      custom_variables: 'ü'.repeat(20) + 'x'.repeat(size_bytes - rest_bytes - 40),
    })

    await Promise.all([
      cairn.createEvent({ body: bodyOf(40_000) }),
      cairn.createEvent({ body: bodyOf(25_536) }),
      cairn.createEvent({ body: bodyOf(200) }),
    ])
    await cairn.createEvent({ body: bodyOf(65_536) })
    await cairn.createEvent({ body: bodyOf(65_537) })
    await cairn.listJourneys()

    expect(keepalive).toEqual([true, true, false, true, false, false])
  })

  it('outlives the page with a batch that fits', async () => {
    const { cairn, keepalive } = await clientThatNotesKeepalive()
    const variables = (size_bytes: number) => ({ ...event, custom_variables: 'x'.repeat(size_bytes) })

    await cairn.createEvents({ body: { events: [variables(30_000), variables(30_000)] } })
    await cairn.createEvents({ body: { events: [variables(30_000), variables(40_000)] } })

    expect(keepalive).toEqual([true, false])
  })

  it('outlives the page with 64 at a time, because browsers limit their number too', async () => {
    const { cairn, keepalive } = await clientThatNotesKeepalive()

    await Promise.all(Array.from({ length: 65 }, () => cairn.createEvent({ body: event })))

    expect(keepalive).toEqual([...Array(64).fill(true), false])
  })

  it('counts with those of other clients, because the limit is that of the page', async () => {
    const [one, other] = [await clientThatNotesKeepalive(), await clientThatNotesKeepalive()]
    const large = { ...event, custom_variables: 'x'.repeat(40_000) }

    await Promise.all([one.cairn.createEvent({ body: large }), other.cairn.createEvent({ body: large })])

    expect([one.keepalive, other.keepalive]).toEqual([[true], [false]])
  })

  it('does not count while it waits for a retry', async () => {
    const busy = problem(503, 'overloaded', { 'retry-after': '60' })
    const { cairn, keepalive, nextArrival } = await clientThatNotesKeepalive(busy)
    const large = { ...event, custom_variables: 'x'.repeat(65_000) }
    const controller = new AbortController()
    const arrival = nextArrival()

    const waiting = cairn.createEvent({ body: large, signal: controller.signal })
    await arrival

    const keepaliveOfNext = async () => {
      await cairn.createEvent({ body: large })
      return keepalive.at(-1)
    }
    await expect.poll(keepaliveOfNext).toBe(true)
    controller.abort('given up')
    await expect(waiting).rejects.toBe('given up')
  })

  it('is sent again without outliving the page, if the browser refuses it otherwise', async () => {
    const { baseUrl } = await startScriptedServer(json(201, created))
    const keepalive: boolean[] = []
    const cairn = createClient({
      baseUrl,
      serviceKey,
      // As browsers do if another script of the page has used up their limit.
      fetch: async (request, init) => {
        keepalive.push(request.keepalive)
        if (request.keepalive) throw new TypeError('Failed to fetch')
        return await fetch(request, init)
      },
    })

    expect((await cairn.createEvent({ body: event })).data).toEqual(created)
    expect(keepalive).toEqual([true, false])
  })
})

/** In Node keepalive has no effect; the test sees only the options passed to fetch. */
async function clientThatNotesKeepalive(first?: Answer) {
  // For an event and for a batch.
  const stored = json(201, { ...created, results: [] })
  const { baseUrl, nextArrival } = await startScriptedServer(first ?? stored, stored)
  const keepalive: boolean[] = []
  const cairn = createClient({
    baseUrl,
    serviceKey,
    fetch: (request, init) => {
      keepalive.push(request.keepalive)
      return fetch(request, init)
    },
  })
  return { cairn, keepalive, nextArrival }
}

describe('a service key that a header cannot carry', () => {
  it.each([
    ['two lines', 'sk_one\nsk_two'],
    ['typographic quotes', '“sk_one”'],
    ['an invisible character', 'sk_one\u200b'],
    ['NUL', 'sk_one\0'],
  ])('is refused without repeating it: %s', (_name, serviceKey) => {
    expect(() => createClient({ baseUrl: '/v1', serviceKey })).toThrow(
      new TypeError('serviceKey must be one line of ASCII'),
    )
  })

  it('may end with the line end of the file that it was read from', async () => {
    const { baseUrl, arrivals } = await startScriptedServer(json(200, emptyPage))

    await createClient({ baseUrl, serviceKey: `${serviceKey}\r\n` }).listJourneys()

    expect(arrivals[0]?.headers['x-service-key']).toBe(serviceKey)
  })
})

describe('message_id', () => {
  it('is a new UUIDv7 for every event without one', async () => {
    const { baseUrl, arrivals } = await startScriptedServer(json(201, created))
    const cairn = createClient({ baseUrl, serviceKey })
    const before_ms = Date.now()

    await cairn.createEvent({ body: event })
    await cairn.createEvent({ body: event })

    const messageIds = arrivals.map(({ body }): string => JSON.parse(body).message_id)
    expect(new Set(messageIds).size).toBe(2)
    for (const messageId of messageIds) {
      expect(messageId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      const made_ms = Number.parseInt(messageId.replace('-', '').slice(0, 12), 16)
      expect(made_ms).toBeGreaterThanOrEqual(before_ms)
      expect(made_ms).toBeLessThanOrEqual(Date.now())
    }
  })

  it("stays the caller's own if there is one", async () => {
    const { baseUrl, arrivals } = await startScriptedServer(json(201, created))

    await createClient({ baseUrl, serviceKey }).createEvent({ body: { ...event, message_id: 'mine' } })

    expect(JSON.parse(arrivals[0]?.body ?? '')).toEqual({ ...event, message_id: 'mine' })
  })

  it('is one of its own for every event of a batch', async () => {
    const { baseUrl, arrivals } = await startScriptedServer(json(200, { results: [] }))
    const events = Object.freeze([Object.freeze({ ...event }), { ...event, message_id: 'mine' }, event])

    await createClient({ baseUrl, serviceKey }).createEvents({ body: { events: [...events] } })

    const sent: { message_id: string }[] = JSON.parse(arrivals[0]?.body ?? '').events
    expect(sent).toMatchObject([event, { ...event, message_id: 'mine' }, event])
    expect(new Set(sent.map(({ message_id }) => message_id)).size).toBe(3)
    expect(events).toEqual([event, { ...event, message_id: 'mine' }, event])
  })

  it("never appears in the caller's object", async () => {
    const { baseUrl } = await startScriptedServer(json(201, created))
    const request = Object.freeze({ body: Object.freeze({ ...event }) })

    const { data } = await createClient({ baseUrl, serviceKey }).createEvent(request)

    expect(data).toEqual(created)
    expect(request).toEqual({ body: event })
  })
})

describe('an answer', () => {
  it('that is a problem resolves with it as error', async () => {
    const { baseUrl } = await startScriptedServer(problem(409, 'customer_not_in_journey'))

    const { data, error, response } = await createClient({ baseUrl, serviceKey }).createEvent({ body: event })

    expect(data).toBeUndefined()
    expect(error).toMatchObject({ status: 409, code: 'customer_not_in_journey' })
    expect(response.status).toBe(409)
  })

  it.each([
    ['an HTML error', html(500), 500, '<h1>Not Cairn</h1>'],
    ['an HTML page with 200', html(200), 200, '<h1>Not Cairn</h1>'],
    ['JSON that is no problem', json(403, { message: 'Forbidden' }), 403, { message: 'Forbidden' }],
    ['the problem of a gateway', json(403, { code: 'forbidden' }), 403, { code: 'forbidden' }],
    ['an empty error', json(500, undefined), 500, ''],
    ['an empty 200', json(200, undefined, { 'content-length': '0' }), 200, ''],
    ['an empty 204', json(204, undefined), 204, ''],
    ['a file', html(200, { 'content-disposition': 'inline' }), 200, '<h1>Not Cairn</h1>'],
    ['a file with an error', html(502, { 'content-disposition': 'inline' }), 502, '<h1>Not Cairn</h1>'],
  ])('that is %s rejects with the body that came instead', async (_name, answer, status, body) => {
    const { baseUrl } = await startScriptedServer(answer)

    const error = await createClient({ baseUrl, serviceKey })
      .createEvent({ body: event })
      .catch((error) => error)

    expect(error).toBeInstanceOf(UnexpectedResponseError)
    expect(error).toMatchObject({ name: 'UnexpectedResponseError', response: { status }, body })
    expect(error.message).toContain(`status ${status}`)
  })

  it.each<[string, (cairn: Client) => Promise<unknown>]>([
    ['initializeCustomer', (cairn) => cairn.initializeCustomer({ body: customer })],
    ['createEvent', (cairn) => cairn.createEvent({ body: event })],
    ['createEvents', (cairn) => cairn.createEvents({ body: { events: [event] } })],
  ])('to %s that is the JSON of another server rejects, because nothing was stored', async (_name, call) => {
    for (const body of [{ status: 'ok' }, { success: true }, [], null, 'ok', 0]) {
      const { baseUrl } = await startScriptedServer(json(200, body))

      const error = await call(createClient({ baseUrl, serviceKey })).catch((error) => error)

      expect(error).toBeInstanceOf(UnexpectedResponseError)
      expect(error).toMatchObject({ body })
    }
  })

  it('that redirects is not followed, so that the key stays with its server', async () => {
    const elsewhere = await startScriptedServer(json(200, emptyPage))
    const location = `${elsewhere.baseUrl}/journeys`
    const { baseUrl } = await startScriptedServer(html(307, { location }))

    const call = createClient({ baseUrl, serviceKey }).listJourneys()

    await expect(call).rejects.toThrow(UnexpectedResponseError)
    expect(elsewhere.arrivals).toEqual([])
  })
})
