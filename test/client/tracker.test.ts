import { beforeAll, describe, expect, it } from 'vitest'
import {
  createTracker,
  QueueFullError,
  TrackerClosedError,
  type TrackerOptions,
  UnexpectedResponseError,
} from '../../client/index.ts'
import { type Cairn, startCairn } from '../cairn.ts'
import { type Answer, html, json, problem, reset, startScriptedServer } from './scripted-server.ts'

const customer = {
  client_customer_id: 'user-8412',
  journey_id: 'jrn_1',
  customer_type: 'contact',
  customer_name: 'Ada Lovelace',
} as const
const initialized = json(201, { customer_id: 'cus_1', created: true })
const created = { success: true, id: 'evt_1', duplicate: false, received_at: '2026-11-20T08:29:58.007Z' }
const stored = json(201, created)
/** Polling ends when what is expected is there; a busy machine may take long. */
const patience = { timeout: 10_000 }
const uuidV7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

let cairn: Cairn

beforeAll(async () => {
  cairn = await startCairn()
  return cairn.stop
})

/** What a tracker needs to reach a real server, and what looks at the server from the other side. */
async function workspaceOnCairn() {
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

/** A tracker on a server that answers by the script. */
async function trackerOnScript(script: [Answer, ...Answer[]], options: Partial<TrackerOptions> = {}) {
  const server = await startScriptedServer(...script)
  const tracker = createTracker({ baseUrl: server.baseUrl, serviceKey: 'pk_test', customer, ...options })
  /** What arrived: `initialize`, or the name of the event. */
  const arrived = () =>
    server.arrivals.map(({ url, body }) =>
      url?.endsWith('/customers/initialize') ? 'initialize' : JSON.parse(body).event_id,
    )
  return { ...server, tracker, arrived }
}

/** An answer that waits until it is let go. */
function held(answer: Answer) {
  const { promise, resolve: letGo } = Promise.withResolvers<void>()
  const waiting: Answer = async (request, response) => {
    await promise
    answer(request, response)
  }
  return { answer: waiting, letGo }
}

describe('a tracker on a real server', () => {
  it('stores events in the order of tracking, and gives each its outcome', async () => {
    const { options, journey_id, storedEvents } = await workspaceOnCairn()
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

  it('stores an event that is tracked again with its message_id once', async () => {
    const { options, storedEvents } = await workspaceOnCairn()
    const tracker = createTracker(options)

    const outcomes = await Promise.all([
      tracker.track('signed_up', { plan: 'team' }, { message_id: 'm-1' }),
      tracker.track('signed_up', { plan: 'team' }, { message_id: 'm-1' }),
    ])

    expect(outcomes.map(({ data }) => data?.duplicate)).toEqual([false, true])
    expect(await storedEvents()).toHaveLength(1)
  })

  it('gives a refused event its problem, and goes on', async () => {
    const { options, storedEvents } = await workspaceOnCairn()
    const tracker = createTracker(options)
    const occurred_at = new Date(Date.now() + 2 * 3_600_000).toISOString()

    const outcomes = await Promise.all([
      tracker.track('signed_up', {}, { occurred_at }),
      tracker.track('plan_chosen'),
    ])

    expect(outcomes.map(({ error }) => error?.code)).toEqual(['occurred_at_in_future', undefined])
    expect(await storedEvents()).toMatchObject([{ event_id: 'plan_chosen' }])
  })

  it('gives every waiting event the problem of a failed initialization; the next one tries again', async () => {
    const { options, client, journey_id, storedEvents } = await workspaceOnCairn()
    await client.archiveJourney({ path: { journey_id } })
    const tracker = createTracker(options)

    const refused = await Promise.all([tracker.track('opened'), tracker.track('signed_up')])
    await client.restoreJourney({ path: { journey_id } })
    const { data } = await tracker.track('plan_chosen')

    expect(refused.map(({ error }) => error?.code)).toEqual(['journey_archived', 'journey_archived'])
    expect(await storedEvents()).toMatchObject([{ id: data?.id, event_id: 'plan_chosen' }])
  })

  it('hands over everything that waits, each event once', async () => {
    const { options, storedEvents } = await workspaceOnCairn()
    const tracker = createTracker(options)
    await tracker.initialization()
    const names = Array.from({ length: 30 }, (_, index) => `step_${index}`)

    const outcomes = names.map((name) => tracker.track(name))
    const left = tracker.handOver()

    expect(left).toEqual([])
    const ids = (await Promise.all(outcomes)).map(({ data }) => data?.id)
    const events = await storedEvents()
    expect(events.map(({ event_id }) => event_id).toSorted()).toEqual(names.toSorted())
    expect(events.map(({ id }) => id).toSorted()).toEqual(ids.toSorted())
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
    expect(arrived()).toEqual(['initialize', 'opened', 'signed_up'])
    const [sent] = arrivals
    expect(sent).toMatchObject({ headers: { 'x-service-key': 'pk_test' }, body: JSON.stringify(customer) })
    expect(JSON.parse(arrivals[1]?.body ?? '')).toEqual({
      journey_id: 'jrn_1',
      customer_id: 'cus_1',
      event_id: 'opened',
      message_id: expect.stringMatching(uuidV7),
    })
  })

  it('that is refused is tried again by the next event, and by nothing else', async () => {
    const refusal = problem(404, 'journey_not_found')
    const { tracker, baseUrl, arrived } = await trackerOnScript([
      refusal,
      html(404),
      refusal,
      initialized,
      stored,
    ])

    const first = await tracker.initialization()
    // Whatever the tracker had sent by itself would arrive before this.
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

  it('that finds no answer rejects every waiting event, and is tried again by the next', async () => {
    const { tracker, arrived } = await trackerOnScript([reset, initialized, stored], { retries: 0 })

    const outcomes = await Promise.allSettled([
      tracker.initialization(),
      tracker.track('opened'),
      tracker.track('signed_up'),
    ])
    const { data } = await tracker.track('plan_chosen')

    expect(outcomes).toEqual(Array(3).fill({ status: 'rejected', reason: expect.any(TypeError) }))
    expect(data).toEqual(created)
    expect(arrived()).toEqual(['initialize', 'initialize', 'plan_chosen'])
  })
})

describe('an event', () => {
  it('is sent when the one before it has its outcome, retries included', async () => {
    const busy = problem(503, 'overloaded')
    const { tracker, arrivals, arrived } = await trackerOnScript([initialized, busy, stored])

    await Promise.all([tracker.track('opened'), tracker.track('signed_up')])

    expect(arrived()).toEqual(['initialize', 'opened', 'opened', 'signed_up'])
    expect(arrivals[2]?.body).toBe(arrivals[1]?.body)
  })

  it('rejects without an answer of Cairn, and the next one is sent', async () => {
    const { tracker } = await trackerOnScript([initialized, reset, html(502), stored], { retries: 0 })

    const outcomes = await Promise.allSettled([
      tracker.track('opened'),
      tracker.track('signed_up'),
      tracker.track('plan_chosen'),
    ])

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

  it('that cannot be put into JSON rejects, and takes no place in the queue', async () => {
    const { tracker, arrived } = await trackerOnScript([initialized, stored], { queueLimit: 1 })
    const cyclic: Record<string, unknown> = {}
    cyclic.self = cyclic

    await expect(tracker.track('opened', cyclic)).rejects.toThrow(TypeError)
    await tracker.track('signed_up')

    expect(arrived()).toEqual(['initialize', 'signed_up'])
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
    const next = tracker.track('signed_up')
    await expect.poll(arrived, patience).toEqual(['initialize', 'opened'])
    controller.abort('left')

    await expect(busied).rejects.toBe('left')
    await next
    expect(arrived()).toEqual(['initialize', 'opened', 'signed_up'])
  })
})

describe('the queue', () => {
  it('holds 1000 events without an outcome and refuses the next one, until there is room', async () => {
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

  it('is as long as queueLimit says, and the error says it', async () => {
    const { tracker } = await trackerOnScript([initialized, stored], { queueLimit: 2 })
    const taken = [tracker.track('opened'), tracker.track('signed_up')]

    await expect(tracker.track('plan_chosen')).rejects.toThrow(
      '2 events wait for their outcome. Track this one later, or raise queueLimit.',
    )
    await Promise.all(taken)
  })
})

describe('flush', () => {
  it('resolves when every event tracked so far has its outcome, whichever', async () => {
    const { answer, letGo } = held(stored)
    const script: [Answer, ...Answer[]] = [
      initialized,
      problem(400, 'invalid_request'),
      reset,
      stored,
      answer,
    ]
    const { tracker } = await trackerOnScript(script, { retries: 0 })
    const outcomes: string[] = []
    for (const name of ['opened', 'signed_up', 'plan_chosen']) {
      const note = () => outcomes.push(name)
      tracker.track(name).then(note, note)
    }

    const flushed = tracker.flush()
    const later = tracker.track('left')
    await flushed

    expect(outcomes).toEqual(['opened', 'signed_up', 'plan_chosen'])
    letGo()
    await later
  })

  it('resolves where nothing was tracked', async () => {
    const { tracker } = await trackerOnScript([initialized])

    await expect(tracker.flush()).resolves.toBeUndefined()
  })
})

describe('close', () => {
  it('lets every event have its outcome, and refuses further ones', async () => {
    const { tracker, arrived } = await trackerOnScript([initialized, stored])
    const tracked = [tracker.track('opened'), tracker.track('signed_up')]

    const closed = tracker.close()
    await expect(tracker.track('plan_chosen')).rejects.toThrow(TrackerClosedError)
    await closed

    expect(arrived()).toEqual(['initialize', 'opened', 'signed_up'])
    expect((await Promise.all(tracked)).map(({ data }) => data)).toEqual([created, created])
    await expect(tracker.track('left')).rejects.toThrow('The tracker is closed.')
  })
})

describe('handOver', () => {
  /** Notes which requests outlive the page: in Node keepalive has no effect. */
  function notingKeepalive() {
    const keepalive: [unknown, boolean][] = []
    const noting: TrackerOptions['fetch'] = async (request, init) => {
      const { event_id } = await request.clone().json()
      if (event_id) keepalive.push([event_id, request.keepalive])
      return fetch(request, init)
    }
    return { keepalive, noting }
  }
  const variablesOf = (size_bytes: number) => 'x'.repeat(size_bytes)

  it('starts a request for every event that waits, before it returns', async () => {
    const { answer, letGo } = held(stored)
    let started = 0
    const { tracker, arrived } = await trackerOnScript([initialized, answer], {
      fetch: (request, init) => {
        started++
        return fetch(request, init)
      },
    })
    const outcomes = [tracker.track('opened'), tracker.track('signed_up'), tracker.track('plan_chosen')]
    await expect.poll(arrived, patience).toEqual(['initialize', 'opened'])

    const left = tracker.handOver()

    expect(started).toBe(4)
    expect(left).toEqual([])
    await expect
      .poll(() => arrived().toSorted())
      .toEqual(['initialize', 'opened', 'plan_chosen', 'signed_up'])
    letGo()
    expect((await Promise.all(outcomes)).map(({ data }) => data)).toEqual([created, created, created])
    expect(arrived()).toHaveLength(4)
  })

  it('returns the events that wait for the initialization, in order, as they were tracked', async () => {
    const { answer, letGo } = held(initialized)
    const { tracker, arrivals } = await trackerOnScript([answer, stored])
    const outcomes = [
      tracker.track('opened'),
      tracker.track(
        'signed_up',
        { plan: 'team' },
        { occurred_at: '2026-11-20T08:30:00Z', message_id: 'm-1' },
      ),
    ]

    const left = tracker.handOver()

    expect(left).toEqual([
      { event_id: 'opened', message_id: expect.stringMatching(uuidV7) },
      {
        event_id: 'signed_up',
        custom_variables: { plan: 'team' },
        occurred_at: '2026-11-20T08:30:00Z',
        message_id: 'm-1',
      },
    ])
    letGo()
    await Promise.all(outcomes)
    const sent = arrivals.slice(1).map(({ body }) => JSON.parse(body))
    expect(sent).toEqual(left.map((event) => ({ journey_id: 'jrn_1', customer_id: 'cus_1', ...event })))
  })

  it('returns what does not fit into 64 KiB, and hands over what does', async () => {
    const { answer, letGo } = held(stored)
    const { keepalive, noting } = notingKeepalive()
    const { tracker, arrived } = await trackerOnScript([initialized, answer], { fetch: noting })
    const outcomes = [
      tracker.track('in_flight', variablesOf(1000)),
      tracker.track('fits', variablesOf(40_000)),
      tracker.track('too_large', variablesOf(30_000)),
      tracker.track('fits_too', variablesOf(20_000)),
    ]
    await expect.poll(arrived, patience).toEqual(['initialize', 'in_flight'])

    const left = tracker.handOver()

    expect(left.map(({ event_id }) => event_id)).toEqual(['too_large'])
    letGo()
    expect((await Promise.all(outcomes)).map(({ data }) => data)).toEqual(Array(4).fill(created))
    expect(keepalive.slice(0, 3)).toEqual([
      ['in_flight', true],
      ['fits', true],
      ['fits_too', true],
    ])
  })

  it('sends an event again that waits for a retry', async () => {
    const busy = problem(503, 'overloaded', { 'retry-after': '60' })
    const { tracker, arrivals, arrived } = await trackerOnScript([initialized, busy, stored])
    const outcomes = [tracker.track('opened', variablesOf(40_000)), tracker.track('signed_up')]
    await expect.poll(arrived, patience).toEqual(['initialize', 'opened'])

    // It waits when the answer has been read to its end; until then there is no need to send it again.
    await expect
      .poll(() => {
        expect(tracker.handOver()).toEqual([])
        return arrived().filter((name) => name === 'opened')
      }, patience)
      .toHaveLength(2)

    expect((await Promise.all(outcomes)).map(({ data }) => data)).toEqual([created, created])
    expect(arrived().toSorted()).toEqual(['initialize', 'opened', 'opened', 'signed_up'])
    const [first, second] = arrivals.filter(({ body }) => body.includes('opened'))
    expect(second?.body).toBe(first?.body)
  })

  it('hands over once what a second call finds under way', async () => {
    const { answer, letGo } = held(stored)
    const { tracker, arrived } = await trackerOnScript([initialized, answer])
    await tracker.initialization()
    const outcomes = [tracker.track('opened'), tracker.track('signed_up')]

    const left = [tracker.handOver(), tracker.handOver()]

    expect(left).toEqual([[], []])
    letGo()
    await Promise.all(outcomes)
    expect(arrived().toSorted()).toEqual(['initialize', 'opened', 'signed_up'])
  })

  it('leaves out what was aborted', async () => {
    const { tracker, arrived } = await trackerOnScript([initialized, stored])
    await tracker.initialization()
    const controller = new AbortController()
    const outcomes = [tracker.track('opened'), tracker.track('signed_up', {}, { signal: controller.signal })]

    controller.abort('left')
    const left = tracker.handOver()

    expect(left).toEqual([])
    expect(await Promise.allSettled(outcomes)).toMatchObject([{ status: 'fulfilled' }, { reason: 'left' }])
    expect(arrived()).toEqual(['initialize', 'opened'])
  })

  it('goes on in order with what it left, if the page lives on', async () => {
    const { tracker, arrived } = await trackerOnScript([initialized, stored])
    await tracker.initialization()
    const outcomes = ['a', 'b', 'c', 'd'].map((name) => tracker.track(name, variablesOf(40_000)))

    const left = tracker.handOver().map(({ event_id }) => event_id)
    const later = tracker.track('e')
    await Promise.all([...outcomes, later])

    expect(left).toEqual(['b', 'c', 'd'])
    expect(arrived()).toEqual(['initialize', 'a', 'b', 'c', 'd', 'e'])
  })
})
