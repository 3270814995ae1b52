// engines: sqlite, postgres

import { beforeEach, describe, expect, it } from 'vitest'
import type { Schemas } from '../../client/index.ts'
import { eventMessage } from '../../server/domain/webhook-messages.ts'
import { openStorage } from '../../server/storage/open.ts'
import type { Storage } from '../../server/storage/storage.ts'
import { dueDeliveries, isFull } from '../../server/storage/tables/webhook-deliveries.ts'
import { type Cairn, startCairnForTest, type Workspace } from '../fixtures/cairn.ts'
import { initialize } from '../fixtures/customer.ts'
import { type Receiver, startReceiver } from '../fixtures/receiver.ts'
import { connectTo } from '../fixtures/store.ts'
import { newWebhook } from '../fixtures/webhook.ts'

/** Customers registered at the same time: on a busy machine more would wait too long. */
const AT_ONCE = 100

let passed_ms = 0
let storage: Storage
let cairn: Cairn
let workspace: Workspace
let receiver: Receiver

beforeEach(async () => {
  passed_ms = 0
  cairn = await startCairnForTest({
    now: () => Date.now() + passed_ms,
    open: async (options) => {
      storage = await openStorage(options)
      return storage
    },
  })
  workspace = await cairn.workspace()
  receiver = await startReceiver()
})

async function createWebhook(types: Schemas['WebhookType'][]): Promise<{ webhook_id: string }> {
  return (await newWebhook(workspace.client, { url: receiver.url, types })).path
}

async function setEnabled(path: { webhook_id: string }, enabled: boolean) {
  await workspace.client.updateWebhook({ path, body: { enabled } })
}

async function register(count: number, customer_name: string) {
  const { workspace_id, journey_id } = workspace
  const names = { customer_type: 'contact', customer_name, journey_id } as const
  const add = (client_customer_id: string) =>
    storage.events.initializeCustomer(workspace_id, { ...names, client_customer_id })
  for (let from = 0; from < count; from += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => add(`user-${from + index}`)))
}

const customers = () => new Set(receiver.received.map(({ data }) => data.customer_id))

describe('what happened while a webhook was disabled', () => {
  it('is told however many customers have entered a journey, each once', async () => {
    const path = await createWebhook(['journey.entered'])
    await setEnabled(path, false)
    await register(3_000, 'Ada Lovelace')
    await setEnabled(path, true)
    await expect.poll(() => customers().size).toBe(3_000)
    expect(receiver.received).toHaveLength(3_000)
    expect(cairn.log.filter(({ msg }) => msg === 'could not serve a webhook; retrying')).toEqual([])
  })

  it('is told of customers who entered a journey that has been archived since', async () => {
    const path = await createWebhook(['journey.entered'])
    await setEnabled(path, false)
    const { client, journey_id } = workspace
    const customer_id = await initialize(workspace, 'user-1')
    expect((await client.archiveJourney({ path: { journey_id } })).response.status).toBe(200)
    await setEnabled(path, true)
    await expect.poll(() => [...customers()]).toEqual([customer_id])
  })

  it('is told of customers whose names fill more than a page, without another write', async () => {
    const path = await createWebhook(['customer.created'])
    await setEnabled(path, false)
    await register(600, 'A'.repeat(200))
    await setEnabled(path, true)
    await expect.poll(() => customers().size).toBe(600)
  })

  it.each(['event.created', 'customer.created'] as const)(
    'is told by %s though a replay begins later',
    async (type) => {
      const path = await createWebhook([type])
      await setEnabled(path, false)
      const { client, journey_id } = workspace
      const customer_id = await initialize(workspace, 'user-1')
      await client.createEvent({ body: { journey_id, customer_id, event_id: 'signed_up' } })
      passed_ms += 60_000
      const from = new Date(Date.now() + passed_ms).toISOString()
      expect((await client.replayWebhook({ path, body: { from } })).response.status).toBe(200)
      await setEnabled(path, true)
      await expect.poll(() => [...customers()]).toEqual([customer_id])
    },
  )
})

it('sends what is due even if it cannot read what has happened since', async () => {
  const path = await createWebhook(['event.created'])
  const { journey_id } = workspace
  const event = { journey_id, customer_id: await initialize(workspace, 'user-1'), event_id: 'signed_up' }
  receiver.answer = (res) => res.writeHead(500).end()
  await workspace.client.createEvent({ body: event })
  const attempts = async () => {
    const { data } = await workspace.client.listWebhookDeliveries({ path })
    return data?.data.map(({ attempts }) => attempts)
  }
  await expect.poll(attempts).toEqual([1])
  const { events } = storage
  const oldestEvents = events.oldestEvents.bind(events)
  events.oldestEvents = async () => {
    throw new Error('unreadable')
  }
  await workspace.client.createEvent({ body: event })
  receiver.answer = (res) => res.writeHead(204).end()
  passed_ms += 10_000
  await receiver.has(2)
  const [first, second] = receiver.received
  expect(second?.id).toBe(first?.id)
  const failed = { msg: 'could not serve a webhook; retrying', ...path }
  await expect.poll(() => cairn.log).toContainEqual(expect.objectContaining(failed))
  events.oldestEvents = oldestEvents
  await receiver.has(3)
})

/** Adds deliveries, which are due in an hour. */
async function addWaiting(
  webhook_id: string,
  count: number,
  { attempts, message = '{}', due_ms = 3_600_000 }: { attempts: number; message?: string; due_ms?: number },
) {
  const { run } = await connectTo(cairn.databaseUrl)
  await run(`INSERT INTO webhook_deliveries
    (workspace_id, webhook_id, delivery_id, type, subject, message, created_ms, status, attempts, next_ms)
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
    SELECT '${workspace.workspace_id}', '${webhook_id}', 'msg_${attempts}_${count}_' || n, 'customer.created', 'none', '${message}', 0,
      'pending', ${attempts}, ${Date.now() + due_ms} FROM numbers`)
}

describe('very many messages that a receiver has rejected', () => {
  it('do not hold back those that were never sent', async () => {
    const { webhook_id } = await createWebhook(['customer.created'])
    await addWaiting(webhook_id, 1_000, { attempts: 1 })
    const customer_id = await initialize(workspace, 'user-1')
    await expect.poll(() => receiver.received.map(({ data }) => data.customer_id)).toEqual([customer_id])
  })

  it.each([
    [1_000, { attempts: 0 }],
    [10_000, { attempts: 1 }],
  ])('let nothing more be read once %i wait with %o', async (most, attempts) => {
    const path = await createWebhook(['customer.created'])
    await setEnabled(path, false)
    const webhook = { workspace_id: workspace.workspace_id, ...path }
    await addWaiting(path.webhook_id, most - 1, attempts)
    expect(await isFull(storage.db, webhook)).toBe(false)
    await addWaiting(path.webhook_id, 1, attempts)
    expect(await isFull(storage.db, webhook)).toBe(true)
  })
})

describe('skipping what was missed', () => {
  it('sends nothing of it, however many messages wait, once the webhook is enabled', async () => {
    const path = await createWebhook(['customer.created'])
    await setEnabled(path, false)
    await addWaiting(path.webhook_id, 9_000, { attempts: 1, due_ms: 0 })
    const { client } = workspace
    const seen: (Schemas['Webhook'] | undefined)[] = []
    let isChanging = true
    const watching = async () => {
      while (isChanging) seen.push((await client.getWebhook({ path })).data)
    }
    const watched = watching()
    const { data } = await client.updateWebhook({ path, body: { enabled: true, skip_missed: true } })
    isChanging = false
    await watched
    expect([data?.enabled, data?.pending_deliveries]).toEqual([true, 0])
    // It would be sent.
    expect(seen.filter((webhook) => webhook?.enabled && webhook.pending_deliveries > 0)).toEqual([])
    const customer_id = await initialize(workspace, 'user-1')
    await receiver.has(1)
    expect(receiver.received.map(({ data }) => data.customer_id)).toEqual([customer_id])
    const pending = async () => (await client.getWebhook({ path })).data?.pending_deliveries
    await expect.poll(pending).toBe(0)
  })

  it('leaves nothing of it pending if the webhook stays enabled', async () => {
    const path = await createWebhook(['customer.created'])
    await addWaiting(path.webhook_id, 1_200, { attempts: 1 })
    const { data } = await workspace.client.updateWebhook({ path, body: { skip_missed: true } })
    expect(data?.pending_deliveries).toBe(0)
    expect((await workspace.client.getWebhook({ path })).data?.pending_deliveries).toBe(0)
  })
})

it('reads no more than a megabyte of large messages at a time, and sends all', async () => {
  const { client, journey_id } = workspace
  const event = { journey_id, customer_id: await initialize(workspace, 'user-1'), event_id: 'signed_up' }
  await client.createEvent({ body: { ...event, custom_variables: { text: 'a'.repeat(15_000) } } })
  const [stored] = (await client.listEvents()).data?.data ?? []
  const message = stored ? eventMessage(stored) : ''
  const path = await createWebhook(['customer.created'])
  await setEnabled(path, false)
  await addWaiting(path.webhook_id, 200, { attempts: 0, message, due_ms: 0 })
  const webhook = { workspace_id: workspace.workspace_id, ...path }
  const { rows, next } = await dueDeliveries(storage.db, webhook, Date.now(), 500)
  const read_bytes = rows.reduce((sum, { message }) => sum + (message?.length ?? 0), 0)
  expect(read_bytes).toBeLessThanOrEqual(1024 * 1024)
  expect([rows.length, next]).toEqual([63, expect.anything()])
  await setEnabled(path, true)
  await receiver.has(200)
  expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(200)
})

describe('slow receivers of a workspace', () => {
  it('delay no messages of another', async () => {
    const quick = await cairn.workspace()
    let ended = 0
    receiver.answer = (res) => {
      res.once('close', () => {
        ended += 1
      })
    }
    for (let count = 1; count <= 20; count += 1) await createWebhook(['customer.created'])
    const other = await startReceiver()
    await quick.client.createWebhook({ body: { url: other.url, types: ['customer.created'] } })
    await initialize(workspace, 'user-1')
    // Each is given up after 15 s.
    await receiver.has(16)
    await initialize(quick, 'user-1')
    await other.has(1)
    expect(ended).toBe(0)
  })
})
