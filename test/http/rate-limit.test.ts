import { beforeAll, describe, expect, it } from 'vitest'
import { type Cairn, startCairn, startCairnForTest, type Workspace } from '../cairn.ts'
import { customerInJourney } from '../operations/customer.ts'
import { refusal, send } from './requests.ts'
import { createKey } from './service-keys.ts'

/** What keys without a rate of their own may send a second. */
const DEFAULT_RATE = 3

let cairn: Cairn
let workspace: Workspace
/** The server's clock, which stands until it is moved. */
let now_ms = Date.parse('2026-11-20T12:00:00Z')

beforeAll(async () => {
  cairn = await startCairn({ rateLimit: DEFAULT_RATE, now: () => now_ms })
  workspace = await cairn.workspace()
  return cairn.stop
})

/** A new key, whose bucket is full. */
async function newKey(rate_limit: number | null = null): Promise<string> {
  return (await createKey(cairn, workspace, 'secret', { rate_limit })).key
}

const read = (key: string) => send(cairn, 'GET /journeys?limit=1', { key })

/** Sends until the key is refused. @returns how often it was accepted, and the refusal */
async function spend(key: string): Promise<{ accepted: number; refused: Response }> {
  for (let accepted = 0; ; accepted += 1) {
    const reply = await read(key)
    if (reply.status === 429) return { accepted, refused: reply }
    expect(reply.status).toBe(200)
  }
}

const rateOf = ({ headers }: Response) => [headers.get('ratelimit'), headers.get('ratelimit-policy')]

describe('the burst', () => {
  it('is twice the rate: so many are accepted, the next is refused', async () => {
    const { accepted, refused } = await spend(await newKey())
    expect(accepted).toBe(2 * DEFAULT_RATE)
    expect(rateOf(refused)).toEqual(['"default";r=0;t=2', '"default";q=6;w=2'])
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(await refusal(refused)).toEqual({ status: 429, code: 'rate_limited' })
  })

  it('is counted down in RateLimit', async () => {
    const key = await newKey(2)
    const seen = []
    for (const _ of Array(4)) seen.push(rateOf(await read(key)))
    expect(seen).toEqual([
      ['"default";r=3;t=1', '"default";q=4;w=2'],
      ['"default";r=2;t=1', '"default";q=4;w=2'],
      ['"default";r=1;t=2', '"default";q=4;w=2'],
      ['"default";r=0;t=2', '"default";q=4;w=2'],
    ])
  })

  it('is exact under concurrent requests', async () => {
    const key = await newKey(10)
    const replies = await Promise.all(Array.from({ length: 60 }, () => read(key)))
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(20)
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(40)
  })

  it('belongs to one key alone', async () => {
    const [one, other] = [await newKey(), await newKey()]
    await spend(one)
    expect((await spend(other)).accepted).toBe(2 * DEFAULT_RATE)
  })
})

describe('the bucket', () => {
  it.each([1, 3, 7, 50])(
    'at a rate of %i has an event again after the seconds of Retry-After',
    async (rate) => {
      const key = await newKey(rate)
      // Odd steps, so that the bucket is not filled by whole events.
      for (const step_ms of [0, 1, 333, 999, 1001]) {
        now_ms += step_ms
        const { refused } = await spend(key)
        now_ms += Number(refused.headers.get('retry-after')) * 1000
        expect((await read(key)).status).toBe(200)
      }
    },
  )

  it('gives the next event when its time has come, and not before', async () => {
    const key = await newKey(1)
    await spend(key)
    now_ms += 999
    expect((await read(key)).status).toBe(429)
    now_ms += 1
    expect((await read(key)).status).toBe(200)
    expect((await read(key)).status).toBe(429)
  })

  it('is full after the seconds that RateLimit tells, and never more than full', async () => {
    const key = await newKey(4)
    const { refused } = await spend(key)
    const [, t] = /;t=(\d+)$/.exec(refused.headers.get('ratelimit') ?? '') ?? []
    now_ms += Number(t) * 1000
    expect((await spend(key)).accepted).toBe(8)
    now_ms += 3_600_000
    expect((await spend(key)).accepted).toBe(8)
  })

  it('loses nothing where the clock steps back', async () => {
    const key = await newKey(2)
    await read(key)
    now_ms -= 3_600_000
    expect((await spend(key)).accepted).toBe(3)
    now_ms += 1000
    expect((await spend(key)).accepted).toBe(2)
  })
})

describe("a key's own limit", () => {
  it('overrides that of the server, upwards and downwards', async () => {
    expect((await spend(await newKey(5))).accepted).toBe(10)
    expect((await spend(await newKey(1))).accepted).toBe(2)
  })

  it('of 0 means none, and replies without rate headers', async () => {
    const key = await newKey(0)
    for (const _ of Array(4 * DEFAULT_RATE)) {
      const reply = await read(key)
      expect(reply.status).toBe(200)
      expect(rateOf(reply)).toEqual([null, null])
    }
  })

  it('holds where the server has none', async () => {
    const cairn = await startCairnForTest({ rateLimit: 0, now: () => now_ms })
    const workspace = await cairn.workspace()
    const { key } = await createKey(cairn, workspace, 'secret', { rate_limit: 1 })
    const statusOf = async (key: string) => (await send(cairn, 'GET /journeys', { key })).status
    expect([await statusOf(key), await statusOf(key), await statusOf(key)]).toEqual([200, 200, 429])
    const reply = await send(cairn, 'GET /journeys', { key: workspace.secret_key })
    expect(rateOf(reply)).toEqual([null, null])
  })
})

describe('what counts', () => {
  it('is every request that gets past its key, refused ones included', async () => {
    const { workspace, event } = await customerInJourney(cairn)
    const { key } = await createKey(cairn, workspace, 'publishable', { rate_limit: 100 })
    const customer = {
      client_customer_id: 'c',
      journey_id: event.journey_id,
      customer_type: 'contact',
      customer_name: 'C',
    }
    const large = 'x'.repeat(100_000)
    const left = []
    for (const [line, body, type] of [
      ['POST /customers/initialize', JSON.stringify(customer)],
      ['POST /events/create', JSON.stringify(event)],
      ['POST /events/create', JSON.stringify({ ...event, event_id: '' })],
      ['POST /events/create', '{'],
      ['POST /events/create', '{}', 'text/plain'],
      ['POST /events/create', large],
      ['POST /events/create', JSON.stringify({ ...event, journey_id: 'jrn_unknown' })],
      ['POST /events/create?x', JSON.stringify(event)],
    ] as const) {
      const headers = type === undefined ? {} : { 'content-type': type }
      const reply = await send(cairn, line, { key, body, headers })
      left.push([reply.status, Number(/r=(\d+)/.exec(rateOf(reply)[0] ?? '')?.[1])])
    }
    expect(left).toEqual([
      [201, 199],
      [201, 198],
      [400, 197],
      [400, 196],
      [415, 195],
      [413, 194],
      [404, 193],
      [400, 192],
    ])
  })

  it('is no request that is refused before', async () => {
    const { key } = await createKey(cairn, workspace, 'publishable', {
      rate_limit: 1,
      allowed_origins: ['https://a.test'],
    })
    for (const [status, line, headers] of [
      [404, 'GET /nowhere', {}],
      [405, 'GET /events/create', {}],
      [204, 'OPTIONS /events/create', {}],
      [403, 'GET /events', {}],
      [403, 'POST /events/create', { origin: 'https://b.test' }],
      [404, 'GET /customers/%zz', {}],
    ] as const) {
      for (const _ of Array(3)) {
        const reply = await send(cairn, line, { key, headers })
        expect(reply.status).toBe(status)
        expect(rateOf(reply)).toEqual([null, null])
      }
    }
    const reply = await send(cairn, 'POST /events/create', { key, body: '{}' })
    expect(rateOf(reply)).toEqual(['"default";r=1;t=1', '"default";q=2;w=2'])
  })
})

describe('a batch', () => {
  let event: { journey_id: string; customer_id: string; event_id: string }

  beforeAll(async () => {
    event = { journey_id: workspace.journey_id, customer_id: 'unknown', event_id: 'signed_up' }
  })

  /** Sends a batch of so many events, none of which is stored. */
  const batch = (key: string, count: number) =>
    send(cairn, 'POST /events/batch', { key, body: JSON.stringify({ events: Array(count).fill(event) }) })

  it('counts as many as it has events', async () => {
    const key = await newKey(10)
    expect(rateOf(await batch(key, 7))).toEqual(['"default";r=13;t=1', '"default";q=20;w=2'])
    expect(rateOf(await batch(key, 13))).toEqual(['"default";r=0;t=2', '"default";q=20;w=2'])
    expect((await batch(key, 1)).status).toBe(429)
  })

  it('is taken whole or not at all: what is refused counts one', async () => {
    const key = await newKey(10)
    await batch(key, 15)
    const refused = await batch(key, 6)
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(rateOf(refused)[0]).toBe('"default";r=4;t=2')
    expect(rateOf(await batch(key, 4))[0]).toBe('"default";r=0;t=2')
  })

  it('passes after the time that Retry-After gives', async () => {
    const key = await newKey(10)
    await batch(key, 15)
    const refused = await batch(key, 15)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '2'])
    now_ms += 2_000
    expect((await batch(key, 15)).status).toBe(200)
  })

  it('larger than the burst passes when the bucket is full, and leaves it in debt', async () => {
    const key = await newKey(10)
    expect(rateOf(await batch(key, 50))[0]).toBe('"default";r=0;t=5')
    const refused = await read(key)
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('4')
    now_ms += 3_000
    expect((await read(key)).status).toBe(429)
    now_ms += 100
    expect((await read(key)).status).toBe(200)
    now_ms += 1_000
    // Not full: it has to wait for that.
    const again = await batch(key, 50)
    expect([again.status, again.headers.get('retry-after')]).toEqual([429, '2'])
  })

  it('with a fault of form counts one', async () => {
    const key = await newKey(10)
    const body = JSON.stringify({ events: Array(15).fill({}) })
    expect((await send(cairn, 'POST /events/batch', { key, body })).status).toBe(400)
    expect(rateOf(await batch(key, 19))[0]).toBe('"default";r=0;t=2')
  })
})
