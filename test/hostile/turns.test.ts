// engines: sqlite (reading and writing share one process only here)

import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createWorkspace } from '../../server/cli/init.ts'
import { temporaryFolder } from '../cairn.ts'
import { startChildServer } from '../child-server.ts'
import { initialize } from '../operations/customer.ts'

/** So many batches are under way all the time. */
const CONNECTIONS = 12

/** As many events the neighbour sends, each when the one before is answered. */
const EVENTS = 60

/**
 * So many batches may be answered for each of these events. Who is served behind all that has arrived, and waits for a
 * commit behind all that has arrived then, sees the twelve pass about twice.
 */
const MOST_BATCHES = 6

it('lets a neighbour go before a workspace that keeps the server busy', async () => {
  const databaseUrl = `sqlite:${join(temporaryFolder(), 'cairn.db')}`
  const greedy = await createWorkspace(databaseUrl, { workspace: 'Greedy', journey: 'Onboarding' })
  const modest = await createWorkspace(databaseUrl, { workspace: 'Modest', journey: 'Onboarding' })
  const server = await startChildServer({ databaseUrl, asInProduction: true })
  const client = server.client(modest.secret_key)
  const { journey_id } = modest
  const event = {
    journey_id,
    event_id: 'signed_up',
    customer_id: await initialize({ ...modest, client }, 'a'),
  }

  let isOver = false
  let batches = 0
  // None of its events is stored: it is the event loop that they keep busy.
  const unknown = { journey_id: greedy.journey_id, customer_id: 'unknown', event_id: 'signed_up' }
  const body = JSON.stringify({ events: Array(1000).fill(unknown) })
  const headers = { 'content-type': 'application/json', 'x-service-key': greedy.secret_key }
  const flood = Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      while (!isOver) {
        const reply = await fetch(`${server.url}/v1/events/batch`, { method: 'POST', headers, body })
        await reply.arrayBuffer()
        expect(reply.status).toBe(200)
        batches += 1
      }
    }),
  )
  onTestFinished(() => {
    isOver = true
    return flood.then(() => {})
  })
  const send = async () => {
    const { response } = await client.createEvent({ body: event })
    expect(response.status).toBe(201)
  }
  // Until both are known for what they use.
  while (batches < 5 * CONNECTIONS) await send()

  const before = batches
  for (let sent = 0; sent < EVENTS; sent += 1) await send()
  expect((batches - before) / EVENTS).toBeLessThan(MOST_BATCHES)
})
