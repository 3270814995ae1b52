// engines: sqlite (the client sees only the API, which is tested on both engines)

import { setImmediate } from 'node:timers/promises'
import { describe, expect, onTestFinished, vi } from 'vitest'
import {
  createTracker,
  QueueFullError,
  TrackerClosedError,
  type TrackerOptions,
  UnexpectedResponseError,
} from '../../client/index.ts'
import type { Cairn } from '../fixtures/cairn.ts'
import { it } from '../fixtures/it.ts'
import { type Answer, html, json, problem, reset, silence } from './scripted-server.ts'
import {
  batchResult,
  created,
  createdResult,
  customer,
  held,
  initialized,
  stored,
  trackerOnScript,
  uuidV7,
} from './scripted-tracker.ts'

/** The options of a tracker on a real server, and functions that check the server's side. */
async function workspaceOnCairn(cairn: Cairn) {
  const { client, journey_id, publishable_key } = await cairn.workspace()
  const options = {
    baseUrl: `${cairn.url}/v1`,
    serviceKey: publishable_key,
    customer: { ...customer, journey_id },
  }
  const storedEvents = async () => {
    const { data } = await client.listEvents()
    return data?.data.toReversed() ?? []
  }
  return { options, client, journey_id, storedEvents }
}

describe('a tracker on a real server', () => {
  it('stores events in the order of tracking, and gives each its outcome', async ({ cairn }) => {
    const { options, journey_id, storedEvents } = await workspaceOnCairn(cairn)
    const tracker = createTracker(options)

    const outcomes = await Promise.all([
      tracker.track('opened'),
      tracker.track('plan_chosen', { plan: 'team', seats: 12 }),
      tracker.track('signed_up', 'by phone', { occurred_at: '2026-11-20T09:30:00.250+01:00' }),
    ])

    const { data: known } = await tracker.initialization()
    const common = { journey_id, customer_id: known?.customer_id, message_id: expect.stringMatching(uuidV7) }
    const events = await storedEvents()
    expect(events).toMatchObject([
      { ...common, event_id: 'opened', custom_variables: null },
      { ...common, event_id: 'plan_chosen', custom_variables: { plan: 'team', seats: 12 } },
      { ...common, event_id: 'signed_up', custom_variables: 'by phone' },
    ])
    expect(outcomes.map(({ data }) => data?.id)).toEqual(events.map(({ id }) => id))
    expect(events.map((event) => event.occurred_at === event.received_at)).toEqual([true, true, false])
    expect(events[2]?.occurred_at).toBe('2026-11-20T08:30:00.250Z')
  })

  it('stores an event that is tracked again with its message_id once', async ({ cairn }) => {
    const { options, storedEvents } = await workspaceOnCairn(cairn)
    const tracker = createTracker(options)

    const outcomes = await Promise.all([
      tracker.track('signed_up', { plan: 'team' }, { message_id: 'm-1' }),
      tracker.track('signed_up', { plan: 'team' }, { message_id: 'm-1' }),
    ])

    expect(outcomes.map(({ data }) => data?.duplicate)).toEqual([false, true])
    expect(await storedEvents()).toHaveLength(1)
  })

  it('gives a refused event its problem, and continues', async ({ cairn }) => {
    const { options, storedEvents } = await workspaceOnCairn(cairn)
    const tracker = createTracker(options)
    const occurred_at = new Date(Date.now() + 2 * 3_600_000).toISOString()

    const outcomes = await Promise.all([
      tracker.track('signed_up', {}, { occurred_at }),
      tracker.track('plan_chosen'),
    ])

    expect(outcomes.map(({ error }) => error?.code)).toEqual(['occurred_at_in_future', undefined])
    expect(await storedEvents()).toMatchObject([{ event_id: 'plan_chosen' }])
  })

  it('gives an event what its definition says about it', async ({ cairn }) => {
    const { options, client } = await workspaceOnCairn(cairn)
    const variables = { type: 'object' as const, properties: { plan: {} }, required: ['plan'] }
    await client.defineEvent({ body: { event_id: 'plan_chosen', variables } })
    await client.defineEvent({ body: { event_id: 'signed_up', variables, mode: 'enforce' } })
    const tracker = createTracker(options)

    const names = ['opened', 'plan_chosen', 'signed_up']
    const outcomes = await Promise.all(names.map((name) => tracker.track(name)))

    const missing = [expect.objectContaining({ code: 'missing', pointer: '/custom_variables/plan' })]
    expect(outcomes.map(({ data, error }) => error?.errors ?? data?.warnings)).toEqual([
      undefined,
      missing,
      missing,
    ])
  })

  it('gives every waiting event the problem of a failed initialization; the next one tries again', async ({
    cairn,
  }) => {
    const { options, client, journey_id, storedEvents } = await workspaceOnCairn(cairn)
    await client.archiveJourney({ path: { journey_id } })
    const tracker = createTracker(options)

    const refused = await Promise.all([tracker.track('opened'), tracker.track('signed_up')])
    await client.restoreJourney({ path: { journey_id } })
    const { data } = await tracker.track('plan_chosen')

    expect(refused.map(({ error }) => error?.code)).toEqual(['journey_archived', 'journey_archived'])
    expect(await storedEvents()).toMatchObject([{ id: data?.id, event_id: 'plan_chosen' }])
  })

  it('hands over all waiting events, each once', async ({ cairn }) => {
    const { options, storedEvents } = await workspaceOnCairn(cairn)
    const tracker = createTracker(options)
    await tracker.initialization()
    const names = Array.from({ length: 30 }, (_, index) => `step_${index}`)

    const outcomes = names.map((name) => tracker.track(name))
    const left = tracker.handOver()

    expect(left).toEqual([])
    const ids = (await Promise.all(outcomes)).map(({ data }) => data?.id)
    const events = await storedEvents()
    expect(events.map(({ event_id }) => event_id)).toEqual(names)
    expect(events.map(({ id }) => id)).toEqual(ids)
  })
})

describe('initialization', () => {
  it('happens once, at once, and every event waits for it', async () => {
    const { answer, letGo } = held(initialized)
    const { tracker, arrivals, arrived, nextArrival } = await trackerOnScript([answer, stored])
    const outcomes = [tracker.track('opened'), tracker.track('signed_up')]
    if (arrivals.length === 0) await nextArrival()
    expect(arrived()).toEqual(['initialize'])

    letGo()
    await Promise.all(outcomes)

    expect((await tracker.initialization()).data).toEqual({ customer_id: 'cus_1', created: true })
    expect(arrived()).toEqual(['initialize', 'opened + signed_up'])
    const [sent] = arrivals
    expect(sent).toMatchObject({ headers: { 'x-service-key': 'pk_test' }, body: JSON.stringify(customer) })
    const common = { journey_id: 'jrn_1', customer_id: 'cus_1', message_id: expect.stringMatching(uuidV7) }
    expect(JSON.parse(arrivals[1]?.body ?? '')).toEqual({
      events: [
        { ...common, event_id: 'opened' },
        { ...common, event_id: 'signed_up' },
      ],
    })
  })

  it('that is refused is tried again only by the next event', async () => {
    const refusal = problem(404, 'journey_not_found')
    const { tracker, baseUrl, arrived } = await trackerOnScript([
      refusal,
      html(404),
      refusal,
      initialized,
      stored,
    ])

    const first = await tracker.initialization()
    // Anything the tracker had sent by itself would arrive before this.
    await fetch(baseUrl, { method: 'POST', body: JSON.stringify({ event_id: 'by somebody else' }) })
    const second = await tracker.track('opened')
    const third = await tracker.track('signed_up')

    expect([first, second, third].map(({ error }) => error?.code)).toEqual([
      'journey_not_found',
      'journey_not_found',
      undefined,
    ])
    expect((await tracker.initialization()).data?.customer_id).toBe('cus_1')
    expect(arrived()).toEqual(['initialize', 'by somebody else', 'initialize', 'initialize', 'signed_up'])
  })

  it.each([
    ['no response', reset, TypeError],
    ['the JSON of another server', json(200, { status: 'ok' }), UnexpectedResponseError],
  ])(
    'that gets %s rejects every waiting event, and is tried again by the next',
    async (_name, answer, reason) => {
      const { tracker, arrived } = await trackerOnScript([answer, initialized, stored], { retries: 0 })

      const outcomes = await Promise.allSettled([
        tracker.initialization(),
        tracker.track('opened'),
        tracker.track('signed_up'),
      ])
      const { data } = await tracker.track('plan_chosen')

      expect(outcomes).toEqual(Array(3).fill({ status: 'rejected', reason: expect.any(reason) }))
      expect(data).toEqual(created)
      expect(arrived()).toEqual(['initialize', 'initialize', 'plan_chosen'])
    },
  )
})

describe('a tracker without events', () => {
  it('leaves no unhandled rejection when its initialization gets no response', async () => {
    const unhandled = vi.fn()
    process.on('unhandledRejection', unhandled)
    onTestFinished(() => void process.off('unhandledRejection', unhandled))
    const { tracker } = await trackerOnScript([reset], { retries: 0 })

    await expect(tracker.initialization()).rejects.toThrow(TypeError)
    // Node reports unhandled rejections after the callbacks of the rejection.
    await setImmediate()

    expect(unhandled).not.toHaveBeenCalled()
  })
})

describe('an event', () => {
  it('waits until the previous request has finished, including retries, and goes with all waiting events', async () => {
    const { answer: busy, letGo } = held(problem(503, 'overloaded'))
    const { tracker, arrivals, arrived } = await trackerOnScript([initialized, busy, stored])
    const outcomes = [tracker.track('opened')]
    await expect.poll(arrived).toEqual(['initialize', 'opened'])

    outcomes.push(tracker.track('signed_up'), tracker.track('plan_chosen'))
    letGo()
    await Promise.all(outcomes)

    expect(arrived()).toEqual(['initialize', 'opened', 'opened', 'signed_up + plan_chosen'])
    expect(arrivals[2]?.body).toBe(arrivals[1]?.body)
  })

  it('rejects without a response from Cairn, and the next one is sent', async () => {
    const { tracker } = await trackerOnScript([initialized, reset, html(502), stored], { retries: 0 })

    const outcomes = [
      ...(await Promise.allSettled([tracker.track('opened')])),
      ...(await Promise.allSettled([tracker.track('signed_up')])),
      ...(await Promise.allSettled([tracker.track('plan_chosen')])),
    ]

    expect(outcomes).toMatchObject([
      { status: 'rejected', reason: expect.any(TypeError) },
      { status: 'rejected', reason: expect.any(UnexpectedResponseError) },
      { status: 'fulfilled', value: { data: created } },
    ])
  })

  it('is sent as it was when it was tracked', async () => {
    const { tracker, arrivals } = await trackerOnScript([initialized, stored])
    const variables = { cart: ['tea'] }

    const outcome = tracker.track('checked_out', variables)
    variables.cart.push('coffee')
    await outcome

    expect(JSON.parse(arrivals[1]?.body ?? '')).toMatchObject({ custom_variables: { cart: ['tea'] } })
    expect(variables).toEqual({ cart: ['tea', 'coffee'] })
  })

  it('that cannot be serialized rejects, and is not queued', async () => {
    const { tracker, arrived } = await trackerOnScript([initialized, stored], { queueLimit: 1 })
    const cyclic: Record<string, unknown> = {}
    cyclic.self = cyclic

    await expect(tracker.track('opened', cyclic)).rejects.toThrow(TypeError)
    await tracker.track('signed_up')

    expect(arrived()).toEqual(['initialize', 'signed_up'])
  })
})

describe('a batch', () => {
  /** Tracks all of them while the initialization is in flight. */
  async function trackTogether(names: string[], script: Answer[], options: Partial<TrackerOptions> = {}) {
    const scripted = await trackerOnScript([initialized, ...script], options)
    return { ...scripted, outcomes: names.map((name) => scripted.tracker.track(name)) }
  }
  const requestId = { 'x-request-id': 'r-1' }

  it('gives each event its own outcome, in the form of createEvent', async () => {
    const { type, title, detail } = { type: '/docs/problems#x', title: 'A problem', detail: 'Change it.' }
    const rejection = { type, title, detail, status: 409, code: 'message_id_conflict' }
    const { id, message_id, received_at } = createdResult
    const result = batchResult([
      createdResult,
      { ...createdResult, status: 'duplicate' },
      { ...createdResult, status: 'rejected', ...{ id: null, received_at: null, problem: rejection } },
    ])
    const { outcomes } = await trackTogether(['a', 'b', 'c'], [json(200, result, requestId)])

    const [first, second, third] = await Promise.all(outcomes)

    expect(message_id).toBe('m')
    expect(first).toEqual({
      data: { success: true, id, duplicate: false, received_at },
      response: first?.response,
    })
    expect(second).toMatchObject({ data: { success: true, id, duplicate: true, received_at } })
    expect(third).toEqual({ error: { ...rejection, request_id: 'r-1' }, response: third?.response })
    expect(first?.response.status).toBe(200)
  })

  it.each([
    ['the form', problem(400, 'invalid_request')],
    ['the size', problem(413, 'body_too_large')],
    ['the size by a proxy', html(413)],
  ])('of which %s is refused is sent again as single events, in order', async (_name, refusal) => {
    const refused = problem(400, 'invalid_request')
    const { outcomes, arrived } = await trackTogether(['a', 'b', 'c'], [refusal, stored, refused, stored])

    const settled = await Promise.all(outcomes)

    expect(settled.map(({ error }) => error?.code)).toEqual([undefined, 'invalid_request', undefined])
    expect(arrived()).toEqual(['initialize', 'a + b + c', 'a', 'b', 'c'])
  })

  it.each([401, 403, 429, 500, 503])(
    'that is refused as a whole with %i gives each event its problem',
    async (status) => {
      const refusal = problem(status, 'internal_error')
      const { outcomes, arrived } = await trackTogether(['a', 'b'], [refusal], { retries: 0 })

      const settled = await Promise.all(outcomes)

      expect(settled.map(({ error }) => error?.status)).toEqual([status, status])
      expect(arrived()).toEqual(['initialize', 'a + b'])
    },
  )

  it.each([
    ['nothing', reset, TypeError],
    ['something else', html(502), UnexpectedResponseError],
    ['too few results', json(200, batchResult([])), UnexpectedResponseError],
    ['no results', json(200, {}), UnexpectedResponseError],
    ['null', json(200, null), UnexpectedResponseError],
    ['a text', json(200, 'ok'), UnexpectedResponseError],
  ])('that is answered with %s rejects each event', async (_name, answer, reason) => {
    const { outcomes } = await trackTogether(['a', 'b'], [answer], { retries: 0 })

    const settled = await Promise.allSettled(outcomes)

    expect(settled).toEqual(Array(2).fill({ status: 'rejected', reason: expect.any(reason) }))
  })

  it('has at most 1000 events', async () => {
    const names = Array.from({ length: 1002 }, (_, index) => `${index}`)
    const { outcomes, arrived } = await trackTogether(names, [stored], { queueLimit: 2000 })

    await Promise.all(outcomes)

    expect(arrived()).toEqual(['initialize', names.slice(0, 1000).join(' + '), '1000 + 1001'])
  })

  it('has at most 1 MB of JSON', async () => {
    const { tracker, arrivals } = await trackerOnScript([initialized, stored])

    // Each ü is two bytes.
    await Promise.all(Array.from({ length: 42 }, () => tracker.track('opened', 'ü'.repeat(25_000))))

    const sizes = arrivals.slice(1).map(({ body }) => Buffer.byteLength(body))
    expect(sizes).toHaveLength(3)
    expect(sizes.filter((size_bytes) => size_bytes > 1_000_000)).toEqual([])
    expect(sizes[0]).toBeGreaterThan(900_000)
  })

  it('continues for its other events when one is aborted, and ends when all are', async () => {
    const { answer, letGo } = held(stored)
    const { tracker, arrived } = await trackerOnScript([initialized, answer, silence, stored])
    const controllers = [new AbortController(), new AbortController()]
    const track = (name: string, controller = new AbortController()) =>
      tracker.track(name, {}, { signal: controller.signal })

    const [aborted, other] = [track('a', controllers[0]), track('b')]
    await expect.poll(arrived).toEqual(['initialize', 'a + b'])
    controllers[0]?.abort('left')
    await expect(aborted).rejects.toBe('left')
    letGo()
    expect((await other).data).toEqual(created)

    const both = [track('c', controllers[1]), track('d', controllers[1])]
    await expect.poll(arrived).toEqual(['initialize', 'a + b', 'c + d'])
    const next = track('e')
    controllers[1]?.abort('left')

    expect(await Promise.allSettled(both)).toMatchObject([{ reason: 'left' }, { reason: 'left' }])
    expect((await next).data).toEqual(created)
  })
})

describe('an aborted signal', () => {
  it('rejects an event at once, before it is queued and while it waits; it is not sent', async () => {
    const { answer, letGo } = held(initialized)
    const { tracker, arrived } = await trackerOnScript([answer, stored])
    const controller = new AbortController()

    const before = tracker.track('opened', {}, { signal: AbortSignal.abort('left') })
    const waiting = tracker.track('signed_up', {}, { signal: controller.signal })
    const other = tracker.track('plan_chosen')
    controller.abort('left')

    await expect(before).rejects.toBe('left')
    await expect(waiting).rejects.toBe('left')
    letGo()
    await other
    expect(arrived()).toEqual(['initialize', 'plan_chosen'])
  })

  it('ends the wait for a retry; the next event is sent', async () => {
    const busy = problem(503, 'overloaded', { 'retry-after': '60' })
    const { tracker, arrived } = await trackerOnScript([initialized, busy, stored])
    const controller = new AbortController()

    const busied = tracker.track('opened', {}, { signal: controller.signal })
    await expect.poll(arrived).toEqual(['initialize', 'opened'])
    const next = tracker.track('signed_up')
    controller.abort('left')

    await expect(busied).rejects.toBe('left')
    await next
    expect(arrived()).toEqual(['initialize', 'opened', 'signed_up'])
  })
})

describe('the queue', () => {
  it('holds 1000 events without an outcome and refuses the next one, until one has an outcome', async () => {
    const { answer, letGo } = held(problem(404, 'journey_not_found'))
    const { tracker, arrived } = await trackerOnScript([answer, initialized, stored])
    const outcomes = Array.from({ length: 1000 }, () => tracker.track('opened'))

    await expect(tracker.track('signed_up')).rejects.toThrow(QueueFullError)
    letGo()
    const codes = (await Promise.all(outcomes)).map(({ error }) => error?.code)
    await tracker.track('plan_chosen')

    expect(codes).toEqual(Array(1000).fill('journey_not_found'))
    expect(arrived()).toEqual(['initialize', 'initialize', 'plan_chosen'])
  })

  it('has the length of queueLimit, and the error says so', async () => {
    const { tracker } = await trackerOnScript([initialized, stored], { queueLimit: 2 })
    const taken = [tracker.track('opened'), tracker.track('signed_up')]

    await expect(tracker.track('plan_chosen')).rejects.toThrow(
      'The queue is full (2 events). Track the event later, or raise queueLimit.',
    )
    await Promise.all(taken)
  })
})

describe('flush', () => {
  it('resolves when every event tracked so far has its outcome, whichever', async () => {
    const { answer, letGo } = held(stored)
    const { answer: first, letGo: letFirstGo } = held(problem(400, 'invalid_request'))
    const script: [Answer, ...Answer[]] = [initialized, first, reset, answer]
    const { tracker, arrived } = await trackerOnScript(script, { retries: 0 })
    const outcomes: string[] = []
    const track = (name: string) => {
      const note = () => outcomes.push(name)
      tracker.track(name).then(note, note)
    }
    track('opened')
    await expect.poll(arrived).toEqual(['initialize', 'opened'])
    track('signed_up')
    track('plan_chosen')

    const flushed = tracker.flush()
    letFirstGo()
    await flushed
    const later = tracker.track('left')

    expect(outcomes).toEqual(['opened', 'signed_up', 'plan_chosen'])
    letGo()
    await later
  })

  it('resolves if nothing was tracked', async () => {
    const { tracker } = await trackerOnScript([initialized])

    await expect(tracker.flush()).resolves.toBeUndefined()
  })
})

describe('close', () => {
  it('lets every event get its outcome, and refuses further ones', async () => {
    const { tracker, arrived } = await trackerOnScript([initialized, stored])
    const tracked = [tracker.track('opened'), tracker.track('signed_up')]

    const closed = tracker.close()
    await expect(tracker.track('plan_chosen')).rejects.toThrow(TrackerClosedError)
    await closed

    expect(arrived()).toEqual(['initialize', 'opened + signed_up'])
    expect((await Promise.all(tracked)).map(({ data }) => data)).toEqual([created, created])
    await expect(tracker.track('left')).rejects.toThrow('The tracker is closed.')
  })
})
