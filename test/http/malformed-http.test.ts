// engines: sqlite (settled before the store is asked for more than the key)

import { connect, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createWorkspace } from '../../server/cli/init.ts'
import { startCairnForTest, temporaryFolder, type Workspace } from '../fixtures/cairn.ts'
import { type ChildServer, startChildServer } from '../fixtures/child-server.ts'
import { customerInJourney } from '../fixtures/customer.ts'
import { scrape, sumOf } from '../fixtures/exposition.ts'
import { withPatience } from '../fixtures/patience.ts'
import { head, openConnection, problemOf, send, sendBytes } from '../fixtures/requests.ts'

/** A server in a process of its own, so that its death would be seen. */
async function startServer() {
  const databaseUrl = `sqlite:${temporaryFolder()}/cairn.db`
  const { secret_key } = await createWorkspace(databaseUrl, { workspace: 'Acme', journey: 'Onboarding' })
  return { server: await startChildServer({ databaseUrl }), secret_key }
}

/** Sends raw bytes. @returns the beginning of the response; empty if the server only disconnects */
async function exchange({ url }: ChildServer, bytes: string): Promise<string> {
  const socket = connectTo(url)
  socket.write(bytes, 'latin1')
  return await new Promise((resolve) => {
    socket.once('data', (chunk) => resolve(chunk.toString('latin1')))
    socket.once('close', () => resolve(''))
  })
}

/** Sends raw bytes, disconnects and waits until the server does too. */
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
  // A server may reset a connection after such bytes.
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

  it('does not accumulate: thousands of broken connections leave the server working', async () => {
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

const NOW_MS = Date.parse('2026-11-20T12:00:00Z')
const ANYTHING = 'POST /events/create'
const key = { 'x-service-key': 'wrong' }
const json = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' }
const LARGEST_HEAD_BYTES = 16 * 1024 - 1

/** A head with a target, names and values of this many bytes in total. */
function headOf(bytes: number): string {
  const without = '/v1/events'.length + 'host'.length + 'cairn'.length + 'x'.length
  return head('GET /events', { x: 'x'.repeat(bytes - without) })
}

/** A complete request that creates the event. */
function creationOf({ secret_key }: Workspace, event: object): string {
  const body = JSON.stringify(event)
  const headers = { 'x-service-key': secret_key, 'content-type': 'application/json' }
  return head(ANYTHING, { ...headers, 'content-length': String(body.length) }) + body
}

describe('what is refused before there is a request', () => {
  const refused: [name: string, bytes: string, status: number, code: string][] = [
    ['a byte outside ASCII in the target', head('GET /customers/\x80'), 400, 'malformed_request'],
    ['an unknown method', head('BREW /events'), 400, 'malformed_request'],
    ['no Host', 'GET /v1/events HTTP/1.1\r\n\r\n', 400, 'malformed_request'],
    ['two Hosts', 'GET /v1/events HTTP/1.1\r\nHost: cairn\r\nhOST: other\r\n\r\n', 400, 'malformed_request'],
    ['a bad header', head('GET /events', { 'Bad Header': 'x' }), 400, 'malformed_request'],
    ['another protocol', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n', 400, 'malformed_request'],
    ['CONNECT', 'CONNECT cairn:80 HTTP/1.1\r\nHost: cairn\r\n\r\n', 400, 'malformed_request'],
    [
      'two lengths',
      head(ANYTHING, { 'content-length': '5', 'Content-Length': '6' }),
      400,
      'malformed_request',
    ],
    ['Expect', head('GET /events', { ...key, expect: 'something' }), 417, 'expectation_failed'],
    ['a head over the limit', headOf(LARGEST_HEAD_BYTES + 1), 431, 'headers_too_large'],
    ['a head far over the limit', headOf(1_000_000), 431, 'headers_too_large'],
  ]

  it.each(refused)(
    'is answered with a problem, logged and counted: %s',
    async (_name, bytes, status, code) => {
      const cairn = await startCairnForTest()
      const reply = await sendBytes(cairn, ANYTHING, bytes)
      const id = reply.headers.get('x-request-id')
      expect(Object.fromEntries(reply.headers)).toMatchObject({
        'content-type': 'application/problem+json',
        'access-control-allow-origin': '*',
        'access-control-expose-headers': expect.stringContaining('X-Request-Id'),
        'content-security-policy': "default-src 'none'",
        'cache-control': 'no-store',
        connection: 'close',
      })
      expect(await problemOf(reply)).toMatchObject({ status, code, request_id: id })
      await vi.waitFor(() => {
        expect(cairn.log).toContainEqual(expect.objectContaining({ request_id: id, status, code }))
      }, withPatience)
      expect(sumOf(await scrape(cairn), 'cairn_requests_total', { status: String(status), code })).toBe(1)
    },
  )

  it('starts above the largest head', async () => {
    const cairn = await startCairnForTest()
    expect((await sendBytes(cairn, 'GET /events', headOf(LARGEST_HEAD_BYTES))).status).toBe(401)
  })

  it('waits for the response to an earlier request on the connection', async () => {
    const cairn = await startCairnForTest()
    const { socket, answer, closed } = await openConnection(cairn)
    socket.write(head('GET /events', key) + head('BREW /events'))
    await closed
    expect(answer().match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 401', 'HTTP/1.1 400'])
  })

  it('waits for the response to an earlier change too, if it is CONNECT', async () => {
    const cairn = await startCairnForTest()
    const { workspace, event } = await customerInJourney(cairn)
    const { socket, answer, closed } = await openConnection(cairn)
    socket.write(creationOf(workspace, event) + head('CONNECT /events'))
    await closed
    expect(answer().match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 201', 'HTTP/1.1 400'])
  })
})

describe('a body', () => {
  const bodies: [name: string, bytes: string][] = [
    ['a bad chunk', 'zz\r\n{}\r\n'],
    ['a chunk longer than it says', '2\r\n{}garbage'],
  ]

  it.each(bodies)('with %s is refused as its request, which is known by then', async (_name, bytes) => {
    const cairn = await startCairnForTest()
    const { secret_key } = await cairn.workspace()
    const headers = { 'x-service-key': secret_key, 'x-request-id': 'mine', ...json }
    const reply = await sendBytes(cairn, ANYTHING, head(ANYTHING, headers) + bytes)
    expect(await problemOf(reply)).toMatchObject({
      status: 400,
      code: 'malformed_request',
      request_id: 'mine',
    })
    const line = { request_id: 'mine', operation: 'createEvent', status: 400, code: 'malformed_request' }
    await vi.waitFor(() => expect(cairn.log).toContainEqual(expect.objectContaining(line)), withPatience)
  })

  it.each(bodies)(
    'with %s, of no use to its request: 400 only if that is not performed',
    async (_name, bytes) => {
      const cairn = await startCairnForTest()
      const { workspace, event } = await customerInJourney(cairn)
      const { secret_key: key, client, journey_id } = workspace
      const archival = `POST /journeys/${journey_id}/archive`
      const headers = { 'x-service-key': key, 'transfer-encoding': 'chunked' }
      const reply = await sendBytes(cairn, archival, head(archival, headers) + bytes)
      const { error } = await client.createEvent({ body: event })
      // What is wrong may arrive after the operation has started.
      expect([reply.status, error?.code]).toBeOneOf([
        [400, undefined],
        [200, 'journey_archived'],
      ])
    },
  )
})

describe('what does not arrive in time', () => {
  const patience = { head_ms: 200, request_ms: 400, check_ms: 20 }

  it('is answered with 408, logged and counted: a body that never ends', async () => {
    const cairn = await startCairnForTest({ patience })
    const { secret_key } = await cairn.workspace()
    const headers = { 'x-service-key': secret_key, 'x-request-id': 'mine', ...json }
    const reply = await sendBytes(cairn, ANYTHING, `${head(ANYTHING, headers)}1\r\n{\r\n`)
    expect(reply.headers.get('access-control-allow-origin')).toBe('*')
    expect(await problemOf(reply)).toMatchObject({ status: 408, code: 'request_timeout', request_id: 'mine' })
    const line = { request_id: 'mine', operation: 'createEvent', status: 408, code: 'request_timeout' }
    await vi.waitFor(() => expect(cairn.log).toContainEqual(expect.objectContaining(line)), withPatience)
    const labels = { operation: 'createEvent', status: '408', code: 'request_timeout' }
    expect(sumOf(await scrape(cairn), 'cairn_requests_total', labels)).toBe(1)
  })

  it('is answered with 408, logged and counted: a head that never ends', async () => {
    const cairn = await startCairnForTest({ patience })
    const reply = await sendBytes(cairn, ANYTHING, 'GET /v1/events HTTP/1.1\r\nHost: cairn\r\n')
    expect(await problemOf(reply)).toMatchObject({ status: 408, code: 'request_timeout' })
    const labels = { operation: 'none', status: '408', code: 'request_timeout' }
    expect(sumOf(await scrape(cairn), 'cairn_requests_total', labels)).toBe(1)
  })

  const halves: [name: string, of: (whole: string) => number, taken: number][] = [
    ['the body', (whole) => whole.length - 5, 1],
    ['the head', () => 30, 0],
  ]

  it.each(halves)('is not performed when the rest of %s arrives after the 408', async (_name, of, taken) => {
    const cairn = await startCairnForTest({ patience, rateLimit: 3, now: () => NOW_MS })
    const { workspace, event } = await customerInJourney(cairn)
    const { socket, answer, closed } = await openConnection(cairn)
    // It keeps sending after the server has ended its side.
    socket.allowHalfOpen = true
    // As long a body as would be charged as an event if it were malformed.
    const whole = creationOf(workspace, { ...event, custom_variables: 'x'.repeat(10_000) })
    socket.write(whole.slice(0, of(whole)))
    await vi.waitFor(() => expect(answer()).toContain('request_timeout'), withPatience)
    socket.write(whole.slice(of(whole)))
    socket.end()
    await closed
    expect(answer().match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 408'])
    const list = await send(cairn, 'GET /events', { key: workspace.secret_key })
    expect(await list.json()).toMatchObject({ data: [] })
    // The initialization and the list, and the head of a request that was admitted.
    expect(list.headers.get('ratelimit')).toBe(`"default";r=${6 - 2 - taken};t=1`)
    expect((await workspace.client.listRefusals()).data?.data).toEqual([])
    expect(cairn.log.filter(({ level, status }) => Number(level) >= 50 || status === 'aborted')).toEqual([])
  })

  it('is not a request if nothing was sent at all, and is only disconnected', async () => {
    const cairn = await startCairnForTest({ patience })
    const { answer, closed } = await openConnection(cairn)
    await closed
    expect(answer()).toBe('')
    expect(sumOf(await scrape(cairn), 'cairn_requests_total', { status: '408' })).toBe(0)
  })
})
