// engines: sqlite, postgres

import { randomUUID } from 'node:crypto'
import { describe, expect } from 'vitest'
import type { Cairn, Workspace } from '../fixtures/cairn.ts'
import { initialize } from '../fixtures/customer.ts'
import { it } from '../fixtures/it.ts'
import { keptRefusals } from '../fixtures/refusals.ts'

const dry = { dry_run: true }
const FUTURE = '9999-01-01T00:00:00Z'

type Event = { journey_id: string; customer_id: string; event_id: string; occurred_at?: string }

/** Two journeys: one customer in the second, one in both, and one who was erased. */
async function newScene(cairn: Cairn) {
  const workspace = await cairn.workspace()
  const { client, journey_id } = workspace
  const other = await client.createJourney({ body: { name: 'Renewal' } })
  const elsewhere = { client, journey_id: other.data?.journey_id ?? '' }
  const erased = await initialize(workspace, 'erased')
  await client.eraseCustomer({ path: { customer_id: erased } })
  const outside = await initialize(elsewhere, 'outside')
  const inside = await initialize(workspace, 'inside')
  const event = (customer_id: string): Event => ({ journey_id, customer_id, event_id: 'signed_up' })
  return { workspace, erased, outside, inside, event }
}

/** The response to each way of sending an event. */
async function codesOf({ client }: Workspace, event: Event) {
  const [one, trial, many, trials] = [
    await client.createEvent({ body: event }),
    await client.createEvent({ body: event, query: dry }),
    await client.createEvents({ body: { events: [event] } }),
    await client.createEvents({ body: { events: [event] }, query: dry }),
  ]
  return [one, trial]
    .map(({ error }) => error?.code)
    .concat([many, trials].map(({ data }) => data?.results[0]?.problem?.code))
}

const all = (code: string) => [code, code, code, code]

describe('what the sender cannot fix is answered first', () => {
  it('an archived journey before a customer who is unknown or outside of it, and before a wrong time', async ({
    cairn,
  }) => {
    const { workspace, outside, inside, event } = await newScene(cairn)
    const { client, journey_id } = workspace
    await client.archiveJourney({ path: { journey_id } })
    const archived = all('journey_archived')
    expect(await codesOf(workspace, event(outside))).toEqual(archived)
    expect(await codesOf(workspace, event('cus_unknown'))).toEqual(archived)
    expect(await codesOf(workspace, { ...event(inside), occurred_at: FUTURE })).toEqual(archived)
    await client.restoreJourney({ path: { journey_id } })
    expect(await codesOf(workspace, event(outside))).toEqual(all('customer_not_in_journey'))
  })

  it('an erased customer before an archived journey, by events and by initialization', async ({ cairn }) => {
    const { workspace, erased, event } = await newScene(cairn)
    const { client, journey_id } = workspace
    await client.archiveJourney({ path: { journey_id } })
    expect(await codesOf(workspace, event(erased))).toEqual(all('customer_erased'))
    const names = { client_customer_id: 'erased', customer_type: 'contact', customer_name: 'Ada' } as const
    for (const query of [{}, dry]) {
      const { error } = await client.initializeCustomer({ body: { ...names, journey_id }, query })
      expect(error).toMatchObject({ status: 410, code: 'customer_erased' })
    }
  })

  it('a replay of what was refused gives the same answer', async ({ cairn }) => {
    const { workspace, outside, event } = await newScene(cairn)
    const { client, journey_id } = workspace
    await client.createEvent({ body: { ...event(outside), event_id: `event ${randomUUID()}` } })
    await keptRefusals(client, 1)
    await client.archiveJourney({ path: { journey_id } })
    for (const dry_run of [true, false]) {
      const { data } = await client.replayRefusals({
        body: { code: 'customer_not_in_journey' },
        query: { dry_run },
      })
      expect(data?.results).toMatchObject([{ outcome: 'refused', code: 'journey_archived' }])
    }
  })
})
