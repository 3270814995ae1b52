// engines: sqlite, postgres

import fc from 'fast-check'
import { sql } from 'kysely'
import { describe, expect, it, vi } from 'vitest'
import { newServiceKey } from '../../server/domain/service-keys.ts'
import { PERIOD_MS } from '../../server/storage/activity/activity.ts'
import { updateSettings } from '../../server/storage/tables/workspaces.ts'
import { engine, isDistributed } from '../fixtures/engine.ts'
import { type Sample, scrape, sumOf } from '../fixtures/exposition.ts'
import { withPatience } from '../fixtures/patience.ts'
import {
  connectTo,
  countedActivity,
  idOf,
  initialize,
  readingIn,
  type Store,
  storedEvents,
} from '../fixtures/store.ts'
import { serveStoreForTest } from './served-store.ts'

const OUTCOMES = ['created', 'duplicate', 'rejected'] as const

/** Counts of events sent and answered with one key, or the metric with their names. */
type Counts = { received: number; created: number; duplicate: number; rejected: number; unavailable: number }

const PATHS = {
  initializeCustomer: '/customers/initialize',
  createEvent: '/events/create',
  createEvents: '/events/batch',
}

/** The responses of all these requests. */
type Answer = { code?: string } & Partial<Record<keyof Counts, number | boolean>>

const none: Counts = { received: 0, created: 0, duplicate: 0, rejected: 0, unavailable: 0 }

function countsOf(samples: readonly Sample[], labels: { key_id?: string } = {}): Counts {
  const outcomes = OUTCOMES.map((outcome) => {
    return [outcome, sumOf(samples, 'cairn_events_total', { ...labels, outcome })] as const
  })
  return {
    ...none,
    received: sumOf(samples, 'cairn_events_received_total', labels),
    unavailable: sumOf(samples, 'cairn_events_unavailable_total', labels),
    ...Object.fromEntries(outcomes),
  }
}

const event = fc.record(
  {
    journey: fc.constantFrom(...(['active', 'active', 'active', 'archived', 'unknown'] as const)),
    customer: fc.constantFrom(...(['enrolled', 'enrolled', 'enrolled', 'elsewhere', 'unknown'] as const)),
    name: fc.constantFrom('a', 'a', 'b'),
    /** Few, so that some are sent again, with the same content or with different content. */
    message: fc.option(fc.integer({ min: 1, max: 6 }), { nil: undefined }),
    /** The larger size is refused: in a batch by the item's limit, alone by the body's. */
    size: fc.constantFrom(1, 1, 1, 1, 66_000),
    year: fc.constantFrom(2026, 2026, 2026, 9999),
  },
  { noNullPrototype: true },
)
type Sent = typeof event extends fc.Arbitrary<infer T> ? T : never

const key = fc.constantFrom('secret' as const, 'publishable' as const)

const action = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('event' as const), key, event }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('batch' as const),
      key,
      events: fc.array(event, { minLength: 1, maxLength: 12 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('refused' as const),
      key: fc.constantFrom('secret' as const, 'wrong' as const),
      operation: fc.constantFrom('createEvent' as const, 'createEvents' as const),
      body: fc.constantFrom('{}', '{', '{"events": []}', '{"events": [{}]}'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('initialize' as const), key, name: fc.nat(5) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('break' as const) }) },
)
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never

const plain: Sent = {
  journey: 'active',
  customer: 'enrolled',
  name: 'a',
  message: 1,
  size: 1,
  year: 2026,
}
const one = (event: Sent): Action => ({ kind: 'event', key: 'secret', event })

/**
 * Every outcome at least once, which the random load may miss. Of three broken groups at most two are
 * spent on recording that one of the two keys was used.
 */
const every: Action[][] = [
  [one(plain)],
  [one(plain), one({ ...plain, journey: 'unknown', message: 2 })],
  ...Array.from({ length: 3 }, (): Action[][] => [
    [{ kind: 'break' }],
    [one({ ...plain, message: 3 })],
  ]).flat(),
]

/** @returns a function that makes a later write of events fail: SQLite may not write, or is out of space */
async function breaker({ db, databaseUrl }: Store): Promise<() => Promise<unknown>> {
  if (engine === 'sqlite') {
    const broken = () => db.transaction().execute((db) => sql`PRAGMA query_only = 1`.execute(db))
    return () => broken().catch(() => {})
  }
  const { run } = await connectTo(databaseUrl)
  // A sequence keeps its value even if the transaction fails.
  await run(`CREATE SEQUENCE breaks MINVALUE 0 START 0;
    CREATE FUNCTION fail_once() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF (SELECT last_value FROM breaks) > 0 THEN
          PERFORM setval('breaks', 0);
          RAISE EXCEPTION 'no room' USING ERRCODE = 'disk_full';
        END IF;
        RETURN NULL;
      END $$;
    CREATE TRIGGER fail AFTER INSERT ON events FOR EACH STATEMENT EXECUTE FUNCTION fail_once()`)
  return () => run(`SELECT setval('breaks', 1)`)
}

describe('the metrics of a load with duplicates, rejections, refusals and failing commits', () => {
  const itOnOneServer = it.skipIf(isDistributed)

  itOnOneServer('add up at any moment, and match the responses and the stored events', async () => {
    const { store, url, workspace } = await serveStoreForTest()
    const breakNextWrite = await breaker(store)
    // With customer protection a publishable key would get the same answer for every customer, and responses would say
    // less than the counts.
    await store.db
      .transaction()
      .execute((db) => updateSettings(db, workspace.workspace_id, { protect_customers: false }))
    const keys = {
      secret: workspace.secret_key,
      publishable: workspace.publishable_key,
      wrong: newServiceKey('secret'),
    }
    const { workspace_id } = workspace
    const post = async (path: string, key: keyof typeof keys, body: unknown) => {
      const headers = { 'x-service-key': keys[key], 'content-type': 'application/json' }
      const text = typeof body === 'string' ? body : JSON.stringify(body)
      return await fetch(`${url}/v1${path}`, { method: 'POST', headers, body: text })
    }
    const newJourney = async (name: string): Promise<string> => {
      return (await (await post('/journeys', 'secret', { name })).json()).journey_id
    }
    const journeys = {
      active: workspace.journey_id,
      archived: await newJourney('A'),
      other: await newJourney('B'),
      unknown: 'jrn_unknown',
    }
    await post(`/journeys/${journeys.archived}/archive`, 'secret', '')
    const customers = {
      enrolled: idOf(await initialize(store, workspace, 'enrolled')),
      elsewhere: idOf(await initialize(store, { workspace_id, journey_id: journeys.other }, 'elsewhere')),
      unknown: 'cus_unknown',
    }

    let runs = 0
    const bodyOf = ({ journey, customer, name, message, size, year }: Sent) => ({
      journey_id: journeys[journey],
      customer_id: customers[customer],
      event_id: name,
      custom_variables: 'x'.repeat(size),
      occurred_at: `${year}-01-01T00:00:00Z`,
      ...(message !== undefined && { message_id: `${runs}-${message}` }),
    })

    const said: Counts = { ...none }
    const customersSaid = { created: 0, known: 0 }
    const requests: Record<string, number> = {}
    const ask = async (operation: keyof typeof PATHS, key: keyof typeof keys, body: unknown) => {
      const reply = await post(PATHS[operation], key, body)
      const answer: Answer = await reply.json()
      const name = `${operation} ${reply.status} ${answer.code ?? ''}`
      requests[name] = (requests[name] ?? 0) + 1
      return { status: reply.status, ok: reply.ok, answer }
    }

    const run = async (action: Action) => {
      if (action.kind === 'break') {
        // The next group fails; after that the file is opened again.
        await breakNextWrite()
      } else if (action.kind === 'refused') {
        await ask(action.operation, action.key, action.body)
      } else if (action.kind === 'initialize') {
        const names = { client_customer_id: `c-${action.name}`, customer_type: 'contact', customer_name: 'C' }
        const body = { ...names, journey_id: journeys.active }
        const { ok, answer } = await ask('initializeCustomer', action.key, body)
        if (ok) customersSaid[answer.created ? 'created' : 'known'] += 1
      } else if (action.kind === 'batch') {
        const { ok, answer } = await ask('createEvents', action.key, { events: action.events.map(bodyOf) })
        if (ok) for (const name of ['received', ...OUTCOMES] as const) said[name] += Number(answer[name])
        else said.unavailable += action.events.length
      } else {
        const { ok, status, answer } = await ask('createEvent', action.key, bodyOf(action.event))
        // Refused by size alone, before the content is checked.
        if (status === 413) return
        if (status >= 500) {
          said.unavailable += 1
        } else {
          said.received += 1
          said[ok ? (answer.duplicate ? 'duplicate' : 'created') : 'rejected'] += 1
        }
      }
    }

    const assertSum = async () => {
      const samples = await scrape({ url })
      const key_ids = new Set(samples.flatMap(({ labels }) => labels.key_id ?? []))
      for (const key_id of key_ids) {
        const { received, created, duplicate, rejected } = countsOf(samples, { key_id })
        expect(received).toBe(created + duplicate + rejected)
      }
      return samples
    }

    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(action, { maxLength: 20 }), { maxLength: 4 }), async (waves) => {
        runs += 1
        for (const wave of waves) {
          let isOver = false
          const answered = Promise.all(wave.map(run)).finally(() => {
            isOver = true
          })
          while (!isOver) await assertSum()
          await answered
        }
        const samples = await assertSum()
        expect(countsOf(samples)).toEqual(said)
        for (const [outcome, count] of Object.entries(customersSaid)) {
          expect(sumOf(samples, 'cairn_customers_initialized_total', { outcome })).toBe(count)
        }
      }),
      { numRuns: 26, examples: [[every]] },
    )
    const now_ms = Date.now()
    const span = { by: 'day', from_ms: now_ms - PERIOD_MS.day, to_ms: now_ms + 1 } as const
    const { total } = await countedActivity(store.activity(workspace_id, span, readingIn(workspace_id)))
    const { created, duplicate, rejected } = said
    expect(total).toEqual({ created, duplicate, rejected })
    expect(await storedEvents(await connectTo(store.databaseUrl))).toHaveLength(said.created ?? 0)
    // A request is counted when its response has been sent, which may be after its sender has received it.
    await vi.waitFor(async () => {
      const samples = await scrape({ url })
      const counted = samples
        .filter(({ name, labels }) => name === 'cairn_requests_total' && `${labels.operation}` in PATHS)
        // Some are exported as 0 from the start.
        .filter(({ value }) => value > 0)
        .map(({ labels, value }) => [`${labels.operation} ${labels.status} ${labels.code}`, value])
      expect(Object.fromEntries(counted)).toEqual(requests)
    }, withPatience)
    // The load has contained everything that it was meant to.
    for (const count of Object.values(said)) expect(count).toBeGreaterThan(0)
  })
})
