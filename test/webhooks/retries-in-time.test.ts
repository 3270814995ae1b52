// engines: sqlite, postgres

import { beforeEach, describe, expect, it } from 'vitest'
import type { Schemas } from '../../client/index.ts'
import { DAY_MS } from '../../server/domain/durations.ts'
import { type Cairn, startCairnForTest, type Workspace } from '../fixtures/cairn.ts'
import { customerInJourney, initialize } from '../fixtures/customer.ts'
import { engine } from '../fixtures/engine.ts'
import { scrape } from '../fixtures/exposition.ts'
import { inStore } from '../fixtures/in-store.ts'
import { signUp } from '../fixtures/people.ts'
import { type Receiver, startReceiver } from '../fixtures/receiver.ts'
import { newWebhook } from '../fixtures/webhook.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

let passed_ms = 0
let cairn: Cairn
let workspace: Workspace
let receiver: Receiver
let event: { journey_id: string; customer_id: string; event_id: string }
let path: { webhook_id: string }

/** The clock of the server stands still unless a test turns it forward, however long a test takes. */
const start_ms = Date.now()
const now = () => start_ms + passed_ms

beforeEach(async () => {
  passed_ms = 0
  cairn = await startCairnForTest({ now })
  ;({ workspace, event } = await customerInJourney(cairn))
  receiver = await startReceiver()
  const body = { url: receiver.url, types: ['event.created' as const] }
  ;({ path } = await newWebhook(workspace.client, body))
})

async function send(count = 1) {
  await Promise.all(Array.from({ length: count }, () => workspace.client.createEvent({ body: event })))
}

async function webhook(): Promise<Schemas['Webhook']> {
  const { data } = await workspace.client.getWebhook({ path })
  if (!data) throw new Error('the webhook is missing')
  return data
}

async function deliveries(): Promise<Schemas['Delivery'][]> {
  return (await workspace.client.listWebhookDeliveries({ path })).data?.data ?? []
}

/** Whether nothing is sent before time passes. An attempt counts from when it is recorded, not from when it was received. */
async function isWaiting(): Promise<boolean> {
  const { enabled, next_attempt_at } = await webhook()
  const planned = next_attempt_at
    ? [next_attempt_at]
    : (await deliveries()).map((delivery) => delivery.next_attempt_at)
  return !enabled || planned.every((at) => Date.parse(at ?? '') > now())
}

describe('a message that is not accepted', () => {
  it('is sent again with the same webhook-id, after 5 s, 5 min and so on', async () => {
    receiver.answer = (res) => res.writeHead(500).end('no disk')
    await send()
    await receiver.has(1)
    await expect.poll(async () => (await deliveries())[0]?.attempts).toBe(1)
    const [first] = await deliveries()
    expect(first).toMatchObject({ status: 'pending', last_attempt: { status_code: 500, error: 'status' } })
    // Only people see what a receiver answers.
    expect(first?.last_attempt?.response).toBe(null)
    for (const [index, wait_ms] of [5_000, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS].entries()) {
      const [delivery] = await deliveries()
      const planned_ms =
        Date.parse(delivery?.next_attempt_at ?? '') - Date.parse(delivery?.last_attempt?.at ?? '')
      expect(planned_ms / wait_ms).toBeGreaterThan(0.89)
      expect(planned_ms / wait_ms).toBeLessThan(1.11)
      passed_ms += wait_ms * 1.2
      await expect.poll(async () => (await deliveries())[0]?.attempts).toBe(index + 2)
    }
    receiver.answer = (res) => res.writeHead(204).end()
    passed_ms += 6 * HOUR_MS
    await expect.poll(async () => (await deliveries())[0]?.status).toBe('succeeded')
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(1)
    expect((await webhook()).failing_since).toBe(null)
  })

  it('waits as long as Retry-After asks for, and so does everything else', async () => {
    receiver.answer = (res) => res.writeHead(429, { 'retry-after': '3600' }).end()
    await send()
    await expect.poll(async () => (await webhook()).next_attempt_at).not.toBe(null)
    await send(2)
    const wait_ms = Date.parse((await webhook()).next_attempt_at ?? '') - now()
    expect(wait_ms).toBeGreaterThan(HOUR_MS - MINUTE_MS)
    receiver.answer = (res) => res.writeHead(204).end()
    passed_ms += 30 * MINUTE_MS
    const { data: fourth } = await workspace.client.createEvent({ body: event })
    await expect.poll(async () => (await webhook()).pending_deliveries).toBe(4)
    expect(receiver.received.map(({ data }) => data.id)).not.toContain(fourth?.id)
    passed_ms += 45 * MINUTE_MS
    await expect.poll(async () => (await webhook()).pending_deliveries).toBe(0)
    expect(new Set(receiver.received.map(({ data }) => data.id)).size).toBe(4)
  })

  it('is given up after ten attempts if others are accepted, and can be sent again', async () => {
    receiver.answer = (res, { data }) => res.writeHead(data.custom_variables ? 500 : 204).end()
    const { data: bad } = await workspace.client.createEvent({
      body: { ...event, custom_variables: { bad: true } },
    })
    const delivery = async () => (await deliveries()).find(({ subject_id }) => subject_id === bad?.id)
    for (let attempts = 1; attempts < 10; attempts += 1) {
      await expect.poll(async () => (await delivery())?.attempts).toBe(attempts)
      // Without one that is accepted in between, a webhook that has failed for five days would be disabled.
      await send()
      await expect.poll(async () => (await webhook()).failing_since).toBe(null)
      passed_ms += 27 * HOUR_MS
    }
    await expect.poll(async () => (await delivery())?.status).toBe('failed')
    const failed = await workspace.client.listWebhookDeliveries({ path, query: { status: 'failed' } })
    const [{ delivery_id = '' } = {}] = failed.data?.data ?? []
    receiver.answer = (res) => res.writeHead(204).end()
    const { data } = await workspace.client.resendWebhookDelivery({ path: { ...path, delivery_id } })
    expect(data).toMatchObject({ status: 'pending', attempts: 0 })
    await expect.poll(async () => (await delivery())?.status).toBe('succeeded')
    expect((await webhook()).enabled).toBe(true)
  })
})

describe('a receiver that rejects many messages in a row', () => {
  beforeEach(() => {
    receiver.answer = (res, { data }) => res.writeHead(data.custom_variables ? 500 : 204).end()
  })

  it('gets the others all the same, and stays enabled', async () => {
    const bad = { ...event, custom_variables: { bad: true } }
    await workspace.client.createEvents({ body: { events: Array.from({ length: 10 }, () => bad) } })
    await expect.poll(async () => (await webhook()).next_attempt_at).not.toBe(null)
    const { data: good } = await workspace.client.createEvent({ body: event })
    await expect
      .poll(async () => (await deliveries()).map(({ subject_id }) => subject_id))
      .toContain(good?.id)
    // The next attempts are one of a rejected message, and one of the other.
    for (const _ of [1, 2]) {
      await expect.poll(isWaiting).toBe(true)
      passed_ms += HOUR_MS
    }
    const status = async () => (await deliveries()).find(({ subject_id }) => subject_id === good?.id)?.status
    await expect.poll(status).toBe('succeeded')
    // More than five days after the first failure, and less after the success.
    await expect.poll(isWaiting).toBe(true)
    const sent = receiver.received.length
    passed_ms += 5 * DAY_MS - HOUR_MS
    await receiver.has(sent + 1)
    await expect.poll(isWaiting).toBe(true)
    expect((await webhook()).enabled).toBe(true)
  })
})

describe('a receiver that is down', () => {
  it('gets everything after a day, each message once', async () => {
    receiver.answer = (res) => res.destroy()
    await send(30)
    await expect.poll(async () => (await webhook()).next_attempt_at).not.toBe(null)
    passed_ms += DAY_MS
    await send(30)
    await expect.poll(async () => (await webhook()).pending_deliveries).toBe(60)
    await expect.poll(isWaiting).toBe(true)
    receiver.received.length = 0
    receiver.answer = (res) => res.writeHead(204).end()
    passed_ms += HOUR_MS
    await expect.poll(async () => (await webhook()).pending_deliveries).toBe(0)
    const ids = receiver.received.map(({ data }) => data.id)
    expect(new Set(ids).size).toBe(60)
    expect(ids).toHaveLength(60)
  })

  it('uses up no attempts of its messages', async () => {
    receiver.answer = (res) => res.writeHead(500).end()
    const attempts = async () => (await deliveries()).reduce((sum, { attempts }) => sum + attempts, 0)
    await send(10)
    await expect.poll(attempts).toBe(10)
    for (let probes = 1; probes <= 4; probes += 1) {
      await expect.poll(isWaiting).toBe(true)
      passed_ms += HOUR_MS
      await receiver.has(10 + probes)
    }
    await expect.poll(isWaiting).toBe(true)
    expect(await attempts()).toBe(10)
  })

  it.each([
    ['has failed again and again', 12, {}],
    ['has failed a few times', 2, {}],
    ['has asked for a pause', 2, { 'retry-after': '86400' }],
  ])('and %s is no reason to wait once the webhook has another URL', async (_, count, headers) => {
    receiver.answer = (res) => res.writeHead(500, headers).end()
    await send(count)
    await expect.poll(async () => (await webhook()).failing_since).not.toBe(null)
    await expect.poll(async () => (await webhook()).pending_deliveries).toBe(count)
    await expect.poll(isWaiting).toBe(true)
    const other = await startReceiver()
    passed_ms += 1_000
    const { data } = await workspace.client.updateWebhook({ path, body: { url: other.url } })
    expect(data).toMatchObject({ failing_since: null, next_attempt_at: null })
    await other.has(count)
    await expect.poll(async () => (await webhook()).pending_deliveries).toBe(0)
  })

  it('is disabled after five days, and told what it has missed once it is enabled', async () => {
    receiver.answer = (res) => res.writeHead(503).end()
    await send(2)
    await expect.poll(async () => (await deliveries()).length).toBe(2)
    while ((await webhook()).enabled) {
      await expect.poll(isWaiting).toBe(true)
      passed_ms += DAY_MS
    }
    expect(passed_ms).toBeGreaterThanOrEqual(5 * DAY_MS)
    expect((await webhook()).disabled_reason).toBe('failing')
    await send(2)
    receiver.answer = (res) => res.writeHead(204).end()
    receiver.received.length = 0
    const { data } = await workspace.client.updateWebhook({ path, body: { enabled: true } })
    // Otherwise its next failure would disable it again.
    expect(data).toMatchObject({ failing_since: null, next_attempt_at: null })
    const received = await receiver.has(4)
    expect(new Set(received.map(({ data }) => data.id)).size).toBe(4)
  })

  it('that answers 410 is disabled at once, and can go on from now', async () => {
    receiver.answer = (res) => res.writeHead(410).end()
    await send()
    await expect.poll(async () => (await webhook()).disabled_reason).toBe('gone')
    await send(3)
    receiver.answer = (res) => res.writeHead(204).end()
    receiver.received.length = 0
    passed_ms += 1_000
    await workspace.client.updateWebhook({ path, body: { enabled: true, skip_missed: true } })
    passed_ms += 1_000
    const { data } = await workspace.client.createEvent({ body: event })
    await receiver.has(1)
    expect(receiver.received.map(({ data }) => data.id)).toEqual([data?.id])
  })
})

describe('what happened', () => {
  it('is told again from an instant, with the same webhook-ids and all attempts', async () => {
    await send(5)
    await receiver.has(5)
    await expect.poll(async () => (await webhook()).pending_deliveries).toBe(0)
    passed_ms += 1_000
    await workspace.client.replayWebhook({ path, body: { from: '2026-01-01T00:00:00Z' } })
    const received = await receiver.has(10)
    expect(new Set(received.map(({ id }) => id)).size).toBe(5)
    await expect.poll(async () => (await webhook()).pending_deliveries).toBe(0)
    expect((await deliveries()).map(({ attempts }) => attempts)).toEqual([1, 1, 1, 1, 1])
  })

  it('and was removed by retention is reported as skipped', async () => {
    receiver.answer = (res) => res.writeHead(503).end()
    await send()
    await workspace.client.updateWebhook({ path, body: { enabled: false } })
    await setRetention(3)
    await send(2)
    passed_ms += 2.5 * DAY_MS
    await expect.poll(async () => (await webhook()).is_lagging).toBe(true)
    passed_ms += 2 * DAY_MS
    // It looks at once, and not within the next minute.
    await setRetention(2)
    await expect.poll(async () => (await workspace.client.listEvents()).data?.data).toEqual([])
    receiver.answer = (res) => res.writeHead(204).end()
    await workspace.client.updateWebhook({ path, body: { enabled: true } })
    const [skipped] = await receiver.has(1, 'webhook.skipped')
    const { from, to } = skipped?.data ?? {}
    expect(Date.parse(String(to)) - Date.parse(String(from))).toBeGreaterThan(0)
  })

  it('and was removed by retention in one journey is not reported to a webhook of another', async () => {
    const { client } = workspace
    const journey_id = (await client.createJourney({ body: { name: 'Other' } })).data?.journey_id ?? ''
    const other = await startReceiver()
    const ofOther = { url: other.url, types: ['event.created' as const], journey_ids: [journey_id] }
    const { path } = await newWebhook(client, ofOther)
    await client.updateWebhook({ path, body: { enabled: false } })
    await send()
    await receiver.has(1)
    passed_ms += 4 * DAY_MS
    await setRetention(2)
    await expect.poll(async () => (await client.listEvents()).data?.data).toEqual([])
    await client.updateWebhook({ path, body: { enabled: true } })
    const customer_id = await initialize({ client, journey_id }, 'user-2')
    await client.createEvent({ body: { journey_id, customer_id, event_id: 'signed_up' } })
    await other.has(1)
    expect(other.types).toEqual(['event.created'])
  })

  it('is resent with its message, also if that is no event and was accepted', async () => {
    const { client } = workspace
    const other = await startReceiver()
    const { path } = await newWebhook(client, { url: other.url, types: ['customer.created'] })
    const customer_id = await initialize(workspace, 'user-2')
    const delivery = async () => {
      const { data } = await client.listWebhookDeliveries({ path })
      return data?.data.find(({ subject_id }) => subject_id === customer_id)
    }
    await expect.poll(async () => (await delivery())?.status).toBe('succeeded')
    const delivery_id = (await delivery())?.delivery_id ?? ''
    await client.resendWebhookDelivery({ path: { ...path, delivery_id } })
    // Of another customer, who was created just before the webhook, PostgreSQL may tell it too.
    const told = () => other.received.filter(({ data }) => data.customer_id === customer_id)
    await expect.poll(() => told().length).toBe(2)
    const [first, again] = told()
    expect([again?.id, again?.data]).toEqual([first?.id, first?.data])
  })

  // PostgreSQL tells by its own clock until when everything was read.
  it.skipIf(engine === 'postgres')(
    'and was told is not reported as skipped when it is removed by retention',
    async () => {
      await send()
      await receiver.has(1)
      passed_ms += 2 * DAY_MS
      // What the store is told of makes the server look, and find no other event.
      await initialize(workspace, 'user-2')
      await expect.poll(isToldUntilNow).toBe(true)
      passed_ms += 2 * DAY_MS
      await setRetention(3)
      await expect.poll(async () => (await workspace.client.listEvents()).data?.data).toEqual([])
      await send()
      await receiver.has(2)
      expect(receiver.types).toEqual(['event.created', 'event.created'])
    },
  )
})

describe('deliveries', () => {
  it.each([
    ['30 days', 30, null],
    ['as long as the workspace keeps events, if that is shorter', 3, 3],
  ])('are kept for %s, but those that wait until they are sent', async (_, days, retention_days) => {
    if (retention_days !== null) {
      const owner = await signUp(cairn, workspace, 'owner')
      await owner.client().updateWorkspace({ body: { retention_days } })
    }
    receiver.answer = (res, { data }) => res.writeHead(data.custom_variables ? 500 : 204).end()
    const sent = async (fields = {}) =>
      (await workspace.client.createEvent({ body: { ...event, ...fields } })).data?.id
    const listed = async () =>
      (await deliveries()).map(({ subject_id, status, attempts }) => [subject_id, status, attempts])
    const waiting = await sent({ custom_variables: { bad: true } })
    await expect.poll(listed).toEqual([[waiting, 'pending', 1]])
    const old = await sent()
    await expect.poll(listed).toContainEqual([old, 'succeeded', 1])
    passed_ms += (days - 1) * DAY_MS
    const recent = await sent()
    await expect.poll(listed).toContainEqual([waiting, 'pending', 2])
    await expect.poll(listed).toContainEqual([recent, 'succeeded', 1])
    passed_ms += 2 * DAY_MS
    await expect.poll(listed).toEqual([
      [recent, 'succeeded', 1],
      [waiting, 'pending', 3],
    ])
  })
})

async function isToldUntilNow(): Promise<boolean> {
  const { told_ms } = await inStore(cairn.databaseUrl, (db) =>
    db.selectFrom('webhooks').select('told_ms').executeTakeFirstOrThrow(),
  )
  return told_ms >= now()
}

/** Of the journey: only people set that of a workspace. */
async function setRetention(retention_days: number) {
  const { journey_id } = workspace
  await workspace.client.updateJourney({ path: { journey_id }, body: { retention_days } })
}

describe('the metrics', () => {
  it('count requests by outcome, and webhooks by state', async () => {
    const away = await startReceiver()
    away.answer = (res) => res.writeHead(500).end()
    const body = { types: ['event.created' as const] }
    await newWebhook(workspace.client, { ...body, url: away.url })
    const { path } = await newWebhook(workspace.client, { ...body, url: receiver.url })
    await workspace.client.updateWebhook({ path, body: { enabled: false } })
    await send(2)
    await receiver.has(2)
    await away.has(1)
    const counted = async () => {
      const samples = await scrape(cairn)
      const ours = samples.filter(({ name }) => /^cairn_webhook(s|_attempts_total)$/.test(name))
      return ours.map(({ labels, value }) => [
        labels.state ?? labels.outcome,
        // The second message may be tried before the first has failed, or wait for it.
        labels.outcome === 'failed' ? value === away.received.length : value,
      ])
    }
    await expect.poll(counted).toEqual([
      ['enabled', 2],
      ['failing', 1],
      ['disabled', 1],
      ['succeeded', 2],
      ['failed', true],
    ])
  })
})
