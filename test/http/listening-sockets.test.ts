// engines: none (opens no store)

import { spawnSync } from 'node:child_process'
import { createServer, get } from 'node:http'
import { createServer as createListener } from 'node:net'
import { execPath } from 'node:process'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ListeningSockets } from '../../server/http/listening-sockets.ts'
import { freePort } from '../fixtures/free-port.ts'

const HOST = '127.0.0.1'

/** Opens this many connections from another process and closes them, while this thread is blocked. */
function connectAndLeave(port: number, count: number): void {
  const program = `
    const { connect } = require('node:net')
    let connected = 0
    for (let made = 0; made < ${count}; made += 1) {
      connect(${port}, '${HOST}', () => { connected += 1; if (connected === ${count}) process.exit(0) })
    }`
  const { status, stderr } = spawnSync(execPath, ['-e', program])
  expect({ status, stderr: String(stderr) }).toEqual({ status: 0, stderr: '' })
}

async function listening() {
  const server = createServer((_request, response) => response.end('answered'))
  const sockets = new ListeningSockets(server)
  const port = await sockets.listen({ host: HOST, port: 0 })
  onTestFinished(() => sockets.close())
  return { server, sockets, port }
}

describe('the sockets of a server', () => {
  // Other systems have one socket, from which one connection is accepted per iteration of the event loop.
  it.runIf(process.platform === 'linux')(
    'accept several new connections per iteration of the event loop',
    async () => {
      const { server, port } = await listening()
      let taken = 0
      server.on('connection', () => {
        taken += 1
      })
      const CONNECTIONS = 120
      connectAndLeave(port, CONNECTIONS)
      let turns = 0
      for (; taken < CONNECTIONS && turns < 10 * CONNECTIONS; turns += 1) await turn()
      expect(taken).toBe(CONNECTIONS)
      // Connections are distributed randomly among four sockets; the fullest has some forty.
      expect(turns).toBeLessThan(0.6 * CONNECTIONS)
    },
  )

  it('are all served', async () => {
    const { port } = await listening()
    const answers = Array.from({ length: 100 }, async () => {
      const { promise, resolve, reject } = Promise.withResolvers<number | undefined>()
      get({ host: HOST, port, agent: false }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode))
      }).on('error', reject)
      return await promise
    })
    expect(new Set(await Promise.all(answers))).toEqual(new Set([200]))
  })

  it('do not share a port that is in use, and report what to change', async () => {
    const { port } = await listening()
    const other = new ListeningSockets(createServer())
    await expect(other.listen({ host: HOST, port })).rejects.toThrow(
      `Cannot listen on ${HOST}:${port}: the port is in use; set PORT to another`,
    )
    await other.close()
  })

  it('release their port when they are closed', async () => {
    const port = await freePort()
    const sockets = new ListeningSockets(createServer())
    await sockets.listen({ host: HOST, port })
    await sockets.close()
    const next = createListener()
    onTestFinished(() => void next.close())
    await new Promise<void>((resolve, reject) => {
      next.once('error', reject)
      next.listen(port, HOST, resolve)
    })
  })
})
