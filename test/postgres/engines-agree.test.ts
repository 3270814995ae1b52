// engines: postgres (what only PostgreSQL has)

import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { components } from '../../generated/contract.ts'
import { createWorkspace } from '../../server/cli/init.ts'
import { HOUR_MS } from '../../server/domain/durations.ts'
import { newId } from '../../server/domain/identifiers.ts'
import { openStorage } from '../../server/storage/open.ts'
import type { Storage } from '../../server/storage/storage.ts'
import { insertJourney, updateJourney } from '../../server/storage/tables/journeys.ts'
import { temporaryFolder } from '../fixtures/cairn.ts'
import { newDatabase } from '../fixtures/postgres/databases.ts'
import { eventPage, readingIn } from '../fixtures/store.ts'
import { casesToTry } from '../fixtures/thoroughness.ts'

type Customer = components['schemas']['CustomerInitialization']

/** Few journeys and customers, so that steps often use the same ones; in addition, each has one that does not exist. */
const JOURNEYS = 2
const CUSTOMERS = 3
const BEGIN_MS = Date.UTC(2026, 10, 20)

/** An engine, and its identifiers for what both engines contain. */
type Engine = {
  storage: Storage
  workspaceId: string
  journeys: string[]
  customers: string[]
  /** Names that stand for the identifiers of events in comparisons. */
  names: Map<string, string>
}

type Clock = { ms: number }

const journey = fc.nat(JOURNEYS)
const customer = fc.nat(CUSTOMERS)
const initialization = fc.record({
  journey: journey,
  customer: fc.nat(CUSTOMERS - 1),
  name: fc.constantFrom('Ada', 'Ada Lovelace', 'Grace Ångström', 'ada', '李 明', '🙂'),
})
const event = fc.record({
  journey: fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, journey),
  customer: fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, customer),
  event_id: fc.constantFrom('signed_up', 'paid'),
  message_id: fc.oneof(
    fc.constant(null),
    fc.constantFrom(
      'a',
      'b',
      'A',
      '550e8400-e29b-41d4-a716-446655440000',
      '550E8400-E29B-41D4-A716-446655440000',
    ),
  ),
  /** Relative to now. */
  ago_ms: fc.constantFrom(null, 0, 5, HOUR_MS, -HOUR_MS, -2 * HOUR_MS),
  custom_variables: fc.constantFrom(
    null,
    '{"a":1,"b":"\\u0000é"}',
    '{"b":"\\u0000é","a":1}',
    '{"a":2}',
    '"text"',
  ),
})
const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ initialize: fc.array(initialization, { minLength: 1, maxLength: 4 }) }),
  },
  { weight: 6, arbitrary: fc.record({ insert: fc.array(event, { minLength: 1, maxLength: 8 }) }) },
  { weight: 1, arbitrary: fc.record({ archive: fc.nat(JOURNEYS - 1) }) },
  { weight: 1, arbitrary: fc.record({ restore: fc.nat(JOURNEYS - 1) }) },
)
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

async function open(url: string, clock: Clock): Promise<Storage> {
  const nothing = () => {}
  const callbacks = { onKeyChange: nothing, onOutsideChange: nothing, onDeath: nothing }
  const storage = await openStorage({ url, now: () => clock.ms, ...callbacks })
  onTestFinished(storage.close)
  return storage
}

/** A workspace of its own, so that one store serves many runs. */
async function begin(url: string, storage: Storage): Promise<Engine> {
  const names = { workspace: newId('wsp'), journey: 'First' }
  const { workspace_id, journey_id } = await createWorkspace(url, names)
  const journeys = [journey_id]
  await storage.db.transaction().execute(async (db) => {
    while (journeys.length < JOURNEYS) {
      const made = { journey_id: newId('jrn'), name: 'Next', description: '', steps: [], created_ms: 0 }
      journeys.push((await insertJourney(db, workspace_id, made)).journey_id)
    }
  })
  return { storage, workspaceId: workspace_id, journeys, customers: [], names: new Map() }
}

async function take(engine: Engine, step: Step, now_ms: number): Promise<unknown> {
  const { storage, workspaceId, journeys, customers, names } = engine
  const journeyOf = (index: number) => journeys[index] ?? 'jrn_none'
  if ('initialize' in step) {
    const outcomes = []
    // One after another: of concurrent calls any may be the first.
    for (const { journey, customer, name } of step.initialize) {
      const own: Customer = {
        customer_type: customer === 0 ? 'account' : 'contact',
        client_customer_id: `user-${customer}`,
        customer_name: name,
        journey_id: journeyOf(journey),
      }
      const outcome = await storage.events.initializeCustomer(workspaceId, own)
      if (outcome.status === 'stored') customers[customer] = outcome.customer_id
      outcomes.push({ ...outcome, customer_id: '' })
    }
    return outcomes
  }
  if ('insert' in step) {
    const events = step.insert.map(({ journey, customer, ago_ms, ...sent }) => ({
      ...sent,
      journey_id: journeyOf(journey),
      customer_id: customers[customer] ?? 'cus_none',
      occurred_ms: ago_ms === null ? null : now_ms - ago_ms,
    }))
    const outcomes = await storage.events.insertEvents(workspaceId, events)
    return outcomes.map((outcome) => {
      if (outcome.status === 'rejected') return outcome
      if (outcome.status === 'created') names.set(outcome.id, `event ${names.size}`)
      return { ...outcome, id: names.get(outcome.id) }
    })
  }
  const [index, status] =
    'archive' in step ? [step.archive, 'archived' as const] : [step.restore, 'active' as const]
  await storage.db.transaction().execute(async (db) => {
    await updateJourney(db, workspaceId, journeyOf(index), { status, updated_ms: now_ms })
  })
  return undefined
}

/** All lists, page by page, with this run's names in place of identifiers. */
async function listed(
  { storage, workspaceId, journeys, customers, names }: Engine,
  begun_ms: number,
): Promise<unknown> {
  const reading = readingIn(workspaceId)
  const { events } = storage
  const filters = [
    {},
    { journey_id: journeys[0] as string },
    { event_id: 'paid' },
    { customer_id: customers[0] ?? 'cus_none' },
    { customer_id: customers[0] ?? 'cus_none', event_id: 'paid' },
    { from_ms: begun_ms + 2, to_ms: begun_ms + 4 },
    { journey_id: 'no journey at all' },
  ]
  const lists = [
    ...filters.map((filter) => (page: Page) => events.newestEvents(workspaceId, filter, page, reading)),
    // Some may never have been initialized.
    ...Array.from(
      customers,
      (id = 'cus_none') =>
        (page: Page) =>
          events.customerEvents(workspaceId, id, page, reading),
    ),
  ]
  const found = []
  for (const list of lists) {
    const rows = []
    for (let page: Page | null = { limit: 3 }; page; ) {
      const { rows: next_rows, next } = await eventPage(list(page))
      rows.push(...next_rows)
      page = next && { limit: 3, after: next }
    }
    found.push(
      rows.map((row) => ({
        ...row,
        id: names.get(row.id),
        journey_id: journeys.indexOf(row.journey_id),
        customer_id: customers.indexOf(row.customer_id),
      })),
    )
  }
  return found
}

type Page = Parameters<Storage['events']['newestEvents']>[2]

describe('the engines', () => {
  it('give the same answers to the same requests, and the same lists', async () => {
    const clock = { ms: BEGIN_MS }
    const urls = [`sqlite:${join(temporaryFolder(), 'cairn.db')}`, await newDatabase()]
    const stores = await Promise.all(urls.map(async (url) => ({ url, storage: await open(url, clock) })))
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 25 }), async (steps) => {
        // Forward: events that arrive while the clock stands still or steps back are received a little later on
        // PostgreSQL.
        clock.ms += 1000
        const begun_ms = clock.ms
        const engines = await Promise.all(stores.map(({ url, storage }) => begin(url, storage)))
        for (const step of steps) {
          clock.ms += 1
          const [first, second] = await Promise.all(engines.map((engine) => take(engine, step, clock.ms)))
          expect(second).toEqual(first)
        }
        const [first, second] = await Promise.all(engines.map((engine) => listed(engine, begun_ms)))
        expect(second).toEqual(first)
      }),
      { numRuns: casesToTry({ inCi: 25, elsewhere: 15 }) },
    )
  })
})
