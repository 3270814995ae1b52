// engines: sqlite, postgres

import { describe, expect } from 'vitest'
import type { Workspace } from '../fixtures/cairn.ts'
import { initialize } from '../fixtures/customer.ts'
import { it as base } from '../fixtures/it.ts'
import { settled } from './settled.ts'
import { at, type ReportQuery, report } from './stepped-journey.ts'

const STEPS = ['signed_up', 'plan_chosen', 'paid'].map((event_id) => ({ event_id, name: `Step ${event_id}` }))

const minutes = (count: number) => count * 60_000

/** `stepped` is a workspace whose journey has steps. */
const it = base.extend('stepped', async ({ workspace }) => {
  const { client, journey_id } = workspace
  await client.updateJourney({ path: { journey_id }, body: { steps: STEPS } })
  return workspace
})

/** Sends events of a customer, in this order. @returns the customer and the events' `id`s */
async function does(
  { client, journey_id }: Workspace,
  customer_id: string,
  events: [event_id: string, occurred_at: string][],
): Promise<string[]> {
  const sent = events.map(([event_id, occurred_at]) => ({ journey_id, customer_id, event_id, occurred_at }))
  const { data } = await client.createEvents({ body: { events: sent } })
  expect(data?.rejected).toBe(0)
  return data?.results.map(({ id }) => id ?? '') ?? []
}

/** The customers listed, by the number at the end of their own identifier. */
async function listed({ client, journey_id }: Workspace, query: Record<string, unknown> = {}) {
  await report({ client, journey_id } as Workspace)
  const { data, error } = await client.listJourneyCustomers({ path: { journey_id }, query })
  if (error) throw new Error(error.detail)
  return data.data.map(({ client_customer_id }) => Number(client_customer_id.split('-')[1]))
}

describe('getJourneyReport', () => {
  it('has nobody in a new journey, and the steps as they are configured', async ({ stepped: workspace }) => {
    const { enrolled, steps } = await report(workspace)
    expect(enrolled).toBe(0)
    expect(steps.map(({ step, event_id, name }) => [step, event_id, name])).toEqual(
      STEPS.map(({ event_id, name }, index) => [index + 1, event_id, name]),
    )
    for (const step of steps) {
      expect(step).toMatchObject({ reached: 0, of_enrolled: null, of_previous: null, not_reached: 0 })
      expect(step.times).toEqual({ n: 0, median_ms: null, p90_ms: null })
    }
  })

  it('counts who has reached each step, whatever came in between and in any order', async ({
    stepped: workspace,
  }) => {
    const first = await initialize(workspace, 'user-1')
    const second = await initialize(workspace, 'user-2')
    const third = await initialize(workspace, 'user-3')
    await initialize(workspace, 'user-4')
    await does(workspace, first, [
      ['paid', at(30)],
      ['plan_chosen', at(10)],
      ['looked', at(5)],
      ['signed_up', at(0)],
    ])
    await does(workspace, second, [
      ['signed_up', at(0)],
      ['plan_chosen', at(20)],
      ['plan_chosen', at(90)],
    ])
    await does(workspace, third, [['signed_up', at(7)]])
    const { enrolled, steps } = await report(workspace)
    expect(enrolled).toBe(4)
    expect(steps.map(({ reached, not_reached }) => [reached, not_reached])).toEqual([
      [3, 1],
      [2, 1],
      [1, 1],
    ])
    expect(steps.map(({ of_enrolled, of_previous }) => [of_enrolled, of_previous])).toEqual([
      [3 / 4, 3 / 4],
      [2 / 4, 2 / 3],
      [1 / 4, 1 / 2],
    ])
    expect(steps.map(({ waiting, dropped }) => [waiting, dropped])).toEqual(Array(3).fill([null, null]))
    expect(steps[1]?.times).toEqual({ n: 2, median_ms: minutes(15), p90_ms: minutes(19) })
    expect(steps[2]?.times).toEqual({ n: 1, median_ms: minutes(20), p90_ms: minutes(20) })
  })

  it('shows separately who did a step without the previous ones, until they arrive', async ({
    stepped: workspace,
  }) => {
    const customer = await initialize(workspace, 'user-1')
    await does(workspace, customer, [
      ['paid', at(30)],
      ['plan_chosen', at(10)],
    ])
    expect(
      (await report(workspace)).steps.map(({ reached, out_of_order }) => [reached, out_of_order]),
    ).toEqual([
      [0, 0],
      [0, 1],
      [0, 1],
    ])
    await does(workspace, customer, [['signed_up', at(20)]])
    expect(
      (await report(workspace)).steps.map(({ reached, out_of_order }) => [reached, out_of_order]),
    ).toEqual([
      [1, 0],
      [0, 1],
      [0, 1],
    ])
    // Before the plan that was out of order, so that both the plan and the payment now count.
    await does(workspace, customer, [['signed_up', at(9)]])
    expect(
      (await report(workspace)).steps.map(({ reached, out_of_order }) => [reached, out_of_order]),
    ).toEqual([
      [1, 0],
      [1, 0],
      [1, 0],
    ])
  })

  it('lets several steps be reached at one instant, in their order', async ({ stepped: workspace }) => {
    const customer = await initialize(workspace, 'user-1')
    await does(workspace, customer, [
      ['paid', at(0)],
      ['signed_up', at(0)],
      ['plan_chosen', at(0)],
    ])
    const { steps } = await report(workspace)
    expect(steps.map(({ reached }) => reached)).toEqual([1, 1, 1])
    expect(steps[2]?.times).toEqual({ n: 1, median_ms: 0, p90_ms: 0 })
  })

  it('distinguishes waiting from dropped with a window', async ({ stepped: workspace }) => {
    const [inTime, late, waits, never] = await Promise.all(
      [1, 2, 3, 4].map((number) => initialize(workspace, `user-${number}`)),
    )
    const now = new Date().toISOString()
    await does(workspace, inTime ?? '', [
      ['signed_up', at(0)],
      ['plan_chosen', at(60)],
    ])
    await does(workspace, late ?? '', [
      ['signed_up', at(0)],
      ['plan_chosen', at(61)],
    ])
    await does(workspace, waits ?? '', [['signed_up', now]])
    await does(workspace, never ?? '', [['paid', at(0)]])
    const { enrolled, steps } = await report(workspace, { window: 'PT1H' })
    expect(enrolled).toBe(4)
    expect(
      steps.map(({ reached, not_reached, waiting, dropped }) => [reached, not_reached, waiting, dropped]),
    ).toEqual([
      [3, 1, null, null],
      [1, 2, 1, 1],
      [0, 1, 0, 1],
    ])
    expect(steps[1]?.times).toEqual({ n: 1, median_ms: minutes(60), p90_ms: minutes(60) })
    expect(
      await listed(workspace, { window: 'PT1H', reached: 1, not_reached: 2, standing: 'waiting' }),
    ).toEqual([3])
    expect(
      await listed(workspace, { window: 'PT1H', reached: 1, not_reached: 2, standing: 'dropped' }),
    ).toEqual([2])
    expect(await listed(workspace, { window: 'PT1H', reached: 2 })).toEqual([1])
    expect(await listed(workspace, { out_of_order: 3 })).toEqual([4])
    expect(await listed(workspace, { reached: 4 })).toEqual([])
    expect((await listed(workspace, { not_reached: 4 })).toSorted()).toEqual([1, 2, 3, 4])
  })

  it('lets a customer enter with its first event if that occurred before the initialization', async ({
    stepped: workspace,
  }) => {
    const customer = await initialize(workspace, 'user-1')
    await initialize(workspace, 'user-2')
    await does(workspace, customer, [
      ['looked', at(-10)],
      ['signed_up', at(0)],
    ])
    const old = await report(workspace, { entered_from: at(-10), entered_to: at(-9) })
    expect([old.enrolled, old.steps[0]?.reached]).toEqual([1, 1])
    expect(old.steps[0]?.times).toEqual({ n: 1, median_ms: minutes(10), p90_ms: minutes(10) })
    expect((await report(workspace, { entered_to: at(-10) })).enrolled).toBe(0)
    expect((await report(workspace, { entered_from: at(-9) })).enrolled).toBe(1)
    expect((await report(workspace, { customer_type: 'contact' })).enrolled).toBe(2)
    expect((await report(workspace, { customer_type: 'account' })).enrolled).toBe(0)
  })

  it('is recomputed when the steps are edited, and shows the new ones when it is done', async ({
    stepped: workspace,
  }) => {
    const { client, journey_id } = workspace
    const customer = await initialize(workspace, 'user-1')
    await does(workspace, customer, [
      ['signed_up', at(0)],
      ['invited', at(5)],
      ['plan_chosen', at(10)],
    ])
    expect((await report(workspace)).steps.map(({ reached }) => reached)).toEqual([1, 1, 0])
    const steps = [STEPS[0], { event_id: 'invited', name: 'Invited' }, STEPS[1]].flatMap((step) => step ?? [])
    await client.updateJourney({ path: { journey_id }, body: { steps } })
    const after = await report(workspace)
    expect(after.steps.map(({ event_id, reached }) => [event_id, reached])).toEqual([
      ['signed_up', 1],
      ['invited', 1],
      ['plan_chosen', 1],
    ])
    await client.updateJourney({ path: { journey_id }, body: { steps: [] } })
    expect(await report(workspace)).toMatchObject({ enrolled: 1, steps: [] })
  })

  it('shows a renamed step at once', async ({ stepped: workspace }) => {
    const { client, journey_id } = workspace
    const steps = STEPS.map(({ event_id }) => ({ event_id, name: `Renamed ${event_id}` }))
    await client.updateJourney({ path: { journey_id }, body: { steps } })
    const { data } = await client.getJourneyReport({ path: { journey_id } })
    expect(data?.recomputing).toBeNull()
    expect(data?.steps.map(({ name }) => name)).toEqual(steps.map(({ name }) => name))
  })

  it.for(['P', 'PT', 'P1Y', 'P1M', '7d', 'P-1D', 'P1DT', 'P1.5D'])(
    'refuses %s as a window',
    async (window, { workspace }) => {
      const { client, journey_id } = workspace
      const { error } = await client.getJourneyReport({ path: { journey_id }, query: { window } })
      expect(error).toMatchObject({ status: 400, errors: [{ parameter: 'window' }] })
    },
  )

  it.for(['P2W', 'P7D', 'PT36H', 'P1DT2H3M4S', 'PT0S', 'PT5M1S'])(
    'accepts %s as a window',
    async (window, { workspace }) => {
      const { client, journey_id } = workspace
      const { data } = await client.getJourneyReport({ path: { journey_id }, query: { window } })
      expect(data?.enrolled).toBe(0)
    },
  )
})

describe('a part of a journey', () => {
  it('begins with those who have reached its first step, and so does the window', async ({
    stepped: workspace,
  }) => {
    const [soon, late, first] = await Promise.all(
      [1, 2, 3].map((number) => initialize(workspace, `user-${number}`)),
    )
    await does(workspace, soon ?? '', [
      ['signed_up', at(0)],
      ['plan_chosen', at(600)],
      ['paid', at(610)],
    ])
    await does(workspace, late ?? '', [
      ['signed_up', at(0)],
      ['plan_chosen', at(600)],
      ['paid', at(900)],
    ])
    await does(workspace, first ?? '', [['signed_up', at(0)]])
    const part = { first_step: 2, window: 'PT1H' }
    const { enrolled, steps } = await report(workspace, part)
    expect(enrolled).toBe(2)
    expect(steps).toMatchObject([
      { step: 2, event_id: 'plan_chosen', reached: 2, of_enrolled: 1, of_previous: 1, waiting: null },
      { step: 3, event_id: 'paid', reached: 1, of_enrolled: 0.5, of_previous: 0.5, dropped: 1 },
    ])
    expect((await report(workspace, { last_step: 2 })).steps.map(({ step }) => step)).toEqual([1, 2])
    expect((await report(workspace, { first_step: 4 })).steps).toEqual([])
    expect(await listed(workspace, { ...part, standing: 'dropped' })).toEqual([2])
    const { client, journey_id } = workspace
    const path = { journey_id }
    const { data: times } = await client.getJourneyStepTimes({ path, query: { ...part, step: 3 } })
    expect(times?.times).toEqual({ n: 1, median_ms: minutes(10), p90_ms: minutes(10) })
    const { data: before } = await client.getJourneyStepTimes({ path, query: { ...part, step: 1 } })
    expect(before).toMatchObject({ times: { n: 0 }, classes: [] })
    const query = { ...part, entered_from: at(0), entered_to: at(1) }
    const { data: trend } = await client.getJourneyTrend({ path, query })
    expect(trend).toMatchObject({
      steps: STEPS.slice(1),
      cohorts: [{ enrolled: 2, reached: [2, 1] }],
    })
  })
})

describe('a breakdown by customer type', () => {
  it('has the numbers of each type that somebody has, with how they differ from the others', async ({
    stepped: workspace,
  }) => {
    const { client, journey_id } = workspace
    const path = { journey_id }
    const query = { breakdown: 'customer_type', entered_from: at(0), entered_to: at(1) } as const
    expect(await report(workspace, query)).toMatchObject({ groups: [], comparison: null })
    for (const number of [1, 2, 3]) {
      const customer = await initialize(workspace, `user-${number}`)
      await does(workspace, customer, [['signed_up', at(0)]])
    }
    const account = await initialize(workspace, 'team-1', { customer_type: 'account' })
    await does(workspace, account, [
      ['signed_up', at(0)],
      ['plan_chosen', at(5)],
    ])
    const { groups, steps } = await report(workspace, query)
    expect(steps.map(({ reached }) => reached)).toEqual([4, 1, 0])
    expect(groups?.map(({ group, enrolled }) => [group.kind, group.value, group.values, enrolled])).toEqual([
      ['value', 'contact', 1, 3],
      ['value', 'account', 1, 1],
    ])
    expect(groups?.[1]?.steps.map(({ step, reached }) => [step, reached])).toEqual([
      [1, 1],
      [2, 1],
      [3, 0],
    ])
    expect(groups?.[1]?.differences).toMatchObject([
      { of_enrolled: 0, within_chance: true },
      { of_enrolled: 1, within_chance: false },
      { of_enrolled: 0, within_chance: true },
    ])
    const { data: trend } = await client.getJourneyTrend({ path, query })
    expect(trend?.groups).toEqual([
      {
        group: { kind: 'value', value: 'contact', values: 1 },
        cohorts: [{ enrolled: 3, reached: [3, 0, 0] }],
      },
      {
        group: { kind: 'value', value: 'account', values: 1 },
        cohorts: [{ enrolled: 1, reached: [1, 1, 0] }],
      },
    ])
    const { data: times } = await client.getJourneyStepTimes({ path, query: { ...query, step: 2 } })
    expect(times?.groups).toEqual([
      {
        group: { kind: 'value', value: 'account', values: 1 },
        times: { n: 1, median_ms: minutes(5), p90_ms: minutes(5) },
        counts: [1],
      },
    ])
  })

  it('has at most 100 cohorts in a trend', async ({ workspace }) => {
    const { client, journey_id } = workspace
    const span = (entered_to: string) => ({
      path: { journey_id },
      query: { breakdown: 'customer_type', entered_from: '2026-01-01T00:00:00Z', entered_to } as const,
    })
    const { data } = await client.getJourneyTrend(span('2026-04-11T00:00:00Z'))
    expect(data?.cohorts.length).toBe(100)
    const { error } = await client.getJourneyTrend(span('2026-04-12T00:00:00Z'))
    expect(error).toMatchObject({ status: 409, code: 'too_many_periods' })
  })
})

describe('a comparison', () => {
  it('has the numbers of another period, and how the shares differ', async ({ stepped: workspace }) => {
    const enters = async (count: number, reaching: number, when: string) => {
      for (let number = 0; number < count; number += 1) {
        const customer = await initialize(workspace, `user-${when}-${number}`)
        await does(workspace, customer, [[number < reaching ? 'signed_up' : 'looked', when]])
      }
    }
    await enters(10, 9, '2026-03-10T00:00:00Z')
    await enters(10, 3, '2026-03-05T23:59:59Z')
    await enters(2, 0, '2025-03-10T00:00:00Z')
    const period = { entered_from: '2026-03-08T00:00:00Z', entered_to: '2026-03-12T00:00:00Z' }
    const compared = async (query: ReportQuery) =>
      (await report(workspace, { ...period, ...query })).comparison
    const previous = await compared({ compare: 'previous_period' })
    expect(previous).toMatchObject({
      entered_from: '2026-03-04T00:00:00.000Z',
      entered_to: '2026-03-08T00:00:00.000Z',
      enrolled: 10,
      steps: [{ step: 1, reached: 3, of_enrolled: 0.3 }, { reached: 0 }, { reached: 0 }],
      differences: [{ within_chance: false }, { of_enrolled: 0, within_chance: true }, { of_enrolled: 0 }],
    })
    const { of_enrolled, low, high } = previous?.differences[0] ?? {}
    expect([of_enrolled, low, high].map((share) => share?.toFixed(4))).toEqual(['0.6000', '0.1705', '0.8090'])
    expect(await compared({ compare: 'previous_year' })).toMatchObject({
      entered_from: '2025-03-08T00:00:00.000Z',
      entered_to: '2025-03-12T00:00:00.000Z',
      enrolled: 2,
    })
    const own = { compare_from: '2026-01-01T00:00:00Z', compare_to: '2026-03-01T00:00:00Z' }
    expect(await compared({ compare: 'custom', ...own })).toMatchObject({
      enrolled: 0,
      differences: [null, null, null],
    })
    const { groups } = await report(workspace, {
      ...period,
      compare: 'previous_period',
      breakdown: 'customer_type',
    })
    expect(groups).toMatchObject([{ enrolled: 10, comparison: { ...previous } }])
  })

  it.for([
    { compare: 'previous_period' },
    { compare: 'previous_year', entered_from: at(0) },
    { compare: 'custom', entered_from: at(0), entered_to: at(1), compare_to: at(0) },
  ] as const)('needs both ends of its period: %j', async (query, { workspace }) => {
    const { client, journey_id } = workspace
    const { error } = await client.getJourneyReport({ path: { journey_id }, query })
    expect(error).toMatchObject({ status: 409, code: 'compared_period_missing' })
  })
})

describe('getJourneyTrend', () => {
  it('groups customers into days of the time zone, also when clocks change', async ({
    stepped: workspace,
  }) => {
    const { client, journey_id } = workspace
    const entries = [
      '2026-03-28T22:59:59.999Z',
      '2026-03-28T23:00:00Z',
      '2026-03-29T21:59:59.999Z',
      '2026-03-29T22:00:00Z',
    ]
    for (const [index, entry] of entries.entries()) {
      await does(workspace, await initialize(workspace, `user-${index}`), [['signed_up', entry]])
    }
    const span = { entered_from: '2026-03-28T00:00:00Z', entered_to: '2026-03-30T12:00:00Z' }
    const query = { ...span, by: 'day', time_zone: 'Europe/Berlin' } as const
    const { cohorts, steps } = await settled(() => client.getJourneyTrend({ path: { journey_id }, query }))
    expect(steps).toEqual(STEPS)
    expect(cohorts).toEqual([
      {
        starts_at: '2026-03-27T23:00:00.000Z',
        ends_at: '2026-03-28T23:00:00.000Z',
        enrolled: 1,
        reached: [1, 0, 0],
        complete: true,
      },
      {
        starts_at: '2026-03-28T23:00:00.000Z',
        ends_at: '2026-03-29T22:00:00.000Z',
        enrolled: 2,
        reached: [2, 0, 0],
        complete: true,
      },
      {
        starts_at: '2026-03-29T22:00:00.000Z',
        ends_at: '2026-03-30T22:00:00.000Z',
        enrolled: 1,
        reached: [1, 0, 0],
        complete: true,
      },
    ])
  })

  it('starts weeks on Monday, and has none that starts at the end of the span', async ({
    stepped: workspace,
  }) => {
    const { client, journey_id } = workspace
    const entries = [
      '2026-03-29T23:59:59.999Z',
      '2026-03-30T00:00:00Z',
      '2026-04-05T23:59:59.999Z',
      '2026-04-06T00:00:00Z',
    ]
    for (const [index, entry] of entries.entries()) {
      await does(workspace, await initialize(workspace, `user-${index}`), [['signed_up', entry]])
    }
    const query = {
      entered_from: '2026-03-25T00:00:00Z',
      entered_to: '2026-04-06T00:00:00Z',
      by: 'week',
    } as const
    const { cohorts } = await settled(() => client.getJourneyTrend({ path: { journey_id }, query }))
    expect(cohorts.map(({ starts_at, ends_at, enrolled }) => [starts_at, ends_at, enrolled])).toEqual([
      ['2026-03-23T00:00:00.000Z', '2026-03-30T00:00:00.000Z', 1],
      ['2026-03-30T00:00:00.000Z', '2026-04-06T00:00:00.000Z', 2],
    ])
  })

  it('marks a cohort as incomplete while its period lasts, and while a window in it is open', async ({
    stepped: workspace,
  }) => {
    const { client, journey_id } = workspace
    const customer = await initialize(workspace, 'user-1')
    await does(workspace, customer, [
      ['looked', at(0)],
      ['signed_up', new Date().toISOString()],
    ])
    const ask = (query: object) => settled(() => client.getJourneyTrend({ path: { journey_id }, query }))
    const complete = async (query: object) => (await ask(query)).cohorts.map(({ complete }) => complete)
    const old = { entered_from: at(0), entered_to: at(1) }
    expect(await complete(old)).toEqual([true])
    expect(await complete({ ...old, window: 'P1D' })).toEqual([false])
    expect(await complete({ ...old, window: 'PT0S' })).toEqual([true])
    const { cohorts } = await ask({})
    expect(cohorts).toHaveLength(31)
    expect(cohorts.map(({ complete }) => complete)).toEqual([...Array(30).fill(true), false])
  })
})

describe('getJourneyStepTimes', () => {
  it('has each time in one class, and the exact percentiles', async ({ stepped: workspace }) => {
    const { client, journey_id } = workspace
    const gaps = [0, 1, 59, 60, 61, 10_000]
    for (const [index, gap] of gaps.entries()) {
      await does(workspace, await initialize(workspace, `user-${index}`), [
        ['signed_up', at(0)],
        ['plan_chosen', at(gap)],
      ])
    }
    const found = await settled(() =>
      client.getJourneyStepTimes({ path: { journey_id }, query: { step: 2 } }),
    )
    expect(found.times).toEqual({ n: 6, median_ms: minutes(59.5), p90_ms: minutes((61 + 10_000) / 2) })
    for (const { from_ms, to_ms, count } of found.classes) {
      const within = gaps.filter((gap) => minutes(gap) >= from_ms && (to_ms === null || minutes(gap) < to_ms))
      expect(count).toBe(within.length)
    }
    expect(found.classes.reduce((sum, { count }) => sum + count, 0)).toBe(gaps.length)
    const beyond = await settled(() =>
      client.getJourneyStepTimes({ path: { journey_id }, query: { step: 4 } }),
    )
    expect(beyond.times.n).toBe(0)
  })
})

describe('listJourneyCustomers', () => {
  it('lists the newest entry first, each once in pages of any size', async ({ stepped: workspace }) => {
    const { client, journey_id } = workspace
    for (let number = 1; number <= 5; number += 1) {
      await does(workspace, await initialize(workspace, `user-${number}`), [['signed_up', at(number % 3)]])
    }
    await report(workspace)
    for (const limit of [1, 2, 5, 6]) {
      const found: { client_customer_id: string; entered_at: string; customer_id: string }[] = []
      let cursor: string | null | undefined
      do {
        const query = { limit, ...(cursor && { cursor }) }
        const { data } = await client.listJourneyCustomers({ path: { journey_id }, query })
        found.push(...(data?.data ?? []))
        cursor = data?.next_cursor
      } while (cursor)
      expect(new Set(found.map(({ customer_id }) => customer_id)).size).toBe(5)
      const order = found.map(({ entered_at, customer_id }) => entered_at + customer_id)
      expect(order).toEqual([...order].sort().reverse())
    }
  })

  it('lists those who entered at the same time once each, and leaves out nobody if one is erased', async ({
    cairn,
    stepped: workspace,
  }) => {
    const { client, journey_id } = workspace
    // Initialized with this key, they have identifiers in another order than that of their arrival.
    const page = { ...workspace, client: cairn.client(workspace.publishable_key) }
    for (let number = 1; number <= 6; number += 1)
      await does(workspace, await initialize(page, `user-${number}`), [['signed_up', at(0)]])
    const all = await listed(workspace)
    expect(all.toSorted()).toEqual([1, 2, 3, 4, 5, 6])

    const path = { journey_id }
    const { data: first } = await client.listJourneyCustomers({ path, query: { limit: 3 } })
    const names = (page: typeof first) => page?.data.map(({ client_customer_id }) => client_customer_id)
    expect(names(first)).toEqual(all.slice(0, 3).map((number) => `user-${number}`))
    const query = { cursor: first?.next_cursor ?? '' }
    const { data: second } = await client.listJourneyCustomers({ path, query })
    expect(names(second)).toEqual(all.slice(3).map((number) => `user-${number}`))

    await client.eraseCustomer({ path: { customer_id: first?.data.at(-1)?.customer_id ?? '' } })
    await report(workspace)
    const { data: again } = await client.listJourneyCustomers({ path, query })
    expect(names(again)).toEqual(expect.arrayContaining(names(second) ?? []))
    expect(names(again)).not.toContain(first?.data.at(-1)?.client_customer_id)
  })

  it('shows the times at which each step was reached', async ({ stepped: workspace }) => {
    const { client, journey_id } = workspace
    const customer_id = await initialize(workspace, 'user-1')
    await does(workspace, customer_id, [
      ['signed_up', at(1)],
      ['paid', at(2)],
    ])
    await report(workspace)
    const { data } = await client.listJourneyCustomers({ path: { journey_id } })
    expect(data).toEqual({
      data: [
        {
          customer_id,
          client_customer_id: 'user-1',
          customer_type: 'contact',
          customer_name: 'Ada Lovelace',
          entered_at: at(1),
          reached: 1,
          reached_at: [at(1)],
          out_of_order: [3],
        },
      ],
      next_cursor: null,
    })
  })

  it('lists nobody for a step that the journey does not have', async ({ stepped: workspace }) => {
    await initialize(workspace, 'user-1')
    expect(await listed(workspace, { reached: 4 })).toEqual([])
    expect(await listed(workspace, { out_of_order: 4 })).toEqual([])
  })
})

describe('listCustomerJourneys', () => {
  it('shows the event that filled each step, in every journey of the customer', async ({
    stepped: workspace,
  }) => {
    const { client, journey_id } = workspace
    const customer_id = await initialize(workspace, 'user-1')
    const other = await client.createJourney({ body: { name: 'Renewal', steps: STEPS.slice(0, 1) } })
    await initialize({ client, journey_id: other.data?.journey_id ?? '' }, 'user-1')
    const ids = await does(workspace, customer_id, [
      ['signed_up', at(3)],
      ['signed_up', at(1)],
      ['signed_up', at(1)],
      ['paid', at(2)],
    ])
    await report(workspace)
    const { data } = await client.listCustomerJourneys({ path: { customer_id } })
    expect(data?.next_cursor).toBeNull()
    expect(data?.data.map(({ name }) => name)).toEqual(['Renewal', 'Onboarding'])
    const onboarding = data?.data.find((journey) => journey.journey_id === journey_id)
    expect(onboarding).toMatchObject({ status: 'active', entered_at: at(1), recomputing: null })
    expect(
      onboarding?.steps.map(({ reached_at, reached_by, out_of_order }) => [
        reached_at,
        reached_by,
        out_of_order,
      ]),
    ).toEqual([
      [at(1), ids[1], false],
      [null, null, false],
      [null, null, true],
    ])
  })
})
