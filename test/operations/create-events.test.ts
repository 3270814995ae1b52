// engines: sqlite, postgres

import { describe, expect } from 'vitest'
import type { Schemas } from '../../client/index.ts'
import { startCairnForTest, type Workspace } from '../fixtures/cairn.ts'
import { customerInJourney } from '../fixtures/customer.ts'
import { it } from '../fixtures/it.ts'
import { refusal } from '../fixtures/requests.ts'

const MOST = 1000
const EVENT_BYTES = 64 * 1024
const BATCH_BYTES = 4 * 1024 * 1024

async function create({ client }: Workspace, events: Schemas['EventCreation'][]) {
  const { data, error } = await client.createEvents({ body: { events } })
  if (error) throw new Error(JSON.stringify(error))
  return data
}

async function namesStored({ client }: Workspace): Promise<string[]> {
  const { data } = await client.listEvents({ query: { limit: 500 } })
  return data?.data.map(({ event_id }) => event_id) ?? []
}

/** The body of a batch as text. */
const bodyOf = (events: unknown[]) => JSON.stringify({ events })

/** This many fields that no object of the contract has, as text. */
const fields = (count: number) => Array.from({ length: count }, (_, index) => `"${index}":1`).join()

describe('createEvents', () => {
  it('stores all events of a batch in their order and lists them at once', async ({ workspace, event }) => {
    const events = ['a', 'b', 'c'].map((event_id) => ({
      ...event,
      event_id,
      custom_variables: { name: event_id },
      occurred_at: '2026-11-20T09:30:00Z',
    }))
    const answer = await create(workspace, events)
    expect(answer).toMatchObject({ received: 3, created: 3, duplicate: 0, rejected: 0 })
    const { data } = await workspace.client.listEvents()
    expect(data?.data.toReversed()).toEqual(
      answer.results.map(({ id, message_id, received_at }, index) => ({
        ...events[index],
        customer_name: 'Ada Lovelace',
        client_customer_id: 'user-1',
        id,
        message_id,
        received_at,
        key_id: expect.stringMatching(/^key_/),
        occurred_at: '2026-11-20T09:30:00.000Z',
      })),
    )
  })

  it('keeps the milliseconds of every event’s own time and receipt', async () => {
    const now = Date.parse('2026-11-20T12:00:00.007Z')
    const cairn = await startCairnForTest({ now: () => now })
    const { workspace, event } = await customerInJourney(cairn)
    const times = ['2026-11-20T09:30:00.001Z', '2026-11-20T09:30:00.789Z', '1969-12-31T23:59:59.998Z']
    const { results } = await create(workspace, [
      ...times.map((occurred_at) => ({ ...event, occurred_at })),
      event,
    ])
    const received_at = '2026-11-20T12:00:00.007Z'
    expect(results.map((result) => result.received_at)).toEqual(Array(4).fill(received_at))
    const listed = await workspace.client.listEvents()
    const expected = [...times, received_at].map((occurred_at) => ({ occurred_at, received_at }))
    expect(listed.data?.data).toMatchObject(expected.toReversed())
  })

  it('gives every event its own outcome, and none affects another', async ({ workspace, event }) => {
    const { client, journey_id } = workspace
    const other = await client.createJourney({ body: { name: 'Renewal' } })
    const archived = await client.createJourney({ body: { name: 'Old' } })
    const names = { client_customer_id: 'user-2', customer_type: 'contact', customer_name: 'Bob' } as const
    const old_journey = archived.data?.journey_id ?? ''
    const { data } = await client.initializeCustomer({ body: { ...names, journey_id: old_journey } })
    await client.archiveJourney({ path: { journey_id: old_journey } })
    const known = { ...event, event_id: 'known', message_id: 'known' }
    await client.createEvent({ body: known })

    const answer = await create(workspace, [
      known,
      { ...event, event_id: 'first', message_id: 'new' },
      { ...known, event_id: 'other' },
      { ...event, journey_id: 'unknown' },
      { ...event, customer_id: 'unknown' },
      { ...event, journey_id: other.data?.journey_id ?? '' },
      { ...event, journey_id: old_journey, customer_id: data?.customer_id ?? '' },
      { ...event, occurred_at: '2999-01-01T00:00:00Z' },
      { ...event, event_id: 'first', message_id: 'new' },
      { ...event, event_id: 'first', message_id: 'new', custom_variables: 'other' },
      { journey_id, customer_id: event.customer_id, event_id: 'last' },
    ])
    expect(answer.results.map(({ status, problem }) => problem?.code ?? status)).toEqual([
      'duplicate',
      'created',
      'message_id_conflict',
      'journey_not_found',
      'customer_not_found',
      'customer_not_in_journey',
      'journey_archived',
      'occurred_at_in_future',
      'duplicate',
      'message_id_conflict',
      'created',
    ])
    expect(answer).toMatchObject({ received: 11, created: 2, duplicate: 2, rejected: 7 })
    expect(answer.results[8]?.id).toBe(answer.results[1]?.id)
    expect(answer.results[2]).toMatchObject({ id: null, message_id: 'known', problem: { status: 409 } })
    expect(await namesStored(workspace)).toEqual(['last', 'first', 'known'])
  })

  it('answers a batch that is sent again with what it stored the first time', async ({
    workspace,
    event,
  }) => {
    const events = Array.from({ length: 100 }, (_, index) => ({ ...event, message_id: `m-${index}` }))
    const answers = await Promise.all(Array.from({ length: 20 }, () => create(workspace, events)))
    expect(answers.reduce((sum, { created }) => sum + created, 0)).toBe(100)
    expect(answers.reduce((sum, { duplicate }) => sum + duplicate, 0)).toBe(1900)
    const ids = answers.map(({ results }) => results.map(({ id }) => id))
    for (const other of ids) expect(other).toEqual(ids[0])
    expect(await namesStored(workspace)).toHaveLength(100)
  })

  it('stores nothing of a batch with a malformed event, and reports every fault', async ({
    workspace,
    event,
    api,
  }) => {
    const { customer_id: _, ...nobody } = event
    const body = bodyOf([event, nobody, { ...event, evnt_id: 'x' }, { ...event, occurred_at: 'yesterday' }])
    const reply = await api('POST /events/batch', { body })
    const { status, errors } = await refusal(reply)
    expect(status).toBe(400)
    expect(errors?.map(({ pointer }) => pointer)).toEqual([
      '/events/1/customer_id',
      '/events/2/evnt_id',
      '/events/3/occurred_at',
    ])
    expect(await namesStored(workspace)).toEqual([])
  })

  it('accepts 1000 events and refuses none and 1001', async ({ workspace, event, api }) => {
    const answer = await create(workspace, Array(MOST).fill(event))
    expect(answer).toMatchObject({ received: MOST, created: MOST })
    expect(new Set(answer.results.map(({ id }) => id)).size).toBe(MOST)
    for (const count of [0, MOST + 1]) {
      const body = bodyOf(Array(count).fill(event))
      const reply = await api('POST /events/batch', { body })
      expect(await refusal(reply)).toMatchObject({ status: 400, errors: [{ pointer: '/events' }] })
    }
  })

  it('accepts an event of 64 KiB and rejects one of a byte more, not its neighbours', async ({
    workspace,
    event,
  }) => {
    const sized = (event_id: string, bytes: number, letter: string) => {
      const one = { ...event, event_id, message_id: event_id, custom_variables: { text: '' } }
      const rest_bytes = bytes - Buffer.byteLength(JSON.stringify(one))
      const text = letter.repeat(rest_bytes / Buffer.byteLength(letter))
      return {
        ...one,
        custom_variables: { text: text.padEnd(text.length + (rest_bytes % Buffer.byteLength(letter)), 'x') },
      }
    }
    const answer = await create(workspace, [
      sized('fits', EVENT_BYTES, 'x'),
      sized('large', EVENT_BYTES + 1, 'x'),
      sized('fits-2', EVENT_BYTES, '語'),
      sized('large-2', EVENT_BYTES + 1, '語'),
      { ...event, event_id: 'last', custom_variables: 'x'.repeat(EVENT_BYTES + 1) },
      event,
    ])
    expect(answer.results.map(({ status, problem }) => problem?.code ?? status)).toEqual([
      'created',
      'event_too_large',
      'created',
      'event_too_large',
      'event_too_large',
      'created',
    ])
    expect(answer).toMatchObject({ received: 6, created: 3, rejected: 3 })
    expect(await namesStored(workspace)).toEqual([event.event_id, 'fits-2', 'fits'])
  })

  it('accepts a body of 4 MiB and refuses one of a byte more', async ({ workspace, event, api }) => {
    const text = bodyOf(Array(MOST).fill(event))
    const sendSized = (bytes: number) => api('POST /events/batch', { body: text.padEnd(bytes) })
    expect((await sendSized(BATCH_BYTES)).status).toBe(200)
    expect(await refusal(await sendSized(BATCH_BYTES + 1))).toEqual({ status: 413, code: 'body_too_large' })
    expect(await namesStored(workspace)).toHaveLength(500)
  })

  it('accepts variables that nest 32 levels, as a single event does, and refuses more', async ({
    event,
    api,
  }) => {
    const nested = (levels: number) => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`)
    for (const [levels, status] of [
      [32, 200],
      [33, 400],
    ] as const) {
      const body = bodyOf([{ ...event, custom_variables: nested(levels) }])
      const reply = await api('POST /events/batch', { body })
      expect(reply.status).toBe(status)
    }
  })

  it.for([
    ['a million empty items', () => `{"events":[${Array(1_000_000).fill('{}').join()}]}`, ''],
    ['more items than it takes', () => `{"events":[${Array(90_000).fill('{}').join()}]}`, '/events'],
    ['half a million unknown fields of the body', () => `{"events":[],${fields(300_000)}}`, ''],
    ['half a million unknown fields of one event', () => `{"events":[{${fields(300_000)}}]}`, ''],
    [
      'thousands of unknown fields of one event',
      () => `{"events":[{${fields(30_000)}}]}`,
      '/events/0/journey_id',
    ],
    [
      'hundreds of unknown fields of each event',
      () =>
        `{"events":[${Array(MOST)
          .fill(`{${fields(400)}}`)
          .join()}]}`,
      '/events/0/journey_id',
    ],
  ] as const)('refuses %s with a short response', async ([_name, body, pointer], { api }) => {
    const reply = await api('POST /events/batch', { body: body() })
    expect(reply.status).toBe(400)
    const text = await reply.text()
    expect(text.length).toBeLessThan(30_000)
    expect(JSON.parse(text).errors[0].pointer).toBe(pointer)
  })

  it('reports the position of a fault far into a large batch', async ({ event, api }) => {
    const many = Object.fromEntries(Array.from({ length: 90 }, (_, index) => [`f${index}`, 1]))
    const events: unknown[] = Array(990).fill(event)
    const reply = await api('POST /events/batch', {
      body: bodyOf([...events, { ...event, event_id: '' }, { ...event, ...many }]),
    })
    const { errors } = await refusal(reply)
    expect(errors?.[0]?.pointer).toBe('/events/990/event_id')
    expect(errors?.at(-1)?.pointer).toMatch(/^\/events\/991\/f/)
  })
})
