// engines: sqlite, postgres

import { describe, expect } from 'vitest'
import { openStorage } from '../../server/storage/open.ts'
import type { Storage } from '../../server/storage/storage.ts'
import { startCairnForTest } from '../fixtures/cairn.ts'
import { initialize } from '../fixtures/customer.ts'
import { it } from '../fixtures/it.ts'
import { startReceiver } from '../fixtures/receiver.ts'
import { newWebhook } from '../fixtures/webhook.ts'

describe('messages', () => {
  it('tell each event once, signed', async ({ client, event }) => {
    const receiver = await startReceiver()
    const { path, secret } = await newWebhook(client, { url: receiver.url, types: ['event.created'] })
    receiver.secrets.push(secret)
    const sent = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        client.createEvent({ body: { ...event, custom_variables: { index } } }),
      ),
    )
    const received = await receiver.has(20)
    const ids = sent.map(({ data }) => data?.id)
    expect(new Set(received.map(({ data }) => data.id))).toEqual(new Set(ids))
    await expect
      .poll(
        async () =>
          (await client.listWebhookDeliveries({ path, query: { status: 'succeeded' } })).data?.data.length,
      )
      .toBe(20)
    expect(receiver.received).toHaveLength(20)
  })

  it('tell that customers were created, and how far they come', async ({ workspace, client }) => {
    const receiver = await startReceiver()
    const { journey_id } = workspace
    const steps = [
      { event_id: 'signed_up', name: 'Signed up' },
      { event_id: 'plan_chosen', name: 'Plan chosen' },
    ]
    await client.updateJourney({ path: { journey_id }, body: { steps } })
    const types = [
      'customer.created',
      'journey.entered',
      'journey.step_reached',
      'journey.completed',
    ] as const
    await client.createWebhook({ body: { url: receiver.url, types: [...types] } })
    const customer_id = await initialize(workspace, 'user-1')
    const event = { journey_id, customer_id }
    await client.createEvent({ body: { ...event, event_id: 'signed_up' } })
    await client.createEvent({ body: { ...event, event_id: 'plan_chosen' } })
    await receiver.has(1, 'journey.completed')
    await receiver.has(2, 'journey.step_reached')
    await receiver.has(1, 'journey.entered')
    await receiver.has(1, 'customer.created')
    expect([...receiver.types].sort()).toEqual([
      'customer.created',
      'journey.completed',
      'journey.entered',
      'journey.step_reached',
      'journey.step_reached',
    ])
  })

  it('tell who has reached a step without asking about other events', async ({ workspace, client }) => {
    const receiver = await startReceiver()
    const { journey_id } = workspace
    const steps = [{ event_id: 'signed_up', name: 'Signed up' }]
    await client.updateJourney({ path: { journey_id }, body: { steps } })
    await client.createWebhook({ body: { url: receiver.url, types: ['journey.step_reached'] } })
    const event = { journey_id, customer_id: await initialize(workspace, 'user-1') }
    for (const event_id of ['looked_around', 'signed_up', 'looked_around'])
      await client.createEvent({ body: { ...event, event_id } })
    const [message] = await receiver.has(1)
    expect(message?.data).toMatchObject({ ...event, event_id: 'signed_up', step: 1 })
  })

  it('tell who reaches a new step while the journey is recomputed for it', async () => {
    let storage: Storage | undefined
    const cairn = await startCairnForTest({
      open: async (options) => {
        storage = await openStorage(options)
        return storage
      },
    })
    const { client, ...workspace } = await cairn.workspace()
    const receiver = await startReceiver()
    const { journey_id } = workspace
    await client.createWebhook({ body: { url: receiver.url, types: ['journey.step_reached'] } })
    const customer_id = await initialize({ client, journey_id }, 'user-1')
    if (!storage) throw new Error('no storage is open')
    // A rebuild of one customer ends too soon to be seen, so standings are replaced by earlier ones.
    const { standings } = storage
    const customerJourneys = standings.customerJourneys.bind(standings)
    let answered = 0
    standings.customerJourneys = async (...asked) => {
      const found = await customerJourneys(...asked)
      answered += 1
      const rows = found.rows.map((row) => ({
        ...row,
        recomputing: { done: 0, total: 1 },
        event_ids: [],
        reached: [],
      }))
      return { ...found, rows }
    }
    const steps = [{ event_id: 'signed_up', name: 'Signed up' }]
    await client.updateJourney({ path: { journey_id }, body: { steps } })
    await client.createEvent({ body: { journey_id, customer_id, event_id: 'signed_up' } })
    await expect.poll(() => answered).toBeGreaterThan(1)
    standings.customerJourneys = customerJourneys
    const [message] = await receiver.has(1)
    expect(message?.data).toMatchObject({ customer_id, event_id: 'signed_up', step: 1 })
  })
})
