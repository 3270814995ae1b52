// engines: none (opens no store)

import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it, onTestFinished, vi } from 'vitest'
import { LoopScheduler } from '../../server/http/rates/loop-scheduler.ts'
import { type ArrivingBody, BodyMemory } from '../../server/http/request-body.ts'
import { withPatience } from '../fixtures/patience.ts'

it('a body that has been read retains nothing of its request, compressed or not', async () => {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  const memory = new BodyMemory({ onSlow: () => {} })
  const scheduler = new LoopScheduler()
  const bodies: ArrivingBody[] = []
  const requests: WeakRef<IncomingMessage>[] = []
  const server = createServer((req, res) => {
    const body = memory.enter({ owner: 'key', isNobody: false })
    bodies.push(body)
    requests.push(new WeakRef(req))
    const loop = scheduler.begin({ workspaceId: 'workspace', caller: 'key' })
    void body.json(req, {}, loop).then((read) => res.end(JSON.stringify(read)))
  })
  server.listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const gzip = new Response('{"name":"compressed"}').body?.pipeThrough(new CompressionStream('gzip'))
  const compressed = await new Response(gzip).arrayBuffer()
  const sent = [
    { body: '{"name":"plain"}', coding: 'identity' },
    { body: compressed, coding: 'gzip' },
  ]
  for (const { body, coding } of sent) {
    const headers = { 'content-type': 'application/json', 'content-encoding': coding, connection: 'close' }
    const reply = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body })
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
