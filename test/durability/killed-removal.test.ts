import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { startChildServer, startChildServerWithCustomer } from '../child-server.ts'
import { initialize } from '../operations/customer.ts'
import { withPatience } from '../patience.ts'
import { connectTo } from '../storage/store.ts'

const EVENTS = 20_000

it('goes on to erase a customer whose server was killed in the middle', async () => {
  const { databaseUrl, server, client, secret_key, event } = await startChildServerWithCustomer()
  const { journey_id } = event
  const kept = await initialize({ journey_id, client }, 'user-2')
  for (let left = EVENTS; left > 0; left -= 1000) {
    const events = Array.from({ length: 1000 }, () => ({ ...event, message_id: randomUUID() }))
    const { data } = await client.createEvents({ body: { events } })
    expect(data?.created).toBe(1000)
  }
  await client.createEvent({ body: { ...event, customer_id: kept } })
  const store = await connectTo(databaseUrl)
  const count = async () => Number((await store.run('SELECT count(*) AS n FROM events'))[0]?.n)

  const path = { customer_id: event.customer_id }
  await client.eraseCustomer({ path })
  await expect.poll(count, { ...withPatience, interval: 1 }).toBeLessThan(EVENTS)
  await server.end('SIGKILL')
  const left = await count()
  expect(left).toBeGreaterThan(1)

  const second = await startChildServer({ databaseUrl })
  await expect.poll(count, withPatience).toBe(1)
  const again = async () => (await second.client(secret_key).eraseCustomer({ path })).data
  await expect.poll(async () => (await again())?.completed_at, withPatience).toEqual(expect.any(String))
  expect(await again()).toMatchObject({ events: EVENTS })
  const { data } = await second.client(secret_key).listEvents()
  expect(data?.data).toMatchObject([{ customer_id: kept }])
})
