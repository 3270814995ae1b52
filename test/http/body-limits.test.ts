// engines: sqlite (settled before the store is asked for more than the key)
// alone: measures the processor time of its own process

import { once } from 'node:events'
import { type ClientRequest, request as startRequest } from 'node:http'
import { crc32, deflateRawSync, gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type Cairn, startCairn, type Workspace } from '../fixtures/cairn.ts'
import { customerInJourney } from '../fixtures/customer.ts'
import { withPatience } from '../fixtures/patience.ts'
import { processorTime_ms } from '../fixtures/processor-time.ts'
import { chunk, head, openConnection, refusal, send } from '../fixtures/requests.ts'

const KIB = 1024
const MIB = 1024 * KIB
const LIMIT_BYTES = 64 * KIB

let cairn: Cairn
let workspace: Workspace
let event: { journey_id: string; customer_id: string; event_id: string }

beforeAll(async () => {
  cairn = await startCairn()
  ;({ workspace, event } = await customerInJourney(cairn))
  return cairn.stop
})

/** A valid event of exactly this many bytes. */
function eventOf(bytes: number): string {
  const empty = JSON.stringify({ ...event, custom_variables: '' })
  return JSON.stringify({ ...event, custom_variables: 'x'.repeat(bytes - empty.length) })
}

const createEvent = (body: string | Buffer, headers: Record<string, string> = {}) =>
  send(cairn, 'POST /events/create', { key: workspace.secret_key, body, headers })

describe('the limit of a body', () => {
  it('is 64 KiB: that much is stored completely, one byte more is refused', async () => {
    const { id } = await (await createEvent(eventOf(LIMIT_BYTES))).json()
    const { data } = await workspace.client.listEvents()
    const stored = data?.data.find((event) => event.id === id)
    expect(JSON.stringify({ ...event, custom_variables: stored?.custom_variables })).toHaveLength(LIMIT_BYTES)
    expect(await refusal(await createEvent(eventOf(LIMIT_BYTES + 1)))).toEqual({
      status: 413,
      code: 'body_too_large',
    })
  })

  it('counts bytes, not characters', async () => {
    const body = JSON.stringify({ ...event, custom_variables: 'ä'.repeat(LIMIT_BYTES / 2) })
    expect(body.length).toBeLessThan(LIMIT_BYTES)
    expect((await createEvent(body)).status).toBe(413)
  })

  it('applies to a body without a length', async () => {
    const headers = { 'transfer-encoding': 'chunked' }
    expect((await createEvent(eventOf(LIMIT_BYTES), headers)).status).toBe(201)
    expect((await createEvent(eventOf(LIMIT_BYTES + 1), headers)).status).toBe(413)
  })

  it('counts what gzip inflates to', async () => {
    const headers = { 'content-encoding': 'gzip' }
    expect((await createEvent(gzipSync(eventOf(LIMIT_BYTES)), headers)).status).toBe(201)
    expect((await createEvent(gzipSync(eventOf(LIMIT_BYTES + 1)), headers)).status).toBe(413)
  })

  it('counts what arrives of gzip, which may be more than it inflates to, but not far more', async () => {
    const text = eventOf(LIMIT_BYTES)
    const end = Buffer.alloc(8)
    end.writeUInt32LE(crc32(text))
    end.writeUInt32LE(text.length, 4)
    const header = gzipSync('').subarray(0, 10)
    const withEmptyBlocks = (count: number) => {
      const empty = Buffer.from([0, 0, 0, 0xff, 0xff])
      return Buffer.concat([header, ...Array(count).fill(empty), deflateRawSync(text), end])
    }
    for (const encoding of [{}, { 'transfer-encoding': 'chunked' }]) {
      const headers = { 'content-encoding': 'gzip', ...encoding }
      expect((await createEvent(gzipSync(text, { level: 0 }), headers)).status).toBe(201)
      expect((await createEvent(withEmptyBlocks(10_000), headers)).status).toBe(201)
      expect(await refusal(await createEvent(withEmptyBlocks(200_000), headers))).toEqual({
        status: 413,
        code: 'body_too_large',
      })
    }
  })

  it('inflates a bomb of 200 MB no further than that', async () => {
    const bomb = gzipSync(Buffer.alloc(200 * MIB))
    const before = process.memoryUsage.rss()
    const took_ms = await processorTime_ms(async () => {
      const reply = await createEvent(bomb, { 'content-encoding': 'gzip' })
      expect(await refusal(reply)).toEqual({ status: 413, code: 'body_too_large' })
    })
    expect(took_ms).toBeLessThan(1000)
    expect(process.memoryUsage.rss() - before).toBeLessThan(50 * MIB)
  })

  it('applies to every operation that has a body', async () => {
    const body = ' '.repeat(LIMIT_BYTES + 1)
    for (const line of [
      'POST /customers/initialize',
      'POST /events/create',
      'POST /journeys',
      `PATCH /journeys/${workspace.journey_id}`,
    ]) {
      expect((await send(cairn, line, { key: workspace.secret_key, body })).status).toBe(413)
    }
  })
})

/** Sends a head and then without end, until it is disconnected. */
async function sendEndlessly(head: string, piece: Buffer) {
  const { socket, answer, closed } = await openConnection(cairn)
  socket.write(head)
  const sendMore = () => {
    while (socket.writable && socket.write(piece));
  }
  socket.on('drain', sendMore)
  sendMore()
  await closed
  return { answer: answer(), bytes: socket.bytesWritten }
}

describe('the sender of a large body', () => {
  it.each([1, 6].flatMap((mib) => ['keep-alive', 'close'].map((connection) => [mib, connection] as const)))(
    'sees the response to %i MB on a connection of kind %s',
    async (mib, connection) => {
      const body = Buffer.alloc(mib * 1_000_000, 'a')
      for (const headers of [{ connection }, { connection, 'transfer-encoding': 'chunked' }]) {
        expect((await createEvent(body, headers)).status).toBe(413)
        const refused = await send(cairn, 'POST /events/create', { key: 'unknown', body, headers })
        expect(refused.status).toBe(401)
      }
    },
  )

  it('sees a refusal while it still sends, and may finish sending', async () => {
    for (const connection of ['keep-alive', 'close']) {
      const request = slowRequest({ 'x-service-key': 'unknown', connection })
      request.write('x'.repeat(100))
      const [reply] = await once(request, 'response')
      expect(reply.statusCode).toBe(401)
      for (const _ of Array(50)) await new Promise((resolve) => request.write('x'.repeat(64 * KIB), resolve))
      request.end()
      reply.resume()
      await once(request, 'close')
    }
  })

  it('is not disconnected before it has sent everything, even if the connection ends then', async () => {
    const { socket, answer, closed } = await openConnection(cairn)
    const body = Buffer.alloc(4 * MIB, 'a')
    socket.write(head('POST /events/create', { connection: 'close', 'content-length': String(body.length) }))
    await vi.waitFor(() => expect(answer()).toContain('"request_id"'), withPatience)
    expect(answer()).toContain('HTTP/1.1 401')
    socket.write(body)
    expect(await closed).toBeUndefined()
  })

  it('can send the next request on the same connection', async () => {
    const { socket, answer } = await openConnection(cairn)
    const body = Buffer.alloc(MIB, 'a')
    const large = { 'content-type': 'application/json', 'content-length': String(body.length) }
    for (const key of ['unknown', workspace.secret_key]) {
      socket.write(head('POST /events/create', { ...large, 'x-service-key': key }))
      socket.write(body)
    }
    socket.write(head('GET /customers', { 'x-service-key': workspace.secret_key }))
    await vi.waitFor(() => {
      expect(answer().match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 401', 'HTTP/1.1 413', 'HTTP/1.1 200'])
    }, withPatience)
  })

  it('is refused by the announced length, before it sends', async () => {
    const { socket, answer } = await openConnection(cairn)
    socket.write(
      head('POST /events/create', {
        'x-service-key': workspace.secret_key,
        'content-type': 'application/json',
        'content-length': '999999999',
      }),
    )
    await vi.waitFor(() => expect(answer()).toContain('HTTP/1.1 413'), withPatience)
  })

  it.each([
    ['401', 'POST /events/create', { 'x-service-key': 'unknown' }],
    ['404', 'POST /nowhere', {}],
    ['405', 'PUT /events/create', {}],
    ['204', 'OPTIONS /events/create', {}],
    ['415', 'POST /events/create', { 'content-type': 'text/plain' }],
    ['413', 'POST /events/create', { 'content-type': 'application/json' }],
    ['400', 'POST /events/create', { 'content-type': 'application/json', 'content-encoding': 'gzip' }],
    ['200', 'GET /customers', {}],
  ])('that never ends sees %s and is disconnected some way beyond 8 MiB', async (status, line, headers) => {
    const { answer, bytes } = await sendEndlessly(
      head(line, { 'x-service-key': workspace.secret_key, 'transfer-encoding': 'chunked', ...headers }),
      chunk(Buffer.alloc(64 * KIB, 'a')),
    )
    expect(answer).toContain(`HTTP/1.1 ${status}`)
    // The rest is in the buffers of the two sockets.
    expect(bytes).toBeGreaterThan(8 * MIB)
    expect(bytes).toBeLessThan(32 * MIB)
  })

  it.each<[status: string, line: string, rest?: string]>([
    ['200', 'GET /healthz'],
    ['200', 'GET /readyz'],
    ['302', 'GET /'],
    ['302', 'GET /admin'],
    ['200', 'GET /admin/'],
    ['302', 'GET /docs'],
    ['200', 'GET /docs/'],
    ['200', 'GET /v1/openapi.yaml'],
    ['401', 'GET /metrics'],
    ['404', 'GET /nowhere'],
    ['405', 'POST /admin/'],
    ['200', 'GET /v1/events/export'],
    ['400', 'BREW /'],
    ['400', 'CONNECT /'],
    ['400', 'POST /v1/events/create', 'transfer-encoding: chunked\r\n\r\nnot a chunk'],
  ])('that never ends is disconnected as soon after %s to %s', async (status, line, rest) => {
    const end = rest ?? 'content-length: 100000000000\r\n\r\n'
    const { answer, bytes } = await sendEndlessly(
      `${line} HTTP/1.1\r\nhost: cairn\r\nx-service-key: ${workspace.secret_key}\r\ncontent-type: application/json\r\n${end}`,
      Buffer.alloc(64 * KIB, 'a'),
    )
    expect(answer).toContain(`HTTP/1.1 ${status}`)
    expect(bytes).toBeLessThan(32 * MIB)
  })

  it('that stops half-way after a refusal is disconnected after about 5 seconds', async () => {
    const { socket, answer, closed } = await openConnection(cairn)
    const started = performance.now()
    socket.write(head('POST /events/create', { 'content-length': '1000' }))
    socket.write('half')
    await closed
    expect(answer()).toContain('HTTP/1.1 401')
    expect(performance.now() - started).toBeGreaterThan(4000)
    expect(performance.now() - started).toBeLessThan(9000)
  })
})

describe('a gzip body', () => {
  const zip = () => gzipSync(JSON.stringify(event))

  it.each<[string, (whole: Buffer) => Buffer]>([
    ['is not gzip', () => Buffer.from(JSON.stringify(event))],
    ['is empty', () => Buffer.alloc(0)],
    ['ends early', (whole) => whole.subarray(0, 40)],
    ['lacks its last byte', (whole) => whole.subarray(0, -1)],
    ['has a wrong checksum', (whole) => Buffer.from(whole).fill(0, whole.length - 8, whole.length - 4)],
    ['is damaged', (whole) => Buffer.from(whole).fill(0xff, 20, 30)],
    ['has garbage behind it', (whole) => Buffer.concat([whole, Buffer.from('garbage')])],
  ])('is refused if it %s', async (_name, damage) => {
    const reply = await createEvent(damage(zip()), { 'content-encoding': 'gzip' })
    expect(await refusal(reply)).toEqual({
      status: 400,
      code: 'invalid_json',
      errors: [{ pointer: '', detail: 'must be gzip, as Content-Encoding says' }],
    })
  })

  it('is refused if its members together are not JSON', async () => {
    const reply = await createEvent(Buffer.concat([zip(), zip()]), { 'content-encoding': 'gzip' })
    expect(await refusal(reply)).toMatchObject({ status: 400, code: 'invalid_json' })
  })

  it('is received in any number of pieces', async () => {
    const request = slowRequest({
      'x-service-key': workspace.secret_key,
      'content-type': 'application/json',
      'content-encoding': 'gzip',
    })
    for (const byte of zip()) request.write(Buffer.from([byte]))
    request.end()
    const [reply] = await once(request, 'response')
    reply.resume()
    expect(reply.statusCode).toBe(201)
  })
})

describe('a client that disconnects', () => {
  const headers = () => ({
    'x-service-key': workspace.secret_key,
    'content-type': 'application/json',
    'transfer-encoding': 'chunked',
  })

  /** The log entries of the request with this identifier. */
  const logged = (requestId: string) =>
    cairn.log.filter(({ request_id }) => request_id === requestId).map(({ status }) => status)

  it.each([
    ['plain', {}, (text: string) => Buffer.from(text.slice(0, 50))],
    ['gzip', { 'content-encoding': 'gzip' }, (text: string) => gzipSync(text).subarray(0, 50)],
  ])('in the middle of a %s body leaves nothing behind', async (name, encoding, part) => {
    const count = 200
    const requestId = `gone-${name}`
    for (let index = 0; index < count; index += 1) {
      const { socket } = await openConnection(cairn)
      socket.write(head('POST /events/create', { ...headers(), ...encoding, 'x-request-id': requestId }))
      socket.write(chunk(part(JSON.stringify(event))))
      await new Promise((resolve) => setImmediate(resolve))
      socket.destroy()
    }
    await vi.waitFor(() => expect(logged(requestId)).toEqual(Array(count).fill('aborted')), withPatience)
    expect((await createEvent(JSON.stringify(event))).status).toBe(201)
  })

  it('after the end of its gzip data does no harm', async () => {
    const uncaught = vi.fn()
    process.on('uncaughtException', uncaught)
    onTestFinished(() => {
      process.off('uncaughtException', uncaught)
    })
    const { socket, answer } = await openConnection(cairn)
    const requestId = 'gone-behind'
    socket.write(
      head('POST /events/create', { ...headers(), 'content-encoding': 'gzip', 'x-request-id': requestId }),
    )
    // A gzip file may be followed by zeros; the decoder stops before them.
    socket.write(chunk(Buffer.concat([gzipSync(JSON.stringify(event)), Buffer.alloc(100)])))
    await vi.waitFor(() => expect(answer()).toContain('HTTP/1.1 201'), withPatience)
    socket.destroy()
    await vi.waitFor(() => expect(logged(requestId)).toEqual([201]), withPatience)
    expect(uncaught).not.toHaveBeenCalled()
  })
})

/** A request whose body is written in pieces. */
function slowRequest(headers: Record<string, string>): ClientRequest {
  const request = startRequest(`${cairn.url}/v1/events/create`, { method: 'POST', headers })
  request.flushHeaders()
  onTestFinished(() => {
    request.destroy()
  })
  return request
}

describe('the memory for bodies', () => {
  it('is released if a client disconnects while its key is looked up', async () => {
    const headers = {
      'x-service-key': workspace.secret_key,
      'content-type': 'application/json',
      'transfer-encoding': 'chunked',
    }
    // Each may turn out to be 4 MiB: 30 of them exceed the memory budget.
    for (let count = 0; count < 30; count += 1) {
      // After any change, keys are looked up again.
      await workspace.client.createJourney({ body: { name: `J${count}` } })
      const { socket } = await openConnection(cairn)
      socket.write(head('POST /events/batch', headers))
      socket.destroy()
    }
    const answer = await send(cairn, 'POST /events/batch', {
      key: workspace.secret_key,
      body: JSON.stringify({ events: [event] }),
    })
    expect(answer.status).toBe(200)
  })
})
