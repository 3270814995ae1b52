import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect } from 'vitest'
import type { Schemas } from '../../client/index.ts'
import { type Cairn, temporaryFolder, type Workspace } from '../cairn.ts'
import { runCairn } from '../command.ts'
import { exported } from '../operations/exported.ts'

const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter((text) => {
  return !text.includes('\0') && /[\p{L}\p{N}]/u.test(text)
})

/** Arbitrary contents of a workspace: journeys by number, customers and events by the numbers that they refer to. */
const content = fc.record({
  journeys: fc.array(
    fc.record({
      name,
      isArchived: fc.boolean(),
      retention_days: fc.option(fc.integer({ min: 1, max: 36_500 })),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  customers: fc.uniqueArray(
    fc.record({
      client_customer_id: name,
      customer_type: fc.constantFrom('account', 'contact'),
      customer_name: name,
    }),
    { minLength: 1, maxLength: 5, selector: (one) => `${one.customer_type} ${one.client_customer_id}` },
  ),
  events: fc.array(
    fc.record({
      of: fc.nat(14),
      event_id: name,
      custom_variables: fc.option(fc.oneof(name, fc.dictionary(name, fc.jsonValue(), { maxKeys: 3 })), {
        nil: undefined,
      }),
      occurred_at: fc.option(
        fc
          .date({ min: new Date(0), max: new Date('2026-01-01'), noInvalidDate: true })
          .map((at) => at.toISOString()),
        { nil: undefined },
      ),
      isNamed: fc.boolean(),
    }),
    { maxLength: 30 },
  ),
})

/** Returns what can be compared of a workspace: everything except identifiers and times that differ in another. */
async function comparable({ client }: Workspace, { without = '' } = {}) {
  const { items: events } = await exported(client.exportEvents())
  const { items: customers } = await exported<Schemas['Customer']>(client.exportCustomers())
  const { data } = await client.listJourneys({ query: { limit: 500 } })
  const ownIds = new Map(
    customers.map((one) => [one.customer_id, `${one.customer_type} ${one.client_customer_id}`]),
  )
  const journeys = [...(data?.data ?? [])].reverse().filter(({ journey_id }) => journey_id !== without)
  const numbers = new Map(journeys.map(({ journey_id }, number) => [journey_id, number]))
  return {
    journeys: journeys.map(({ name, description, steps, status, retention_days }) => {
      return { name, description, steps, status, retention_days }
    }),
    customers: customers
      .map(({ customer_name, customer_id }) => `${ownIds.get(customer_id)} ${customer_name}`)
      .sort(),
    events: events
      .map(({ id, journey_id, customer_id, event_id, custom_variables, occurred_at, message_id }) => ({
        journey: numbers.get(journey_id),
        customer: ownIds.get(customer_id),
        event_id,
        custom_variables,
        occurred_at,
        message_id: message_id ?? `export:${id}`,
      }))
      .sort((a, b) => (a.message_id < b.message_id ? -1 : 1)),
    ids: {
      journeys: journeys.map(({ journey_id }) => journey_id),
      customers: customers.map((one) => one.customer_id),
    },
  }
}

/** Fills a workspace at random, moves it with `cairn export` and `cairn import`, and expects the same contents. */
export async function expectMoved(from: Cairn, to: Cairn, runs: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(content, async (made) => {
      const [source, target] = [await from.workspace(), await to.workspace()]
      await fill(from, source, made)
      const folder = join(temporaryFolder(), 'workspace')
      const run = (cairn: Cairn, workspace: Workspace, ...args: string[]) =>
        runCairn([...args, '--base-url', `${cairn.url}/v1`, '--json'], {
          environment: { CAIRN_SERVICE_KEY: workspace.secret_key },
        })
      expect(await run(from, source, 'export', 'workspace', folder)).toMatchObject({ code: 0 })
      // The second run must not create anything again.
      for (const _ of [1, 2]) {
        expect(await run(to, target, 'import', folder)).toMatchObject({ code: 0 })
      }
      const [{ ids: olds, ...before }, { ids: news, ...after }] = [
        await comparable(source),
        // It has a journey of its own from the start.
        await comparable(target, { without: target.journey_id }),
      ]
      expect(after).toEqual(before)
      const table = readFileSync(`${folder}.identifiers.ndjson`, 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
      const renamed = (kind: string) => table.filter((line) => line.kind === kind)
      expect(renamed('journey').map((line) => [line.old, line.new])).toEqual(
        olds.journeys.map((old, number) => [old, news.journeys[number]]),
      )
      expect(
        renamed('customer')
          .map((line) => line.old)
          .sort(),
      ).toEqual([...olds.customers].sort())
      expect(
        renamed('customer')
          .map((line) => line.new)
          .sort(),
      ).toEqual([...news.customers].sort())
    }),
    { numRuns: runs, endOnFailure: true },
  )
}

type Content = typeof content extends fc.Arbitrary<infer Value> ? Value : never

async function fill(
  cairn: Cairn,
  { client, journey_id, secret_key }: Workspace,
  { journeys, customers, events }: Content,
) {
  const ids = [journey_id]
  for (const { name } of journeys) {
    const steps = [{ event_id: 'signed_up', name: 'Signed up' }]
    const { data } = await client.createJourney({ body: { name, description: `About ${name}`, steps } })
    ids.push(data?.journey_id ?? '')
  }
  const enrolled: { journey_id: string; customer_id: string }[] = []
  for (const [number, customer] of customers.entries()) {
    for (const journey_id of ids.filter((_, journey) => (number + journey) % 2 === 0)) {
      const { data } = await client.initializeCustomer({ body: { ...customer, journey_id } })
      enrolled.push({ journey_id, customer_id: data?.customer_id ?? '' })
    }
  }
  for (const [number, { of, isNamed, event_id, custom_variables, occurred_at }] of events.entries()) {
    const names = enrolled[of % enrolled.length]
    if (!names) continue
    const body = {
      ...names,
      event_id,
      ...(custom_variables !== undefined && { custom_variables }),
      ...(occurred_at !== undefined && { occurred_at }),
      ...(isNamed && { message_id: `message-${number}` }),
    }
    // Not with the client, which would add a message_id.
    const headers = { 'x-service-key': secret_key, 'content-type': 'application/json' }
    const answer = await cairn.fetch('/events/create', {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    expect(answer.status).toBe(201)
  }
  for (const [number, { isArchived, retention_days }] of journeys.entries()) {
    const path = { journey_id: ids[number + 1] ?? '' }
    await client.updateJourney({ path, body: { retention_days } })
    if (isArchived) await client.archiveJourney({ path })
  }
}
