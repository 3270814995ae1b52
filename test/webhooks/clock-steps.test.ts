// engines: sqlite, postgres

import { beforeEach, expect, it } from 'vitest'
import type { Schemas } from '../../client/index.ts'
import { DAY_MS } from '../../server/domain/durations.ts'
import { type Cairn, startCairnForTest, type Workspace } from '../fixtures/cairn.ts'
import { initialize } from '../fixtures/customer.ts'
import { type Receiver, startReceiver } from '../fixtures/receiver.ts'
import { newWebhook } from '../fixtures/webhook.ts'

/** How far the clock of the server is ahead. */
let ahead_ms = 0
let cairn: Cairn
let workspace: Workspace
let receiver: Receiver

beforeEach(async () => {
  ahead_ms = 0
  cairn = await startCairnForTest({ now: () => Date.now() + ahead_ms })
  workspace = await cairn.workspace()
  receiver = await startReceiver()
  const { client, journey_id } = workspace
  const steps = [{ event_id: 'signed_up', name: 'Signed up' }]
  await client.updateJourney({ path: { journey_id }, body: { steps } })
})

const ALL: Schemas['WebhookType'][] = [
  'event.created',
  'customer.created',
  'journey.entered',
  'journey.step_reached',
]

async function createWebhook(types = ALL): Promise<{ webhook_id: string }> {
  return (await newWebhook(workspace.client, { url: receiver.url, types })).path
}

/** A customer who enters the journey and has its step. */
async function enter(name: string): Promise<string> {
  const customer_id = await initialize(workspace, name)
  const { client, journey_id } = workspace
  await client.createEvent({ body: { journey_id, customer_id, event_id: 'signed_up' } })
  return customer_id
}

/** Which types were told about a customer; some are told late, because PostgreSQL's own clock is not ahead. */
function typesAbout(customer_id: string): string[] {
  const about = receiver.received.filter(({ data }) => data.customer_id === customer_id)
  return about.map(({ type }) => type).sort()
}

const EACH_ONCE = [...ALL].sort()

it.each([
  ['was created before the clock was ahead', 0],
  ['was created while the clock was ahead', 2 * DAY_MS],
])('a webhook that %s is told what happens after it was set back', async (_name, at_ms) => {
  ahead_ms = at_ms
  await createWebhook()
  ahead_ms = 2 * DAY_MS
  const before = await enter('before')
  const told = ['customer.created', 'event.created', 'journey.entered']
  await expect.poll(() => typesAbout(before)).toEqual(expect.arrayContaining(told))
  ahead_ms = 0
  const after = await enter('after')
  await expect.poll(() => typesAbout(after)).toEqual(EACH_ONCE)
  await expect.poll(() => typesAbout(before)).toEqual(EACH_ONCE)
})

it('a webhook is told steps that were reached while the clock was ahead and it was disabled', async () => {
  const path = await createWebhook(['journey.step_reached'])
  await workspace.client.updateWebhook({ path, body: { enabled: false } })
  ahead_ms = 2 * DAY_MS
  const before = await enter('before')
  ahead_ms = 0
  await workspace.client.updateWebhook({ path, body: { enabled: true } })
  const after = await enter('after')
  await expect.poll(() => typesAbout(before)).toEqual(['journey.step_reached'])
  await expect.poll(() => typesAbout(after)).toEqual(['journey.step_reached'])
})

it('a webhook that is told only who enters a journey is told it after the clock was set back', async () => {
  await createWebhook(['journey.entered'])
  ahead_ms = 2 * DAY_MS
  const before = await enter('before')
  await expect.poll(() => typesAbout(before)).toEqual(['journey.entered'])
  ahead_ms = 0
  const after = await enter('after')
  await expect.poll(() => typesAbout(after)).toEqual(['journey.entered'])
})

it.each([500, 503])(
  'messages that were answered with %i are sent again once the clock was set back',
  async (status) => {
    const path = await createWebhook(['customer.created'])
    receiver.answer = (res) => res.writeHead(status).end()
    ahead_ms = 2 * DAY_MS
    const customer_id = await initialize(workspace, 'user-1')
    const attempts = async () => {
      const { data } = await workspace.client.listWebhookDeliveries({ path })
      return data?.data[0]?.last_attempt?.status_code
    }
    await expect.poll(attempts).toBe(status)
    receiver.answer = (res) => res.writeHead(204).end()
    ahead_ms = 0
    await expect.poll(attempts).toBe(204)
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(1)
    expect(typesAbout(customer_id).length).toBeGreaterThanOrEqual(2)
  },
)

it('rising rejections are told within a minute after the clock was set back', async () => {
  ahead_ms = 2 * DAY_MS
  await createWebhook(['refusals.rising', 'customer.created'])
  await initialize(workspace, 'user-1')
  await receiver.has(1, 'customer.created')
  ahead_ms = 0
  const { client, journey_id } = workspace
  const event = { journey_id, customer_id: 'nobody', event_id: 'signed_up' }
  await client.createEvents({ body: { events: Array(10).fill(event) } })
  await expect.poll(async () => (await client.listRefusals()).data?.data.length).toBe(10)
  ahead_ms = 60_000
  await receiver.has(1, 'refusals.rising')
})
