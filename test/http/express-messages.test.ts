// engines: none (an Express app of its own)
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { expect, it } from 'vitest'
import { expressMessages } from '../../server/http/express-messages.ts'

it('makes requests and responses that keep the prototypes they begin with', async () => {
  const app = express()
  app.get('/', (req, res) => {
    expect(req.app).toBe(app)
    expect([req, res].map(Object.getPrototypeOf)).toEqual(begunWith)
    res.json({ host: req.hostname })
  })
  let begunWith: unknown[] = []
  const server = createServer(expressMessages(app))
  server.on('request', (...messages) => {
    begunWith = messages.map(Object.getPrototypeOf)
  })
  server.on('request', app)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  try {
    const reply = await fetch(`http://127.0.0.1:${port}/`)
    expect(await reply.json()).toEqual({ host: '127.0.0.1' })
    expect(begunWith).toHaveLength(2)
  } finally {
    server.close()
  }
})
