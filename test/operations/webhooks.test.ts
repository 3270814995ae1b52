// engines: sqlite, postgres

import { describe, expect } from 'vitest'
import type { Client, Schemas } from '../../client/index.ts'
import { skippedDelivery } from '../../server/domain/webhook-messages.ts'
import { openStorage } from '../../server/storage/open.ts'
import { eraseCustomer } from '../../server/storage/removals/erasures.ts'
import { commandLine } from '../../server/storage/tables/audit-log.ts'
import { insertDeliveries } from '../../server/storage/tables/webhook-deliveries.ts'
import {
  advanceWebhook,
  findWebhook,
  updateWebhook,
  WebhookMoved,
} from '../../server/storage/tables/webhooks.ts'
import { Unavailable } from '../../server/storage/unavailable.ts'
import { startCairnForTest } from '../fixtures/cairn.ts'
import { resolved } from '../fixtures/contract/document.ts'
import { initialize } from '../fixtures/customer.ts'
import { engine } from '../fixtures/engine.ts'
import { inStore } from '../fixtures/in-store.ts'
import { it } from '../fixtures/it.ts'
import { startReceiver } from '../fixtures/receiver.ts'
import { newWebhook } from '../fixtures/webhook.ts'

const url = 'https://hooks.example.com/hook?secret=in-the-query'
const types: Schemas['WebhookType'][] = ['event.created']

/** The removal that an erasure begins never comes. */
const NEVER = { removeCustomer: async () => ({ removal_id: '', enrolments: 1 }) }

/** A webhook that is told who has not completed a journey of two steps within an hour, of a server with a clock of its own. */
async function toldOfDropped(types: Schemas['WebhookType'][], now: () => number) {
  const cairn = await startCairnForTest({ now })
  const receiver = await startReceiver()
  const workspace = await cairn.workspace()
  const { client, journey_id } = workspace
  const steps = ['signed_up', 'paid'].map((event_id) => ({ event_id, name: event_id }))
  await client.updateJourney({ path: { journey_id }, body: { steps } })
  const { path } = await newWebhook(client, { url: receiver.url, types, dropped_after: 'PT1H' })
  return { receiver, workspace, path }
}

describe('a webhook', () => {
  it('is listed without its secret, which is stored encrypted', async ({ cairn, client, workspace }) => {
    const { data } = await client.createWebhook({ body: { url, types, description: 'Warehouse' } })
    const { webhook, secret } = data ?? {}
    expect(secret).toMatch(/^whsec_/)
    expect((await client.listWebhooks()).data?.data).toEqual([webhook])
    expect(JSON.stringify(webhook)).not.toContain('whsec_')
    const { workspace_id } = workspace
    const rows = await inStore(cairn.databaseUrl, (db) =>
      db.selectFrom('webhooks').selectAll().where('workspace_id', '=', workspace_id).execute(),
    )
    const [row] = rows
    expect(row?.secret).not.toContain(secret?.slice('whsec_'.length))
    expect(JSON.stringify(cairn.log)).not.toContain(secret)
  })

  it('is answered as it is then stored, also when it is rotated or replayed', async ({ client }) => {
    const { path } = await newWebhook(client, { url, types })
    const rotated = await client.rotateWebhookSecret({ path })
    expect(rotated.data?.webhook).toEqual((await client.getWebhook({ path })).data)
    const replayed = await client.replayWebhook({ path, body: { from: '2026-11-01T00:00:00Z' } })
    expect(replayed.data).toEqual((await client.getWebhook({ path })).data)
  })

  it('is changed, and the audit log says how, without the query of its URL', async ({ client, owner }) => {
    const { path, secret } = await newWebhook(client, { url, types })
    const body = { types: ['customer.created' as const], enabled: false }
    expect((await client.updateWebhook({ path, body })).data).toMatchObject({
      ...body,
      disabled_reason: 'by_hand',
    })
    const rotated = await client.rotateWebhookSecret({ path })
    expect(rotated.data?.secret).not.toBe(secret)
    await client.replayWebhook({ path, body: { from: '2026-11-01T00:00:00Z' } })
    await client.removeWebhook({ path })
    expect((await client.getWebhook({ path })).error?.code).toBe('webhook_not_found')
    const log = await owner.client().listAuditLog({ query: { area: 'webhooks' } })
    expect(log.data?.data.map(({ action }) => action)).toEqual([
      'webhook_removed',
      'webhook_replayed',
      'webhook_secret_rotated',
      'webhook_updated',
      'webhook_created',
    ])
    expect(log.data?.data[1]).toMatchObject({ after: { from: '2026-11-01T00:00:00.000Z' } })
    expect(log.data?.data[3]).toMatchObject({
      subject: { kind: 'webhook', id: path.webhook_id, name: 'hooks.example.com' },
      before: { types, enabled: true },
      after: body,
    })
    expect(JSON.stringify(log.data)).not.toContain('in-the-query')
  })

  it('is replayed from now on if it is to begin in the future', async ({ client, owner }) => {
    const { path } = await newWebhook(client, { url, types: ['journey.entered'] })
    await client.replayWebhook({ path, body: { from: '2999-01-01T00:00:00Z' } })
    const log = await owner.client().listAuditLog({ query: { area: 'webhooks' } })
    const [entry] = log.data?.data ?? []
    expect(entry).toMatchObject({ action: 'webhook_replayed', after: { from: expect.any(String) } })
    expect(Date.parse(String(entry?.after?.from))).toBeLessThanOrEqual(Date.parse(entry?.at ?? ''))
  })

  it.for([undefined, 'PT0S', 'P0DT0H0M0S'])(
    'needs a time for journey.dropped: %s is refused',
    async (dropped_after, { client }) => {
      const types: Schemas['WebhookType'][] = ['journey.dropped']
      const body = { url, types, ...(dropped_after !== undefined && { dropped_after }) }
      expect((await client.createWebhook({ body })).error?.code).toBe('dropped_after_missing')
      const { path } = await newWebhook(client, { url, types, dropped_after: 'PT1S' })
      const update = { dropped_after: dropped_after ?? null }
      const { error } = await client.updateWebhook({ path, body: update })
      expect(error?.code).toBe('dropped_after_missing')
    },
  )

  it.for([
    'http://hooks.example.org/hook',
    'https://10.0.0.7/hook',
    'https://169.254.169.254/latest/meta-data',
    'https://[::ffff:10.0.0.7]/hook',
    'https://0x0a000007/hook',
  ])('cannot have the URL %s', async (url) => {
    const guarded = await startCairnForTest({
      webhookAllow: [],
      resolve: async () => [{ address: '93.184.215.14', family: 4 }],
    })
    const { client } = await guarded.workspace()
    const { error } = await client.createWebhook({ body: { url, types } })
    expect(error?.code).toBe('webhook_url_not_allowed')
  })

  it('is not sent to an address that its host has got since', async () => {
    let address = '127.0.0.1'
    const receiver = await startReceiver()
    const options = { resolve: async () => [{ address, family: 4 }] }
    const { client } = await (await startCairnForTest(options)).workspace()
    const port = new URL(receiver.url).port
    const { path } = await newWebhook(client, { url: `http://hooks.example.com:${port}/hook`, types })
    expect((await client.testWebhook({ path })).data).toMatchObject({ status_code: 204, error: null })
    // Like a resolver that an attacker controls: a private address, which this server does not allow.
    address = '10.0.0.7'
    await expect
      .poll(async () => {
        // A connection that is open was checked when it was opened.
        await expect.poll(() => receiver.openConnections()).toBe(0)
        return (await client.testWebhook({ path })).data?.error
      })
      .toBe('blocked_address')
  })

  it('signs with every secret of the last 24 hours, however often they were replaced', async () => {
    const time = { ms: Date.now() }
    const cairn = await startCairnForTest({ now: () => time.ms })
    const { client } = await cairn.workspace()
    const receiver = await startReceiver()
    const { path, secret } = await newWebhook(client, { url: receiver.url, types })
    const rotate = async () => (await client.rotateWebhookSecret({ path })).data?.secret ?? ''
    const [second, third] = [await rotate(), await rotate()]
    receiver.secrets.push(secret, second, third)
    expect((await client.testWebhook({ path })).data?.status_code).toBe(204)

    const [fourth, fifth] = [await rotate(), await rotate()]
    receiver.secrets.splice(0, 3, second, third, fourth, fifth)
    expect((await client.testWebhook({ path })).data?.status_code).toBe(204)
    const header = () => String(receiver.received.at(-1)?.headers['webhook-signature'])
    const signatures = () => header().split(' ')
    expect(signatures()).toHaveLength(4)
    // As the contract tells receivers.
    const { pattern = '', maxLength = 0 } = resolved({
      $ref: '#/components/parameters/MessageSignature/schema',
    })
    expect(header()).toMatch(new RegExp(pattern))
    expect(header()).toHaveLength(maxLength)
    time.ms += 86_400_000
    // Receivers compare the time of a message with the real clock.
    receiver.secrets.length = 0
    expect((await client.testWebhook({ path })).data?.status_code).toBe(204)
    expect(signatures()).toHaveLength(1)
  })

  it('is not said to be unchanged if what is read after a change fails', async () => {
    let isOverloaded = false
    const cairn = await startCairnForTest({
      async open(options) {
        const storage = await openStorage(options)
        const db = new Proxy(storage.db, {
          get(db, name) {
            const member = Reflect.get(db, name)
            if (typeof member !== 'function') return member
            return (...values: unknown[]) => {
              // The key of the request may be read again at any time.
              const isOfWebhooks = name === 'selectFrom' && String(values[0]).startsWith('webhook')
              if (isOverloaded && isOfWebhooks) throw new Unavailable('overloaded')
              return member.apply(db, values)
            }
          },
        })
        return { ...storage, db }
      },
    })
    const { client } = await cairn.workspace()
    const { path } = await newWebhook(client, { url, types })
    isOverloaded = true
    const replies = await Promise.all([
      client.createWebhook({ body: { url, types } }),
      client.updateWebhook({ path, body: { description: 'Warehouse' } }),
      client.rotateWebhookSecret({ path }),
      client.replayWebhook({ path, body: { from: '2026-11-20T08:12:03Z' } }),
    ])
    isOverloaded = false
    expect(replies.map(({ response }) => response.status)).toEqual([201, 200, 200, 200])
    expect((await client.listWebhooks()).data?.data).toHaveLength(2)
  })

  it('needs the key of the server, and keeps its place without it', async () => {
    const receiver = await startReceiver()
    const first = await startCairnForTest()
    const workspace = await first.workspace()
    const { path } = await newWebhook(workspace.client, { url: receiver.url, types })
    const customer_id = await initialize(workspace, 'user-1')
    await first.stop()
    const { databaseUrl } = first
    const other = await startCairnForTest({ databaseUrl, encryptionKey: Buffer.alloc(32, 'another key') })
    const client = other.client(workspace.secret_key)
    const event = { journey_id: workspace.journey_id, customer_id, event_id: 'signed_up' }
    await client.createEvent({ body: event })
    const deliveries = async () => (await client.listWebhookDeliveries({ path })).data?.data ?? []
    await expect.poll(async () => (await deliveries())[0]?.last_attempt?.error).toBe('secret_unreadable')
    const { data } = await client.rotateWebhookSecret({ path })
    receiver.secrets.push(data?.secret ?? '')
    await receiver.has(1)
  })

  it('shows what its receiver answered to people, and not to keys', async ({ client, event, owner }) => {
    const receiver = await startReceiver()
    const answer = 'host db-1 is down'
    receiver.answer = (res) => res.writeHead(500).end(answer)
    const { path } = await newWebhook(client, { url: receiver.url, types })
    await client.createEvent({ body: event })
    const shownTo = async (caller: Pick<Client, 'listWebhookDeliveries' | 'testWebhook'>) => {
      const { data } = await caller.listWebhookDeliveries({ path })
      const test = await caller.testWebhook({ path })
      return [data?.data[0]?.last_attempt, test.data].map((attempt) => attempt?.response)
    }
    const attempted = async () => (await client.getWebhook({ path })).data?.failing_since
    await expect.poll(attempted).toEqual(expect.any(String))
    expect(await shownTo(owner.client())).toEqual([answer, answer])
    expect(await shownTo(client)).toEqual([null, null])
  })

  it('of a customer that was erased has nothing more to send about it', async ({ client, event }) => {
    const receiver = await startReceiver()
    receiver.answer = (res) => res.writeHead(500).end()
    const body = { url: receiver.url, types: [...types, 'customer.erased' as const] }
    const { path } = await newWebhook(client, body)
    await client.createEvent({ body: event })
    await receiver.has(1)
    const { customer_id } = event
    await client.eraseCustomer({ path: { customer_id } })
    receiver.answer = (res) => res.writeHead(204).end()
    const [erased] = await receiver.has(1, 'customer.erased')
    expect(erased?.data).toMatchObject({ customer_id })
    const completed = async () => {
      const { data } = await client.listErasures()
      return data?.data.find((row) => row.customer_id === customer_id)?.completed_at
    }
    await expect.poll(completed).toEqual(expect.any(String))
    const { data } = await client.listWebhookDeliveries({ path })
    expect(data?.data.map(({ type }) => type)).toEqual(['customer.erased'])
  })

  it('is sent nothing more about an erased customer, even before that is removed', async ({
    cairn,
    client,
    event,
    workspace,
  }) => {
    const receiver = await startReceiver()
    receiver.answer = (res, { type }) => res.writeHead(type === 'customer.erased' ? 204 : 500).end()
    const body = { url: receiver.url, types: [...types, 'customer.erased' as const] }
    const { path } = await newWebhook(client, body)
    await client.createEvent({ body: event })
    const pending = async () => (await client.getWebhook({ path })).data?.pending_deliveries
    const attempted = async () => (await client.listWebhookDeliveries({ path })).data?.data[0]?.attempts
    await expect.poll(attempted).toBe(1)
    const { workspace_id } = workspace
    const customer = { workspace_id, customer_id: event.customer_id, may_return: false }
    await inStore(cairn.databaseUrl, (db) => eraseCustomer(db, NEVER, customer, commandLine(Date.now())))
    await receiver.has(1, 'customer.erased')
    await expect.poll(pending).toBe(0)
  })

  it('shows and resends nothing about an erased customer, even before that is removed', async ({
    cairn,
    client,
    workspace,
  }) => {
    const receiver = await startReceiver()
    const body = { url: receiver.url, types: ['customer.created' as const, 'customer.erased' as const] }
    const { path } = await newWebhook(client, body)
    const customer_id = await initialize(workspace, 'user-1')
    const other = await initialize(workspace, 'user-2')
    const subjects = async (query: { status?: 'succeeded' } = {}) => {
      const { data } = await client.listWebhookDeliveries({ path, query })
      return data?.data.map(({ type, subject_id }) => `${type} ${subject_id}`).sort()
    }
    const told = [customer_id, other].map((id) => `customer.created ${id}`).sort()
    await expect.poll(() => subjects({ status: 'succeeded' })).toEqual(told)
    const { data } = await client.listWebhookDeliveries({ path })
    const { delivery_id = '' } = data?.data.find(({ subject_id }) => subject_id === customer_id) ?? {}
    const { workspace_id } = workspace
    const customer = { workspace_id, customer_id, may_return: false }
    await inStore(cairn.databaseUrl, (db) => eraseCustomer(db, NEVER, customer, commandLine(Date.now())))
    const shown = [`customer.created ${other}`, `customer.erased ${customer_id}`]
    expect(await subjects()).toEqual(shown)
    await expect.poll(() => subjects({ status: 'succeeded' })).toEqual(shown)
    const resent = await client.resendWebhookDelivery({ path: { ...path, delivery_id } })
    expect(resent.error?.code).toBe('delivery_not_found')
  })

  it('is not told by what was read before a replay in the same millisecond', async ({
    cairn,
    client,
    workspace,
  }) => {
    const { path } = await newWebhook(client, { url, types })
    await client.updateWebhook({ path, body: { enabled: false } })
    const key = { workspace_id: workspace.workspace_id, ...path }
    const read = await inStore(cairn.databaseUrl, async (db) => {
      const webhook = await findWebhook(db, key.workspace_id, key.webhook_id)
      if (!webhook) throw new Error('the webhook is missing')
      await updateWebhook(db, key, { from_ms: webhook.from_ms - 1, event_cursor: null })
      return webhook
    })
    const advanced = inStore(cairn.databaseUrl, (db) => {
      return advanceWebhook(db, read, { event_cursor: 'later' }, undefined)
    })
    await expect(advanced).rejects.toThrow(WebhookMoved)
  })

  it('that skips what it has missed keeps what is made for it meanwhile', async ({
    cairn,
    client,
    workspace,
  }) => {
    const { path } = await newWebhook(client, { url, types })
    await client.updateWebhook({ path, body: { enabled: false } })
    const { workspace_id } = workspace
    const hour_ms = 3_600_000
    const deliveryAt = (to_ms: number) => skippedDelivery(path.webhook_id, { from_ms: 0, to_ms }, to_ms)
    const missed = Array.from({ length: 600 }, (_, index) => deliveryAt(Date.now() - hour_ms + index))
    // As if another server made it between two of the transactions that remove the others.
    const meanwhile = deliveryAt(Date.now() + hour_ms)
    await inStore(cairn.databaseUrl, (db) =>
      insertDeliveries(db, { workspace_id, ...path }, [...missed, meanwhile]),
    )
    await client.updateWebhook({ path, body: { skip_missed: true } })
    const { data } = await client.listWebhookDeliveries({ path })
    expect(data?.data.map(({ delivery_id }) => delivery_id)).toEqual([meanwhile.delivery_id])
  })

  it('that has more deliveries than one transaction removes is disabled before the others are removed', async ({
    cairn,
    client,
    owner,
    workspace,
  }) => {
    const { path } = await newWebhook(client, { url, types })
    const { workspace_id } = workspace
    const now_ms = Date.now()
    const told = Array.from({ length: 600 }, (_, index) =>
      skippedDelivery(path.webhook_id, { from_ms: 0, to_ms: now_ms + index }, now_ms + 3_600_000),
    )
    await inStore(cairn.databaseUrl, (db) => insertDeliveries(db, { workspace_id, ...path }, told))
    expect((await client.removeWebhook({ path })).response.status).toBe(204)
    expect((await client.getWebhook({ path })).error?.code).toBe('webhook_not_found')
    const log = await owner.client().listAuditLog({ query: { area: 'webhooks' } })
    expect(log.data?.data.map(({ action, after }) => [action, after?.enabled])).toEqual([
      ['webhook_removed', undefined],
      ['webhook_updated', false],
      ['webhook_created', true],
    ])
  })

  it('tells who has not completed a journey in time', async () => {
    // An hour behind the database at first, which knows of nothing later than its own time.
    let behind_ms = 3_600_000
    const { receiver, workspace } = await toldOfDropped(['journey.dropped'], () => Date.now() - behind_ms)
    const { client, journey_id } = workspace
    const [late, quick] = [await initialize(workspace, 'late'), await initialize(workspace, 'quick')]
    await client.createEvent({ body: { journey_id, customer_id: late, event_id: 'signed_up' } })
    for (const event_id of ['signed_up', 'paid'])
      await client.createEvent({ body: { journey_id, customer_id: quick, event_id } })
    behind_ms = 0
    const dropped = await receiver.has(1)
    expect(dropped.map(({ data }) => data)).toEqual([
      expect.objectContaining({ customer_id: late, steps_reached: 1, journey_id }),
    ])
  })

  it('does not tell who completes a journey at the last instant', async () => {
    const hour_ms = 3_600_000
    const entered_ms = Date.now() - 2 * hour_ms
    let now_ms = entered_ms
    const { receiver, workspace, path } = await toldOfDropped(['journey.dropped'], () => now_ms)
    const { client, journey_id } = workspace
    const [last, late] = [await initialize(workspace, 'last'), await initialize(workspace, 'late')]
    now_ms += hour_ms - 1
    const send = (customer_id: string, event_id: string, occurred_ms: number) => {
      const occurred_at = new Date(occurred_ms).toISOString()
      return client.createEvent({ body: { journey_id, customer_id, event_id, occurred_at } })
    }
    for (const customer_id of [last, late]) await send(customer_id, 'signed_up', entered_ms)
    await send(last, 'paid', entered_ms + hour_ms)
    await send(late, 'paid', entered_ms + hour_ms + 1)
    now_ms += hour_ms
    await receiver.has(1)
    const pending = async () => (await client.getWebhook({ path })).data?.pending_deliveries
    await expect.poll(pending).toBe(0)
    expect(receiver.received.map(({ data }) => data.customer_id)).toEqual([late])
  })

  it('counts the time from an earlier entry, of which it learns while the window is open', async () => {
    const minutes = (count: number) => count * 60_000
    let behind_ms = minutes(120)
    const types: Schemas['WebhookType'][] = ['journey.entered', 'journey.step_reached', 'journey.dropped']
    const { receiver, workspace, path } = await toldOfDropped(types, () => Date.now() - behind_ms)
    const { client, journey_id } = workspace
    const entered_ms = Date.now() - behind_ms - minutes(30)
    const customer_id = await initialize(workspace, 'user-1')
    await receiver.has(1)
    // Concerns only customers who enter later.
    await client.updateWebhook({ path, body: { dropped_after: 'PT24H' } })
    const occurred_at = new Date(entered_ms).toISOString()
    await client.createEvent({ body: { journey_id, customer_id, event_id: 'signed_up', occurred_at } })
    await receiver.has(2)
    // An hour after the event, and not after the initialization.
    behind_ms = minutes(75)
    const told = await receiver.has(3)
    expect(told.map(({ type }) => type)).toEqual(types)
    const { entered_at, window_closed_at, ...dropped } = told.at(-1)?.data ?? {}
    expect(dropped).toEqual({ customer_id, journey_id, steps_reached: 1 })
    expect([entered_at, window_closed_at].map((at) => Date.parse(String(at)))).toEqual([
      entered_ms,
      entered_ms + minutes(60),
    ])
  })

  it('tells that more requests are rejected', async ({ client, event }) => {
    const receiver = await startReceiver()
    await client.createWebhook({ body: { url: receiver.url, types: ['refusals.rising'] } })
    const events = Array.from({ length: 12 }, () => ({ ...event, journey_id: 'jrn_unknown' }))
    await client.createEvents({ body: { events } })
    // Looked at once a minute: a second webhook is looked at now.
    await expect.poll(async () => (await client.listRefusals()).data?.data.length).toBe(12)
    await client.createWebhook({ body: { url: receiver.url, types: ['refusals.rising'] } })
    const [rising] = await receiver.has(1)
    expect(rising?.data).toMatchObject({ code: 'journey_not_found', count: 12, count_before: 0 })
  })
})

it('a server without a key for secrets refuses to make one', async () => {
  const keyed = await startCairnForTest()
  const workspace = await keyed.workspace()
  const { path } = await newWebhook(workspace.client, { url, types })
  await keyed.stop()
  const cairn = await startCairnForTest({ databaseUrl: keyed.databaseUrl, encryptionKey: undefined })
  const client = cairn.client(workspace.secret_key)
  const created = await client.createWebhook({ body: { url, types } })
  const rotated = await client.rotateWebhookSecret({ path })
  if (engine === 'sqlite') {
    // Next to a file it makes a key.
    expect([created.data?.secret, rotated.data?.secret]).toEqual([
      expect.stringMatching(/^whsec_/),
      expect.stringMatching(/^whsec_/),
    ])
  } else {
    expect([created.error?.code, rotated.error?.code]).toEqual([
      'encryption_key_missing',
      'encryption_key_missing',
    ])
  }
})
