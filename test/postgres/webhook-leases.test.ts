// engines: postgres (only there several servers share a store)

import { expect, it } from 'vitest'
import { newId } from '../../server/domain/identifiers.ts'
import {
  advanceWebhook,
  insertWebhook,
  leaseWebhook,
  WebhookMoved,
} from '../../server/storage/tables/webhooks.ts'
import { startCairn, startCairnForTest } from '../fixtures/cairn.ts'
import { initialize } from '../fixtures/customer.ts'
import { newDatabase } from '../fixtures/postgres/databases.ts'
import { runSql } from '../fixtures/postgres/sql.ts'
import { startReceiver } from '../fixtures/receiver.ts'
import { newSubject, openStoreForTest } from '../fixtures/store.ts'

it('one of two servers sends to a webhook, and the other goes on when it stops', async () => {
  const databaseUrl = await newDatabase()
  const [first, second] = [await startCairn({ databaseUrl }), await startCairn({ databaseUrl })]
  const workspace = await first.workspace()
  const receiver = await startReceiver()
  await workspace.client.createWebhook({ body: { url: receiver.url, types: ['event.created'] } })
  const customer_id = await initialize(workspace, 'user-1')
  const event = { journey_id: workspace.journey_id, customer_id, event_id: 'signed_up' }
  const clients = [workspace.client, second.client(workspace.secret_key)]
  const sent: (string | undefined)[] = []
  for (let round = 0; round < 30; round += 1) {
    for (const client of clients) sent.push((await client.createEvent({ body: event })).data?.id)
  }
  // A server that stops while a message is under way, or stalls for longer than a lease, lets the other send it again, with
  // the same identifier.
  const told = () => new Map(receiver.received.map(({ id, data }) => [id, data.id]))
  await expect.poll(() => told().size).toBe(60)
  await first.stop()
  const { data } = await second.client(workspace.secret_key).createEvent({ body: event })
  sent.push(data?.id)
  await expect.poll(() => [...told().values()].sort()).toEqual(sent.sort())
  await second.stop()
})

it('a lease of a server that ended while its clock was ahead delays nothing', async () => {
  const cairn = await startCairnForTest()
  const workspace = await cairn.workspace()
  const receiver = await startReceiver()
  await workspace.client.createWebhook({ body: { url: receiver.url, types: ['customer.created'] } })
  const until_ms = Date.now() + 86_400_000
  await runSql(cairn.databaseUrl, `UPDATE webhooks SET lease_owner = 'ended', lease_until_ms = ${until_ms}`)
  await initialize(workspace, 'user-1')
  await receiver.has(1)
})

it('a server whose lease has ended writes nothing once another server has the webhook', async () => {
  const store = await openStoreForTest()
  const { workspace_id } = await newSubject(store)
  const settings = {
    url: 'https://example.com/hook',
    description: '',
    types: ['event.created' as const],
    journey_ids: null,
    event_ids: null,
    dropped_after: null,
  }
  const inStore = store.db.transaction()
  const webhook = await inStore.execute((db) => {
    const made = { webhook_id: newId('whk'), secret: '', customer_cursor: null, created_ms: 0 }
    return insertWebhook(db, { workspace_id, ...settings, ...made })
  })
  const lease = (owner: string, now_ms: number) =>
    inStore.execute((db) => leaseWebhook(db, webhook, { owner, now_ms, until_ms: now_ms + 10_000 }))
  const advance = (owner: string) =>
    inStore.execute((db) => advanceWebhook(db, webhook, { told_ms: 1 }, owner))
  expect(await lease('first', 0)).toBe(true)
  await advance('first')
  expect(await lease('second', 10_000)).toBe(false)
  expect(await lease('second', 10_001)).toBe(true)
  await expect(advance('first')).rejects.toThrow(WebhookMoved)
  await advance('second')
})
