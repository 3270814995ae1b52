// engines: sqlite, postgres

import fc from 'fast-check'
import { describe, expect } from 'vitest'
import { openStorage } from '../../server/storage/open.ts'
import { StrictOrderTooLarge } from '../../server/storage/standings/strict-order.ts'
import { startCairnForTest, type Workspace } from '../fixtures/cairn.ts'
import { initialize } from '../fixtures/customer.ts'
import { it as base } from '../fixtures/it.ts'
import { type ModelJourney, modelEntered, modelOrdered, modelReport } from '../fixtures/standings/model.ts'
import { casesToTry } from '../fixtures/thoroughness.ts'
import { at, type Did, does, it, type ReportQuery, report } from './stepped-journey.ts'

const STRICT = { step_order: 'strict' } as const

/** How many have reached each step. */
async function reached(workspace: Workspace, query: ReportQuery = STRICT) {
  return (await report(workspace, query)).steps.map(({ reached }) => reached)
}

/** The customers listed, by their own identifier. */
async function listed({ client, journey_id }: Workspace, query: Record<string, unknown>) {
  const { data, error } = await client.listJourneyCustomers({
    path: { journey_id },
    query: { ...STRICT, ...query },
  })
  if (error) throw new Error(error.detail)
  return data.data.map(({ client_customer_id }) => client_customer_id).sort()
}

/** The examples of the contract, and what a customer has reached in both orders. */
const EXAMPLES: { events: string[]; sequential: number; strict: number }[] = [
  { events: ['signed_up', 'signed_up', 'plan_chosen', 'help_opened', 'paid'], sequential: 3, strict: 3 },
  { events: ['signed_up', 'plan_chosen', 'signed_up', 'paid'], sequential: 3, strict: 2 },
  { events: ['signed_up', 'paid', 'plan_chosen', 'paid'], sequential: 3, strict: 1 },
  { events: ['paid', 'signed_up', 'plan_chosen'], sequential: 2, strict: 2 },
]

/** What somebody does in a generated history, some of it twice and late. */
type Deed = { customer: number; name: string; minute: number }

const NAMES = ['one', 'two', 'three', 'four']
const PEOPLE = Array.from({ length: 10 }, (_, number) => number)

const deeds: fc.Arbitrary<Deed> = fc.record({
  customer: fc.constantFrom(...PEOPLE),
  name: fc.constantFrom(...NAMES, 'detour'),
  minute: fc.integer({ min: 0, max: 8 }),
})

const DECADES = { window: 'P36500D', window_ms: 36_500 * 86_400_000 }

const histories = fc.record({
  slices: fc.array(fc.array(deeds, { minLength: 20, maxLength: 60 }), { minLength: 2, maxLength: 4 }),
  erased: fc.constantFrom(...PEOPLE),
  part: fc.record(
    { first_step: fc.constantFrom(1, 2), last_step: fc.constantFrom(3, 4) },
    { requiredKeys: [], noNullPrototype: true },
  ),
  /** Soon over, or open for decades. */
  window: fc.constantFrom(undefined, { window: 'PT3M', window_ms: 180_000 }, DECADES),
})

/** The same workspace with a journey of its own. */
async function withJourney(workspace: Workspace): Promise<Workspace> {
  const steps = NAMES.map((event_id) => ({ event_id, name: event_id }))
  const { data } = await workspace.client.createJourney({ body: { name: 'Strict', steps } })
  return { ...workspace, journey_id: data?.journey_id ?? '' }
}

async function sendSome(
  { client, journey_id }: Workspace,
  customers: readonly string[],
  some: readonly Deed[],
) {
  const events = some.map(({ customer, name, minute }) => ({
    journey_id,
    customer_id: customers[customer] ?? '',
    event_id: name,
    occurred_at: at(minute),
    message_id: `${journey_id} ${customer} ${name} ${minute}`,
  }))
  const { data } = await client.createEvents({ body: { events } })
  expect(data?.rejected).toBe(0)
}

/** The journey for the model, without a customer that was erased. */
function modelOf(customers: readonly string[], all: readonly Deed[], erased: number): ModelJourney {
  const at_ms = Date.now()
  return {
    enrolments: customers
      .filter((_, number) => number !== erased)
      .map((customer) => ({ customer, customer_type: 'contact', at_ms })),
    events: all
      .filter(({ customer }) => customer !== erased)
      .map(({ customer, name, minute }, index) => ({
        customer: customers[customer] ?? '',
        name,
        at_ms: Date.parse(at(minute)),
        id: String(index),
      })),
  }
}

describe('a strict order', () => {
  it.for(EXAMPLES)('counts $strict steps of $events', async (example, { stepped: workspace }) => {
    const { events, sequential, strict } = example
    await does(
      workspace,
      'user-1',
      events.map((event_id, minute): Did => [event_id, minute]),
    )
    const steps = (count: number) => [0, 1, 2].map((step) => (step < count ? 1 : 0))
    expect(await reached(workspace)).toEqual(steps(strict))
    expect(await reached(workspace, { step_order: 'sequential' })).toEqual(steps(sequential))
    expect(await reached(workspace, {})).toEqual(steps(sequential))
    const { client, journey_id } = workspace
    const { data } = await client.listJourneyCustomers({ path: { journey_id }, query: STRICT })
    expect(data?.data.map((row) => [row.reached, row.reached_at.length])).toEqual([[strict, strict]])
  })

  it('lets events at the instant of a step pass', async ({ stepped: workspace }) => {
    await does(workspace, 'user-1', [
      ['signed_up', 1],
      ['paid', 1],
      ['paid', 2],
      ['plan_chosen', 2],
    ])
    await does(workspace, 'user-2', [
      ['signed_up', 1],
      ['signed_up', 2],
      ['plan_chosen', 2],
      ['paid', 3],
    ])
    expect(await reached(workspace)).toEqual([2, 2, 2])
  })

  it('begins with the first step of the part, and is broken by steps outside of it', async ({
    stepped: workspace,
  }) => {
    await does(workspace, 'user-1', [
      ['signed_up', 1],
      ['paid', 2],
      ['plan_chosen', 3],
      ['paid', 4],
    ])
    await does(workspace, 'user-2', [
      ['signed_up', 1],
      ['plan_chosen', 3],
      ['signed_up', 4],
      ['paid', 5],
    ])
    expect(await reached(workspace)).toEqual([2, 1, 0])
    expect(await reached(workspace, { ...STRICT, first_step: 2 })).toEqual([2, 1])
    expect(await reached(workspace, { ...STRICT, last_step: 2 })).toEqual([2, 1])
    expect(await listed(workspace, { first_step: 2, reached: 3 })).toEqual(['user-1'])
  })

  it('is broken by an event that arrives late, and no more once the customer is erased', async ({
    stepped: workspace,
  }) => {
    const { client } = workspace
    const customer_id = await does(workspace, 'user-1', [
      ['signed_up', 1],
      ['plan_chosen', 4],
      ['paid', 6],
    ])
    await does(workspace, 'user-2', [
      ['signed_up', 1],
      ['plan_chosen', 4],
    ])
    expect(await reached(workspace)).toEqual([2, 2, 1])
    await does(workspace, 'user-1', [['signed_up', 5]])
    expect(await reached(workspace)).toEqual([2, 2, 0])
    await does(workspace, 'user-1', [['paid', 3]])
    expect(await reached(workspace)).toEqual([2, 1, 0])
    await client.eraseCustomer({ path: { customer_id } })
    await expect.poll(() => reached(workspace)).toEqual([1, 1, 0])
  })

  it('ends the waiting of a customer at another step', async ({ stepped: workspace }) => {
    await does(workspace, 'user-1', [
      ['signed_up', 1],
      ['signed_up', 2],
    ])
    await does(workspace, 'user-2', [
      ['signed_up', 1],
      ['paid', 2],
    ])
    const { window } = DECADES
    const { steps } = await report(workspace, { ...STRICT, window })
    expect(steps[1]).toMatchObject({ reached: 0, waiting: 1, dropped: 1, out_of_order: 0 })
    expect(await listed(workspace, { window, standing: 'waiting' })).toEqual(['user-1'])
    expect(await listed(workspace, { window, standing: 'dropped' })).toEqual(['user-2'])
    const { steps: sequential } = await report(workspace, { window })
    expect(sequential[1]).toMatchObject({ reached: 0, waiting: 2, dropped: 0 })
  })

  it('is in the trend, in the times to a step, in groups and in comparisons', async ({
    stepped: workspace,
  }) => {
    const { client, journey_id } = workspace
    const path = { journey_id }
    await does(workspace, 'user-1', [
      ['signed_up', 0, { plan: 'team' }],
      ['plan_chosen', 10],
    ])
    await does(workspace, 'user-2', [
      ['signed_up', 0, { plan: 'free' }],
      ['paid', 1],
      ['plan_chosen', 20],
    ])
    const breakdown = 'variable:plan'
    const period = { entered_from: at(0), entered_to: at(1) }
    const query = { ...STRICT, breakdown, ...period }
    const { groups, comparison } = await report(workspace, {
      ...query,
      compare: 'custom',
      compare_from: at(0),
      compare_to: at(1),
    })
    expect(groups?.map(({ group, steps }) => [group.value, steps[1]?.reached])).toEqual([
      ['free', 0],
      ['team', 1],
    ])
    expect(comparison?.steps.map(({ reached }) => reached)).toEqual([2, 1, 0])
    const { data: trend } = await client.getJourneyTrend({ path, query })
    expect(trend?.cohorts.map(({ reached }) => reached)).toEqual([[2, 1, 0]])
    const { data: times } = await client.getJourneyStepTimes({ path, query: { ...query, step: 2 } })
    expect(times?.times).toEqual({ n: 1, median_ms: 600_000, p90_ms: 600_000 })
  })

  it('is that of a model, whatever arrives late, twice or is erased', async ({ workspace }) => {
    await fc.assert(
      fc.asyncProperty(histories, async ({ slices, erased, part, window }) => {
        const here = await withJourney(workspace)
        const customers: string[] = []
        for (const number of PEOPLE) customers.push(await initialize(here, `${here.journey_id}-${number}`))
        for (const slice of slices) await sendSome(here, customers, slice)
        await report(here)
        await here.client.eraseCustomer({ path: { customer_id: customers[erased] ?? '' } })
        const enrolled = async () => (await report(here)).enrolled
        await expect.poll(enrolled).toBe(PEOPLE.length - 1)

        const query = { ...STRICT, ...part, ...(window && { window: window.window }) }
        const filter = { ...STRICT, ...part, ...(window && { window_ms: window.window_ms }) }
        const ordered = modelOrdered(modelOf(customers, slices.flat(), erased), NAMES, filter)
        const found = await report(here, query)
        const expected = modelReport(ordered, NAMES, filter, Date.parse(found.as_of ?? ''))
        expect(found).toMatchObject(expected)
        const { data: page } = await here.client.listJourneyCustomers({
          path: { journey_id: here.journey_id },
          query,
        })
        const entered = modelEntered(ordered, filter)
        expect(new Map(page?.data.map(({ customer_id, reached }) => [customer_id, reached]))).toEqual(
          new Map(entered.map(({ customer, reached }) => [customer, reached.length])),
        )
      }),
      { numRuns: casesToTry({ inCi: 20, elsewhere: 4 }) },
    )
  })

  it.for(['report', 'trend', 'histogram', 'customers'] as const)(
    'of too many events is refused with what to change: %s',
    async (kind, { expect }) => {
      const cairn = await startCairnForTest({
        open: async (options) => {
          const storage = await openStorage(options)
          // The limit itself is tested with the standings.
          const tooLarge = () => Promise.reject(new StrictOrderTooLarge())
          return { ...storage, standings: { ...storage.standings, [kind]: tooLarge } }
        },
      })
      const { client, journey_id } = await cairn.workspace()
      const path = { journey_id }
      const ask = {
        report: () => client.getJourneyReport({ path, query: STRICT }),
        trend: () => client.getJourneyTrend({ path, query: STRICT }),
        histogram: () => client.getJourneyStepTimes({ path, query: { ...STRICT, step: 1 } }),
        customers: () => client.listJourneyCustomers({ path, query: STRICT }),
      }
      const { error } = await ask[kind]()
      expect(error).toMatchObject({ status: 409, code: 'strict_order_too_large' })
    },
  )

  base('must be one of the contract', async ({ workspace }) => {
    const { client, journey_id } = workspace
    const query = { step_order: 'any' } as unknown as ReportQuery
    const { error } = await client.getJourneyReport({ path: { journey_id }, query })
    expect(error).toMatchObject({ status: 400, code: 'invalid_request' })
  })
})
