// engines: sqlite (what leaves the server is the same from either engine)

import type { Socket } from 'node:net'
import { expect, it, vi } from 'vitest'
import { scrape, sumOf } from '../fixtures/exposition.ts'
import { withPatience } from '../fixtures/patience.ts'
import { within } from '../fixtures/within.ts'
import { openSilently, peakBytes, startTarget } from './target.ts'

const MIB = 1024 * 1024

type Target = Awaited<ReturnType<typeof startTarget>>

/** Sends many requests on one connection, in one write. */
function ask(socket: Socket, path: string, { times, key = '' }: { times: number; key?: string }) {
  socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\nx-service-key: ${key}\r\n\r\n`.repeat(times))
}

async function storeEvents({ client, event }: Target, count: number) {
  const events = Array(count).fill({ ...event, custom_variables: { text: 'x'.repeat(60_000) } })
  expect((await client.createEvents({ body: { events } })).response.status).toBe(200)
}

async function timeOf(target: Target): Promise<number> {
  const started = performance.now()
  const { response } = await target.client.createEvent({ body: target.event })
  expect(response.status).toBe(201)
  return performance.now() - started
}

it('holds bounded memory for sixty clients that request pages and read none of them', async () => {
  const target = await startTarget()
  const { server, secret_key, client } = target
  await storeEvents(target, 16)
  const { data } = await client.listEvents({ query: { limit: 16 } })
  expect(JSON.stringify(data).length).toBeGreaterThan(0.9 * MIB)
  const before = peakBytes(server)
  const sockets = await Promise.all(Array.from({ length: 60 }, () => openSilently(server)))
  for (const socket of sockets) ask(socket, '/v1/events?limit=16', { times: 40, key: secret_key })
  // A client that reads its responses is served, with the same key, while the others hold what they can.
  for (let count = 0; count < 10; count += 1) {
    await timeOf(target)
    await within(10, async () => {
      expect((await client.listEvents({ query: { limit: 16 } })).response.status).toBe(200)
    })
  }
  // Each has requested 40 MB. One page of each is written, another is being built; kernel buffers are not counted.
  expect(peakBytes(server) - before).toBeLessThan(300 * MIB)
})

it('disconnects clients that do not read their responses, and counts them', async () => {
  const { server } = await startTarget()
  const sockets = await Promise.all(Array.from({ length: 20 }, () => openSilently(server)))
  const closed = sockets.map((socket) => new Promise((resolve) => socket.once('close', resolve)))
  for (const socket of sockets) ask(socket, '/v1/openapi.yaml', { times: 200 })
  const cut = async () => sumOf(await scrape(server), 'cairn_slow_peers_total', { waiting_for: 'answer' })
  await vi.waitFor(async () => expect(await cut()).toBe(20), { ...withPatience, interval: 500 })
  for (const socket of sockets) socket.resume()
  await Promise.all(closed)
})

it('answers hundreds of pipelined requests in order, to a client that reads', async () => {
  const { server, secret_key, client } = await startTarget()
  for (const name of ['Second', 'Third']) await client.createJourney({ body: { name } })
  const socket = await openSilently(server)
  ask(socket, '/v1/journeys?limit=1', { times: 300, key: secret_key })
  let answer = ''
  socket.on('data', (bytes) => {
    answer += bytes
  })
  socket.resume()
  await vi.waitFor(() => expect(answer.match(/HTTP\/1.1 200/g)).toHaveLength(300), withPatience)
})
