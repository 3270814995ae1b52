// engines: sqlite, postgres

import { type IncomingMessage, request } from 'node:http'
import { networkInterfaces } from 'node:os'
import { buffer } from 'node:stream/consumers'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { inStore } from '../../server/cli/store.ts'
import { newServiceKey } from '../../server/domain/service-keys.ts'
import { Metrics } from '../../server/metrics/metrics.ts'
import { ServedMetrics } from '../../server/metrics/served-metrics.ts'
import { type Cairn, startCairn, startCairnForTest } from '../fixtures/cairn.ts'
import { operations } from '../fixtures/contract/document.ts'
import { customerInJourney } from '../fixtures/customer.ts'
import { parseExposition, scrape, sumOf } from '../fixtures/exposition.ts'
import { withPatience } from '../fixtures/patience.ts'
import { send } from '../fixtures/requests.ts'
import { createKey } from '../fixtures/service-keys.ts'

const TOKEN = 'a-token.of_letters~digits+and/marks=0'

let cairn: Cairn

beforeAll(async () => {
  cairn = await startCairn({ metricsToken: TOKEN })
  return cairn.stop
})

/** Requests the metrics with raw headers: `fetch` would not send every one. */
async function ask(
  { url }: Pick<Cairn, 'url'>,
  headers: Record<string, string> = {},
  { method = 'GET', path = '/metrics', body = '' } = {},
) {
  const { hostname, port } = new URL(url)
  const reply = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = request(
      { hostname: hostname.replace(/^\[|\]$/g, ''), port, method, path, headers, agent: false },
      resolve,
    )
    sent.once('error', reject)
    sent.end(body)
  })
  return { status: reply.statusCode, headers: reply.headers, text: String(await buffer(reply)) }
}

/** The addresses of this machine. */
function addresses() {
  return Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
}

const proxied = { 'x-forwarded-for': '203.0.113.7' }

describe('the metrics', () => {
  it('are open to a program on the same machine', async () => {
    for (const host of ['localhost', '127.0.0.1:3000', '127.1.2.3', '[::1]:3000', 'LOCALHOST:80']) {
      expect([host, (await ask(cairn, { host })).status]).toEqual([host, 200])
    }
    const { headers } = await ask(cairn)
    expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(headers['cache-control']).toBe('no-store')
    expect(headers['access-control-allow-origin']).toBeUndefined()
  })

  it('are open to a client on the same machine on either address family', async () => {
    const loopback = addresses().filter(({ internal }) => internal)
    // A machine without IPv6 has one family only.
    const hasBoth = loopback.some(({ family }) => family === 'IPv6')
    const other = await startCairnForTest({ host: hasBoth ? '::' : '0.0.0.0' })
    const { port } = new URL(other.url)
    for (const { address, family } of loopback) {
      const host = family === 'IPv6' ? `[${address}]` : address
      expect([host, (await ask({ url: `http://${host}:${port}` })).status]).toEqual([host, 200])
    }
  })

  it('are closed to another machine without a token', async () => {
    const other = await startCairnForTest({ host: '0.0.0.0', metricsToken: TOKEN })
    const { port } = new URL(other.url)
    // The machine's own address represents another machine's; a machine without a network has none.
    for (const { address } of addresses().filter(({ internal, family }) => !internal && family === 'IPv4')) {
      const from = { url: `http://${address}:${port}` }
      expect((await ask(from)).status).toBe(401)
      expect((await ask(from, { host: 'localhost' })).status).toBe(401)
      expect((await ask(from, { authorization: `Bearer ${TOKEN}` })).status).toBe(200)
    }
  })

  it.each([
    ['x-forwarded-for', '203.0.113.7'],
    ['x-forwarded-for', '127.0.0.1'],
    ['x-forwarded-for', ''],
    ['X-Forwarded-Host', 'cairn.example.com'],
    ['x-forwarded-proto', 'https'],
    ['forwarded', 'for=127.0.0.1'],
    ['via', '1.1 proxy'],
    ['x-real-ip', '127.0.0.1'],
    ['x-client-ip', '127.0.0.1'],
    ['cf-connecting-ip', '203.0.113.7'],
    ['true-client-ip', '203.0.113.7'],
    ['host', 'cairn.example.com'],
    ['host', 'localhost.example.com'],
    ['host', '127.0.0.1.example.com'],
    ['host', 'localhost@example.com'],
  ])('are closed to what comes through a proxy, or under another host name: %s: %s', async (name, value) => {
    const refused = await ask(cairn, { [name]: value })
    expect(refused.status).toBe(401)
    expect(refused.headers['www-authenticate']).toBe('Bearer')
    expect(JSON.parse(refused.text)).toMatchObject({
      code: 'unauthorized',
      title: 'No valid credential',
      detail: expect.stringContaining('CAIRN_METRICS_TOKEN'),
    })
    expect((await ask(cairn, { [name]: value, authorization: `Bearer ${TOKEN}` })).status).toBe(200)
  })

  it('are open to the token from anywhere', async () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      expect((await ask(cairn, { ...proxied, authorization: `${scheme} ${TOKEN}` })).status).toBe(200)
    }
  })

  it.each([
    `Bearer ${TOKEN}x`,
    `Bearer ${TOKEN.slice(0, -1)}`,
    `Bearer ${TOKEN.toUpperCase()}`,
    `Bearer ${TOKEN} ${TOKEN}`,
    'Bearer undefined',
    'Bearer',
    'Bearer ',
    `Basic ${TOKEN}`,
    TOKEN,
    '',
  ])('are closed to another token from anywhere: %s', async (authorization) => {
    for (const headers of [{}, proxied]) {
      const refused = await ask(cairn, { ...headers, authorization })
      expect(refused.status).toBe(401)
      expect(refused.text).not.toContain(TOKEN.slice(0, 8))
    }
  })

  it('are closed to every token if none is set, and to service keys', async () => {
    const other = await startCairnForTest()
    const { secret_key } = await other.workspace()
    for (const token of ['', 'undefined', TOKEN, secret_key]) {
      const refused = await ask(other, { authorization: `Bearer ${token}` })
      expect(refused.status).toBe(401)
      // On this machine the header itself is what closes them.
      expect(JSON.parse(refused.text).detail).toContain('without an Authorization header')
    }
    expect((await ask(other, { ...proxied, 'x-service-key': secret_key })).status).toBe(401)
    expect((await ask(other)).status).toBe(200)
  })

  it.each(['HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'TRACE'])('are not for %s', async (method) => {
    for (const headers of [{}, { authorization: `Bearer ${TOKEN}` }, proxied]) {
      const refused = await ask(cairn, headers, { method })
      expect([refused.status, refused.headers.allow]).toEqual([405, 'GET'])
    }
  })

  it('have one path, and are not part of the contract', async () => {
    for (const path of ['/metrics/', '/Metrics', '/v1/metrics']) {
      expect((await ask(cairn, { authorization: `Bearer ${TOKEN}` }, { path })).status).toBe(404)
    }
    expect((await ask(cairn, {}, { path: '/metrics?name=value' })).status).toBe(200)
    expect(operations.map(({ path }) => path)).not.toContain('/metrics')
  })

  it('belong to one server, even with several in a process', async () => {
    const { workspace, event } = await customerInJourney(cairn)
    const other = await startCairnForTest()
    expect((await workspace.client.createEvent({ body: event })).response.status).toBe(201)
    expect(sumOf(await scrape(cairn), 'cairn_events_received_total')).toBeGreaterThan(0)
    expect(sumOf(await scrape(other), 'cairn_events_received_total')).toBe(0)
  })
})

describe('the text', () => {
  it('is valid, and contains what an operator looks for', async () => {
    const { workspace, event } = await customerInJourney(cairn)
    await workspace.client.createEvent({ body: event })
    const samples = await scrape(cairn)
    const names = new Set(samples.map(({ name }) => name))
    expect([...names]).toEqual(
      expect.arrayContaining([
        'cairn_build_info',
        'cairn_commit_duration_seconds_bucket',
        'cairn_commit_failures_total',
        'cairn_commit_rows_bucket',
        'cairn_customers_initialized_total',
        'cairn_events_received_total',
        'cairn_events_total',
        'cairn_events_unavailable_total',
        'cairn_indexing_pause_seconds_max',
        'cairn_passwords_refused_total',
        'cairn_ready',
        'cairn_request_duration_seconds_bucket',
        'cairn_slow_peers_total',
        'cairn_requests_total',
        'cairn_unindexed_events',
        'cairn_waiting_rows',
        'cairn_waiting_transactions',
        'nodejs_eventloop_lag_p99_seconds',
        'process_cpu_seconds_total',
        'process_resident_memory_bytes',
      ]),
    )
    expect(sumOf(samples, 'cairn_commit_duration_seconds_count')).toBeGreaterThan(0)
    expect(sumOf(samples, 'cairn_commit_rows_sum')).toBeGreaterThanOrEqual(2)
    expect(sumOf(samples, 'cairn_commit_failures_total')).toBe(0)
    // rate() misses the first increment of a series that appears with 1.
    const requests = samples.filter(({ name }) => name === 'cairn_requests_total')
    const faults = requests.filter(({ labels: { status, code } }) => status === '500' && code !== '')
    expect(faults.map(({ labels }) => labels.operation).sort()).toEqual(
      [...operations.map(({ operationId }) => operationId), 'none'].sort(),
    )
    const overloaded = requests.filter(({ labels }) => labels.code === 'overloaded')
    expect(overloaded.map(({ labels }) => labels.operation)).toEqual(
      expect.arrayContaining(['initializeCustomer', 'createEvent', 'createEvents']),
    )
    const slow = samples.filter(({ name }) => name === 'cairn_slow_peers_total')
    expect(slow.map(({ labels }) => labels.waiting_for).sort()).toEqual(['answer', 'body'])
    expect(samples.find(({ name }) => name === 'cairn_build_info')).toMatchObject({
      labels: { version: expect.stringMatching(/^\d+\.\d+\.\d+/) },
      value: 1,
    })
  })

  it('has what each part of the server has counted, with times in seconds', async () => {
    const metrics = new Metrics('1.0.0')
    metrics.groupEnded({ rows: 3, commit_ms: 250, failed: true })
    const statistics = {
      storage: {
        waitingRows: 1,
        waitingTransactions: 2,
        unindexedEvents: 3,
        longestIndexingPause_ms: 4_500,
        listReads: { waiting: 5, answered: 6, refused: 7, overdue: 8, abandoned: 9 },
        disk: { log_bytes: 10, unmoved_bytes: 11, free_bytes: 12, refusing: 'log' },
        refusals: { waiting: 13, kept: 14, leftOut: 15 },
      },
      passwords: { known: { waiting: 16, refused: 17 }, other: { waiting: 18, refused: 19 } },
      webhooks: { succeeded: 20, failed: 21, enabled: 22, failing: 23, disabled: 24 },
      views: { enrolments: 25 },
      ready: true,
    } as const
    // Twice: a scrape adds nothing.
    await metrics.exposition(new ServedMetrics([]), statistics)
    const { text } = await metrics.exposition(new ServedMetrics([]), statistics)
    const shown = Object.fromEntries(
      parseExposition(text)
        .filter(({ name }) => name.startsWith('cairn_') && !name.endsWith('_bucket'))
        .map(({ name, labels, value }) => [
          [name.slice('cairn_'.length), ...Object.values(labels)].join(' '),
          value,
        ]),
    )
    expect(shown).toMatchObject({
      commit_duration_seconds_sum: 0.25,
      commit_rows_sum: 3,
      commit_failures_total: 1,
      waiting_rows: 1,
      waiting_transactions: 2,
      unindexed_events: 3,
      indexing_pause_seconds_max: 4.5,
      waiting_list_reads: 5,
      'list_reads_total answered': 6,
      'list_reads_total refused': 7,
      'list_reads_total overdue': 8,
      'list_reads_total abandoned': 9,
      log_bytes: 10,
      log_unmoved_bytes: 11,
      disk_free_bytes: 12,
      'writes_refused disk': 0,
      'writes_refused log': 1,
      'writes_refused files': 0,
      'refusals_total kept': 14,
      'refusals_total left_out': 15,
      'passwords_refused_total known': 17,
      'passwords_refused_total other': 19,
      'webhook_attempts_total succeeded': 20,
      'webhook_attempts_total failed': 21,
      'webhooks enabled': 22,
      'webhooks failing': 23,
      'webhooks disabled': 24,
      view_enrolments_read_total: 25,
      ready: 1,
    })
  })

  it('is parsed strictly enough to find a fault', () => {
    const good = '# HELP a b\n# TYPE a counter\na{b="c\\"\\n\\\\",d=""} 1\n'
    expect(parseExposition(good)).toEqual([{ name: 'a', labels: { b: 'c\\"\\n\\\\', d: '' }, value: 1 }])
    for (const bad of [
      good.slice(0, -1),
      good + good,
      `${good}a 1 2 3\n`,
      `${good}a{b="c"\n`,
      `${good}a{b="c"} x\n`,
      `${good}a{b="c"d"} 1\n`,
      `${good}b 1\n`,
      `${good}a{b="c\\"\\n\\\\",d=""} 2\n`,
    ]) {
      expect(() => parseExposition(bad)).toThrow()
    }
  })

  it('names two hundred keys and counts the others together', async () => {
    const metrics = new Metrics('1.0.0')
    const served = new ServedMetrics([])
    const store = async () => [{ status: 'created' as const }, { status: 'rejected' as const }]
    for (let round = 0; round < 2; round += 1) {
      for (let key = 0; key < 203; key += 1) await served.tallies.of(`key_${key}`).events(2, store)
    }
    const listReads = { waiting: 0, answered: 0, refused: 0, overdue: 0, abandoned: 0 }
    const idle = {
      waitingRows: 0,
      waitingTransactions: 0,
      unindexedEvents: 0,
      longestIndexingPause_ms: 0,
      listReads,
      refusals: { waiting: 0, kept: 0, leftOut: 0 },
      disk: { log_bytes: 0, unmoved_bytes: 0, free_bytes: null, refusing: null },
    }
    const webhooks = { succeeded: 0, failed: 0, enabled: 0, failing: 0, disabled: 0 }
    const statistics = { storage: idle, passwords: {}, webhooks, views: { enrolments: 0 }, ready: true }
    const samples = parseExposition((await metrics.exposition(served, statistics)).text)
    const received = samples.filter(({ name }) => name === 'cairn_events_received_total')
    expect(received).toHaveLength(201)
    expect(sumOf(received, 'cairn_events_received_total', { key_id: 'key_199' })).toBe(4)
    expect(sumOf(received, 'cairn_events_received_total', { key_id: 'other' })).toBe(12)
    expect(sumOf(samples, 'cairn_events_total', { key_id: 'other', outcome: 'created' })).toBe(6)
  })

  it('counts events that hit an internal error as unavailable', async () => {
    const other = await startCairnForTest()
    const { workspace, event } = await customerInJourney(other)
    await inStore(other.databaseUrl, (db) => db.schema.dropTable('events').execute())
    const { response } = await workspace.client.createEvents({ body: { events: [event, event] } })
    expect(response.status).toBe(500)
    const samples = await scrape(other)
    expect(sumOf(samples, 'cairn_events_unavailable_total')).toBe(2)
    expect(sumOf(samples, 'cairn_events_received_total')).toBe(0)
    expect(sumOf(samples, 'cairn_commit_failures_total')).toBe(1)
  })

  it('has labels without caller input, and never a key', async () => {
    const other = await startCairnForTest()
    const { workspace, event } = await customerInJourney(other)
    const { secret_key, publishable_key } = workspace
    const { key_id } = await createKey(other, workspace, 'secret')
    const hostile = `s3cret"} 1\\\n# HELP s3cret`
    const body = (change: object) => JSON.stringify({ ...event, ...change })
    const unknown = newServiceKey('secret')
    const requests: [string, Parameters<typeof send>[2]][] = [
      ['POST /events/create', { key: secret_key, body: body({ event_id: hostile, message_id: hostile }) }],
      ['POST /events/create', { key: publishable_key, body: body({ journey_id: hostile }) }],
      ['POST /events/create', { key: publishable_key, body: body({ [hostile]: hostile }) }],
      [
        'POST /events/batch',
        { key: secret_key, body: JSON.stringify({ events: [{ ...event, event_id: hostile }] }) },
      ],
      ['POST /events/create', { key: unknown, body: '{}' }],
      ['POST /events/create', { key: key_id, body: '{}' }],
      [
        'POST /events/create',
        { key: secret_key, body: hostile, headers: { 'content-type': 's3cret/s3cret' } },
      ],
      [`GET /customers/${encodeURIComponent(hostile)}`, { key: secret_key }],
      [`GET /${encodeURIComponent(hostile)}`, { key: secret_key }],
      [
        `PROPFIND /s3cret?${encodeURIComponent(hostile)}`,
        { headers: { 'x-request-id': 's3cret', origin: 's3cret' } },
      ],
    ]
    for (const [line, sent] of requests) await send(other, line, sent)
    const samples = await vi.waitFor(async () => {
      const samples = await scrape(other)
      expect(sumOf(samples, 'cairn_requests_total', { operation: 'none' })).toBeGreaterThanOrEqual(2)
      return samples
    }, withPatience)
    const text = JSON.stringify(samples)
    expect(text).not.toContain('s3cret')
    for (const key of [secret_key, publishable_key, unknown]) expect(text).not.toContain(key.slice(3, 30))
    const labels = (name: string) => new Set(samples.flatMap(({ labels }) => labels[name] ?? []))
    const known = [...operations.map(({ operationId }) => operationId), 'none']
    expect(known).toEqual(expect.arrayContaining([...labels('operation')]))
    for (const keyId of labels('key_id')) expect(keyId).toMatch(/^key_[0-9a-z]{26}$/)
    // The secret and the publishable key; no other key was valid.
    expect(labels('key_id').size).toBe(2)
    for (const code of labels('code')) expect(code).toMatch(/^[a-z_]*$/)
    for (const status of labels('status')) expect(status).toMatch(/^([1-5]\d\d|aborted)$/)
  })
})
