// engines: sqlite, postgres

import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { expect, it, onTestFinished, vi } from 'vitest'
import type { Client, Schemas } from '../../client/index.ts'
import { type ChildServer, startChildServerWithCustomer } from '../fixtures/child-server.ts'
import { withPatience } from '../fixtures/patience.ts'
import { connectTo, holdWrites } from '../fixtures/store.ts'

const KIB = 1024
const MIB = 1024 * KIB

/** Well above what a busy server needs, well below what unbounded queues would take. */
const MOST_MEMORY_BYTES = 1024 * MIB

function residentBytes({ pid }: ChildServer): number | undefined {
  try {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * KIB
  } catch {
    // Not on this system.
    return undefined
  }
}

async function countStored(databaseUrl: string): Promise<unknown> {
  const { run } = await connectTo(databaseUrl)
  const [found] = await run('SELECT count(*) AS count FROM events')
  return found?.count
}

/** A batch of 1000 events and nearly 4 MiB. */
function greatestBatch(event: Schemas['EventCreation'], sender: number): Schemas['EventCreation'][] {
  return Array.from({ length: 1000 }, (_, index) => ({
    ...event,
    message_id: `${sender}-${index}`,
    custom_variables: { text: 'x'.repeat(3_900) },
  }))
}

/** Outcome of a batch: 'stored', or the code of the problem. @throws if there was no response */
async function sendBatch(client: Client, events: Schemas['EventCreation'][]): Promise<string> {
  const { data, error, response } = await client.createEvents({ body: { events } })
  if (error) return `${response.status} ${error.code} ${response.headers.get('retry-after')}`
  expect(data.created + data.duplicate).toBe(events.length)
  return 'stored'
}

it('stores batches of maximum size from fifty clients, or refuses them at once', async () => {
  const { databaseUrl, server, client, event } = await startChildServerWithCustomer()
  const senders = Array.from({ length: 50 }, (_, index) => index)
  let waiting = senders
  while (waiting.length > 0) {
    const answers = await Promise.all(
      waiting.map((sender) => sendBatch(client, greatestBatch(event, sender))),
    )
    expect(answers.filter((answer) => answer !== 'stored' && answer !== '503 overloaded 1')).toEqual([])
    expect(answers).toContain('stored')
    waiting = waiting.filter((_, index) => answers[index] !== 'stored')
  }
  expect(await countStored(databaseUrl)).toBe(50_000)
  expect(residentBytes(server) ?? 0).toBeLessThan(MOST_MEMORY_BYTES)
  expect((await client.createEvent({ body: event })).response.status).toBe(201)
})

it('sheds load while the disk stalls, and loses nothing that it accepted', async () => {
  const { databaseUrl, server, client, event } = await startChildServerWithCustomer()
  const other = await connectTo(databaseUrl)
  const release = await holdWrites(other)
  // Ten times the limit of waiting rows.
  const small = Array.from({ length: 1000 }, () => event)
  const answers = Array.from({ length: 200 }, () => sendBatch(client, small))
  const refused = await Promise.any(answers)
  expect(refused).toBe('503 overloaded 1')
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
  await release()
  const counts = new Map<string, number>()
  for (const answer of await Promise.all(answers)) counts.set(answer, (counts.get(answer) ?? 0) + 1)
  const { stored = 0, '503 overloaded 1': overloaded = 0 } = Object.fromEntries(counts)
  expect(stored + overloaded).toBe(200)
  expect(stored).toBeGreaterThan(0)
  expect(await countStored(databaseUrl)).toBe(stored * 1000)
  expect(await sendBatch(client, small)).toBe('stored')
  expect(residentBytes(server) ?? 0).toBeLessThan(MOST_MEMORY_BYTES)
})

it('answers others while a thousand connections are idle or trickle their requests', async () => {
  const { server, client, secret_key, event } = await startChildServerWithCustomer()
  const { hostname, port } = new URL(server.url)
  const sockets: Socket[] = []
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
  })
  const body = JSON.stringify(event)
  const head = `POST /v1/events/create HTTP/1.1\r\nhost: cairn\r\nx-service-key: ${secret_key}\r\n`
  const beginnings = [
    '',
    'POST /v1/eve',
    head,
    `${head}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n{`,
  ]
  await Promise.all(
    Array.from({ length: 1000 }, async (_, index) => {
      const socket = connect(Number(port), hostname)
      sockets.push(socket)
      await once(socket, 'connect')
      socket.write(beginnings[index % beginnings.length] ?? '')
    }),
  )
  for (let count = 0; count < 20; count += 1) {
    expect((await client.createEvent({ body: event })).response.status).toBe(201)
  }
  // The slow one gets its response in the end.
  const slow = sockets[3] as Socket
  let answer = ''
  slow.on('data', (bytes) => {
    answer += bytes
  })
  for (const letter of body.slice(1)) slow.write(letter)
  await vi.waitUntil(() => answer.includes('"success":true'), withPatience)
  expect(answer).toMatch(/^HTTP\/1\.1 201 /)
})
