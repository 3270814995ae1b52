// engines: sqlite, postgres

import { beforeAll, describe, expect, it } from 'vitest'
import { type Cairn, startCairn } from '../fixtures/cairn.ts'
import { customerInJourney } from '../fixtures/customer.ts'

let cairn: Cairn

// In the middle of an hour, so that what a test sends is in one minute.
const NOW = Date.parse('2026-11-20T09:30:20.000Z')

beforeAll(async () => {
  cairn = await startCairn({ now: () => NOW })
  return cairn.stop
})

/** Two created events, one of them sent again, and two that are rejected. */
async function sent() {
  const { workspace, event } = await customerInJourney(cairn)
  const { client } = workspace
  await client.createEvent({ body: { ...event, message_id: 'm-1' } })
  await client.createEvent({ body: { ...event, message_id: 'm-1' } })
  const others = [
    { ...event, event_id: 'plan_chosen' },
    { ...event, event_id: 'plan_chosen', customer_id: 'cus_unknown' },
    { ...event, journey_id: 'jrn_unknown' },
  ]
  await client.createEvents({ body: { events: others } })
  return { client, event }
}

describe('getActivity', () => {
  it('has the outcome of every event, in the hours of the last day', async () => {
    const { client } = await sent()
    const { data } = await client.getActivity()
    expect(data).toMatchObject({
      from: '2026-11-19T10:00:00.000Z',
      to: '2026-11-20T10:00:00.000Z',
      by: 'hour',
    })
    expect(data?.total).toEqual({ created: 2, duplicate: 1, rejected: 2 })
    expect(data?.periods).toHaveLength(24)
    expect(data?.periods.at(-1)).toEqual({
      starts_at: '2026-11-20T09:00:00.000Z',
      created: 2,
      duplicate: 1,
      rejected: 2,
    })
    expect(data?.periods.slice(0, -1).every(({ created }) => created === 0)).toBe(true)
    expect([data?.groups, data?.groups_omitted]).toEqual([[], 0])
  })

  it('has each minute, hour and day of a span, including empty ones', async () => {
    const { client } = await sent()
    const lengths = await Promise.all(
      (['minute', 'hour', 'day'] as const).map(async (by) => {
        const { data } = await client.getActivity({ query: { by } })
        expect(data?.total.created).toBe(2)
        return data?.periods.length
      }),
    )
    expect(lengths).toEqual([60, 24, 30])
    const span = { from: '2026-11-20T09:29:59.999Z', to: '2026-11-20T09:31:00.001Z' }
    const { data } = await client.getActivity({ query: { by: 'minute', ...span } })
    expect(data?.periods.map(({ starts_at, created }) => [starts_at.slice(11, 16), created])).toEqual([
      ['09:29', 0],
      ['09:30', 2],
      ['09:31', 0],
    ])
  })

  it('groups by journey, by name and by key, with the rest separate', async () => {
    const { client, event } = await sent()
    const groups = async (group_by: 'journey' | 'event' | 'key') => {
      const { data } = await client.getActivity({ query: { group_by } })
      return data?.groups.map(({ last_at, ...group }) => {
        expect(last_at).toBe('2026-11-20T09:30:00.000Z')
        return group
      })
    }
    const none = { journey_id: null, event_id: null, key_id: null }
    expect(await groups('journey')).toEqual([
      { ...none, journey_id: event.journey_id, created: 2, duplicate: 1, rejected: 1 },
      { ...none, created: 0, duplicate: 0, rejected: 1 },
    ])
    expect(await groups('event')).toEqual([
      { ...none, event_id: 'signed_up', created: 1, duplicate: 1, rejected: 1 },
      { ...none, event_id: 'plan_chosen', created: 1, duplicate: 0, rejected: 1 },
    ])
    const [key, ...others] = (await groups('key')) ?? []
    expect(others).toEqual([])
    expect(key).toMatchObject({ journey_id: null, event_id: null, created: 2, duplicate: 1, rejected: 2 })
    expect(key?.key_id).toMatch(/^key_/)
  })

  it('can be filtered by a journey, a name and a key', async () => {
    const { client, event } = await sent()
    const total = async (query: object) => (await client.getActivity({ query })).data?.total
    expect(await total({ journey_id: event.journey_id })).toEqual({ created: 2, duplicate: 1, rejected: 1 })
    expect(await total({ event_id: 'plan_chosen' })).toEqual({ created: 1, duplicate: 0, rejected: 1 })
    expect(await total({ event_id: 'never_sent' })).toEqual({ created: 0, duplicate: 0, rejected: 0 })
    expect(await total({ key_id: 'key_unknown' })).toEqual({ created: 0, duplicate: 0, rejected: 0 })
  })

  it('has at most a day of minutes', async () => {
    const { client } = await cairn.workspace()
    const to = '2026-11-20T09:30:00Z'
    const most = await client.getActivity({ query: { by: 'minute', from: '2026-11-19T09:30:00Z', to } })
    expect(most.data?.periods).toHaveLength(1440)
    const more = await client.getActivity({ query: { by: 'minute', from: '2026-11-19T09:29:59Z', to } })
    expect(more.error).toMatchObject({ status: 409, code: 'too_many_periods' })
  })

  it('has one period if the span is empty', async () => {
    const { client } = await sent()
    const span = { from: '2026-11-20T12:00:00Z', to: '2026-11-20T09:30:30Z' }
    const { data } = await client.getActivity({ query: { by: 'hour', ...span } })
    expect(data?.periods.map(({ created }) => created)).toEqual([2])
  })
})
