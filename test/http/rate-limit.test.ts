// engines: sqlite (settled before the store is asked for more than the key)
// alone: measures the memory of its own process

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { RateLimiter } from '../../server/http/rates/rate-limit.ts'
import type { Problem } from '../../server/problems.ts'
import { type Cairn, startCairn, startCairnForTest, type Workspace } from '../fixtures/cairn.ts'
import { customerInJourney } from '../fixtures/customer.ts'
import { signUp } from '../fixtures/people.ts'
import { refusal, send } from '../fixtures/requests.ts'
import { createKey } from '../fixtures/service-keys.ts'

/** Rate per second of keys without a rate of their own. */
const DEFAULT_RATE = 3

let cairn: Cairn
let workspace: Workspace
/** The server's clock, which stands still until it is advanced. */
let now_ms = Date.parse('2026-11-20T12:00:00Z')

beforeAll(async () => {
  cairn = await startCairn({ rateLimit: DEFAULT_RATE, now: () => now_ms })
  workspace = await cairn.workspace()
  return cairn.stop
})

/** A new key with a full bucket. */
async function newKey(rate_limit: number | null = null): Promise<string> {
  return (await createKey(cairn, workspace, 'secret', { rate_limit })).key
}

const read = (key: string) => send(cairn, 'GET /journeys?limit=1', { key })

/** Sends until the key is refused. @returns the number of accepted requests, and the refusal */
async function spend(key: string): Promise<{ accepted: number; refused: Response }> {
  for (let accepted = 0; ; accepted += 1) {
    const reply = await read(key)
    if (reply.status === 429) return { accepted, refused: reply }
    expect(reply.status).toBe(200)
  }
}

const rateOf = ({ headers }: Response) => [headers.get('ratelimit'), headers.get('ratelimit-policy')]

describe('the burst', () => {
  it('is twice the rate: that many are accepted, the next is refused', async () => {
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

  it('belongs to one key only', async () => {
    const [one, other] = [await newKey(), await newKey()]
    await spend(one)
    expect((await spend(other)).accepted).toBe(2 * DEFAULT_RATE)
  })
})

describe('the bucket', () => {
  it('is forgotten when it is full again, not earlier', () => {
    setFlagsFromString('--expose-gc')
    const collect: () => void = runInNewContext('gc')
    let now_ms = 0
    const limiter = new RateLimiter({ defaultRate: DEFAULT_RATE, now: () => now_ms })
    const spent = { key_id: 'spent', rate_limit: null }
    // In debt for a thousand seconds.
    limiter.charge(spent, 1000 * DEFAULT_RATE)
    collect()
    const before = process.memoryUsage().heapUsed
    for (let count = 0; count < 200_000; count += 1) {
      limiter.take({ key_id: `key_${count}`, rate_limit: null })
      now_ms += 1
    }
    collect()
    // All of them would take more than 30 MB.
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(8_000_000)
    expect(() => limiter.take(spent)).toThrow('rate_limited')
  })

  it.each([1, 3, 7, 50])(
    'at a rate of %i has an event again after the seconds of Retry-After',
    async (rate) => {
      const key = await newKey(rate)
      // Odd steps, so that the bucket does not fill by whole events.
      for (const step_ms of [0, 1, 333, 999, 1001]) {
        now_ms += step_ms
        const { refused } = await spend(key)
        now_ms += Number(refused.headers.get('retry-after')) * 1000
        expect((await read(key)).status).toBe(200)
      }
    },
  )

  it('has the next event when it is due, not before', async () => {
    const key = await newKey(1)
    await spend(key)
    now_ms += 999
    expect((await read(key)).status).toBe(429)
    now_ms += 1
    expect((await read(key)).status).toBe(200)
    expect((await read(key)).status).toBe(429)
  })

  it('is full after the seconds in RateLimit, and never more than full', async () => {
    const key = await newKey(4)
    const { refused } = await spend(key)
    const [, t] = /;t=(\d+)$/.exec(refused.headers.get('ratelimit') ?? '') ?? []
    now_ms += Number(t) * 1000
    expect((await spend(key)).accepted).toBe(8)
    now_ms += 3_600_000
    expect((await spend(key)).accepted).toBe(8)
  })

  it('loses nothing if the clock steps back', async () => {
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

  it('applies from the next request on when it is changed', () => {
    const limiter = new RateLimiter({ defaultRate: DEFAULT_RATE, now: () => now_ms })
    const policies = [10, 50, null].map(
      (rate_limit) => limiter.take({ key_id: 'key', rate_limit })['RateLimit-Policy'],
    )
    expect(policies).toEqual([20, 100, 2 * DEFAULT_RATE].map((burst) => `"default";q=${burst};w=2`))
  })

  it('of 0 means no limit, and responses have no rate headers', async () => {
    const key = await newKey(0)
    for (const _ of Array(4 * DEFAULT_RATE)) {
      const reply = await read(key)
      expect(reply.status).toBe(200)
      expect(rateOf(reply)).toEqual([null, null])
    }
  })

  it('applies if the server has none', async () => {
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
  it('includes every authenticated request, refused ones too', async () => {
    const { workspace, event } = await customerInJourney(cairn)
    const { key } = await createKey(cairn, workspace, 'secret', { rate_limit: 100 })
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
      [
        'POST /views',
        JSON.stringify({ name: 'V', journey_id: event.journey_id, query: {}, visibility: 'own' }),
      ],
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
      [403, 191],
    ])
  })

  it('excludes requests refused before authentication', async () => {
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

  /** Sends a batch of this many events, none of which is stored. */
  const batch = (key: string, count: number) =>
    send(cairn, 'POST /events/batch', { key, body: JSON.stringify({ events: Array(count).fill(event) }) })

  it('counts as many as it has events', async () => {
    const key = await newKey(10)
    expect(rateOf(await batch(key, 7))).toEqual(['"default";r=13;t=1', '"default";q=20;w=2'])
    expect(rateOf(await batch(key, 13))).toEqual(['"default";r=0;t=2', '"default";q=20;w=2'])
    expect((await batch(key, 1)).status).toBe(429)
  })

  it('is accepted completely or not at all: a refused one counts one', async () => {
    const key = await newKey(10)
    await batch(key, 15)
    const refused = await batch(key, 6)
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(rateOf(refused)[0]).toBe('"default";r=4;t=2')
    expect(rateOf(await batch(key, 4))[0]).toBe('"default";r=0;t=2')
  })

  it('that is refused counts one more per 16 KiB, for which the client need not wait twice', async () => {
    const key = await newKey(10)
    await batch(key, 15)
    const large = JSON.stringify({ events: Array(6).fill({ ...event, custom_variables: 'x'.repeat(9_000) }) })
    const sendLarge = () => send(cairn, 'POST /events/batch', { key, body: large })
    const refused = await sendLarge()
    expect(refused.status).toBe(429)
    // 54,000 bytes and a little more.
    expect(rateOf(refused)[0]).toBe('"default";r=1;t=2')
    now_ms += Number(refused.headers.get('retry-after')) * 1000
    expect((await sendLarge()).status).toBe(200)
  })

  it('passes after the time in Retry-After', async () => {
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
    // Less than full: the key has to wait for that.
    const again = await batch(key, 50)
    expect([again.status, again.headers.get('retry-after')]).toEqual([429, '2'])
  })

  it('with a malformed event counts one', async () => {
    const key = await newKey(10)
    const body = JSON.stringify({ events: Array(15).fill({}) })
    expect((await send(cairn, 'POST /events/batch', { key, body })).status).toBe(400)
    expect(rateOf(await batch(key, 19))[0]).toBe('"default";r=0;t=2')
  })
})

describe('a publishable key', () => {
  const RATE = 100
  /** Half of the burst of 200 is shared by all, and one network may use a tenth of the other half in addition. */
  const ALONE = 110

  let cairn: Cairn
  let workspace: Workspace
  let customer: object
  let key: string
  let networks = 0

  beforeAll(async () => {
    // So that a request can choose the address it comes from.
    cairn = await startCairn({ trustedProxies: ['127.0.0.1'], now: () => now_ms })
    workspace = await cairn.workspace()
    // With protected customers, each registration takes 25 ms.
    const { client } = await signUp(cairn, workspace, 'owner')
    await client().updateWorkspace({ body: { protect_customers: false } })
    customer = {
      client_customer_id: 'user-1',
      journey_id: workspace.journey_id,
      customer_type: 'contact',
      customer_name: 'Ada',
    }
    return cairn.stop
  })
  beforeEach(async () => {
    key = (await createKey(cairn, workspace, 'publishable', { rate_limit: RATE })).key
  })

  /** An address from which nothing has been sent. */
  const newAddress = () => {
    networks += 1
    return `10.0.${networks >> 8}.${networks & 255}`
  }
  const initialize = (from: string, change = {}) => {
    const body = JSON.stringify({ ...customer, ...change })
    return send(cairn, 'POST /customers/initialize', { key, body, headers: { 'x-forwarded-for': from } })
  }
  const unknown = (from: string) => initialize(from, { journey_id: 'unknown' })
  const batch = async (from: string, count: number, change = {}) => {
    const event = {
      journey_id: workspace.journey_id,
      customer_id: 'unknown',
      event_id: 'signed_up',
      ...change,
    }
    const body = JSON.stringify({ events: Array(count).fill(event) })
    return await send(cairn, 'POST /events/batch', { key, body, headers: { 'x-forwarded-for': from } })
  }

  /** Sends until refused, or a number of times. @returns the number of accepted requests, and the last response */
  async function spendFrom(from: string, most = Number.POSITIVE_INFINITY, one = initialize) {
    let accepted = 0
    while (accepted < most) {
      const reply = await one(from)
      if (reply.status === 429) return { accepted, reply }
      accepted += 1
    }
    return { accepted, reply: undefined }
  }

  it('has capacity for others while one network sends all it can', async () => {
    const greedy = newAddress()
    expect((await spendFrom(greedy)).accepted).toBe(ALONE)
    for (let second = 0; second < 3; second += 1) {
      for (const visitor of [newAddress(), newAddress(), newAddress()]) {
        expect((await spendFrom(visitor, 10)).accepted).toBe(10)
      }
      now_ms += 1000
      expect((await spendFrom(greedy)).accepted).toBeLessThanOrEqual(RATE)
    }
  })

  it('has capacity for a network that has spent that of another key', async () => {
    const from = newAddress()
    expect((await spendFrom(from)).accepted).toBe(ALONE)
    key = (await createKey(cairn, workspace, 'publishable', { rate_limit: RATE })).key
    expect((await spendFrom(from)).accepted).toBe(ALONE)
  })

  it('gives a network that sends alone the whole rate', async () => {
    const from = newAddress()
    await spendFrom(from)
    let accepted = 0
    for (let second = 0; second < 10; second += 1) {
      now_ms += 1000
      accepted += (await spendFrom(from)).accepted
    }
    // Its own share is refilled at the end, and not within the first second.
    expect(accepted).toBeGreaterThanOrEqual(10 * RATE - 5)
    expect(accepted).toBeLessThanOrEqual(10 * RATE)
  })

  it('gives no more than its rate to any number of networks', async () => {
    const addresses = Array.from({ length: 40 }, newAddress)
    const sendAll = async () => {
      let accepted = 0
      for (const from of addresses) accepted += (await spendFrom(from)).accepted
      return accepted
    }
    expect(await sendAll()).toBe(2 * RATE)
    now_ms += 1000
    expect(await sendAll()).toBe(RATE)
  })

  it('reports to each network what it may send, and when', async () => {
    const [one, other] = [newAddress(), newAddress()]
    expect(rateOf(await initialize(one))).toEqual([
      `"default";r=${ALONE - 1};t=1`,
      `"default";q=${ALONE};w=2`,
    ])
    const { accepted, reply } = await spendFrom(one)
    expect(accepted).toBe(ALONE - 1)
    expect(rateOf(reply as Response)[0]).toBe('"default";r=0;t=2')
    expect(rateOf(await initialize(other))[0]).toBe('"default";r=9;t=2')
    expect((await spendFrom(other)).accepted).toBe(9)
    now_ms += Number(reply?.headers.get('retry-after')) * 1000
    expect((await initialize(one)).status).toBe(200)
  })

  it('counts the addresses of one IPv6 network as one', async () => {
    expect((await spendFrom('2001:db8:0:1::1')).accepted).toBe(ALONE)
    expect((await initialize('2001:db8:0:1:ffff::2')).status).toBe(429)
    expect((await initialize('2001:db8:0:2::1')).status).toBe(200)
  })

  it('charges only their sender for events about things that do not exist', async () => {
    const [one, other] = [newAddress(), newAddress()]
    for (const code of [404, 404]) expect((await unknown(one)).status).toBe(code)
    const rejected = await (await batch(one, 90)).json()
    expect(rejected).toMatchObject({ received: 90, rejected: 90 })
    expect(rateOf(await initialize(other))[0]).toBe(`"default";r=${ALONE - 1};t=1`)
    // It is charged to its sender, at the key's rate.
    const { accepted, reply } = await spendFrom(one, 1000, unknown)
    expect(accepted).toBe(2 * RATE - 92)
    expect(rateOf(reply as Response)[0]).toBe('"default";r=0;t=2')
    expect((await initialize(one)).status).toBe(429)
    expect(rateOf(await initialize(other))[0]).toBe(`"default";r=${ALONE - 2};t=1`)
    now_ms += Number(reply?.headers.get('retry-after')) * 1000
    expect((await initialize(one)).status).toBe(200)
  })

  it.each([1, 3, 7, 23, 50, 100])(
    'at a rate of %i accepts a request after the seconds of Retry-After, and not one earlier',
    (rate) => {
      let now_ms = 0
      const limiter = new RateLimiter({ defaultRate: rate, now: () => now_ms })
      const key = (network: string) => ({ key_id: 'key', rate_limit: null, network })
      /** @returns how long to wait, and for how many events */
      const send = (network: string, count: number) => {
        let refused = 1
        try {
          limiter.take(key(network))
          refused = count
          limiter.takeRest(key(network), { count, refusal: 0 })
          return undefined
        } catch (error) {
          return { refused, wait_s: Number((error as Problem).headers?.['Retry-After']) }
        }
      }
      let waits = 0
      for (let step = 0; step < 400; step += 1) {
        now_ms += 333
        const network = `10.0.0.${step % 3}`
        if (step % 11 === 0) limiter.giveBack(key(network), rate)
        const limited = send(network, [1, 1, 5, 1, 1, 40, 1, 1, 1000][step % 9] ?? 1)
        if (!limited) continue
        const { refused, wait_s } = limited
        waits += 1
        const isEarly = wait_s > 1 && step % 2 === 0
        now_ms += 1000 * (isEarly ? wait_s - 1 : wait_s)
        expect([step, send(network, refused) === undefined]).toEqual([step, !isEarly])
      }
      expect(waits).toBeGreaterThan(20)
    },
  )

  it('remembers a bounded number of networks', () => {
    setFlagsFromString('--expose-gc')
    const collect: () => void = runInNewContext('gc')
    const limiter = new RateLimiter({ defaultRate: RATE, now: () => now_ms })
    const from = (number: number) => {
      limiter.giveBack({ key_id: 'key', rate_limit: null, network: `2001:db8:${number}::/64` }, 1)
    }
    const grown_bytes = [1, 2, 3, 4].map((round) => {
      collect()
      const before = process.memoryUsage().heapUsed
      for (let number = 0; number < 100_000; number += 1) from(round * 100_000 + number)
      collect()
      return process.memoryUsage().heapUsed - before
    })
    const [first = 0, ...later] = grown_bytes
    expect(first).toBeGreaterThan(5_000_000)
    // A few more, because half of them are evicted at a time.
    expect(later.reduce((sum, bytes) => sum + bytes)).toBeLessThan(first)
  })

  it('is in debt for a batch beyond its burst to the sender, not to visitors', async () => {
    const [one, other] = [newAddress(), newAddress()]
    const { customer_id } = await (await initialize(other)).json()
    now_ms += 1000
    expect((await batch(one, 500, { customer_id })).status).toBe(200)
    expect((await batch(one, 1, { customer_id })).status).toBe(429)
    expect((await spendFrom(other)).accepted).toBe(10)
    now_ms += 2000
    expect((await batch(one, 500, { customer_id })).status).toBe(429)
    now_ms += 4000
    expect((await batch(one, 500, { customer_id })).status).toBe(200)
  })
})

describe('a body without effect', () => {
  const batch = (events: unknown) => JSON.stringify({ events })
  const post = (key: string, body: string) => send(cairn, 'POST /events/batch', { key, body })

  it('counts by its bytes if its shape is refused, and what follows waits', async () => {
    const key = await newKey(100)
    const small = await post(key, batch([{}]))
    expect([small.status, rateOf(small)[0]]).toEqual([400, '"default";r=199;t=1'])
    const large = await post(key, batch([{ padding: 'x'.repeat(1024 * 1024) }]))
    expect(large.status).toBe(400)
    // Of 200 each request costs one, and a mebibyte costs 256.
    const { refused, accepted } = await spend(key)
    expect(accepted).toBe(0)
    expect(refused.headers.get('retry-after')).toBe('1')
    now_ms += 1_000
    expect((await read(key)).status).toBe(200)
  })

  it('counts little if the rate limit is reached, so that a client that waits for Retry-After is accepted', async () => {
    const { event, workspace } = await customerInJourney(cairn)
    const { key } = await createKey(cairn, workspace, 'secret', { rate_limit: 20 })
    const body = batch(Array(30).fill({ ...event, custom_variables: 'x'.repeat(10_000) }))
    expect((await post(key, body)).status).toBe(200)
    const limited = await post(key, body)
    expect(limited.status).toBe(429)
    now_ms += 1_000 * Number(limited.headers.get('retry-after'))
    expect((await post(key, body)).status).toBe(200)
  })
})
