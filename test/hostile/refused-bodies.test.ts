// engines: sqlite (settled before the store is asked for more than the key)

import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cpuSeconds, peakBytes, startTarget } from './target.ts'

const KIB = 1024
const MIB = 1024 * KIB

/** Acceptable cost of refusing a body, as a multiple of accepting an ordinary one of its size. */
const MOST_TIMES = 3

type Sent = { path: string; body: Buffer; status: number }

/** Items that fill a body. Each is a fault by itself, or is slow to parse or to locate. */
const FILLINGS: Record<string, (index: number) => string> = {
  nothing: () => '',
  'empty arrays': () => '[]',
  'empty objects': () => '{}',
  'objects of one field': () => '{"a":0}',
  'objects of different fields': (index) => `{"${index.toString(36)}":0}`,
  'events without fields': () => '{"event_id":0,"journey_id":0,"customer_id":0}',
  zeros: () => '0',
  'endless numbers': () => '9e999',
  'numbers that nearly are': () => '1e300',
  'empty strings': () => '""',
  escapes: () => '"\\n\\u0041"',
  surrogates: () => '"\\ud83d\\ude00"',
  'lone surrogates': () => '"\\ud800"',
  'repeated names': () => '{"a":0,"a":0}',
  'thirty levels': () => '['.repeat(30) + ']'.repeat(30),
  text: () => `"${'x'.repeat(1000)}"`,
}

const NAMES: Record<string, string> = {
  events: 'events',
  steps: 'steps',
  none: '',
  long: 'x'.repeat(2000),
  'a pointer': '~/'.repeat(1000),
  variables: '"custom_variables":{"a":0},"custom_variables',
}

/** The end of a body, which makes everything before it useless. */
const ENDS: Record<string, string> = {
  good: '',
  number: ',9e999',
  surrogate: ',"\\udfff"',
  'repeated name': ',{"a":0,"a":0}',
  comma: ',',
}

type Shape = { filling: string; name: string; levels: number; end: string }

/** As many items as fit, separated by commas. */
function fill(bytes: number, item: (index: number) => string): string {
  const items: string[] = []
  let length = 0
  for (let next = item(0); length + next.length < bytes; next = item(items.length)) {
    items.push(next)
    length += next.length + 1
  }
  return items.join()
}

/** A body of nearly this size that every operation refuses. */
function badBody({ filling, name, levels, end }: Shape, bytes: number): string {
  const head = `{"${NAMES[name]}":${'['.repeat(levels + 1)}`
  const tail = `${ENDS[end]}${']'.repeat(levels + 1)}}`
  return head + fill(bytes - head.length - tail.length, FILLINGS[filling] ?? String) + tail
}

/** A body of many fields that no operation knows. */
function unknownFields(bytes: number): string {
  return `{${fill(bytes - 2, (index) => `"${index.toString(36)}":0`)}}`
}

type Target = Awaited<ReturnType<typeof startTarget>>

/** An event of about this size, with ordinary variables. */
function ordinaryEvent({ event }: Target, bytes: number) {
  const item = { sku: 'abc-123', price: 12.5, count: 3 }
  const items = Array(Math.floor((bytes - 300) / 44)).fill(item)
  return { ...event, custom_variables: { plan: 'team', seats: 12, trial: false, items } }
}

const ordinary = {
  event: (target: Target, bytes: number): Sent => ({
    path: '/events/create',
    body: gzipSync(JSON.stringify(ordinaryEvent(target, bytes))),
    status: 201,
  }),
  batch: (target: Target, bytes: number): Sent => ({
    path: '/events/batch',
    body: gzipSync(JSON.stringify({ events: Array(1000).fill(ordinaryEvent(target, bytes / 1000)) })),
    status: 200,
  }),
}

async function send({ server, secret_key }: Target, { path, body, status }: Sent): Promise<void> {
  const reply = await fetch(`${server.url}/v1${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'content-encoding': 'gzip',
      ...(path === '/session' ? { origin: server.url } : { 'x-service-key': secret_key }),
    },
    body: new Uint8Array(body),
  })
  await reply.arrayBuffer()
  expect(reply.status).toBe(status)
}

/** The processor time of a body, averaged over several sent one after another. */
async function costOf(target: Target, sent: Sent, times: number): Promise<number> {
  const before = await cpuSeconds(target.server)
  for (let count = 0; count < times; count += 1) await send(target, sent)
  return ((await cpuSeconds(target.server)) - before) / times
}

/**
 * The ratio of two costs: the minimum of several alternate measurements, because the machine is busy. What is
 * far below the limit is measured once.
 */
async function timesAsMuch(
  target: Target,
  { sent, other, times }: { sent: Sent; other: Sent; times: number },
): Promise<number> {
  const costs = { sent: Number.POSITIVE_INFINITY, other: Number.POSITIVE_INFINITY }
  for (let round = 0; round < 6; round += 1) {
    costs.other = Math.min(costs.other, await costOf(target, other, times))
    costs.sent = Math.min(costs.sent, await costOf(target, sent, times))
    if (costs.sent <= (round > 0 ? MOST_TIMES : MOST_TIMES / 2) * costs.other) break
  }
  return costs.sent / costs.other
}

const shapes = fc.record({
  filling: fc.constantFrom(...Object.keys(FILLINGS)),
  name: fc.constantFrom(...Object.keys(NAMES)),
  levels: fc.integer({ min: 0, max: 40 }),
  end: fc.constantFrom(...Object.keys(ENDS)),
})

const sizes: [
  name: string,
  path: string,
  bytes: number,
  times: number,
  like: (target: Target, bytes: number) => Sent,
][] = [
  ['a batch', '/events/batch', 4 * MIB, 1, ordinary.batch],
  ['an event', '/events/create', 64 * KIB, 20, ordinary.event],
  ['a body without a credential', '/session', 16 * KIB, 40, ordinary.event],
]

describe.each(sizes)('refusing %s', (_name, path, bytes, times, like) => {
  it('costs at most three times as much as accepting an ordinary one of its size', async () => {
    const target = await startTarget({ CAIRN_RATE_LIMIT: '0' })
    const other = like(target, bytes * 0.95)
    const ratioOf = (text: string) =>
      timesAsMuch(target, { sent: { path, body: gzipSync(text), status: 400 }, other, times })
    await timesAsMuch(target, { sent: other, other, times })
    await fc.assert(
      fc.asyncProperty(shapes, async (shape) => {
        expect(await ratioOf(badBody(shape, bytes))).toBeLessThan(MOST_TIMES)
      }),
      {
        numRuns: 12,
        examples: [
          [{ filling: 'empty arrays', name: 'long', levels: 36, end: 'good' }],
          [{ filling: 'endless numbers', name: 'long', levels: 3, end: 'good' }],
          [{ filling: 'nothing', name: 'none', levels: 0, end: 'good' }],
          [{ filling: 'empty objects', name: 'events', levels: 0, end: 'good' }],
          [{ filling: 'events without fields', name: 'events', levels: 0, end: 'good' }],
          [{ filling: 'lone surrogates', name: 'a pointer', levels: 0, end: 'good' }],
          [{ filling: 'thirty levels', name: 'a pointer', levels: 1, end: 'comma' }],
          [{ filling: 'objects of different fields', name: 'variables', levels: 0, end: 'number' }],
        ],
      },
    )
    expect(await ratioOf(unknownFields(bytes))).toBeLessThan(MOST_TIMES)
  })
})

it('needs no more memory for the worst of them than for ordinary ones', async () => {
  const target = await startTarget({ CAIRN_RATE_LIMIT: '0' })
  const sendThrice = (sent: Sent) => Promise.all([1, 2, 3].map(() => send(target, sent)))
  const good = ordinary.batch(target, 3.8 * MIB)
  for (let count = 0; count < 6; count += 1) await sendThrice(good)
  const before = peakBytes(target.server)
  const places = [
    ['long', 36],
    ['events', 0],
    ['variables', 3],
  ] as const
  for (const [index, filling] of Object.keys(FILLINGS).entries()) {
    const [name, levels] = places[index % places.length] ?? places[0]
    const text = badBody({ filling, name, levels, end: 'comma' }, 4 * MIB)
    await sendThrice({ path: '/events/batch', body: gzipSync(text), status: 400 })
  }
  // Memory of earlier tests is free again; the rest is garbage not collected yet.
  expect(peakBytes(target.server) - before).toBeLessThan(100 * MIB)
})
