// engines: none (opens no store)

import { createServer } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createClient, UnexpectedResponseError } from '../../client/index.ts'
import { withPatience } from '../fixtures/patience.ts'
import {
  type Answer,
  half,
  html,
  json,
  problem,
  reset,
  silence,
  startScriptedServer,
} from './scripted-server.ts'

const serviceKey = 'sk_test'
const event = { journey_id: 'jrn_1', customer_id: 'cus_1', event_id: 'signed_up' }
const created = { success: true, id: 'evt_1', duplicate: false, received_at: '2026-11-20T08:29:58.007Z' }

describe('a retry', () => {
  it.each([
    ['the connection was reset', reset],
    ['half an answer', half],
    ['429', problem(429, 'rate_limited')],
    ['503', problem(503, 'overloaded')],
    ...[502, 503, 504].map((status): [string, Answer] => [`a proxy's ${status}`, html(status)]),
  ])('sends the same event again, message_id included, after %s', async (_name, answer) => {
    const { baseUrl, arrivals } = await startScriptedServer(answer, json(201, created))

    const { data } = await createClient({ baseUrl, serviceKey }).createEvent({ body: event })

    expect(data).toEqual(created)
    expect(arrivals).toHaveLength(2)
    expect(arrivals[1]?.body).toBe(arrivals[0]?.body)
    expect(JSON.parse(arrivals[1]?.body ?? '')).toEqual({ ...event, message_id: expect.any(String) })
    expect(arrivals[1]?.headers).toMatchObject({
      'x-service-key': serviceKey,
      'content-type': 'application/json',
    })
  })

  it('sends the same batch again, with the same message_id for each event', async () => {
    const { baseUrl, arrivals } = await startScriptedServer(
      reset,
      problem(503, 'overloaded'),
      json(200, { results: [] }),
    )

    await createClient({ baseUrl, serviceKey }).createEvents({
      body: { events: [event, { ...event, message_id: 'mine' }] },
    })

    const bodies = arrivals.map(({ body }) => body)
    expect(bodies).toEqual(Array(3).fill(bodies[0]))
    expect(JSON.parse(bodies[0] ?? '').events).toEqual([
      { ...event, message_id: expect.any(String) },
      { ...event, message_id: 'mine' },
    ])
  })

  it('repeats every idempotent operation after a network error', async () => {
    const customer_id = 'cus_1'
    const { baseUrl, arrivals } = await startScriptedServer((request, response, body) => {
      // Every second request of an operation succeeds.
      const attempts = arrivals.filter(
        ({ method, url }) => method === request.method && url === request.url,
      ).length
      const answer = attempts % 2 ? reset : json(200, { customer_id })
      answer(request, response, body)
    })
    const cairn = createClient({ baseUrl, serviceKey })
    const path = { journey_id: 'jrn_1', customer_id, webhook_id: 'whk_1', definition_id: 'def_1' }

    const results = await Promise.all([
      cairn.initializeCustomer({
        body: { client_customer_id: 'u', journey_id: 'jrn_1', customer_type: 'account', customer_name: 'n' },
      }),
      cairn.listEvents(),
      cairn.getCustomer({ path }),
      cairn.listCustomerEvents({ path }),
      cairn.archiveJourney({ path }),
      cairn.restoreJourney({ path }),
      cairn.updateJourney({ path, body: { name: 'n' } }),
      cairn.updateEventDefinition({ path, body: { description: 'd' } }),
      cairn.eraseCustomer({ path }),
      cairn.removeWebhook({ path }),
      cairn.replayRefusals({ body: {} }),
    ])

    expect(results.map(({ data }) => data)).toEqual(results.map(() => ({ customer_id })))
    expect(arrivals).toHaveLength(2 * results.length)
  })

  type Cairn = ReturnType<typeof createClient>
  const ids = { webhook_id: 'whk_1', delivery_id: 'msg_1', journey_id: 'jrn_1' }
  /** Operations that do more when they are repeated. */
  const repeatable: [string, (cairn: Cairn) => Promise<{ error?: { code: string } | undefined }>][] = [
    ['createJourney', (cairn) => cairn.createJourney({ body: { name: 'Onboarding' } })],
    ['defineEvent', (cairn) => cairn.defineEvent({ body: { event_id: 'paid' } })],
    [
      'createView',
      (cairn) =>
        cairn.createView({ body: { name: 'v', journey_id: 'jrn_1', query: {}, visibility: 'workspace' } }),
    ],
    [
      'createWebhook',
      (cairn) => cairn.createWebhook({ body: { url: 'https://example.com', types: ['event.created'] } }),
    ],
    ['updateWebhook', (cairn) => cairn.updateWebhook({ path: ids, body: { skip_missed: true } })],
    ['rotateWebhookSecret', (cairn) => cairn.rotateWebhookSecret({ path: ids })],
    ['testWebhook', (cairn) => cairn.testWebhook({ path: ids })],
    ['replayWebhook', (cairn) => cairn.replayWebhook({ path: ids, body: { from: '2026-11-20T08:12:03Z' } })],
    ['resendWebhookDelivery', (cairn) => cairn.resendWebhookDelivery({ path: ids })],
  ]

  describe.each(repeatable)('of %s', (_name, call) => {
    it('follows 429, because nothing was stored', async () => {
      const { baseUrl, arrivals } = await startScriptedServer(problem(429, 'rate_limited'), json(201, {}))
      expect((await call(createClient({ baseUrl, serviceKey }))).error).toBeUndefined()
      expect(arrivals).toHaveLength(2)
    })

    it('never follows 503, because it may have been done', async () => {
      const { baseUrl, arrivals } = await startScriptedServer(problem(503, 'storage_unavailable'))
      expect((await call(createClient({ baseUrl, serviceKey }))).error?.code).toBe('storage_unavailable')
      expect(arrivals).toHaveLength(1)
    })

    it.each([502, 504])("never follows a proxy's %i, because it may have been done", async (status) => {
      const { baseUrl, arrivals } = await startScriptedServer(html(status))
      await expect(call(createClient({ baseUrl, serviceKey }))).rejects.toThrow(UnexpectedResponseError)
      expect(arrivals).toHaveLength(1)
    })

    it.each([
      ['a reset connection', reset],
      ['half an answer', half],
    ])('never follows %s, because it may have been done', async (_name, answer) => {
      const { baseUrl, arrivals } = await startScriptedServer(answer)
      await expect(call(createClient({ baseUrl, serviceKey }))).rejects.toThrow(TypeError)
      expect(arrivals).toHaveLength(1)
    })
  })

  it.each([400, 401, 404, 409, 500, 501, 505])(
    'does not follow %i, which a retry would not change',
    async (status) => {
      const { baseUrl, arrivals } = await startScriptedServer(problem(status, 'internal_error'))

      const { error } = await createClient({ baseUrl, serviceKey }).createEvent({ body: event })

      expect(error?.status).toBe(status)
      expect(arrivals).toHaveLength(1)
    },
  )

  it('happens 4 times by default, then the last problem is the answer', async () => {
    const { baseUrl, arrivals } = await startScriptedServer(
      problem(503, 'overloaded'),
      reset,
      problem(503, 'overloaded'),
      problem(429, 'rate_limited'),
      problem(503, 'shutting_down'),
    )

    const { error, response } = await createClient({ baseUrl, serviceKey }).createEvent({ body: event })

    expect(error?.code).toBe('shutting_down')
    expect(response.status).toBe(503)
    expect(arrivals).toHaveLength(5)
  })

  it('happens up to `retries` times', async () => {
    const { baseUrl, arrivals } = await startScriptedServer(problem(503, 'overloaded'))

    await createClient({ baseUrl, serviceKey, retries: 1 }).createEvent({ body: event })
    await createClient({ baseUrl, serviceKey, retries: 0 }).createEvent({ body: event })

    expect(arrivals).toHaveLength(2 + 1)
  })

  it("ends with fetch's own error when nothing responds", async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : undefined
    await new Promise((resolve) => server.close(resolve))

    const cairn = createClient({ baseUrl: `http://127.0.0.1:${port}/v1`, serviceKey, retries: 1 })

    await expect(cairn.listJourneys()).rejects.toMatchObject({
      name: 'TypeError',
      cause: { code: 'ECONNREFUSED' },
    })
  })

  it('waits for the seconds of Retry-After', async () => {
    const { baseUrl, arrivals } = await startScriptedServer(
      problem(429, 'rate_limited', { 'retry-after': '1' }),
      json(201, created),
    )

    await createClient({ baseUrl, serviceKey }).createEvent({ body: event })

    const [first, second] = arrivals.map(({ arrived_ms }) => arrived_ms)
    expect(Number(second) - Number(first)).toBeGreaterThanOrEqual(1000)
  })

  it('waits for a random time in addition to Retry-After, so that clients do not return together', async () => {
    const timers = vi.spyOn(globalThis, 'setTimeout')
    const random = vi.spyOn(Math, 'random').mockReturnValue(0.5)
    onTestFinished(() => {
      timers.mockRestore()
      random.mockRestore()
    })
    const { baseUrl } = await startScriptedServer(
      problem(429, 'rate_limited', { 'retry-after': '1' }),
      json(201, created),
    )

    await createClient({ baseUrl, serviceKey }).createEvent({ body: event })

    // Half of the first 500 ms.
    expect(timers.mock.calls.map(([, wait_ms]) => wait_ms)).toContain(1_250)
  })

  it('waits until the date of Retry-After', async () => {
    // Dates in headers have no milliseconds: this one is 1 to 2 seconds ahead.
    const date_ms = (Math.floor(Date.now() / 1000) + 2) * 1000
    const { baseUrl, arrivals } = await startScriptedServer(
      problem(503, 'overloaded', { 'retry-after': new Date(date_ms).toUTCString() }),
      json(201, created),
    )

    await createClient({ baseUrl, serviceKey }).createEvent({ body: event })

    expect(arrivals[1]?.arrived_ms).toBeGreaterThanOrEqual(date_ms)
  })

  it('is not worth a wait of more than a minute: the problem is returned at once', async () => {
    const { baseUrl, arrivals } = await startScriptedServer(
      problem(503, 'overloaded', { 'retry-after': '61' }),
    )

    const { error, response } = await createClient({ baseUrl, serviceKey }).createEvent({ body: event })

    expect(error?.code).toBe('overloaded')
    expect(response.headers.get('retry-after')).toBe('61')
    expect(arrivals).toHaveLength(1)
  })
})

describe('an aborted signal', () => {
  it('ends a call before its first attempt', async () => {
    const { baseUrl, arrivals } = await startScriptedServer(json(200, { data: [], next_cursor: null }))

    const call = createClient({ baseUrl, serviceKey }).listJourneys({ signal: AbortSignal.abort('left') })

    await expect(call).rejects.toBe('left')
    expect(arrivals).toEqual([])
  })

  it('ends an attempt that waits for its response, without another', async () => {
    const { baseUrl, nextArrival } = await startScriptedServer(silence)
    let attempts = 0
    const cairn = createClient({
      baseUrl,
      serviceKey,
      fetch: (request, init) => {
        attempts++
        return fetch(request, init)
      },
    })
    const controller = new AbortController()
    const arrival = nextArrival()

    const call = cairn.createEvent({ body: event, signal: controller.signal })
    await arrival
    controller.abort('left')

    await expect(call).rejects.toBe('left')
    expect(attempts).toBe(1)
  })

  it('ends an attempt even after garbage collection', async () => {
    setFlagsFromString('--expose-gc')
    const collectGarbage: () => void = runInNewContext('gc')
    const { baseUrl, nextArrival } = await startScriptedServer(silence)
    const controller = new AbortController()
    const arrival = nextArrival()

    const call = createClient({ baseUrl, serviceKey }).listJourneys({ signal: controller.signal })
    await arrival
    collectGarbage()
    controller.abort('left')

    await expect(call).rejects.toBe('left')
  })

  it('ends the wait for a retry at once', async () => {
    const timers = vi.spyOn(globalThis, 'setTimeout')
    onTestFinished(() => timers.mockRestore())
    const { baseUrl, arrivals } = await startScriptedServer(
      problem(503, 'overloaded', { 'retry-after': '60' }),
    )
    const controller = new AbortController()

    const call = createClient({ baseUrl, serviceKey }).createEvent({ body: event, signal: controller.signal })
    await vi.waitUntil(() => timers.mock.calls.some(([, wait_ms]) => wait_ms === 60_000), withPatience)
    const aborted_ms = Date.now()
    controller.abort('given up')

    await expect(call).rejects.toBe('given up')
    expect(Date.now() - aborted_ms).toBeLessThan(2000)
    expect(arrivals).toHaveLength(1)
  })
})
