// engines: sqlite, postgres

import { expect, it } from 'vitest'
import { type ChildServer, startChildServer, startChildServerWithCustomer } from '../fixtures/child-server.ts'
import { engine } from '../fixtures/engine.ts'
import { startReceiver } from '../fixtures/receiver.ts'
import { newWebhook } from '../fixtures/webhook.ts'

const environment = {
  CAIRN_WEBHOOK_ALLOW: '127.0.0.1',
  CAIRN_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
}

/** How often a server is killed while it sends. On PostgreSQL the next one waits for the end of its lease. */
const KILLS = engine === 'postgres' ? 2 : 4
const EVENTS_PER_LIFE = 300

it('tells every stored event at least once with one webhook-id, however often servers are killed', async () => {
  const {
    databaseUrl,
    server: first,
    secret_key,
    event,
  } = await startChildServerWithCustomer({ environment })
  const receiver = await startReceiver()
  const body = { url: receiver.url, types: ['event.created' as const] }
  const { secret } = await newWebhook(first.client(secret_key), body)
  receiver.secrets.push(secret)
  let answered = 0
  receiver.answer = (res) => {
    answered += 1
    // Some are refused, some are cut off after they were received.
    if (answered % 17 === 0) res.writeHead(500).end()
    else if (answered % 23 === 0) res.destroy()
    else res.writeHead(204).end()
  }
  const stored = new Set<string>()
  let server: ChildServer = first
  for (let life = 0; life <= KILLS; life += 1) {
    const client = server.client(secret_key)
    const before = receiver.received.length
    for (let left = EVENTS_PER_LIFE; left > 0; left -= 50) {
      const { data } = await client.createEvents({
        body: { events: Array.from({ length: 50 }, () => event) },
      })
      for (const result of data?.results ?? [])
        if (result.status === 'created' && result.id) stored.add(result.id)
    }
    // In the middle of its work: some have arrived, not all.
    await receiver.has(before + 40)
    if (life === KILLS) break
    await server.end('SIGKILL')
    server = await startChildServer({ databaseUrl, environment })
  }
  expect(stored.size).toBe((KILLS + 1) * EVENTS_PER_LIFE)
  const told = () => new Set(receiver.received.map(({ data }) => data.id))
  await expect.poll(() => told().size).toBe(stored.size)
  expect(told()).toEqual(stored)
  const ids = new Map<unknown, Set<string>>()
  for (const { id, data } of receiver.received) ids.set(data.id, (ids.get(data.id) ?? new Set()).add(id))
  expect([...ids.values()].every((own) => own.size === 1)).toBe(true)
})
