// engines: sqlite, postgres

import { describe, expect } from 'vitest'
import { openStorage } from '../../server/storage/open.ts'
import { BreakdownTooLarge } from '../../server/storage/standings/variable-labels.ts'
import { startCairnForTest, type Workspace } from '../fixtures/cairn.ts'
import { initialize } from '../fixtures/customer.ts'
import { it as base } from '../fixtures/it.ts'
import { at, type Did, does, it, type ReportQuery, report } from './stepped-journey.ts'

/** The groups of a report, each with how many are enrolled and have reached each step. */
async function groups(workspace: Workspace, query: ReportQuery) {
  const { groups, enrolled } = await report(workspace, { breakdown: 'variable:plan', ...query })
  expect(groups?.reduce((sum, group) => sum + group.enrolled, 0)).toBe(enrolled)
  return groups?.map(({ group, enrolled, steps }) => {
    const name = group.kind === 'value' ? group.value : `(${group.kind} ${group.values})`
    return [name, enrolled, ...steps.map(({ reached }) => reached)]
  })
}

describe('a breakdown by a variable', () => {
  it('divides customers by the event that filled the first step, the last one or a chosen one', async ({
    stepped: workspace,
  }) => {
    await does(workspace, 'user-1', [
      ['paid', 3, { plan: 'team' }],
      ['plan_chosen', 2, { plan: 'solo' }],
      ['signed_up', 1, { plan: 'free' }],
      ['signed_up', 2, { plan: 'later' }],
    ])
    await does(workspace, 'user-2', [['signed_up', 1, { plan: 'free' }]])
    await does(workspace, 'user-3', [['plan_chosen', 1, { plan: 'free' }]])
    expect(await groups(workspace, {})).toEqual([
      ['free', 2, 2, 1, 1],
      ['(not_set 0)', 1, 0, 0, 0],
    ])
    expect(await groups(workspace, { touch: 'last' })).toEqual([
      ['free', 1, 1, 0, 0],
      ['team', 1, 1, 1, 1],
      ['(not_set 0)', 1, 0, 0, 0],
    ])
    expect(await groups(workspace, { touch: '2' })).toEqual([
      ['solo', 1, 1, 1, 1],
      ['(not_set 0)', 2, 1, 0, 0],
    ])
    // Whatever the window, within which nobody has reached the second step.
    expect(await groups(workspace, { touch: '2', window: 'PT1S' })).toEqual([
      ['solo', 1, 1, 0, 0],
      ['(not_set 0)', 2, 1, 0, 0],
    ])
    expect(await groups(workspace, { touch: '3', first_step: 2, last_step: 3 })).toEqual([['team', 1, 1, 1]])
  })

  it('follows an event that arrives late, and an erasure', async ({ stepped: workspace }) => {
    const { client, journey_id } = workspace
    const customer_id = await does(workspace, 'user-1', [['signed_up', 5, { plan: 'team' }]])
    await does(workspace, 'user-2', [['signed_up', 5, { plan: 'free' }]])
    expect(await groups(workspace, {})).toEqual([
      ['free', 1, 1, 0, 0],
      ['team', 1, 1, 0, 0],
    ])
    await does(workspace, 'user-1', [['signed_up', 4, { plan: 'solo' }]])
    expect(await groups(workspace, {})).toEqual([
      ['free', 1, 1, 0, 0],
      ['solo', 1, 1, 0, 0],
    ])
    await client.eraseCustomer({ path: { customer_id } })
    await expect.poll(async () => await groups(workspace, {})).toEqual([['free', 1, 1, 0, 0]])
    const { data } = await client.getJourneyReport({
      path: { journey_id },
      query: { variables: ['plan:solo'] },
    })
    expect(data?.enrolled).toBe(0)
  })

  it('distinguishes texts, numbers and booleans, and has none for anything else', async ({
    stepped: workspace,
  }) => {
    const long = 'x'.repeat(100)
    const sent = [5, '5', true, 'true', '', -0, long, `${long}x`, null, ['team'], { a: 1 }]
    for (const [index, plan] of sent.entries()) {
      await does(workspace, `user-${index}`, [['signed_up', 0, { plan }]])
    }
    await does(workspace, 'user-text', [['signed_up', 0, JSON.stringify({ plan: '5' })]])
    await does(workspace, 'user-broken', [['signed_up', 0, '{"plan":']])
    await does(workspace, 'user-none', [['signed_up', 0]])
    const found = (await groups(workspace, {}))?.map(([name, enrolled]) => [name, enrolled])
    expect(found).toEqual([
      ['5', 2],
      ['', 1],
      ['true', 1],
      [long, 1],
      [0, 1],
      [5, 1],
      [true, 1],
      ['(not_set 0)', 6],
    ])
    expect((await report(workspace, { variables: ['plan:5'] })).enrolled).toBe(3)
    expect((await report(workspace, { variables: ['plan:true'] })).enrolled).toBe(2)
    expect((await report(workspace, { variables: ['plan:'] })).enrolled).toBe(1)
  })

  it('gives the ten values with the most customers a group, in the same order on every engine', async ({
    stepped: workspace,
  }) => {
    for (let number = 0; number < 12; number += 1) {
      await does(workspace, `user-${number}`, [['signed_up', 0, { plan: `plan-${number}` }]])
    }
    await does(workspace, 'user-more', [['signed_up', 0, { plan: 'plan-9' }]])
    const found = (await groups(workspace, {}))?.map(([name, enrolled]) => [name, enrolled])
    expect(found).toEqual([
      ['plan-9', 2],
      ...['0', '1', '10', '11', '2', '3', '4', '5', '6'].map((number) => [`plan-${number}`, 1]),
      ['(other 2)', 2],
    ])
  })

  it('compares a value with the other values, and with customers without one if there is no other', async ({
    stepped: workspace,
  }) => {
    const differences = async () => {
      const { groups } = await report(workspace, { breakdown: 'variable:plan' })
      return groups?.map(({ group, differences }) => [
        group.value,
        ...differences.map((difference) => difference?.of_enrolled),
      ])
    }
    await does(workspace, 'user-1', [
      ['signed_up', 0, { plan: 'team' }],
      ['plan_chosen', 1],
    ])
    await does(workspace, 'user-2', [['signed_up', 0, { plan: 'team' }]])
    await initialize(workspace, 'user-3')
    expect(await differences()).toEqual([
      ['team', 1, 0.5, 0],
      [null, -1, -0.5, 0],
    ])
    await does(workspace, 'user-4', [
      ['signed_up', 0, { plan: 'free' }],
      ['plan_chosen', 1],
    ])
    expect(await differences()).toEqual([
      ['team', 0, -0.5, 0],
      ['free', 0, 0.5, 0],
      [null, -1, expect.closeTo(-2 / 3), 0],
    ])
  })

  it('compares a value with customers without one if the others had customers in the compared period alone', async ({
    stepped: workspace,
  }) => {
    await does(workspace, 'user-1', [['signed_up', 0, { plan: 'team' }]])
    await does(workspace, 'user-2', [['signed_up', 1]])
    await does(workspace, 'user-3', [['signed_up', 100, { plan: 'free' }]])
    const { groups } = await report(workspace, {
      breakdown: 'variable:plan',
      entered_from: at(0),
      entered_to: at(50),
      compare: 'custom',
      compare_from: at(50),
      compare_to: at(150),
    })
    expect(
      groups?.map(({ group, enrolled, differences }) => [group.value, enrolled, differences[1]?.of_enrolled]),
    ).toEqual([
      ['team', 1, 0],
      ['free', 0, undefined],
      [null, 1, 0],
    ])
  })

  it('is in the trend and in the times to a step', async ({ stepped: workspace }) => {
    const { client, journey_id } = workspace
    const path = { journey_id }
    for (const [customer, plan, took] of [
      ['user-1', 'team', 10],
      ['user-2', 'free', 2],
      ['user-3', 'team', 20],
    ] as const) {
      await does(workspace, customer, [
        ['signed_up', 0, { plan }],
        ['plan_chosen', took],
      ])
    }
    const breakdown = 'variable:plan'
    await report(workspace, {})
    const period = { entered_from: at(0), entered_to: at(1) }
    const { data: trend } = await client.getJourneyTrend({ path, query: { breakdown, ...period } })
    expect(trend?.groups?.map(({ group, cohorts }) => [group.value, cohorts])).toEqual([
      ['team', [{ enrolled: 2, reached: [2, 2, 0] }]],
      ['free', [{ enrolled: 1, reached: [1, 1, 0] }]],
    ])
    const { data: times } = await client.getJourneyStepTimes({ path, query: { breakdown, step: 2 } })
    expect(times?.groups?.map(({ group, times }) => [group.value, times.n, times.median_ms])).toEqual([
      ['team', 2, 900_000],
      ['free', 1, 120_000],
    ])
    const filter = { variables: ['plan:free'] }
    const { data: filtered } = await client.getJourneyTrend({ path, query: { ...filter, ...period } })
    expect(filtered?.cohorts.map(({ enrolled }) => enrolled)).toEqual([1])
    const { data: some } = await client.getJourneyStepTimes({ path, query: { ...filter, step: 2 } })
    expect(some?.times.n).toBe(1)
  })
})

describe('filters by variables', () => {
  it('must all match, and find the same customers in reports and lists', async ({ stepped: workspace }) => {
    const { client, journey_id } = workspace
    const path = { journey_id }
    await does(workspace, 'user-1', [['signed_up', 0, { plan: 'a:b, c&d', seats: 5 }]])
    await does(workspace, 'user-2', [['signed_up', 0, { plan: 'a:b, c&d', seats: 6 }]])
    await does(workspace, 'user-3', [
      ['signed_up', 0, { plan: 'team', seats: 5 }],
      ['plan_chosen', 1, { plan: 'a:b, c&d', seats: 5 }],
    ])
    const found = async (query: ReportQuery) => {
      const { enrolled } = await report(workspace, query)
      const { data } = await client.listJourneyCustomers({ path, query })
      const listed = data?.data.map(({ client_customer_id }) => client_customer_id).sort() ?? []
      expect(listed.length).toBe(enrolled)
      return listed
    }
    expect(await found({ variables: ['plan:a:b, c&d'] })).toEqual(['user-1', 'user-2'])
    expect(await found({ variables: ['plan:a:b, c&d', 'seats:5'] })).toEqual(['user-1'])
    expect(await found({ variables: ['plan:a:b, c&d', 'seats:5'], touch: 'last' })).toEqual([
      'user-1',
      'user-3',
    ])
    expect(await found({ variables: ['plan:a:b, c&d'], touch: '2' })).toEqual(['user-3'])
    expect(await found({ variables: ['toString:5'] })).toEqual([])
    const { groups } = await report(workspace, { variables: ['seats:5'], breakdown: 'customer_type' })
    expect(groups?.map(({ enrolled }) => enrolled)).toEqual([2])
  })

  it.for([
    { variables: ['plan'] },
    { variables: [':team'] },
    { variables: [`${'n'.repeat(101)}:team`] },
    { variables: [`plan:${'v'.repeat(101)}`] },
    { variables: Array(6).fill('plan:team') },
    { breakdown: 'variable:' },
    { breakdown: `variable:${'n'.repeat(101)}` },
    { breakdown: 'plan' },
    { touch: '0' },
    { touch: '101' },
    { touch: 'middle' },
  ])('must be as the contract says: %j is refused', async (query, { workspace }) => {
    const { client, journey_id } = workspace
    const { error } = await client.getJourneyReport({ path: { journey_id }, query: query as ReportQuery })
    const [parameter] = Object.keys(query)
    expect(error).toMatchObject({ status: 400, code: 'invalid_request' })
    expect(error?.errors?.every((fault) => fault.parameter === parameter)).toBe(true)
  })

  it('are accepted up to five, of the greatest length', async ({ workspace }) => {
    const { client, journey_id } = workspace
    const query = {
      variables: Array<string>(5).fill(`${'n'.repeat(100)}:${'v'.repeat(100)}`),
      breakdown: `variable:${'n'.repeat(100)}`,
      touch: '100',
    }
    const { data } = await client.getJourneyReport({ path: { journey_id }, query })
    expect(data).toMatchObject({ enrolled: 0, groups: [] })
  })
})

describe('listEvents by variables', () => {
  it('finds a number or boolean by its JSON text, and a text by itself', async ({ workspace }) => {
    const { client } = workspace
    const sent = [5, '5', 55, 5.5, 0.1, -0, 1e21, true, 'true', 'trues', 'a"b', 'a\\b', 'é', '\u{1f600}']
    const inner = { old: { v: 'é' } }
    const did = sent.map(
      (v, index): Did => [`event-${index}`, index, index % 2 ? JSON.stringify({ v }) : { v }],
    )
    await does(workspace, 'user-1', [...did, ['inner', 20, inner]])
    for (const value of sent) {
      const { data } = await client.listEvents({ query: { variables: [`v:${String(value)}`], limit: 50 } })
      const expected = sent.flatMap((other, index) =>
        String(other) === String(value) ? [`event-${index}`] : [],
      )
      expect([value, data?.data.map(({ event_id }) => event_id).sort()]).toEqual([value, expected.sort()])
    }
  })

  it.for(['newest', 'oldest'] as const)(
    'lists only events with these values, %s first, on pages of any size',
    async (order, { workspace }) => {
      const { client, journey_id } = workspace
      const customer_id = await does(workspace, 'user-1', [
        ['0', 0, { plan: 'team', seats: 5 }],
        ['1', 0, { plan: 'free', seats: 5 }],
        ['2', 0, { seats: '5', plan: 'team' }],
        ['3', 0, JSON.stringify({ seats: 5, plan: 'team' })],
        ['4', 0, { old: { plan: 'team', seats: 5 } }],
        ['5', 0, { text: '"plan":"team"' }],
        ['6', 0],
        ['7', 0, { 'a "quoted" name': 'ä, b' }],
      ])
      const listed = async (variables: string[], limit = 50, filter = {}) => {
        const found: string[] = []
        let cursor: string | null | undefined
        do {
          const query = { variables, order, limit, ...filter, ...(cursor && { cursor }) }
          const { data, error } = await client.listEvents({ query })
          if (error) throw new Error(error.detail)
          found.push(...data.data.map(({ event_id }) => event_id))
          // Forward, there is always a cursor: the list goes on with what arrives.
          cursor = data.caught_up_to ? null : data.next_cursor
        } while (cursor)
        return order === 'oldest' ? found : found.reverse()
      }
      await expect.poll(() => listed([])).toEqual(['0', '1', '2', '3', '4', '5', '6', '7'])
      for (const limit of [1, 2, 50]) {
        expect(await listed(['plan:team'], limit)).toEqual(['0', '2', '3'])
        expect(await listed(['seats:5'], limit)).toEqual(['0', '1', '2', '3'])
        expect(await listed(['plan:team', 'seats:5'], limit)).toEqual(['0', '2', '3'])
      }
      expect(await listed(['a "quoted" name:ä, b'])).toEqual(['7'])
      expect(await listed(['plan:team'], 50, { event_id: '2', journey_id, customer_id })).toEqual(['2'])
      expect(await listed(['plan:nobody'])).toEqual([])
    },
  )

  it('ends a page early after examining many events, and continues after them', async ({ workspace }) => {
    const { client } = workspace
    await does(workspace, 'user-0', [['wanted', 0, { plan: 'team' }]])
    const others = Array.from({ length: 700 }, (): Did => ['other', 0, { plan: 'free' }])
    for (const user of ['user-1', 'user-2', 'user-3']) await does(workspace, user, others)
    const found: string[] = []
    let cursor: string | null = null
    do {
      const query = { variables: ['plan:team'], ...(cursor && { cursor }) }
      const { data } = await client.listEvents({ query })
      found.push(...(data?.data.map(({ event_id }) => event_id) ?? []))
      cursor = data?.next_cursor ?? null
    } while (cursor)
    expect(found).toEqual(['wanted'])
  })
})

describe('listCustomerEvents by variables', () => {
  it('lists only events with these values, latest first, on pages of any size', async ({ workspace }) => {
    const { client } = workspace
    const customer_id = await does(workspace, 'user-1', [
      ['first', 1, { plan: 'team' }],
      ['third', 3, JSON.stringify({ plan: 'team' })],
      ['second', 2, { plan: 'team', seats: 5 }],
      ['other', 2, { old: { plan: 'team' } }],
      ['none', 4],
    ])
    const others = Array.from({ length: 700 }, (): Did => ['other', 5, { plan: 'free' }])
    for (const _ of [1, 2, 3]) await does(workspace, 'user-1', others)
    for (const limit of [1, 50]) {
      const found: string[] = []
      let cursor: string | null = null
      let pages = 0
      do {
        const query = { variables: ['plan:team'], limit, ...(cursor && { cursor }) }
        const { data } = await client.listCustomerEvents({ path: { customer_id }, query })
        found.push(...(data?.data.map(({ event_id }) => event_id) ?? []))
        cursor = data?.next_cursor ?? null
        pages += 1
      } while (cursor)
      expect(found).toEqual(['third', 'second', 'first'])
      // Events with another value take no place on a page.
      expect(pages).toBeLessThanOrEqual(8)
    }
    const query = { variables: ['plan:team', 'seats:5'] }
    const { data } = await client.listCustomerEvents({ path: { customer_id }, query })
    expect(data?.data.map(({ event_id }) => event_id)).toEqual(data?.next_cursor ? [] : ['second'])
  })
})

describe('a breakdown that is too large', () => {
  base('is refused with what to change, also for the times to a step', async () => {
    const cairn = await startCairnForTest({
      open: async (options) => {
        const storage = await openStorage(options)
        // The limits themselves are tested with the standings: here a report would need 65,001 customers.
        const tooLarge = () => Promise.reject(new BreakdownTooLarge())
        return { ...storage, standings: { ...storage.standings, histogram: tooLarge } }
      },
    })
    const { client, journey_id } = await cairn.workspace()
    const query = { step: 1, breakdown: 'variable:plan' }
    const { error } = await client.getJourneyStepTimes({ path: { journey_id }, query })
    expect(error).toMatchObject({ status: 409, code: 'breakdown_too_large' })
  })
})
