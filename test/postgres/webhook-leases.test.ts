// engines: postgres (only there several servers share a store)

import { expect, it } from 'vitest'
import { startCairn } from '../fixtures/cairn.ts'
import { initialize } from '../fixtures/customer.ts'
import { newDatabase } from '../fixtures/postgres/databases.ts'
import { startReceiver } from '../fixtures/receiver.ts'

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
  await receiver.has(60)
  await first.stop()
  const { data } = await second.client(workspace.secret_key).createEvent({ body: event })
  sent.push(data?.id)
  await receiver.has(61)
  // A stall longer than a lease may send one again, with the same identifier.
  const told = new Map(receiver.received.map(({ id, data }) => [id, data.id]))
  expect([...told.values()].sort()).toEqual(sent.sort())
  await second.stop()
})
