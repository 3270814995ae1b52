// engines: sqlite (connections are accepted before the store is asked for anything)

import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished, vi } from 'vitest'
import { startChildServerWithCustomer } from '../fixtures/child-server.ts'
import { withPatience } from '../fixtures/patience.ts'

/** With 288 open files, of which the server keeps 256 for itself. */
const CONNECTIONS = 32

it('closes connections beyond the limit of open files, so that those who are connected still get everything', async () => {
  const { server } = await startChildServerWithCustomer({
    under: ['sh', '-c', 'ulimit -n 288 && exec "$@"', 'sh'],
    environment: { LOG_LEVEL: 'warn' },
  })
  const began_ms = performance.now()
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(() => agent.destroy())
  const statusOf = async (path: string) => {
    const sent = request(`${server.url}${path}`, { agent }).end()
    const [response] = await once(sent, 'response')
    await text(response)
    return { status: response.statusCode, reused: sent.reusedSocket }
  }
  expect(await statusOf('/healthz')).toEqual({ status: 200, reused: false })

  const { hostname, port } = new URL(server.url)
  const idle: Socket[] = []
  const refused = new Set<Socket>()
  for (let count = 0; count < 400; count++) {
    const socket = connect({ port: Number(port), host: hostname })
    onTestFinished(() => void socket.destroy())
    socket.on('error', () => {}).once('close', () => refused.add(socket))
    socket.resume()
    await once(socket, 'connect')
    idle.push(socket)
  }
  await vi.waitUntil(() => refused.size > 0, withPatience)
  for (const path of ['/docs/', '/admin/', '/readyz']) {
    expect(await statusOf(path), path).toEqual({ status: 200, reused: true })
  }
  // One connection is the agent's. (Those of the fixture may be open too.)
  await vi.waitUntil(() => refused.size > idle.length - CONNECTIONS, withPatience)
  const warnings = () => server.stdout().match(/closing new connections/g)?.length ?? 0
  await vi.waitUntil(() => warnings() > 0, withPatience)
  expect(warnings()).toBeLessThanOrEqual(1 + Math.floor((performance.now() - began_ms) / 60_000))

  for (const socket of idle) socket.destroy()
  await vi.waitUntil(async () => (await fetch(server.url).catch(() => undefined))?.ok, withPatience)
})
