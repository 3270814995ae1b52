// engines: none (opens no store)
// alone: measures the memory of its own process

import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it, onTestFinished, vi } from 'vitest'
import { LoopScheduler } from '../../server/http/rates/loop-scheduler.ts'
import { type ArrivingBody, BodyMemory } from '../../server/http/request-body.ts'
import { withPatience } from '../fixtures/patience.ts'
import { chunk, openConnection } from '../fixtures/requests.ts'

const CONNECTIONS = 8
const BODY_BYTES = 60_000

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

/** A server that answers with the body that it has read. */
async function startReader() {
  const memory = new BodyMemory({ onSlow: () => {} })
  const scheduler = new LoopScheduler()
  const bodies: ArrivingBody[] = []
  const requests: WeakRef<IncomingMessage>[] = []
  const server = createServer((req, res) => {
    const body = memory.enter({ owner: 'key', isNobody: false })
    bodies.push(body)
    requests.push(new WeakRef(req))
    const loop = scheduler.begin({ workspaceId: 'workspace', caller: 'key' })
    const read = body.json(req, {}, loop).then((read) => res.end(JSON.stringify(read)))
    // A client that has disconnected.
    read.catch(() => {})
  })
  server.listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, bodies, requests }
}

it('a body that has been read retains nothing of its request, compressed or not', async () => {
  const { url, bodies, requests } = await startReader()
  const gzip = new Response('{"name":"compressed"}').body?.pipeThrough(new CompressionStream('gzip'))
  const compressed = await new Response(gzip).arrayBuffer()
  const sent = [
    { body: '{"name":"plain"}', coding: 'identity' },
    { body: compressed, coding: 'gzip' },
  ]
  for (const { body, coding } of sent) {
    const headers = { 'content-type': 'application/json', 'content-encoding': coding, connection: 'close' }
    const reply = await fetch(url, { method: 'POST', headers, body })
    expect(await reply.json()).toHaveProperty('name')
  }
  const areGone = () => {
    collect()
    return requests.every((request) => request.deref() === undefined)
  }
  await vi.waitUntil(areGone, withPatience)
  // They are still known.
  expect(bodies.map(({ length }) => length)).toEqual([16, 21])
})

it('a body takes about as much memory as it has bytes, in however short chunks it arrives', async () => {
  const { url, bodies } = await startReader()
  const used = () => {
    collect()
    const { heapUsed, external } = process.memoryUsage()
    return heapUsed + external
  }
  const head =
    'POST / HTTP/1.1\r\nhost: cairn\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n'
  const before = used()
  for (let count = 0; count < CONNECTIONS; count += 1) {
    const { socket } = await openConnection({ url })
    socket.write(head + `${chunk(Buffer.from(' '))}`.repeat(BODY_BYTES))
    await vi.waitUntil(() => bodies[count]?.length === BODY_BYTES, withPatience)
  }
  // As single bytes they took 13 MB each.
  expect((used() - before) / CONNECTIONS).toBeLessThan(1_000_000)
})

it('a body is the same in whatever chunks it arrives', async () => {
  const { url } = await startReader()
  const text = JSON.stringify({ text: Array.from({ length: 9_000 }, (_, index) => index % 10).join('') })
  for (const sizes of [[1], [3_000, 1], [1, 1, 2_000], [500, 600, 5_000]]) {
    const { socket, answer } = await openConnection({ url })
    let body = ''
    for (let at = 0, index = 0; at < text.length; index += 1) {
      const size = sizes[index % sizes.length] ?? 1
      body += chunk(Buffer.from(text.slice(at, at + size)))
      at += size
    }
    const headers = 'host: cairn\r\ncontent-type: application/json\r\ntransfer-encoding: chunked'
    socket.write(`POST / HTTP/1.1\r\n${headers}\r\n\r\n${body}0\r\n\r\n`)
    await vi.waitFor(() => expect(answer()).toContain(text), withPatience)
  }
})
