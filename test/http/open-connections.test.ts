// engines: none (opens no store)

import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { ListeningSockets } from '../../server/http/listening-sockets.ts'
import { OpenConnections } from '../../server/http/open-connections.ts'
import { noteBegun } from '../../server/http/requests-by-socket.ts'

/** More than the kernel buffers for a client that does not read. */
const ANSWER_BYTES = 24 * 1024 * 1024

/** A server that answers with much or nothing, and clients that have begun to read. */
async function startSlow() {
  const server = createServer((req, res) => {
    noteBegun(res)
    res.end(req.url === '/large' ? Buffer.alloc(ANSWER_BYTES) : '')
  })
  const listening = new ListeningSockets(server)
  const connections = new OpenConnections(server, listening)
  const port = await listening.listen({ host: '127.0.0.1', port: 0 })
  const ask = async (path: string) => {
    const socket = connect({ port, host: '127.0.0.1' })
    onTestFinished(() => void socket.destroy())
    socket.on('error', () => {})
    socket.write(`GET ${path} HTTP/1.1\r\nhost: cairn\r\n\r\n`)
    await once(socket, 'readable')
    return socket
  }
  return { connections, ask }
}

it('a server that stops lets clients finish taking their responses, and closes idle connections', async () => {
  const { connections, ask } = await startSlow()
  const [idle, slow] = [await ask('/'), await ask('/large')]
  const idleClosed = once(idle.resume(), 'close')
  const closed = connections.close()
  await idleClosed

  let bytes = 0
  slow.on('data', ({ length }) => {
    bytes += length
  })
  await once(slow, 'close')
  await closed
  expect(bytes).toBeGreaterThan(ANSWER_BYTES)
})

it('a server that stops waits for a client that takes one large response slowly', async () => {
  const { connections, ask } = await startSlow()
  const slow = await ask('/large')
  const closed = connections.close()
  // For longer than a client may take nothing.
  for (let part = 0; part < 9; part++) {
    await delay(300)
    slow.read(1024 * 1024)
  }
  slow.resume()
  await once(slow, 'close')
  await closed
  expect(slow.bytesRead).toBeGreaterThan(ANSWER_BYTES)
})

it('a server that stops does not wait for a client that takes nothing of its response', async () => {
  const { connections, ask } = await startSlow()
  const silent = await ask('/large')
  await connections.close()
  expect(silent.bytesRead).toBeLessThan(ANSWER_BYTES)
})
