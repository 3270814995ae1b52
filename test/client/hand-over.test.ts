// engines: none (a scripted server answers the tracker)

import { describe, expect, it } from 'vitest'
import type { TrackerOptions } from '../../client/index.ts'
import { problem } from './scripted-server.ts'
import { created, held, initialized, namesIn, stored, trackerOnScript, uuidV7 } from './scripted-tracker.ts'

describe('handOver', () => {
  /** Records which requests are marked to outlive the page: in Node keepalive has no effect. */
  function notingKeepalive() {
    const keepalive: [unknown, boolean][] = []
    const noting: TrackerOptions['fetch'] = async (request, init) => {
      const body = await request.clone().text()
      if (request.url.includes('/events/')) keepalive.push([namesIn(body), request.keepalive])
      return fetch(request, init)
    }
    return { keepalive, noting }
  }
  const variablesOf = (size_bytes: number) => 'x'.repeat(size_bytes)

  it('starts a request with every event that waits, before it returns', async () => {
    const { answer, letGo } = held(stored)
    let started = 0
    const { tracker, arrived } = await trackerOnScript([initialized, answer], {
      fetch: (request, init) => {
        started++
        return fetch(request, init)
      },
    })
    const outcomes = [tracker.track('opened')]
    await expect.poll(arrived).toEqual(['initialize', 'opened'])
    outcomes.push(tracker.track('signed_up'), tracker.track('plan_chosen'))

    const left = tracker.handOver()

    expect(started).toBe(3)
    expect(left).toEqual([])
    await expect.poll(arrived).toEqual(['initialize', 'opened', 'signed_up + plan_chosen'])
    letGo()
    expect((await Promise.all(outcomes)).map(({ data }) => data)).toEqual([created, created, created])
    expect(arrived()).toHaveLength(3)
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
    expect(JSON.parse(arrivals[1]?.body ?? '').events).toEqual(
      left.map((event) => ({ journey_id: 'jrn_1', customer_id: 'cus_1', ...event })),
    )
  })

  it('returns what does not fit into 64 KiB, and hands over what does', async () => {
    const { answer, letGo } = held(stored)
    const { keepalive, noting } = notingKeepalive()
    const { tracker, arrived } = await trackerOnScript([initialized, answer], { fetch: noting })
    const outcomes = [tracker.track('in_flight', variablesOf(1000))]
    await expect.poll(arrived).toEqual(['initialize', 'in_flight'])
    outcomes.push(
      tracker.track('fits', variablesOf(40_000)),
      tracker.track('too_large', variablesOf(30_000)),
      tracker.track('fits_too', variablesOf(20_000)),
    )

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

  it.each<[number, string[]]>([
    [-1, []],
    [1, ['c']],
  ])('counts what is between the events: with %i bytes beyond 64 KiB %j is left', async (beyond, names) => {
    const { answer, letGo } = held(stored)
    const { tracker, arrived } = await trackerOnScript([initialized, answer])
    const outcomes = [tracker.track('in_flight')]
    await expect.poll(arrived).toEqual(['initialize', 'in_flight'])
    const eventOf = (event_id: string, size_bytes: number) => {
      const custom_variables = variablesOf(size_bytes)
      return { journey_id: 'jrn_1', customer_id: 'cus_1', event_id, custom_variables, message_id: event_id }
    }
    const body = { events: [eventOf('a', 20_000), eventOf('b', 20_000), eventOf('c', 0)] }
    // The short one in flight counts as 1 KiB.
    const last_bytes = 65_536 - 1024 + beyond - JSON.stringify(body).length
    for (const [name, size_bytes] of [
      ['a', 20_000],
      ['b', 20_000],
      ['c', last_bytes],
    ] as const) {
      outcomes.push(tracker.track(name, variablesOf(size_bytes), { message_id: name }))
    }

    const left = tracker.handOver()

    expect(left.map(({ event_id }) => event_id)).toEqual(names)
    letGo()
    await Promise.all(outcomes)
  })

  it('sends an event again that waits for a retry', async () => {
    const busy = problem(503, 'overloaded', { 'retry-after': '60' })
    const { tracker, arrivals, arrived } = await trackerOnScript([initialized, busy, stored])
    const outcomes = [tracker.track('opened', variablesOf(40_000))]
    await expect.poll(arrived).toEqual(['initialize', 'opened'])

    // The event waits for its retry once the response is read completely; before that it need not be sent again.
    await expect
      .poll(() => {
        expect(tracker.handOver()).toEqual([])
        return arrived().filter((name) => name === 'opened')
      })
      .toHaveLength(2)

    expect((await Promise.all(outcomes)).map(({ data }) => data)).toEqual([created])
    expect(arrived()).toEqual(['initialize', 'opened', 'opened'])
    const [first, second] = arrivals.filter(({ body }) => body.includes('opened'))
    expect(second?.body).toBe(first?.body)
  })

  it('hands over once what is already in flight', async () => {
    const { answer, letGo } = held(stored)
    const { tracker, arrived } = await trackerOnScript([initialized, answer])
    await tracker.initialization()
    const outcomes = [tracker.track('opened'), tracker.track('signed_up')]

    const left = [tracker.handOver(), tracker.handOver()]

    expect(left).toEqual([[], []])
    letGo()
    await Promise.all(outcomes)
    expect(arrived()).toEqual(['initialize', 'opened + signed_up'])
  })

  it('omits what was aborted', async () => {
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

  it('takes what fits out of a request that would not outlive the page', async () => {
    const { answer, letGo } = held(stored)
    const { keepalive, noting } = notingKeepalive()
    const { tracker, arrived } = await trackerOnScript([initialized, answer, stored], { fetch: noting })
    const outcomes = ['a', 'b', 'c'].map((name) => tracker.track(name, variablesOf(30_000)))
    await expect.poll(arrived).toEqual(['initialize', 'a + b + c'])

    const left = tracker.handOver().map(({ event_id }) => event_id)

    expect(left).toEqual(['c'])
    await Promise.all(outcomes.slice(0, 2))
    expect(keepalive).toEqual([
      ['a + b + c', false],
      ['a + b', true],
    ])
    letGo()
    expect((await outcomes[2])?.data).toEqual(created)
  })

  it('has its events sent one by one if they are refused and the page stays open', async () => {
    const refused = problem(400, 'invalid_request')
    const { tracker, arrived } = await trackerOnScript([initialized, refused, stored, refused])
    await tracker.initialization()
    const outcomes = [tracker.track('a'), tracker.track('b')]

    expect(tracker.handOver()).toEqual([])
    const settled = await Promise.all(outcomes)

    expect(settled.map(({ error }) => error?.code)).toEqual([undefined, 'invalid_request'])
    expect(arrived()).toEqual(['initialize', 'a + b', 'a', 'b'])
  })

  it('continues in order with what it returned, if the page stays open', async () => {
    const { tracker, arrived } = await trackerOnScript([initialized, stored])
    await tracker.initialization()
    const outcomes = ['a', 'b', 'c', 'd'].map((name) => tracker.track(name, variablesOf(40_000)))

    const left = tracker.handOver().map(({ event_id }) => event_id)
    const later = tracker.track('e')
    await Promise.all([...outcomes, later])

    expect(left).toEqual(['b', 'c', 'd'])
    expect(arrived()).toEqual(['initialize', 'a', 'b + c + d + e'])
  })
})
