// engines: sqlite, postgres

import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { type Cairn, startCairn } from '../fixtures/cairn.ts'
import { withPatience } from '../fixtures/patience.ts'
import { newEmail, OWN_PAGE } from '../fixtures/people.ts'
import { send } from '../fixtures/requests.ts'

let cairn: Cairn

beforeAll(async () => {
  // The wait after wrong guesses does not pass.
  const now_ms = Date.now()
  cairn = await startCairn({
    now: () => now_ms,
    trustedProxies: ['127.0.0.1', '10.0.0.0/8', 'fd00::/8'],
  })
  return cairn.stop
})

/** The logged address of a request with these headers from a trusted proxy at 127.0.0.1. */
async function addressWith(headers: Record<string, string | string[]>): Promise<unknown> {
  const id = randomUUID()
  await send(cairn, 'GET /events', { headers: { ...headers, 'x-request-id': id } })
  return await vi.waitFor(() => {
    const line = cairn.log.find(({ request_id }) => request_id === id)
    expect(line).toBeDefined()
    return line?.address
  }, withPatience)
}

describe('X-Forwarded-For of a trusted proxy', () => {
  it.each<[value: string | string[], address: string]>([
    ['203.0.113.9', '203.0.113.9'],
    ['203.0.113.9:40001', '203.0.113.9'],
    ['"203.0.113.9:40001"', '203.0.113.9'],
    ['203.0.113.9:', '203.0.113.9'],
    ['  203.0.113.9:40001\t', '203.0.113.9'],
    ['203.0.113.9:_hidden', '203.0.113.9'],
    ['2001:db8::1', '2001:db8::1'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['2001:0db8::0001', '2001:db8::1'],
    ['2001:db8:0:0:0:0:0:1:443', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['"[2001:db8::1]:443"', '2001:db8::1'],
    ['"2001:db8::1"', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['[fe80::1%25eth0]:443', 'fe80::1'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['[::FFFF:203.0.113.9]:443', '203.0.113.9'],
    ['::ffff:cb00:7109', '203.0.113.9'],
    ['0:0:0:0:0:ffff:203.0.113.9', '203.0.113.9'],
    // Everything before it may be forged.
    ['198.51.100.7, 203.0.113.9:40001', '203.0.113.9'],
    ['unknown, 203.0.113.9', '203.0.113.9'],
    ['", 203.0.113.9', '203.0.113.9'],
    // Several lines are read in their order.
    [['198.51.100.7', '203.0.113.9:40001'], '203.0.113.9'],
    // Empty elements are ignored.
    ['203.0.113.9, ', '203.0.113.9'],
    ['203.0.113.9 , ,, 10.0.0.2:81', '203.0.113.9'],
    // Through further trusted proxies, in any notation.
    ['203.0.113.9:40001, 10.0.0.2:81, [fd00::7]:82, ::ffff:10.0.0.3', '203.0.113.9'],
    // An element without an address stands for the proxy that sent it.
    ['unknown', '127.0.0.1'],
    ['203.0.113.9, unknown', '127.0.0.1'],
    ['203.0.113.9, _hidden, 10.0.0.2:81', '10.0.0.2'],
    ['203.0.113.9, unix:', '127.0.0.1'],
    ['203.0.113.9, 203.0.113', '127.0.0.1'],
    ['203.0.113.9, 2130706433', '127.0.0.1'],
    ['203.0.113.9, [2001:db8::1', '127.0.0.1'],
    ['', '127.0.0.1'],
    [' , ', '127.0.0.1'],
  ])('%j comes from %s', async (value, address) => {
    expect(await addressWith({ 'x-forwarded-for': value })).toBe(address)
  })

  it('is parsed quickly if it names a thousand proxies', async () => {
    const many = Array.from({ length: 1_000 }, () => '127.0.0.1')
    expect(await addressWith({ 'x-forwarded-for': ['203.0.113.9', ...many].join() })).toBe('127.0.0.1')
    expect(await addressWith({ 'x-forwarded-for': ['203.0.113.9', ...many.slice(0, 49)].join() })).toBe(
      '203.0.113.9',
    )
  })

  it('decides if Forwarded is there too', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.9', forwarded: 'for=198.51.100.7' }
    expect(await addressWith(headers)).toBe('203.0.113.9')
  })
})

describe('Forwarded of a trusted proxy', () => {
  it.each([
    ['for=203.0.113.9', '203.0.113.9'],
    ['FOR=203.0.113.9;proto=http;by=203.0.113.43', '203.0.113.9'],
    ['by=203.0.113.43 ; For="203.0.113.9:40001"', '203.0.113.9'],
    ['for="[2001:db8:cafe::17]:4711"', '2001:db8:cafe::17'],
    ['for="\\[2001:db8:cafe::17]:4711"', '2001:db8:cafe::17'],
    ['for=[2001:db8::1]:443', '2001:db8::1'],
    ['for="[::ffff:203.0.113.9]:_port"', '203.0.113.9'],
    ['for=198.51.100.7, for=203.0.113.9', '203.0.113.9'],
    ['for=203.0.113.9,for="[fd00::7]:82", for="10.0.0.2:81"', '203.0.113.9'],
    ['host="a;for=198.51.100.7, for=198.51.100.8";for=203.0.113.9', '203.0.113.9'],
    ['for=unknown', '127.0.0.1'],
    ['for="_gazonk", for=10.0.0.2', '10.0.0.2'],
    ['for=203.0.113.9, proto=https', '127.0.0.1'],
    ['for=203.0.113.9;for=198.51.100.7', '127.0.0.1'],
    ['for=203.0.113.9, for=', '127.0.0.1'],
    ['203.0.113.9', '127.0.0.1'],
    ['', '127.0.0.1'],
  ])('%j comes from %s', async (value, address) => {
    expect(await addressWith({ forwarded: value })).toBe(address)
  })

  it('is what the proxy has added, whatever the sender has written before it', async () => {
    const piece = fc.constantFrom('"', '\\', ',', ';', '=', ' ', 'for', 'by', '1.2.3.4', '[', ']', '_x')
    const written = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''))
    const added = fc.constantFrom(
      'for=203.0.113.9',
      'for="203.0.113.9:40001"',
      'proto="http";for="203.0.113.9"',
    )
    await fc.assert(
      fc.asyncProperty(written, added, async (written, added) => {
        expect(await addressWith({ forwarded: `${written}, ${added}` })).toBe('203.0.113.9')
      }),
    )
  })
})

describe('a proxy that appends ports', () => {
  /** The status of a failed sign-in that the proxy reports from this address. */
  async function guess(email: string, from: string): Promise<number> {
    const reply = await cairn.fetch('/session', {
      method: 'POST',
      headers: { ...OWN_PAGE, 'content-type': 'application/json', 'x-forwarded-for': from },
      body: JSON.stringify({ email, password: 'wrong' }),
    })
    return reply.status
  }

  it.each([
    ['IPv4', (port: number) => `203.0.113.9:${port}`, '198.51.100.7:40001'],
    ['IPv6', (port: number) => `[2001:db8::${port}]:${port}`, '[2001:db8:0:1::1]:443'],
  ])(
    'has the wrong guesses of one sender counted together, and separately from others: %s',
    async (_, from, other) => {
      const email = newEmail()
      const statuses = []
      for (const port of [1, 2, 3, 4, 5, 6]) statuses.push(await guess(email, from(port)))
      expect(statuses).toEqual([401, 401, 401, 401, 401, 429])
      expect(await guess(email, other)).toBe(401)
    },
  )
})
