import { connect, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createWorkspace } from '../../server/cli/init.ts'
import { temporaryFolder } from '../cairn.ts'
import { type ChildServer, startChildServer } from '../child-server.ts'

/** A server in a process of its own, so that its death would be seen. */
async function startServer() {
  const databaseUrl = `sqlite:${temporaryFolder()}/cairn.db`
  const { secret_key } = await createWorkspace(databaseUrl, { workspace: 'Acme', journey: 'Onboarding' })
  return { server: await startChildServer({ databaseUrl }), secret_key }
}

/** Sends bytes as they stand. @returns the beginning of what comes back; empty where the server only hangs up */
async function exchange({ url }: ChildServer, bytes: string): Promise<string> {
  const socket = connectTo(url)
  socket.write(bytes, 'latin1')
  return await new Promise((resolve) => {
    socket.once('data', (chunk) => resolve(chunk.toString('latin1')))
    socket.once('close', () => resolve(''))
  })
}

/** Sends bytes as they stand, hangs up and waits until the server does so too. */
async function sendAndLeave({ url }: ChildServer, bytes: string): Promise<void> {
  const socket = connectTo(url)
  socket.end(bytes, 'latin1')
  socket.resume()
  await new Promise((resolve) => {
    socket.once('close', resolve)
  })
}

function connectTo(url: string): Socket {
  const { port, hostname } = new URL(url)
  const socket = connect(Number(port), hostname)
  // A server may well reset a connection on which such bytes arrive.
  socket.on('error', () => {})
  onTestFinished(() => {
    socket.destroy()
  })
  return socket
}

describe('what is not HTTP', () => {
  it('gets no 5xx and leaves the server working', async () => {
    const { server, secret_key } = await startServer()
    const host = 'Host: cairn\r\n'
    const key = `x-service-key: ${secret_key}\r\n`
    const json = 'Content-Type: application/json\r\n'
    const create = `POST /v1/events/create HTTP/1.1\r\n${host}${key}${json}`
    const get = (target: string) => `GET ${target} HTTP/1.1\r\n${host}${key}\r\n`
    const large = 'x'.repeat(100_000)
    const inputs = [
      '\0'.repeat(1000),
      '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      'GET /v1/events\r\n\r\n',
      'GET /v1/events HTTP/9.9\r\n\r\n',
      'GET /v1/events HTTP/1.1\r\n\r\n',
      `get /v1/events HTTP/1.1\r\n${host}\r\n`,
      `BREW /v1/events HTTP/1.1\r\n${host}\r\n`,
      `CONNECT cairn:80 HTTP/1.1\r\n${host}\r\n`,
      `TRACE /v1/events HTTP/1.1\r\n${host}${key}\r\n`,
      `OPTIONS * HTTP/1.1\r\n${host}\r\n`,
      `GET /v1/events HTTP/1.1\r\n${host}Bad Header: x\r\n\r\n`,
      `GET /v1/events HTTP/1.1\r\n${host}x: ${large}\r\n\r\n`,
      `GET /${large} HTTP/1.1\r\n${host}\r\n`,
      `GET /v1/events HTTP/1.1\r\n${host}${'a: b\r\n'.repeat(5000)}\r\n`,
      `GET /v1/events HTTP/1.1\r\n${host}${key}Expect: something\r\n\r\n`,
      `GET /v1/events HTTP/1.1\r\n${host}${key}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
      `${create}Content-Length: -1\r\n\r\n`,
      `${create}Content-Length: 1e3\r\n\r\n`,
      `${create}Content-Length: 99999999999999999999\r\n\r\n`,
      `${create}Content-Length: 5\r\nContent-Length: 6\r\n\r\n{"a":}`,
      `${create}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      `${create}Transfer-Encoding: gzip\r\n\r\n`,
      `${create}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`,
      `${create}Content-Length: 2\r\nExpect: 100-continue\r\n\r\n{}`,
      ...[
        '*',
        'http://[/v1/events',
        'http://a:b/v1/events',
        'http://a:99999/v1/events',
        'http:///v1/events',
        '//[/v1/events',
        '/v1/events?%',
        '/v1/events#?limit=1',
        '/v1/customers/\x80',
        '/v1/customers/%00',
        '/docs/%zz',
        '/docs/..%2f..%2fpackage.json',
      ].map(get),
    ]
    const halves = [
      '',
      '\r\n\r\n\r\n',
      'GET /v1/events HTTP/1.1\r\nHos',
      `${create}Content-Length: 500\r\n\r\n{"a"`,
      `${create}Transfer-Encoding: chunked\r\n\r\n2\r\n{}`,
      `${create}Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n{}`,
      `${create}Transfer-Encoding: chunked\r\n\r\n2\r\n{}garbage`,
      `${create}Transfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n3\r\n\x1f\x8b\x08\r\n`,
    ]
    for (const half of halves) await sendAndLeave(server, half)
    for (const input of inputs) {
      const answer = await exchange(server, input)
      expect([input.slice(0, 100), /^HTTP\/1\.1 5/m.test(answer)]).toEqual([input.slice(0, 100), false])
    }
    expect((await exchange(server, get('/v1/events'))).slice(0, 12)).toBe('HTTP/1.1 200')
  })

  it('does not add up: thousands of broken connections leave the server working', async () => {
    const { server, secret_key } = await startServer()
    for (let round = 0; round < 20; round += 1) {
      const inputs = [
        '\0',
        'GET /v1/events HTTP/1.1\r\nHost: c',
        'POST /v1/events/create HTTP/1.1\r\nHost: c\r\n\r\nx',
      ]
      await Promise.all(
        Array.from({ length: 100 }, (_, index) => sendAndLeave(server, inputs[index % 3] ?? '')),
      )
    }
    const client = server.client(secret_key)
    expect((await client.listEvents()).response.status).toBe(200)
  })
})
