// engines: sqlite (settled before the store is asked for more than the key)
// alone: measures the memory and the processor time of its own process

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Cairn, startCairn, type Workspace } from '../fixtures/cairn.ts'
import { customerInJourney } from '../fixtures/customer.ts'
import { processorTime_ms } from '../fixtures/processor-time.ts'
import { refusal, send } from '../fixtures/requests.ts'

let cairn: Cairn
let workspace: Workspace
let body: string

beforeAll(async () => {
  cairn = await startCairn()
  const made = await customerInJourney(cairn)
  workspace = made.workspace
  body = JSON.stringify(made.event)
  return cairn.stop
})

const createEvent = (headers: Record<string, string | string[]>, sent: string | Buffer = body) =>
  send(cairn, 'POST /events/create', { key: workspace.secret_key, body: sent, headers })

describe('the header Content-Type', () => {
  it.each([
    'application/json',
    'APPLICATION/Json',
    'application/json;charset=utf-8',
    'application/json; charset=UTF-8',
    'application/json ; charset="utf-8" ;',
    'application/json;',
  ])('is accepted as %s', async (type) => {
    expect((await createEvent({ 'content-type': type })).status).toBe(201)
  })

  it.each([
    '',
    'text/plain',
    'text/json',
    'application/jsonx',
    'application/json5',
    'application/problem+json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json, application/json',
    'application/json; charset=iso-8859-1',
    'application/json; charset=utf-16',
    'application/json; charset=utf-8; charset=latin1',
    'application/json; charset="utf-8',
    'application/json; version=1',
    'json',
    '*/*',
  ])('is refused as %s, with what to send instead', async (type) => {
    const reply = await createEvent({ 'content-type': type })
    expect(reply.headers.get('accept-encoding')).toBe('gzip')
    expect(await refusal(reply)).toEqual({ status: 415, code: 'unsupported_media_type' })
  })

  it('is refused if it is missing', async () => {
    const reply = await cairn.fetch('/events/create', {
      method: 'POST',
      headers: { 'x-service-key': workspace.secret_key },
      body: new TextEncoder().encode(body),
    })
    expect(reply.status).toBe(415)
  })

  it('does not matter for an operation without a body', async () => {
    const headers = { 'content-type': 'text/plain; charset=latin1', 'content-encoding': 'br' }
    const path = `/journeys/${workspace.journey_id}/restore`
    for (const line of ['GET /customers', 'GET /events', `POST ${path}`]) {
      const reply = await send(cairn, line, { key: workspace.secret_key, body: '{"not": json', headers })
      expect(reply.status).toBe(200)
    }
  })

  it('is parsed quickly if it contains 15,000 spaces', async () => {
    const gap = ' '.repeat(15_000)
    const took_ms = await processorTime_ms(async () => {
      for (const type of [`application/json${gap}x`, `application/json; charset=utf-8${gap}x`]) {
        for (const _ of Array(10)) expect((await createEvent({ 'content-type': type })).status).toBe(415)
      }
    })
    // 20 requests; trying spaces in every combination would take 0.2 s each.
    expect(took_ms).toBeLessThan(2000)
  })

  it('costs no memory, however many different ones there are', async () => {
    const flood = async (name: string, count: number) => {
      for (let index = 0; index < count; index += 1) {
        const type = `application/json; ${name}=${index}`
        const refused = await createEvent({ 'content-type': type }, '{}')
        const read = await send(cairn, 'GET /customers?limit=1', {
          key: workspace.secret_key,
          headers: { 'content-type': type },
        })
        expect([refused.status, read.status]).toEqual([415, 200])
      }
    }
    await flood('warm', 100)
    const before = heapUsed()
    await flood('v', 2_000)
    // A compiled and cached check for each would take 36 MB per 1,000.
    expect(heapUsed() - before).toBeLessThan(10_000_000)
  })
})

describe('the header Content-Encoding', () => {
  it.each(['gzip', 'GZIP', 'x-gzip'])('is accepted as %s', async (encoding) => {
    expect((await createEvent({ 'content-encoding': encoding }, gzipSync(body))).status).toBe(201)
  })

  it('is accepted as identity', async () => {
    expect((await createEvent({ 'content-encoding': 'identity' })).status).toBe(201)
  })

  it.each(['', 'br', 'deflate', 'zstd', 'compress', 'gzip, gzip', 'gzip, identity', 'gzip;q=1', '*'])(
    'is refused as %s, with what to send instead',
    async (encoding) => {
      const reply = await createEvent({ 'content-encoding': encoding }, gzipSync(body))
      expect(reply.headers.get('accept-encoding')).toBe('gzip')
      expect(await refusal(reply)).toEqual({ status: 415, code: 'unsupported_media_type' })
    },
  )
})

describe('the header Transfer-Encoding', () => {
  it.each(['chunked', 'Chunked'])('is accepted as %s', async (coding) => {
    expect((await createEvent({ 'transfer-encoding': coding })).status).toBe(201)
  })

  it.each(['gzip, chunked', 'identity, chunked'])(
    'is refused as %s, since the body would be read as if it had no other coding',
    async (coding) => {
      for (const sent of [body, gzipSync(body)]) {
        const reply = await createEvent({ 'transfer-encoding': coding }, sent)
        expect(await refusal(reply)).toEqual({ status: 415, code: 'unsupported_media_type' })
      }
    },
  )
})

/** Bytes in use after garbage collection. */
function heapUsed(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().heapUsed
}
