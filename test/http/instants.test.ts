// engines: sqlite, postgres

import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Cairn } from '../fixtures/cairn.ts'
import { operations, resolved } from '../fixtures/contract/document.ts'
import { customerInJourney, initialize } from '../fixtures/customer.ts'
import { type SignedUp, signUp } from '../fixtures/people.ts'
import { send } from '../fixtures/requests.ts'
import { sharedCairn } from '../fixtures/shared-cairn.ts'
import { casesToTry } from '../fixtures/thoroughness.ts'

let cairn: Cairn
let owner: SignedUp
let names: Record<string, string>

beforeAll(async () => {
  cairn = await sharedCairn()
  const { workspace, event } = await customerInJourney(cairn)
  owner = await signUp(cairn, workspace, 'owner')
  names = { journey_id: event.journey_id, customer_id: event.customer_id }
})

/** Values at the limits of what the contract accepts. */
const taken = [
  '9999-12-31T23:59:59.999Z',
  '9999-12-31T23:59:59.999999999Z',
  '9999-12-31T23:59:59-00:01',
  '9999-12-31T00:00:00-23:59',
  '9999-12-31T23:59:59+23:59',
  '9999-12-31T12:00:00Z',
  '9999-12-01T00:00:00Z',
  '9998-12-31T23:59:59.999-12:00',
  '2026-11-20T09:30:00Z',
  '1900-01-01T00:00:00Z',
  '1900-01-01T00:00:00+23:59',
]

const refused = [
  '0000-01-01T00:00:00Z',
  '0001-01-01T00:00:00Z',
  '1899-12-31T23:59:59.999Z',
  '-000001-01-01T00:00:00Z',
  '-2026-11-20T09:30:00Z',
  '10000-01-01T00:00:00Z',
  '+010000-01-01T00:00:00Z',
  '+275760-09-13T00:00:00Z',
  '9999-12-31T24:00:00Z',
  '9999-12-31T23:59:60Z',
]

const BEYOND = /[+-]\d{6}-\d\d-\d\d/

/** Operations with parameters that are instants, and their names. */
const withInstants = operations
  .map((operation) => {
    const instants = operation.parameters.filter(({ schema }) => resolved(schema).pattern?.includes('T('))
    return { ...operation, instants: instants.map(({ name }) => name) }
  })
  .filter(({ instants }) => instants.length > 0)

const rows = withInstants.map((operation) => [operation.operationId, operation] as const)

/** The parameters that determine the length of an answer's periods. */
const periods = {
  by: ['minute', 'hour', 'day', 'week', 'month'],
  time_zone: ['UTC', 'Pacific/Kiritimati', 'Etc/GMT+12', 'America/Sao_Paulo'],
}

async function ask({ path }: { path: string }, query: Record<string, string | undefined>) {
  const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined)
  const target = path.replace(/\{(\w+)\}/g, (_, name) => names[name] ?? 'unknown')
  const reply = await send(cairn, `GET ${target}?${new URLSearchParams(given)}`, { headers: owner.headers })
  return { status: reply.status, text: await reply.text() }
}

describe('a parameter that is an instant', () => {
  it('is one of every list, report and count', () => {
    expect(withInstants.map(({ operationId }) => operationId)).toEqual(
      expect.arrayContaining(['getActivity', 'getJourneyTrend', 'listEvents', 'listAuditLog']),
    )
  })

  it.each(rows)(
    'of %s never causes a response with an instant beyond the year 9999',
    async (_, operation) => {
      const { instants, parameters } = operation
      const others = Object.entries(periods).filter(([name]) => parameters.some((one) => one.name === name))
      const optional = (values: readonly string[]) =>
        fc.option(fc.constantFrom(...values), { nil: undefined })
      const query = fc.record({
        ...Object.fromEntries(instants.map((name) => [name, optional(taken)])),
        ...Object.fromEntries(others.map(([name, values]) => [name, optional(values)])),
        ...(parameters.some(({ name }) => name === 'step') && { step: fc.constant('1') }),
      })
      await fc.assert(
        fc.asyncProperty(query, async (query) => {
          const { status, text } = await ask(operation, query)
          expect(status).toBeLessThan(500)
          expect(text).not.toMatch(BEYOND)
        }),
        { numRuns: casesToTry({ inCi: 100, elsewhere: 25 }) },
      )
    },
  )

  it.each(rows)('of %s is refused outside the years 1900 to 9999', async (_, operation) => {
    for (const name of operation.instants) {
      for (const value of refused) {
        const { status, text } = await ask(operation, { [name]: value })
        expect([name, value, status]).toEqual([name, value, 400])
        expect(JSON.parse(text).errors).toContainEqual(expect.objectContaining({ parameter: name }))
      }
    }
  })
})

it('an event that its offset moves before the year 1900 is listed with the first instant', async () => {
  const workspace = await cairn.workspace()
  const event = {
    journey_id: workspace.journey_id,
    customer_id: await initialize(workspace, 'user-1'),
    event_id: 'old',
    occurred_at: '1900-01-01T00:00:00+23:59',
  }
  expect((await workspace.client.createEvent({ body: event })).data?.success).toBe(true)
  const { data } = await workspace.client.listEvents()
  expect(data?.data).toMatchObject([{ occurred_at: '1900-01-01T00:00:00.000Z' }])
})

it('the last period of the year 9999 ends with its last millisecond', async () => {
  const end = '9999-12-31T23:59:59.999Z'
  for (const by of ['day', 'week', 'month']) {
    const { data } = await owner.client().getJourneyTrend({
      path: { journey_id: names.journey_id ?? '' },
      query: { by: by as 'day', entered_from: '9999-12-31T00:00:00Z', entered_to: end },
    })
    expect(data?.cohorts.at(-1)).toMatchObject({ ends_at: end })
  }
  for (const by of ['minute', 'hour', 'day'] as const) {
    const { data } = await owner.client().getActivity({ query: { by, to: end } })
    expect([by, data?.to]).toEqual([by, end])
  }
})

describe('when a key expires', () => {
  const create = async (expires_at: string) =>
    await owner.fetch('POST /service-keys', { body: { kind: 'secret', name: 'Far', expires_at } })

  it.each(taken.filter((value) => value.startsWith('999')))(
    'is answered as the contract defines it: %s',
    async (at) => {
      const made = await create(at)
      expect(made.status).toBe(201)
      const key = await made.json()
      expect(key.expires_at).toMatch(/^999\d-/)
      const changed = await owner.fetch(`PATCH /service-keys/${key.key_id}`, { body: { expires_at: at } })
      expect(await changed.json()).toMatchObject({ expires_at: key.expires_at })
    },
  )

  it.each(refused)('is refused outside the years 1900 to 9999: %s', async (at) => {
    expect((await create(at)).status).toBe(400)
  })
})

describe('a time zone', () => {
  const trend = async (time_zone: string) => {
    const { status, text } = await ask({ path: '/journeys/{journey_id}/trend' }, { time_zone })
    return [time_zone, status, JSON.parse(text).code]
  }

  it.each([
    '+0530',
    '+05',
    '-05',
    '+00',
    '-00',
    '-0000',
    '+053015',
    '2020-01-01T00-05',
    '2020-01-01T00+0530',
    '2020-01-01T00Z',
    '20200101T00Z',
    '200001-05',
    'T00-05',
    'Z',
    'UTC+3',
    'GMT+5',
    'Etc/Unknown',
    'Atlantis/Main_Square',
    '/Europe/Berlin',
    'SystemV/EST5',
    'IST',
    'bst',
    'PST',
    '_',
  ])('is unknown if the database does not have it: %s', async (zone) => {
    expect(await trend(zone)).toEqual([zone, 409, 'time_zone_unknown'])
  })

  it.each([
    '+05:30',
    '-00:00',
    '2020-01-01T00:00[Europe/Berlin]',
    'Europe/Berlin[u-ca=iso8601]',
    ' UTC',
    '\u2212 5',
  ])('is refused for its form: %j', async (zone) => {
    expect(await trend(zone)).toEqual([zone, 400, 'invalid_request'])
  })

  it.each([
    'UTC',
    'utc',
    'europe/BERLIN',
    'Etc/GMT-5',
    'GMT0',
    'EST',
    'CET',
    'EST5EDT',
    'Asia/Calcutta',
    'NZ-CHAT',
  ])('is recognized in any letter case: %s', async (zone) => {
    expect(await trend(zone)).toEqual([zone, 200, undefined])
  })
})
