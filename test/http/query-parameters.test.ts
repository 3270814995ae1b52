// engines: sqlite, postgres

import { beforeAll, describe, expect, it } from 'vitest'
import type { Cairn, Workspace } from '../fixtures/cairn.ts'
import { customerInJourney } from '../fixtures/customer.ts'
import { refusal, send } from '../fixtures/requests.ts'
import { sharedCairn } from '../fixtures/shared-cairn.ts'

let cairn: Cairn
let workspace: Workspace

beforeAll(async () => {
  cairn = await sharedCairn()
  const made = await customerInJourney(cairn)
  workspace = made.workspace
  for (const event_id of ['first', 'second']) {
    await workspace.client.createEvent({ body: { ...made.event, event_id } })
  }
})

const get = (path: string) => send(cairn, `GET ${path}`, { key: workspace.secret_key })

/** The faults of a query of `/events`: parameter and detail of each. */
async function faults(query: string): Promise<[string | undefined, string][]> {
  const { status, code, errors = [] } = await refusal(await get(`/events?${query}`))
  expect([status, code]).toEqual([400, 'invalid_request'])
  return errors.map(({ parameter, detail }) => [parameter, detail])
}

async function listed(query: string): Promise<number> {
  const reply = await get(`/events?${query}`)
  expect(reply.status).toBe(200)
  return (await reply.json()).data.length
}

/** Queries of `/events` that are refused for one parameter, and its name, by what is wrong with it. */
const refusedFor: Record<string, [query: string, parameter: string][]> = {
  'is not a parameter of this operation': [
    ['journey=x', 'journey'],
    ['Limit=1', 'Limit'],
    ['limit[]=1', 'limit[]'],
    ['limit[a]=1', 'limit[a]'],
    ['?limit=1', '?limit'],
    ['=1', ''],
    ['=', ''],
    ['__proto__=1', '__proto__'],
    ['constructor=1', 'constructor'],
    ['a%00b=1', 'a\ufffdb'],
    [`${'x'.repeat(300)}=1`, 'x'.repeat(255)],
    ['customer_type=contact', 'customer_type'],
    // A name that is not percent-encoded UTF-8 is reported as it was sent, without its value.
    ...['%', '%zz', 'a%ff'].map((name): [string, string] => [`${name}=s3cret`, name]),
  ],
  'must appear only once': [
    ['event_id=a&event_id=a', 'event_id'],
    ['limit=1&limit=2', 'limit'],
    ['event_id=a&event%5Fid=b', 'event_id'],
  ],
  'must not be empty': ['journey_id', 'customer_id', 'event_id'].flatMap((name): [string, string][] => [
    [`${name}=`, name],
    [name, name],
  ]),
  'must be a decimal integer': [['limit', 'limit']],
  'must be percent-encoded UTF-8': ['%', '%2', '%zz', '%ff', '%c3', '%ED%A0%80'].map((value) => [
    `event_id=a${value}`,
    'event_id',
  ]),
  'must not contain a NUL character': [['event_id=a%00', 'event_id']],
  'must NOT have more than 255 characters': [[`event_id=${'x'.repeat(256)}`, 'event_id']],
}

const refused = Object.entries(refusedFor).flatMap(([detail, rows]) =>
  rows.map((row) => [...row, detail] as const),
)

describe('limit', () => {
  it.each([
    ['limit=1', 1],
    ['limit=2', 2],
    ['limit=500', 2],
    ['limit=002', 2],
    ['l%69mit=%31', 1],
    ['&limit=1&', 1],
    ['', 2],
  ])('%j lists %i', async (query, count) => {
    expect(await listed(query)).toBe(count)
  })

  it.each([
    ['0', 'must be >= 1'],
    ['-0', 'must be >= 1'],
    ['-1', 'must be >= 1'],
    ['501', 'must be <= 500'],
    ['2147483647', 'must be <= 500'],
    ...[
      '0x10',
      '1e1',
      '1.5',
      '1.0',
      '1,000',
      '%201',
      '1%20',
      '+1',
      '%2B1',
      '٣',
      'NaN',
      'Infinity',
      'true',
      'null',
      '[1]',
      '',
      '9'.repeat(400),
      '1%00',
      '1#1',
    ].map((value) => [value, 'must be a decimal integer']),
  ])('%s is refused', async (value, detail) => {
    const found = await faults(`limit=${value.replaceAll('٣', '%D9%A3')}`)
    expect(found).toEqual([['limit', expect.stringContaining(String(detail))]])
  })
})

describe('a parameter', () => {
  it.each(refused)('is refused: %j, where %j %s', async (query, parameter, detail) => {
    expect(await faults(query)).toEqual([[parameter, detail]])
  })

  it('is refused by operations that have none', async () => {
    const body = '{}'
    for (const line of [
      'POST /events/create?a=1',
      `GET /journeys/${workspace.journey_id}?a=1`,
      `POST /journeys/${workspace.journey_id}/archive?a=1`,
    ]) {
      const sent = line.startsWith('POST /events') ? { body } : {}
      const { errors } = await refusal(await send(cairn, line, { key: workspace.secret_key, ...sent }))
      expect(errors?.[0]).toEqual({ parameter: 'a', detail: 'is not a parameter of this operation' })
    }
  })

  it('may have 255 characters', async () => {
    expect(await listed(`event_id=${'x'.repeat(255)}`)).toBe(0)
  })

  it('is reported with every other fault at once', async () => {
    const found = await faults('limit=0&cursor=x&a=1&event_id=&journey_id=%zz&limit=1&received_to=now')
    expect(found.map(([parameter]) => parameter).sort()).toEqual([
      'a',
      'cursor',
      'event_id',
      'journey_id',
      'limit',
      'limit',
      'received_to',
    ])
  })

  it('is listed up to 100 times', async () => {
    const query = Array.from({ length: 1000 }, (_, index) => `a${index}`).join('&')
    const { errors, errors_omitted } = await (await get(`/events?${query}`)).json()
    expect([errors.length, errors_omitted]).toEqual([100, 900])
  })

  it('accepts a space as + and as %20, and reserved characters unencoded', async () => {
    const { journey_id, client } = workspace
    const client_customer_id = "a b/?:@!$'()*,;="
    await client.initializeCustomer({
      body: { client_customer_id, journey_id, customer_type: 'account', customer_name: 'A' },
    })
    for (const value of ["a+b/?:@!$'()*,;=", "a%20b/?:@!$'()*,;=", encodeURIComponent(client_customer_id)]) {
      const reply = await get(`/customers?client_customer_id=${value}`)
      const { data } = await reply.json()
      expect(data).toMatchObject([{ client_customer_id }])
    }
  })

  it('with a list of values takes no other', async () => {
    for (const query of ['customer_type=person', 'customer_type=Contact', 'customer_type=']) {
      const { errors } = await refusal(await get(`/customers?${query}`))
      expect(errors).toEqual([{ parameter: 'customer_type', detail: 'must be one of: account, contact' }])
    }
  })
})

describe('received_from and received_to', () => {
  it.each([
    '2020-01-01T00:00:00Z',
    '2020-01-01T00%3A00%3A00Z',
    '2020-01-01T00:00:00-05:00',
    '2020-01-01T00:00:00%2B05:30',
    '2020-01-01T00:00:00.123456789Z',
    '1900-01-01T00:00:00%2B23:59',
  ])('accept %s', async (instant) => {
    expect(await listed(`received_from=${instant}`)).toBe(2)
    expect(await listed(`received_to=${instant}`)).toBe(0)
  })

  it('accept the last instant of the form', async () => {
    expect(await listed('received_to=9999-12-31T23:59:59.999999999-23:59')).toBe(2)
  })

  it.each([
    '2020-01-01T00:00:00+05:30',
    '2020-01-01T00:00:00',
    '2020-01-01',
    '2020-02-30T00:00:00Z',
    '2020-01-01T24:00:00Z',
    '2020-01-01T00:00:60Z',
    '2020-01-01t00:00:00z',
    '2020-01-01T00:00:00.Z',
    '2020-01-01T00:00:00,5Z',
    '1899-12-31T23:59:59Z',
    '1577836800000',
    'now',
    '',
  ])('refuse %s once and say how to fix it', async (instant) => {
    for (const name of ['received_from', 'received_to']) {
      expect(await faults(`${name}=${instant}`)).toEqual([
        [name, expect.stringMatching(/must be an RFC 3339 instant .* for example 2026.* %2B/)],
      ])
    }
  })
})

describe('cursor', () => {
  const LISTS = ['/events', '/customers', '/journeys']

  it.each([
    'x',
    '',
    '0',
    '0'.repeat(37),
    '0'.repeat(39),
    `${'0'.repeat(12)}8${'0'.repeat(25)}`,
    `${'0'.repeat(12)}0${'i'.repeat(25)}`,
    `${'g'.repeat(12)}0${'0'.repeat(25)}`,
    `${'A'.repeat(12)}0${'0'.repeat(25)}`,
    `${'0'.repeat(37)}%0A`,
    `${'0'.repeat(38)}%0A`,
  ])('is refused as %s', async (cursor) => {
    for (const list of LISTS) {
      const { status, errors } = await refusal(await get(`${list}?cursor=${cursor}`))
      expect(status).toBe(400)
      expect(errors?.map(({ parameter }) => parameter)).toContain('cursor')
    }
  })

  it.each([
    '0'.repeat(38),
    `${'f'.repeat(12)}7${'z'.repeat(25)}`,
    `${'0'.repeat(12)}7${'z'.repeat(25)}`,
    `${'f'.repeat(12)}0${'0'.repeat(25)}`,
    `${'8'.repeat(12)}0${'tvwxyz'.repeat(4)}0`,
  ])('is a position if it has the form: %s', async (cursor) => {
    const { data } = await workspace.client.listCustomers()
    const timeline = `/customers/${data?.data[0]?.customer_id}/events`
    for (const list of [...LISTS, timeline]) {
      expect((await get(`${list}?cursor=${cursor}`)).status).toBe(200)
    }
  })
})

describe('a parameter that one operation alone declares', () => {
  it('is refused with what the contract says of it', async () => {
    const path = `/journeys/${workspace.journey_id}/trend`
    expect(await refusal(await get(`${path}?time_zone=%2B05:30`))).toMatchObject({
      status: 400,
      errors: [
        {
          parameter: 'time_zone',
          detail: 'must be the name of an IANA time zone, for example Europe/Berlin',
        },
      ],
    })
  })
})
