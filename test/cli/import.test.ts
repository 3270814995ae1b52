// engines: sqlite, postgres

import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, vi } from 'vitest'
import { startChildServerWithCustomer } from '../fixtures/child-server.ts'
import { it } from '../fixtures/it.ts'
import { withPatience } from '../fixtures/patience.ts'
import {
  importerOf,
  listAll,
  newImport,
  ownEvent,
  startFaultyProxy,
  startOverlapWatch,
  storedNumbers,
  textOf,
  upTo,
} from './importer.ts'

describe('cairn import', () => {
  it('stores events of customers that it initializes, and is idempotent', async ({ cairn }) => {
    const { client, write, ...own } = await newImport(cairn)
    write([
      { client_customer_id: 'acme', customer_type: 'account', customer_name: 'Acme' },
      {
        client_customer_id: 'acme',
        customer_type: 'account',
        event_id: 'trial_begun',
        occurred_at: '2026-01-01T00:00:00Z',
      },
      ...upTo(20).map((n) => ownEvent(n)),
      ownEvent(3),
      ownEvent(3),
    ])
    const first = await own.import()
    expect(first).toMatchObject({ code: 0, stderr: '' })
    const counts = { lines: 24, refused: 0, customers: 8 }
    expect(first.summary).toMatchObject({ ...counts, created: 23, duplicate: 0, new_customers: 8 })
    expect(existsSync(`${own.file}.refused.ndjson`)).toBe(false)
    const events = await listAll(client)
    expect(events.filter(({ custom_variables }) => Object(custom_variables).n === 3)).toHaveLength(3)
    const { data: customers } = await client.listCustomers({ query: { customer_type: 'account' } })
    expect(customers?.data).toMatchObject([{ client_customer_id: 'acme', customer_name: 'Acme' }])
    const trial = events.find(({ event_id }) => event_id === 'trial_begun')
    expect(trial).toMatchObject({
      customer_id: customers?.data[0]?.customer_id,
      occurred_at: '2026-01-01T00:00:00.000Z',
    })

    const again = await own.import()
    expect(again.summary).toMatchObject({ ...counts, created: 0, duplicate: 23, new_customers: 0 })
    expect(await listAll(client)).toHaveLength(23)
  })

  it('recognizes earlier lines of a moved file that has grown', async ({ cairn }) => {
    const { client, folder, write, ...own } = await newImport(cairn)
    write([...upTo(5).map((n) => ownEvent(n)), ownEvent(1)])
    expect((await own.import()).summary).toMatchObject({ created: 6 })
    const moved = join(folder, 'moved.ndjson')
    writeFileSync(moved, readFileSync(own.file, 'utf8') + textOf([ownEvent(5), ownEvent(1)]))
    expect((await own.import(moved)).summary).toMatchObject({ created: 2, duplicate: 6 })
    expect(await storedNumbers(client)).toEqual([0, 1, 1, 1, 2, 3, 4, 5])
  })

  it('recognizes an event whose line is written differently', async ({ cairn }) => {
    const { client, write, ...own } = await newImport(cairn)
    const common =
      '"client_customer_id":"u","customer_type":"contact","customer_name":"Ada","event_id":"signed_up"'
    const nested = '{"x":{"10":true,"2":null},"y":[{"b":1,"a":2},3]}'
    write([
      `{${common},"occurred_at":"2026-01-01T00:00:00.000Z","custom_variables":{"a":1,"b":"é/","c":${nested}}}`,
      `{${common},"custom_variables":{"b":"2026-01-01T00:00:00Z"}}`,
    ])
    expect((await own.import()).summary).toMatchObject({ created: 2 })
    const reordered = '{ "y": [{"a": 2, "b": 1}, 3], "x": {"2": null, "10": true} }'
    write([
      `{"custom_variables":{"c":${reordered},"b":"\\u00e9\\/","a":1.0e0},"occurred_at":"2026-01-01T01:00:00+01:00",${common}}`,
      `{"custom_variables":{"\\u0062":"2026-01-01T00:00:00Z"},${common}}`,
    ])
    expect((await own.import()).summary).toMatchObject({ created: 0, duplicate: 2 })
    // A different value makes a different event.
    write([
      `{${common},"occurred_at":"2026-01-01T00:00:00.000Z","custom_variables":{"a":1,"b":"é/","c":${nested.replace('{"b":1,"a":2},3', '3,{"b":1,"a":2}')}}}`,
      `{${common},"custom_variables":{"b":"2026-01-01T00:00:00.000Z"}}`,
    ])
    expect((await own.import()).summary).toMatchObject({ created: 2, duplicate: 0 })
    expect(await listAll(client)).toHaveLength(4)
  })

  it.for([
    ['events', { event_id: 'signed_up' }],
    ['customers', {}],
  ] as const)(
    'leaves a customer with the name of the last line that has one, of %s',
    async ([_what, more], { cairn }) => {
      const { client, journey_id, secret_key } = await newImport(cairn)
      const { data: other } = await client.createJourney({ body: { name: 'Renewal' } })
      const watch = await startOverlapWatch(cairn.url)
      const own = importerOf(`${watch.url}/v1`, secret_key, journey_id)
      const line = (n: number, customer_name?: string) => {
        return { client_customer_id: `user-${n}`, customer_type: 'contact', customer_name, ...more }
      }
      own.write(
        upTo(10).flatMap((n) => [
          line(n, 'Ada'),
          { ...line(n, 'Ada King'), journey_id: other?.journey_id },
          line(n, 'Ada'),
          ...('event_id' in more ? [line(n)] : []),
        ]),
      )
      expect(await own.import()).toMatchObject({ code: 0 })
      const { data } = await client.listCustomers({ query: { limit: 500 } })
      expect(data?.data.map(({ customer_name }) => customer_name)).toEqual(upTo(10).map(() => 'Ada'))
      expect(watch.overlapping).toEqual([])
    },
  )

  it.for([
    { of: 'customers', fields: {} },
    { of: 'events', fields: { event_id: 'signed_up' } },
  ])(
    'leaves a customer with the name of the last line of $of, also if an earlier line with that name was refused',
    async ({ fields }, { cairn }) => {
      const { client, write, journey_id, publishable_key, ...own } = await newImport(cairn)
      write(
        upTo(10).flatMap((n) => {
          const line = { client_customer_id: `user-${n}`, customer_type: 'contact', ...fields }
          return [
            { ...line, customer_name: 'Ada' },
            { ...line, customer_name: 'Ada King', journey_id: 'jrn_01jd3zc4s7e9qv6x0m2n5b8wtr' },
            { ...line, customer_name: 'Ada King' },
          ]
        }),
      )
      expect(await own.import()).toMatchObject({ code: 4, summary: { refused: 10 } })
      const { data } = await client.listCustomers({ query: { limit: 500 } })
      expect(data?.data.map(({ customer_name }) => customer_name)).toEqual(upTo(10).map(() => 'Ada King'))
    },
  )

  it('accepts events by customer_id after the line that enrols the customer in the journey', async ({
    cairn,
  }) => {
    const { client, write, journey_id, ...own } = await newImport(cairn)
    const names = { client_customer_id: 'user-1', customer_type: 'contact', customer_name: 'Ada' } as const
    const { data: customer } = await client.initializeCustomer({ body: { ...names, journey_id } })
    const { data: journey } = await client.createJourney({ body: { name: 'Renewal' } })
    const renewal = { journey_id: journey?.journey_id }
    const event = { ...renewal, customer_id: customer?.customer_id, event_id: 'renewed' }
    write([
      { ...event, message_id: 'early' },
      { ...names, ...renewal },
      ...upTo(3).map((n) => ({ ...event, message_id: `m-${n}` })),
    ])
    expect(await own.import()).toMatchObject({ code: 4, summary: { created: 3, refused: 1 } })
    expect(own.refused()).toMatchObject([{ line_number: 1, code: 'customer_not_in_journey' }])
    expect((await listAll(client)).map(({ message_id }) => message_id).toSorted()).toEqual([
      'm-0',
      'm-1',
      'm-2',
    ])
    expect(await own.import()).toMatchObject({ code: 0, summary: { created: 1, duplicate: 3, refused: 0 } })
  })

  it('keeps the name of a customer whose line has none', async ({ cairn }) => {
    const { client, write, journey_id, publishable_key, ...own } = await newImport(cairn)
    const names = { client_customer_id: 'user-1', customer_type: 'contact', customer_name: 'Ada' } as const
    await client.initializeCustomer({ body: { ...names, journey_id } })
    const { customer_name: _, ...unnamed } = names
    write([
      { ...unnamed, event_id: 'signed_up' },
      { ...unnamed, client_customer_id: 'user-2', event_id: 'signed_up' },
    ])
    expect((await own.import()).summary).toMatchObject({ created: 2, customers: 2, new_customers: 1 })
    const { data } = await client.listCustomers()
    expect(data?.data.map(({ customer_name }) => customer_name)).toEqual(['user-2', 'Ada'])

    const published = importerOf(`${cairn.url}/v1`, publishable_key, journey_id)
    published.write([{ ...unnamed, event_id: 'signed_up' }, ownEvent(1)])
    expect(await published.import()).toMatchObject({ code: 4, summary: { created: 1, refused: 1 } })
    expect(published.refused()).toMatchObject([{ line_number: 1, code: 'customer_name_required' }])
  })

  it('puts each refused line into a file with its reason, and stores its neighbours', async ({ cairn }) => {
    const { client, write, ...own } = await newImport(cairn)
    const good = upTo(30).map((n) => ownEvent(n))
    const bad = [
      '{"event_id": "signed_up"',
      '[1]',
      { event_id: 'signed_up', customer_id: 'cus_1', client_customer_id: 'user-1' },
      { client_customer_id: 'user-1', customer_type: 'contact', custom_variables: {} },
      { seats: 1 },
      ownEvent(31, { evnt: 1 }),
      ownEvent(32, { occurred_at: 'yesterday' }),
      ownEvent(33, { journey_id: 'jrn_none' }),
      ownEvent(34, { occurred_at: '2999-01-01T00:00:00Z' }),
      ownEvent(35, { client_customer_id: 7 }),
      { event_id: 'signed_up', customer_id: 'cus_none' },
      { client_customer_id: 'user-9', customer_type: 'person', customer_name: 'Ada' },
      '{"client_customer_id": "a", "client_customer_id": "b", "customer_type": "contact", "customer_name": "A"}',
      ownEvent(36, { custom_variables: { text: 'x'.repeat(70_000) } }),
      `{"event_id": "${'x'.repeat(1_100_000)}"}`,
    ]
    write(bad.flatMap((line, index) => [...good.slice(index * 2, index * 2 + 2), '', line]))
    const made = await own.import()
    expect(made).toMatchObject({ code: 4, summary: { lines: 45, created: 30, refused: 15 } })
    expect(made.stderr).toBe(
      `Refused lines were written to ${own.file}.refused.ndjson.\ncairn: 15 lines were refused\n`,
    )
    expect(await storedNumbers(client)).toEqual(upTo(30))

    const refused = own.refused().toSorted((a, b) => a.line_number - b.line_number)
    expect(refused.map(({ line_number }) => line_number)).toEqual(upTo(15).map((n) => n * 4 + 4))
    expect(refused.map(({ code, detail }) => [code, detail])).toEqual([
      ['invalid_json', expect.stringMatching(/^is not JSON: .+ at line 1, column 25$/)],
      ['not_an_object', 'A line must be a JSON object.'],
      ['ambiguous_line', 'The line identifies the customer twice: by customer_id and by client_customer_id.'],
      ['ambiguous_line', 'The line has custom_variables like an event, but no event_id.'],
      ['ambiguous_line', 'The line has neither event_id nor client_customer_id.'],
      ['invalid_request', expect.stringMatching(/^evnt: is not a field/)],
      ['invalid_request', expect.stringMatching(/^occurred_at: /)],
      ['journey_not_found', expect.any(String)],
      ['occurred_at_in_future', expect.any(String)],
      ['invalid_request', expect.stringMatching(/^client_customer_id: /)],
      ['customer_not_found', expect.any(String)],
      ['invalid_request', expect.stringMatching(/^customer_type: /)],
      ['invalid_json', 'client_customer_id: must appear only once'],
      ['event_too_large', expect.any(String)],
      ['line_too_long', 'A line may have at most 1048576 bytes.'],
    ])
    expect(refused[0].line).toBe(bad[0])
    expect(refused[6].line).toEqual({ ...Object(bad[6]), message_id: expect.stringMatching(/^import:/) })
    expect(refused[14].line).toBeNull()
    expect(statSync(`${own.file}.refused.ndjson`).mode & 0o777).toBe(0o600)

    const corrected = { ...refused[6].line, occurred_at: '2026-01-01T00:00:00Z' }
    writeFileSync(own.file, textOf([corrected]))
    expect(await own.import()).toMatchObject({ code: 0, summary: { created: 1 } })
  })

  it('says of each line what its definition does not allow', async ({ cairn }) => {
    const { client, write, ...own } = await newImport(cairn)
    const variables = {
      type: 'object' as const,
      properties: { n: { type: 'integer' as const } },
      required: ['n'],
    }
    await client.defineEvent({ body: { event_id: 'signed_up', mode: 'enforce', variables } })
    write([
      ownEvent(1),
      ownEvent(2, { custom_variables: { n: 'two' } }),
      ownEvent(3, { custom_variables: {} }),
    ])
    expect(await own.import()).toMatchObject({ code: 4, summary: { created: 1, refused: 2 } })
    expect(own.refused().map(({ code, detail }) => [code, detail])).toEqual([
      ['event_not_as_defined', 'custom_variables/n: must be integer'],
      ['event_not_as_defined', 'custom_variables/n: is required'],
    ])
  })

  it('splits a batch in which most lines are invalid', async ({ cairn }) => {
    const { client, write, ...own } = await newImport(cairn)
    write(upTo(1500).map((n) => ownEvent(n, n % 5 === 0 ? {} : { evnt: 1, other: 2 })))
    expect(await own.import()).toMatchObject({ code: 4, summary: { created: 300, refused: 1200 } })
    expect(await storedNumbers(client)).toEqual(upTo(300).map((n) => n * 5))
    expect(new Set(own.refused().map(({ line_number }) => line_number)).size).toBe(1200)
  })

  it('splits a batch that is too large for a proxy, and refuses only a line that is too large alone', async ({
    cairn,
  }) => {
    const { client, secret_key, journey_id } = await newImport(cairn)
    const baseUrl = await startFaultyProxy(cairn.url, (_, { headers }) =>
      Number(headers['content-length']) > 20_000 ? 413 : undefined,
    )
    const own = importerOf(`${baseUrl}/v1`, secret_key, journey_id)
    const large = ownEvent(300, { custom_variables: { n: 300, text: 'x'.repeat(20_000) } })
    own.write([...upTo(300).map((n) => ownEvent(n)), large])
    expect(await own.import()).toMatchObject({ code: 4, summary: { created: 300, refused: 1 } })
    expect(own.refused()).toMatchObject([
      {
        line_number: 301,
        code: 'body_too_large',
        detail: expect.stringMatching(/^A proxy in front of the server refuses/),
      },
    ])
    expect(await storedNumbers(client)).toEqual(upTo(300))
  })

  it('killed half way and run again stores each of 8,000 lines once', async () => {
    const { server, client, secret_key, event } = await startChildServerWithCustomer()
    const own = importerOf(`${server.url}/v1`, secret_key, event.journey_id)
    own.write(upTo(8_000).map((n) => ownEvent(n, { client_customer_id: `user-${n % 500}` })))
    const killed = own.start()
    const hasBegun = async () =>
      (await client.listEvents({ query: { limit: 500 } })).data?.next_cursor != null
    await vi.waitUntil(hasBegun, { ...withPatience, interval: 20 })
    killed.process.kill('SIGKILL')
    expect(await killed.ended).toMatchObject({ signal: 'SIGKILL' })
    const before = (await listAll(client)).length
    expect(before).toBeLessThan(8_000)

    const again = await own.import()
    expect(again).toMatchObject({
      code: 0,
      summary: { lines: 8_000, duplicate: before, created: 8_000 - before },
    })
    expect(await storedNumbers(client)).toEqual(upTo(8_000))
  })

  it('stores each line once despite lost responses and a server that is unavailable for a time', async ({
    cairn,
  }) => {
    const { client, secret_key, journey_id } = await newImport(cairn)
    const faults = [503, 'dropped', 'lost', undefined, undefined] as const
    const baseUrl = await startFaultyProxy(cairn.url, (count) => faults[count % 5])
    const own = importerOf(`${baseUrl}/v1`, secret_key, journey_id)
    own.write(upTo(2000).map((n) => ownEvent(n)))
    expect(await own.import()).toMatchObject({ code: 0, summary: { lines: 2000, refused: 0 } })
    expect(await storedNumbers(client)).toEqual(upTo(2000))
  })
})
