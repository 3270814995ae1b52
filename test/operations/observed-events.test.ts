// engines: sqlite, postgres

import { describe, expect } from 'vitest'
import type { Workspace } from '../fixtures/cairn.ts'
import { initialize } from '../fixtures/customer.ts'
import { it } from '../fixtures/it.ts'
import { createKey } from '../fixtures/service-keys.ts'

type Sent = Record<string, unknown> | string | undefined

/** Stores an event with each of the variables, in order. @returns the customer */
async function store(workspace: Workspace, event_id: string, variables: Sent[]) {
  const customer_id = await initialize(workspace, `user of ${event_id}`)
  const names = { journey_id: workspace.journey_id, customer_id, event_id }
  for (let at = 0; at < variables.length; at += 500) {
    const events = variables.slice(at, at + 500).map((custom_variables) => {
      return { ...names, ...(custom_variables !== undefined && { custom_variables }) }
    })
    const { data } = await workspace.client.createEvents({ body: { events } })
    expect(data?.created).toBe(events.length)
  }
  return customer_id
}

const times = (count: number, variables: Sent): Sent[] => Array(count).fill(variables)

describe('what events with a name look like', () => {
  it('is read from those that are stored, whether they are defined or not', async ({ workspace, client }) => {
    const variables = [
      ...times(60, { plan: 'team', seats: 5 }),
      undefined,
      '{"plan":"free"}',
      'Asked for an invoice',
    ]
    await store(workspace, 'plan_chosen', variables)
    await store(workspace, 'another', [{ other: true }])
    const { data } = await client.getObservedEvent({ query: { event_id: 'plan_chosen' } })
    expect(data).toEqual({
      event_id: 'plan_chosen',
      examined: 63,
      oldest_received_at: expect.any(String),
      fields: [
        { pointer: '/plan', types: ['string'], events: 61, values: ['free', 'team'] },
        { pointer: '/seats', types: ['integer'], events: 60, values: [5] },
      ],
      suggestion: { type: 'object', properties: { plan: { type: 'string' }, seats: { type: 'integer' } } },
    })
    const none = await client.getObservedEvent({ query: { event_id: 'never' } })
    expect(none.data).toEqual({ event_id: 'never', examined: 0, oldest_received_at: null, fields: [] })
  })

  it('covers the latest thousand events', async ({ workspace, client }) => {
    await store(workspace, 'many', [...times(200, { old: 1 }), ...times(900, { new: 1 })])
    const { data } = await client.getObservedEvent({ query: { event_id: 'many' } })
    expect(data?.examined).toBe(1000)
    expect(data?.fields.map(({ pointer, events }) => [pointer, events])).toEqual([
      ['/new', 900],
      ['/old', 100],
    ])
  })

  it('has nothing of an erased customer', async ({ workspace, client }) => {
    const customer_id = await store(workspace, 'signed_up', [{ name: 'Ada Lovelace' }])
    const query = { event_id: 'signed_up' }
    expect(JSON.stringify((await client.getObservedEvent({ query })).data)).toContain('Ada Lovelace')
    await client.eraseCustomer({ path: { customer_id } })
    await expect
      .poll(async () => (await client.getObservedEvent({ query })).data)
      .toMatchObject({ examined: 0, fields: [] })
  })
})

describe('the trial of a definition', () => {
  const variables = {
    type: 'object',
    properties: {
      plan: { type: 'string' },
      lines: { type: 'array', items: { type: 'object', properties: { 1: { type: 'string' } } } },
    },
    required: ['plan'],
  }

  it('says how many stored events do not conform, what is wrong, and who sent them', async ({
    cairn,
    workspace,
    client,
  }) => {
    const other = await createKey(cairn, workspace, 'secret')
    await store(workspace, 'plan_chosen', [...times(5, { plan: 'team' }), {}, { plan: 1 }, 'text', undefined])
    const lines = [{ 1: 1 }, { 1: 2 }, { 1: 'x' }]
    await store({ ...workspace, client: cairn.client(other.key) }, 'plan_chosen', [{ plan: 'x', lines }])
    const body = { event_id: 'plan_chosen', variables }
    const { data } = await client.defineEvent({ body, query: { dry_run: true } })
    expect(data?.trial).toMatchObject({ examined: 10, not_conforming: 5 })
    expect(data?.trial?.by_key).toEqual([
      { key_id: expect.any(String), events: 4 },
      { key_id: other.key_id, events: 1 },
    ])
    const found = data?.trial?.violations.map(({ code, pointer, events }) => `${code} ${pointer} ${events}`)
    expect(found?.sort()).toEqual([
      'missing /custom_variables/plan 2',
      'wrong_type /custom_variables 1',
      'wrong_type /custom_variables/lines/-/1 1',
      'wrong_type /custom_variables/plan 1',
    ])
    // Nothing was stored, so that the next one is stored without being checked.
    await store(workspace, 'plan_chosen', [{}])
  })

  it('of an update uses what would be stored', async ({ workspace, client }) => {
    await store(workspace, 'plan_chosen', [{ plan: 'team' }, {}])
    const made = await client.defineEvent({ body: { event_id: 'plan_chosen', mode: 'off' } })
    const path = { definition_id: made.data?.definition.definition_id ?? '' }
    const query = { dry_run: true }
    const unchanged = await client.updateEventDefinition({ path, query, body: { mode: 'enforce' } })
    expect(unchanged.data?.trial).toMatchObject({ examined: 2, not_conforming: 0 })
    const body = { variables, confirm_breaking: true }
    const changed = await client.updateEventDefinition({ path, query, body })
    expect(changed.data?.trial).toMatchObject({ examined: 2, not_conforming: 1 })
  })
})
