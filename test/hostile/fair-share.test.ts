// engines: sqlite (reading and writing share one process only here)

import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createWorkspace } from '../../server/cli/init.ts'
import { temporaryFolder } from '../fixtures/cairn.ts'
import { startChildServer } from '../fixtures/child-server.ts'
import { initialize } from '../fixtures/customer.ts'

/** Batches in flight at all times. */
const CONNECTIONS = 12

/** Events of the neighbour, each sent when the previous one is answered. */
const EVENTS = 60

/**
 * Acceptable number of batches answered per neighbour's event. An event that is queued behind everything that has
 * arrived, and then waits for a commit behind everything that has arrived by then, sees the twelve pass about twice.
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
  // None of its events is stored: the load is on the event loop.
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
  // Until the server knows how much each of them uses.
  while (batches < 5 * CONNECTIONS) await send()

  const before = batches
  for (let sent = 0; sent < EVENTS; sent += 1) await send()
  expect((batches - before) / EVENTS).toBeLessThan(MOST_BATCHES)
})
