// engines: sqlite, postgres

import { request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Cairn, startCairn, type Workspace } from '../fixtures/cairn.ts'

const MIB = 1024 * 1024

let cairn: Cairn
let workspace: Workspace

beforeAll(async () => {
  cairn = await startCairn()
  workspace = await cairn.workspace()
  const { client, journey_id } = workspace
  const { data } = await client.initializeCustomer({
    body: { journey_id, client_customer_id: 'ada', customer_type: 'contact', customer_name: 'Ada' },
  })
  const customer_id = data?.customer_id ?? ''
  const event = (text: string) => ({ journey_id, customer_id, event_id: 'read', custom_variables: { text } })
  await client.createEvents({ body: { events: Array(18).fill(event('a page '.repeat(8500))) } })
  await client.createEvents({ body: { events: Array(50).fill(event('short')) } })
  return cairn.stop
})

type Asked = { method?: string; headers?: Record<string, string>; body?: object }

/** A response as transferred, without decoding. */
async function ask(path: string, { method = 'GET', headers, body }: Asked = {}) {
  const text = body && JSON.stringify(body)
  const sent = {
    'x-service-key': workspace.secret_key,
    ...(text && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
    ...headers,
  }
  return await new Promise<{ status: number; headers: Record<string, unknown>; bytes: Buffer }>(
    (resolve, reject) => {
      const asked = request(`${cairn.url}/v1${path}`, { method, headers: sent }, async (answer) => {
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, bytes: await buffer(answer) })
      })
      asked.once('error', reject)
      asked.end(text)
    },
  )
}

const gzip = { 'accept-encoding': 'gzip, deflate' }

describe('a large page of a list', () => {
  it.each(['/events?limit=50', '/events?limit=500'])(
    'is compressed for clients that accept it: %s',
    async (path) => {
      const plain = await ask(path)
      const compressed = await ask(path, { headers: gzip })
      expect(plain.headers).not.toHaveProperty('content-encoding')
      expect(compressed.headers).toMatchObject({
        'content-encoding': 'gzip',
        'content-length': String(compressed.bytes.length),
        'content-type': 'application/json',
        'cache-control': 'no-store',
      })
      expect([plain.headers.vary, compressed.headers.vary]).toEqual(['Accept-Encoding', 'Accept-Encoding'])
      expect(compressed.bytes.length).toBeLessThan(plain.bytes.length / 2)
      expect(JSON.parse(String(gunzipSync(compressed.bytes)))).toEqual(JSON.parse(String(plain.bytes)))
    },
  )

  it('has at most 1 MiB when inflated', async () => {
    const { data } = JSON.parse(String((await ask('/events?limit=50')).bytes))
    const path = `/events?limit=500&received_to=${encodeURIComponent(data.at(-1).received_at)}`
    const unpacked = gunzipSync((await ask(path, { headers: gzip })).bytes)
    expect(unpacked.length).toBeGreaterThan(0.9 * MIB)
    expect(unpacked.length).toBeLessThanOrEqual(MIB)
  })

  it('is sent uncompressed to clients that refuse gzip or accept only another coding', async () => {
    for (const accepted of ['gzip;q=0', 'br', 'identity', '']) {
      const { headers, bytes } = await ask('/events?limit=50', { headers: { 'accept-encoding': accepted } })
      expect(headers, accepted).not.toHaveProperty('content-encoding')
      expect(JSON.parse(String(bytes)).data).toHaveLength(50)
    }
  })

  it('reaches each of many concurrent clients, compressed or not', async () => {
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => ask('/events?limit=500', { headers: gzip })),
    )
    const pages = answers.map(({ headers, bytes }) =>
      String(headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array(30).fill(200))
    expect(new Set(pages).size).toBe(1)
  })
})

describe('no other response is compressed', () => {
  it('to ingestion, however large', async () => {
    const { journey_id } = workspace
    const event = { journey_id, customer_id: 'nobody', event_id: 'read' }
    const body = { events: Array(1000).fill(event) }
    const answer = await ask('/events/batch', { method: 'POST', headers: gzip, body })
    expect(answer.bytes.length).toBeGreaterThan(64 * 1024)
    expect(answer.headers).not.toHaveProperty('content-encoding')
    expect(answer.headers).not.toHaveProperty('vary')
  })

  it('that is small', async () => {
    const { headers } = await ask('/events?limit=1', { headers: gzip })
    expect(headers).not.toHaveProperty('content-encoding')
  })

  it('to a change, which alone may contain a secret', async () => {
    const steps = Array.from({ length: 100 }, (_, at) => ({
      event_id: `step_${at}`,
      name: 'Step '.repeat(40),
    }))
    const made = await ask('/journeys', { method: 'POST', headers: gzip, body: { name: 'Long', steps } })
    expect(made.status).toBe(201)
    expect(made.bytes.length).toBeGreaterThan(16 * 1024)
    expect(made.headers).not.toHaveProperty('content-encoding')
  })
})
