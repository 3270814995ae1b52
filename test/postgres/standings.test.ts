// engines: postgres (what only PostgreSQL has)

import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createWorkspace } from '../../server/cli/init.ts'
import { newId } from '../../server/domain/identifiers.ts'
import type { Page } from '../../server/domain/paging.ts'
import { readAddress } from '../../server/domain/postgres-urls.ts'
import type { NewEvent } from '../../server/storage/events/event-store.ts'
import { Servers } from '../../server/storage/postgres/connection/connection.ts'
import { Pool } from '../../server/storage/postgres/connection/pool.ts'
import { digitsOf, idOf as typeId, uuidOf } from '../../server/storage/postgres/connection/uuids.ts'
import { migrateDatabase } from '../../server/storage/postgres/migrate-database.ts'
import { migrations } from '../../server/storage/postgres/migrations/index.ts'
import { forgetJourney } from '../../server/storage/postgres/removals/postgres-removals.ts'
import { StandingsFollower } from '../../server/storage/postgres/standings/standings-follower.ts'
import type { CustomerStanding, StandingFilter, Standings } from '../../server/storage/standings/standings.ts'
import { startChildServer } from '../fixtures/child-server.ts'
import { copy } from '../fixtures/copied-store.ts'
import { isDistributed } from '../fixtures/engine.ts'
import { followed } from '../fixtures/following.ts'
import { withPatience } from '../fixtures/patience.ts'
import { EMPTY, newDatabase } from '../fixtures/postgres/databases.ts'
import { runSql } from '../fixtures/postgres/sql.ts'
import { type ModelStanding, modelReport, modelStandings } from '../fixtures/standings/model.ts'
import { connectTo, idOf, newEvent, openStoreForTest, readingIn, type Store } from '../fixtures/store.ts'
import { casesToTry } from '../fixtures/thoroughness.ts'
import { erase } from '../storage/erase.ts'
import { type Fate, startProxy } from './proxy.ts'

const NAMES = ['one', 'two', 'three', 'four']

/** A journey with steps, in a workspace of its own. */
type Place = { databaseUrl: string; workspace_id: string; journey_id: string }

async function newPlace(databaseUrl: string, names: readonly string[]): Promise<Place> {
  const made = await createWorkspace(databaseUrl, { workspace: randomUUID(), journey: 'Onboarding' })
  const place = { databaseUrl, workspace_id: made.workspace_id, journey_id: made.journey_id }
  await editSteps(place, names)
  return place
}

/** Edits steps with the statements of the operation. */
async function editSteps({ databaseUrl, journey_id }: Place, names: readonly string[]) {
  const steps = JSON.stringify(names.map((event_id) => ({ event_id, name: event_id })))
  await runSql(
    databaseUrl,
    `UPDATE journeys SET steps = '${steps}', updated_ms = ${Date.now()} WHERE journey_id = '${journey_id}';
    UPDATE cairn_store SET changes = changes + 1`,
  )
}

async function enrol(store: Store, place: Place, name: string, customer_type: 'account' | 'contact') {
  const customer = {
    client_customer_id: name,
    customer_type,
    customer_name: name,
    journey_id: place.journey_id,
  }
  return idOf(await store.events.initializeCustomer(place.workspace_id, customer))
}

function event({ journey_id }: Place, customer_id: string, event_id: string, occurred_ms: number): NewEvent {
  return newEvent({ workspace_id: '', journey_id, customer_id }, { event_id, occurred_ms })
}

/** Everybody's standing in a journey according to the definition, from everything in the database, by customer. */
async function expectedStandings(place: Place, names: readonly string[]): Promise<ModelStanding[]> {
  const { run } = await connectTo(place.databaseUrl)
  const enrolments = await run(
    `SELECT customer_id AS customer, customer_type, enrolled_ms AS at_ms
    FROM enrolments JOIN customers USING (workspace_id, customer_id) WHERE journey_id = '${place.journey_id}'`,
  )
  const events = await run(`SELECT id, customer_id, event_id AS name, at_ms FROM events
    WHERE journey_id = '${uuidOf(place.journey_id)}'`)
  const journey = {
    enrolments: enrolments as { customer: string; customer_type: 'account' | 'contact'; at_ms: number }[],
    events: (events as { id: string; customer_id: string; name: string; at_ms: number }[]).map((row) => ({
      ...row,
      id: typeId('evt', digitsOf(row.id)),
      customer: typeId('cus', digitsOf(row.customer_id)),
    })),
  }
  return modelStandings(journey, names)
}

/** The report once it includes everything acknowledged before now. */
async function settledReport(store: Store, place: Place, filter: StandingFilter = {}) {
  const [now] = await runSql(
    place.databaseUrl,
    'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000) AS ms',
  )
  const since_ms = Number(now?.ms)
  return await vi.waitUntil(async () => {
    const { workspace_id, journey_id } = place
    const report = await store.standings.report(workspace_id, journey_id, filter, readingIn(workspace_id))
    return (report?.as_of_ms ?? 0) >= since_ms && !report?.recomputing && report
  }, withPatience)
}

type CustomersFilter = Parameters<Standings['customers']>[2]

async function allCustomers(store: Store, place: Place, filter: CustomersFilter, limit: number) {
  const { workspace_id, journey_id } = place
  const rows: CustomerStanding[] = []
  for (let page: Page | null = { limit }; page; ) {
    const found = await store.standings.customers(
      workspace_id,
      journey_id,
      filter,
      page,
      readingIn(workspace_id),
    )
    rows.push(...(found?.rows ?? []))
    page = found?.next ? { limit, after: found.next } : null
  }
  return rows
}

/** Asserts that everything a store reports of a journey matches the definition. */
async function expectExact(
  store: Store,
  place: Place,
  names: readonly string[],
  filter: StandingFilter = {},
) {
  const report = await settledReport(store, place, filter)
  const expected = await expectedStandings(place, names)
  const asOf_ms = report.as_of_ms ?? Number.NaN
  expect(report).toEqual({
    ...modelReport(expected, names, filter, asOf_ms),
    as_of_ms: asOf_ms,
    recomputing: null,
    event_ids: names,
    groups: null,
    comparison: null,
  })
  const newestFirst = expected.toSorted(
    (one, other) => other.entered_ms - one.entered_ms || (one.customer < other.customer ? 1 : -1),
  )
  const listed = await allCustomers(store, place, {}, 3)
  expect(listed).toEqual(
    newestFirst.map(({ customer: customer_id, ...standing }) => ({ customer_id, ...standing })),
  )
  for (const { customer, customer_type: _, ...standing } of expected.slice(0, 3)) {
    const { workspace_id, journey_id } = place
    const found = await store.standings.customerJourneys(
      workspace_id,
      customer,
      { limit: 5 },
      readingIn(workspace_id),
    )
    expect(found).toMatchObject({ rows: [{ journey_id, ...standing }], next: null })
  }
}

const instants = fc.oneof(
  { weight: 20, arbitrary: fc.integer({ min: -6, max: 6 }) },
  { weight: 1, arbitrary: fc.integer({ min: -62_000_000_000_000, max: 1_700_000_000_000 }) },
)

/** The actions of a run, one after another. */
const happening = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('event' as const),
      customer: fc.nat(7),
      name: fc.constantFrom(...NAMES, 'detour'),
      at_ms: instants,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('edit' as const),
      names: fc.shuffledSubarray(NAMES, { minLength: 1 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('look' as const) }) },
)

describe('the standings of two replicas', () => {
  it('equal those of the definition, whatever happens in whichever order', async () => {
    const databaseUrl = await newDatabase()
    const clocks = [Date.now, () => Date.now() - 60_000]
    const stores = await Promise.all(clocks.map((now) => openStoreForTest({ databaseUrl, now })))
    const [first, second] = stores as [Store, Store]
    await fc.assert(
      fc.asyncProperty(
        fc.array(happening, { maxLength: 60, size: 'max' }),
        fc.option(fc.nat(10), { nil: undefined }),
        async (history, window_ms) => {
          let names: readonly string[] = NAMES
          const place = await newPlace(databaseUrl, names)
          const customers = await Promise.all(
            Array.from({ length: 8 }, (_, index) =>
              enrol(stores[index % 2] as Store, place, `user-${index}`, index % 3 ? 'contact' : 'account'),
            ),
          )
          const storing: Promise<unknown>[] = []
          for (const [index, happened] of history.entries()) {
            const store = stores[index % 2] as Store
            if (happened.kind === 'event') {
              const { customer, name, at_ms } = happened
              const sent = event(place, customers[customer] ?? '', name, at_ms)
              storing.push(store.events.insertEvents(place.workspace_id, [sent]))
            } else if (happened.kind === 'edit') {
              names = happened.names
              await editSteps(place, names)
            } else {
              const reading = readingIn(place.workspace_id)
              await store.standings.report(place.workspace_id, place.journey_id, {}, reading)
            }
          }
          await Promise.all(storing)
          const filter = window_ms === undefined ? {} : { window_ms }
          await expectExact(first, place, names, filter)
          await expectExact(second, place, names, { ...filter, customer_type: 'contact' })
        },
      ),
      { numRuns: casesToTry({ inCi: 6, elsewhere: 4 }) },
    )
  })
})

describe('a replica that fails', () => {
  const fates: Fate[] = ['before', 'during', 'after']
  /** The statements of a slice: take arrivals, write pages, commit. */
  const statements = ['DELETE FROM event_arrivals', 'INSERT INTO standing_pages', 'COMMIT\0']

  it('loses nothing and counts nothing twice, wherever in a slice its connection ends', async () => {
    const databaseUrl = await newDatabase()
    const proxy = await startProxy(databaseUrl)
    const [failing, other] = [
      await openStoreForTest({ databaseUrl: proxy.url }),
      await openStoreForTest({ databaseUrl }),
    ]
    const place = await newPlace(databaseUrl, NAMES)
    const customers = await Promise.all(
      Array.from({ length: 70 }, (_, index) => enrol(other, place, `user-${index}`, 'account')),
    )
    let at_ms = 0
    for (const fate of fates) {
      for (const statement of statements) {
        proxy.cutAt(statement, fate)
        const storing = customers.map((customer, index) => {
          at_ms += 1
          const sent = event(place, customer, NAMES[(index + at_ms) % 5] ?? 'detour', -at_ms)
          return other.events.insertEvents(place.workspace_id, [sent])
        })
        await Promise.all(storing)
        // It follows as well as the other store; the first one to come takes the slice.
        await settledReport(failing, place).catch(() => {})
      }
    }
    expect(proxy.cuts()).toBeGreaterThan(0)
    await expectExact(other, place, NAMES)
    await expectExact(failing, place, NAMES)
  })

  it('is replaced by the others if it is killed', async () => {
    const databaseUrl = await newDatabase()
    const other = await openStoreForTest({ databaseUrl })
    const place = await newPlace(databaseUrl, NAMES)
    const customers = await Promise.all(
      Array.from({ length: 70 }, (_, index) => enrol(other, place, `user-${index}`, 'account')),
    )
    for (let round = 0; round < 3; round += 1) {
      const killed = await startChildServer({ databaseUrl })
      const storing = customers.flatMap((customer, index) =>
        NAMES.map((name, step) =>
          other.events.insertEvents(place.workspace_id, [
            event(place, customer, name, index - step - 100 * round),
          ]),
        ),
      )
      await editSteps(place, NAMES.slice(round))
      await killed.end('SIGKILL')
      await Promise.all(storing)
    }
    await expectExact(other, place, NAMES.slice(2))
  })
})

function newPool(databaseUrl: string, statement_ms = 60_000): Pool {
  const servers = new Servers(readAddress(databaseUrl))
  const pool = new Pool({ servers, most: 1, mostWaiting: 10, statement_ms })
  onTestFinished(() => pool.close())
  return pool
}

/** A customer in a journey, and followers that process events only on request. */
async function newFollowed() {
  const databaseUrl = await newDatabase()
  const place = await newPlace(databaseUrl, NAMES)
  const store = await openStoreForTest({ databaseUrl })
  const customer = await enrol(store, place, 'user-1', 'account')
  await settledReport(store, place)
  await store.close()
  const [workspace, journey] = [uuidOf(place.workspace_id), uuidOf(place.journey_id)]
  return {
    place,
    /** Stores an event like a server. */
    async arrive(name: string, at_ms: number) {
      const id = randomUUID()
      await runSql(
        databaseUrl,
        `INSERT INTO events (at_ms, id, workspace_id, journey_id, customer_id, is_dated, event_id)
        VALUES (${at_ms}, '${id}', '${workspace}', '${journey}', '${uuidOf(customer)}', true, '${name}');
        INSERT INTO event_arrivals (workspace_id, arrival, minute_ms, first_event, last_event, counts)
        VALUES ('${workspace}', '${id}', 0, '${id}', '${id}', '[]')`,
      )
    },
    /** Removes it again. */
    async remove(name: string) {
      await runSql(
        databaseUrl,
        `DELETE FROM events WHERE event_id = '${name}';
        INSERT INTO enrolment_removals VALUES ('${workspace}', '${randomUUID()}', '${journey}', '${uuidOf(customer)}')`,
      )
    },
    newFollower(statement_ms?: number) {
      const follower = new StandingsFollower(newPool(databaseUrl, statement_ms))
      return async () => await follower.follow(workspace)
    },
  }
}

describe('what a replica caches of standings', () => {
  it('lets it apply events that change nothing without reading the pages', async () => {
    const { place, arrive, newFollower } = await newFollowed()
    const [follow, impatient] = [newFollower(), newFollower(500)]
    await arrive('one', 10)
    expect(await follow()).toBe('all')
    const { run } = await connectTo(place.databaseUrl)
    for (const [name, at_ms] of [
      ['one', 20],
      ['detour', 30],
    ] as const) {
      await arrive(name, at_ms)
      await run('BEGIN; LOCK TABLE standing_pages IN ACCESS EXCLUSIVE MODE')
      // A follower without cached standings waits for the pages until it gives up.
      await expect(impatient()).rejects.toThrow()
      expect(await follow()).toBe('all')
      await run('COMMIT')
    }
    await arrive('two', 40)
    expect(await follow()).toBe('all')
    await expectExact(await openStoreForTest(place), place, NAMES)
  })

  it('is dropped once another one has changed them', async () => {
    const { place, arrive, remove, newFollower } = await newFollowed()
    const [follow, other] = [newFollower(), newFollower()]
    await arrive('one', 10)
    expect(await follow()).toBe('all')
    await remove('one')
    expect(await other()).toBe('all')
    // For the earlier standing it would change nothing.
    await arrive('one', 20)
    expect(await follow()).toBe('all')
    await expectExact(await openStoreForTest(place), place, NAMES)
  })

  it('is dropped once the database was replaced by one that lacks its latest changes', async () => {
    const { place, arrive, newFollower } = await newFollowed()
    const { databaseUrl } = place
    const tables = ['standing_journeys', 'standing_pages', 'standing_entries', 'event_following']
    for (const table of tables) await runSql(databaseUrl, `CREATE TABLE kept_${table} AS TABLE ${table}`)
    const [follow, other] = [newFollower(), newFollower()]
    await arrive('one', 10)
    expect(await follow()).toBe('all')

    await runSql(databaseUrl, `DELETE FROM events WHERE event_id = 'one'`)
    for (const table of tables) {
      await runSql(databaseUrl, `DELETE FROM ${table}; INSERT INTO ${table} SELECT * FROM kept_${table}`)
    }
    await arrive('detour', 5)
    await arrive('two', 30)
    expect(await other()).toBe('all')
    // For the earlier standing it would change nothing.
    await arrive('one', 20)
    expect(await follow()).toBe('all')
    await expectExact(await openStoreForTest(place), place, NAMES)
  })
})

describe('steps edited back during a rebuild', () => {
  it('are rebuilt too: their events may have been removed meanwhile', async () => {
    const { place, arrive } = await newFollowed()
    const { databaseUrl } = place
    const [workspace, journey] = [uuidOf(place.workspace_id), uuidOf(place.journey_id)]
    const follower = new StandingsFollower(newPool(databaseUrl))
    await arrive('one', Date.now())
    expect(await follower.follow(workspace)).toBe('all')
    await editSteps(place, ['two'])
    await follower.adopt(workspace, [journey])
    // Like retention: of an event after the enrolment that is not of a step nothing is noted.
    await runSql(databaseUrl, `DELETE FROM events WHERE event_id = 'one'`)
    await editSteps(place, NAMES)
    await follower.adopt(workspace, [journey])
    await expectExact(await openStoreForTest(place), place, NAMES)
  })
})

// On Citus it waits on another node.
describe.skipIf(isDistributed)('a workspace whose events cannot be applied', () => {
  it('does not stop those of the others', async () => {
    const databaseUrl = await newDatabase()
    const [held, other] = [await newPlace(databaseUrl, NAMES), await newPlace(databaseUrl, NAMES)]
    const store = await openStoreForTest({ databaseUrl })
    const [customer, another] = [
      await enrol(store, held, 'user-1', 'account'),
      await enrol(store, other, 'user-1', 'account'),
    ]
    await settledReport(store, held)
    await settledReport(store, other)
    const { run } = await connectTo(databaseUrl)
    await run(
      `BEGIN; SELECT FROM standing_journeys WHERE journey_id = '${uuidOf(held.journey_id)}' FOR UPDATE`,
    )
    await store.events.insertEvents(held.workspace_id, [event(held, customer, 'one', Date.now())])
    const waiting = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`
    await expect.poll(() => runSql(databaseUrl, waiting), withPatience).toHaveLength(1)

    await store.events.insertEvents(other.workspace_id, [event(other, another, 'one', Date.now())])
    expect((await followed(store, other.workspace_id)).rows).toHaveLength(1)
    expect(await settledReport(store, other)).toMatchObject({ steps: [{ reached: 1 }, {}, {}, {}] })
    await expect.poll(() => runSql(databaseUrl, waiting)).toHaveLength(1)

    await run('COMMIT')
    expect((await followed(store, held.workspace_id)).rows).toHaveLength(1)
    await expectExact(store, held, NAMES)
  })
})

describe('edited steps of very many journeys', () => {
  it('are adopted some at a time, those of each workspace by themselves', async () => {
    const databaseUrl = await newDatabase()
    const [held, other] = [await newPlace(databaseUrl, NAMES), await newPlace(databaseUrl, NAMES)]
    await (await openStoreForTest({ databaseUrl })).close()
    const follower = new StandingsFollower(newPool(databaseUrl))
    // Those of the new workspaces.
    for (const { workspace } of await follower.due()) await follower.adoptEdits(workspace)
    const [many, few] = [held, other].map(({ workspace_id }) => uuidOf(workspace_id)) as [string, string]
    const edit = async (workspace: string, count: number) => {
      const ids = Array.from({ length: count }, randomUUID)
      await runSql(
        databaseUrl,
        ...ids.map(
          (
            id,
          ) => `INSERT INTO journeys (workspace_id, journey_id, name, description, status, steps, created_ms, updated_ms)
            VALUES ('${typeId('wsp', workspace)}', '${typeId('jrn', digitsOf(id))}', '${id}', '', 'active',
              '[{"event_id":"one","name":""}]', 0, ${Date.now()});
            INSERT INTO standing_journeys (workspace_id, journey_id, generation, event_ids, version)
            VALUES ('${workspace}', '${id}', 1, '["two"]', 0)`,
        ),
        'UPDATE cairn_store SET changes = changes + 1',
      )
    }
    const building = async (workspace: string) =>
      await runSql(
        databaseUrl,
        `SELECT FROM standing_journeys WHERE workspace_id = '${workspace}' AND building IS NOT NULL`,
      )
    await edit(many, 150)
    await edit(few, 1)
    const due = (await follower.due()).filter(({ isEdited }) => isEdited).map(({ workspace }) => workspace)
    expect(due.sort()).toEqual([many, few].sort())

    const values = `VALUES ('${many}'), ('${few}') ON CONFLICT DO NOTHING`
    await runSql(databaseUrl, `INSERT INTO event_following (workspace_id) ${values}`)
    const { run } = await connectTo(databaseUrl)
    await run(`BEGIN; SELECT FROM event_following WHERE workspace_id = '${many}' FOR UPDATE`)
    expect(await follower.adoptEdits(many)).toBe('busy')
    expect(await follower.adoptEdits(few)).toBe('all')
    expect(await building(few)).toHaveLength(1)
    await run('COMMIT')
    expect(await follower.adoptEdits(many)).toBe('more')
    expect(await building(many)).toHaveLength(100)
    expect(await follower.adoptEdits(many)).toBe('all')
    expect(await building(many)).toHaveLength(150)

    // Another change of the store finds no edit again.
    await runSql(databaseUrl, 'UPDATE cairn_store SET changes = changes + 1')
    expect((await follower.due()).filter(({ isEdited }) => isEdited)).toEqual([])
  })
})

describe('arrivals in the queue', () => {
  /** Adds arrivals to the queue, and runs statements, while nothing is taken out of it. */
  async function whileQueued(databaseUrl: string, work: () => Promise<void>) {
    const { run } = await connectTo(databaseUrl)
    await run('BEGIN')
    await run('SELECT FROM event_following FOR UPDATE')
    await work()
    await run('COMMIT')
  }

  const counted = (counts: object) => JSON.stringify([{ created: 0, duplicate: 0, rejected: 0, ...counts }])

  it('are applied completely if one is within another', async () => {
    const databaseUrl = await newDatabase()
    const store = await openStoreForTest({ databaseUrl })
    const place = await newPlace(databaseUrl, NAMES)
    const { workspace_id } = place
    const customer = await enrol(store, place, 'user-1', 'account')
    await settledReport(store, place)
    await whileQueued(databaseUrl, async () => {
      const events = NAMES.map((name, index) => event(place, customer, name, index))
      const ids = (await store.events.insertEvents(workspace_id, events)).map((outcome) =>
        uuidOf(idOf(outcome)),
      )
      await runSql(
        databaseUrl,
        `INSERT INTO event_arrivals (workspace_id, arrival, minute_ms, first_event, last_event, counts)
        VALUES ('${uuidOf(workspace_id)}', gen_random_uuid(), 0, '${ids[1]}', '${ids[2]}',
          '${counted({ journey_id: '', event_id: '', key_id: '' })}')`,
      )
    })
    await expectExact(store, place, NAMES)
  })

  it('bring back no name of a removed journey, however many counts there are', async () => {
    const databaseUrl = await newDatabase()
    const store = await openStoreForTest({ databaseUrl })
    const { workspace_id, journey_id } = await newPlace(databaseUrl, NAMES)
    await followed(store, workspace_id)
    await whileQueued(databaseUrl, async () => {
      await runSql(
        databaseUrl,
        `INSERT INTO event_arrivals (workspace_id, arrival, minute_ms, counts)
        SELECT '${uuidOf(workspace_id)}', gen_random_uuid(), 0,
          '${counted({ journey_id, event_id: 'one', key_id: '', rejected: 1 })}'
        FROM generate_series(1, 1500)`,
      )
      const removed = { workspace_id, subject_id: journey_id }
      await store.db.transaction().execute((db) => forgetJourney(db, removed))
    })
    const queued = async () => [
      ...(await runSql(databaseUrl, 'SELECT workspace_id FROM event_arrivals')),
      ...(await runSql(databaseUrl, 'SELECT workspace_id FROM enrolment_removals')),
    ]
    await expect.poll(queued, withPatience).toEqual([])
    expect(await runSql(databaseUrl, 'SELECT DISTINCT journey_id, event_id FROM event_series')).toEqual([
      { journey_id: '', event_id: '' },
    ])
  })
})

describe('a report while new events cannot be applied', () => {
  it('is answered from what has been applied', async () => {
    const databaseUrl = await newDatabase()
    const place = await newPlace(databaseUrl, NAMES)
    const store = await openStoreForTest({ databaseUrl })
    const customer = await enrol(store, place, 'user-1', 'account')
    await settledReport(store, place)
    const { run } = await connectTo(databaseUrl)
    // Readers of pages continue, writers wait.
    await run('BEGIN; LOCK TABLE standing_pages IN EXCLUSIVE MODE')
    await store.events.insertEvents(place.workspace_id, [event(place, customer, 'one', Date.now())])
    const { workspace_id, journey_id } = place
    const report = await store.standings.report(workspace_id, journey_id, {}, readingIn(workspace_id))
    expect(report).toMatchObject({ enrolled: 1, steps: [{ reached: 0 }, {}, {}, {}] })
    await run('COMMIT')
    await expectExact(store, place, NAMES)
  })
})

describe('a report while events arrive all the time', () => {
  it('waits for what had arrived before it, and not for what comes later', async () => {
    const databaseUrl = await newDatabase()
    const place = await newPlace(databaseUrl, NAMES)
    const store = await openStoreForTest({ databaseUrl })
    const customer = await enrol(store, place, 'user-1', 'account')
    await settledReport(store, place)
    let isOver = false
    const sending = Array.from({ length: 4 }, async () => {
      while (!isOver) {
        await store.events.insertEvents(place.workspace_id, [event(place, customer, 'one', Date.now())])
      }
    })
    const slices = async () => (await runSql(databaseUrl, 'SELECT FROM event_arrivals_taken')).length
    const [before, began_ms] = [await slices(), performance.now()]
    const REPORTS = 10
    for (let asked = 0; asked < REPORTS; asked += 1) {
      const reading = readingIn(place.workspace_id)
      await store.standings.report(place.workspace_id, place.journey_id, {}, reading)
    }
    const [taken, lasted_ms] = [(await slices()) - before, performance.now() - began_ms]
    isOver = true
    await Promise.all(sending)
    // One for each report, and the one taken every 300 ms anyway.
    expect(taken).toBeLessThanOrEqual(REPORTS + lasted_ms / 300 + 2)
    await expectExact(store, place, NAMES)
  })
})

describe('a store from before standings', () => {
  it('gets the standings of everything in it', async () => {
    const databaseUrl = await newDatabase(EMPTY)
    const { '0001-first': first } = migrations
    if (!first) throw new Error('no first migration')
    await migrateDatabase(new Servers(readAddress(databaseUrl)), { released: { '0001-first': first } })
    const [workspace_id, journey_id] = [newId('wsp'), newId('jrn')]
    // More events of all customers than one statement reads.
    const customers = Array.from({ length: 20 }, () => newId('cus'))
    const steps = JSON.stringify(NAMES.map((name) => ({ event_id: name, name })))
    const rowsOf = (row: (customer_id: string, index: number) => string) => customers.map(row).join(', ')
    await runSql(
      databaseUrl,
      `INSERT INTO workspaces VALUES ('${workspace_id}', 'Analytical Engines', 1, NULL);
      INSERT INTO journeys VALUES ('${workspace_id}', '${journey_id}', 'Onboarding', '', '${steps}', 'active', 1, 1);
      INSERT INTO customers VALUES
        ${rowsOf((id, index) => `('${workspace_id}', '${id}', 'account', 'user-${index}', 'Ada', 1, 1)`)};
      INSERT INTO enrolments VALUES ${rowsOf((id) => `('${workspace_id}', '${journey_id}', '${id}', 5)`)};
      INSERT INTO events (at_ms, id, workspace_id, journey_id, customer_id, is_dated, event_id)
        SELECT at_ms, gen_random_uuid(), '${uuidOf(workspace_id)}', '${uuidOf(journey_id)}', customer_id,
          true, (ARRAY['one', 'two', 'detour', 'three'])[1 + (at_ms + place) % 4]
        FROM unnest('{${customers.map(uuidOf).join()}}'::uuid[]) WITH ORDINALITY AS customer (customer_id, place),
          generate_series(3, 703) AS at_ms`,
    )
    const store = await openStoreForTest({ databaseUrl })
    await expectExact(store, { databaseUrl, workspace_id, journey_id }, NAMES)
  })
})

describe('a server of version 1.1 that runs beside this one', () => {
  it('finds the journeys of every customer in the table where it looks', async () => {
    const databaseUrl = await newDatabase()
    const store = await openStoreForTest({ databaseUrl })
    const place = await newPlace(databaseUrl, NAMES)
    const { workspace_id } = place
    const listed = async () => {
      const rows = await runSql(databaseUrl, 'SELECT customer_id, journey_id FROM standing_customers')
      return rows.map(({ customer_id, journey_id }) => {
        return [typeId('cus', digitsOf(String(customer_id))), typeId('jrn', digitsOf(String(journey_id)))]
      })
    }
    const stays = await enrol(store, place, 'user-1', 'account')
    const goes = await enrol(store, place, 'user-2', 'contact')
    const both = [stays, goes].map((customer_id) => [customer_id, place.journey_id])
    await expect.poll(listed, withPatience).toEqual(expect.arrayContaining(both))
    await erase(store, { workspace_id, journey_id: place.journey_id, customer_id: goes })
    await expect.poll(listed, withPatience).toEqual([[stays, place.journey_id]])
  })
})

describe('cairn copy', () => {
  it('omits standings, which are recomputed', async () => {
    const from = await newDatabase()
    const source = await openStoreForTest({ databaseUrl: from })
    const place = await newPlace(from, NAMES)
    const customer = await enrol(source, place, 'user-1', 'account')
    const events = NAMES.map((name, index) => event(place, customer, name, index))
    await source.events.insertEvents(place.workspace_id, events)
    await expectExact(source, place, NAMES)
    await source.close()
    const to = await newDatabase()
    expect(await copy(from, to)).toMatchObject({ code: 0, stderr: '' })
    expect(await runSql(to, 'SELECT FROM standing_pages')).toEqual([])
    await expectExact(await openStoreForTest({ databaseUrl: to }), { ...place, databaseUrl: to }, NAMES)
  })
})
