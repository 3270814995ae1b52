import { expect } from 'vitest'
import { type Kept, wholeIdText } from '../../../../server/storage/sqlite/kept-ids.ts'
import { keyOf, numberOf } from '../../../../server/storage/sqlite/standings/keys.ts'
import { StandingsReader, standingsPath } from '../../../../server/storage/sqlite/standings/standings-file.ts'
import { StandingPage } from '../../../../server/storage/standings/standing-page.ts'
import type { History } from '../../../../server/storage/standings/standing-store.ts'
import { connect } from '../../../fixtures/file-store.ts'
import { withPatience } from '../../../fixtures/patience.ts'
import {
  type ModelEnrolment,
  type ModelEvent,
  type ModelJourney,
  type ModelStanding,
  modelStandings,
} from '../../../fixtures/standings/model.ts'

/** Neither removals, nor variables, nor events are read. */
const NO_STORE = { isGone: () => false, variables: () => [] }
const NO_EVENTS: History = { customersAtOnce: 1, events: async function* () {}, rest: async () => {} }

/** Waits until the standings include everything in the store, also for edited steps. */
export async function expectFollowed(path: string): Promise<void> {
  const store = connect(path, { readonly: true })
  const all = store.prepare(
    `SELECT (SELECT coalesce(max(seq), 0) FROM events) AS seq,
      (SELECT coalesce(max(number), 0) FROM enrolment_numbers) AS enrolment`,
  )
  const steps = store.prepare<[number], string>('SELECT steps FROM journeys WHERE journey_ref = ?').pluck()
  const isFollowed = async () => {
    const kept = connect(standingsPath(path), { readonly: true })
    const reader = new StandingsReader(kept, NO_STORE, NO_EVENTS)
    const { seq, enrolment } = reader.followed()
    const journeys = reader.journeysBehind(0, 1_000_000)
    const isUpToDate = ({ journey, event_ids }: (typeof journeys)[number]) =>
      event_ids === JSON.stringify(eventIds(steps.get(journey) ?? '[]'))
    const found = {
      seq,
      enrolment,
      building: await reader.buildingJourney(),
      old: journeys.findIndex((each) => !isUpToDate(each)),
    }
    kept.close()
    return found
  }
  await expect
    .poll(() => isFollowed(), withPatience)
    .toEqual({ ...(all.get() as object), building: undefined, old: -1 })
  store.close()
}

function eventIds(steps: string): string[] {
  return JSON.parse(steps).map(({ event_id }: { event_id: string }) => event_id)
}

const NO_EVENT: Kept = { id: new Uint8Array(16), received_ms: 0 }

/** Returns the stored standings of a journey by customer, with public identifiers. */
export async function keptStandings(path: string, journey_id: string): Promise<ModelStanding[]> {
  const store = connect(path, { readonly: true })
  const journey_ref = Number(
    store.prepare('SELECT journey_ref FROM journeys WHERE journey_id = ?').pluck().get(journey_id),
  )
  const customer = store
    .prepare<[number], string>('SELECT customer_id FROM customers WHERE customer_ref = ?')
    .pluck()
  const event = store.prepare<[number], Kept>('SELECT id, received_ms FROM events WHERE seq = ?')
  const kept = connect(standingsPath(path), { readonly: true })
  const reader = new StandingsReader(kept, NO_STORE, NO_EVENTS)
  const journey = keyOf(journey_ref)
  const state = await reader.journey(journey)
  const found: ModelStanding[] = []
  for (const { first } of await reader.times(journey, state?.generation ?? 0, null, 1_000_000)) {
    const [row] = await reader.pagesWith(journey, state?.generation ?? 0, [first])
    for (const { customer: key, standing } of new StandingPage(row).standings()) {
      const { customer_type, entered_ms, reached, early } = standing
      found.push({
        customer: customer.get(numberOf(key)) ?? '',
        customer_type,
        entered_ms,
        reached: reached.map(({ at_ms, id }) => ({
          at_ms,
          id: wholeIdText(event.get(numberOf(id)) ?? NO_EVENT),
        })),
        out_of_order: early.filter((step) => step >= reached.length).map((step) => step + 1),
      })
    }
  }
  store.close()
  kept.close()
  return found.sort((one, other) => (one.customer < other.customer ? -1 : 1))
}

/** Returns the positions of all standings of a journey in the list by entry. */
export async function keptEntries(path: string, journey_id: string) {
  const store = connect(path, { readonly: true })
  const journey_ref = Number(
    store.prepare('SELECT journey_ref FROM journeys WHERE journey_id = ?').pluck().get(journey_id),
  )
  const customer = store
    .prepare<[number], string>('SELECT customer_id FROM customers WHERE customer_ref = ?')
    .pluck()
  const kept = connect(standingsPath(path), { readonly: true })
  const reader = new StandingsReader(kept, NO_STORE, NO_EVENTS)
  const journey = keyOf(journey_ref)
  const state = await reader.journey(journey)
  const page = { before: null, from_ms: null, limit: 1_000_000 }
  const entries = await reader.entries(journey, state?.generation ?? 0, page)
  const found = entries.map(({ entered_ms, customer: key }) => ({
    customer: customer.get(numberOf(key)) ?? '',
    entered_ms,
  }))
  store.close()
  kept.close()
  return found.sort((one, other) => (one.customer < other.customer ? -1 : 1))
}

/** Returns what the store holds of a journey, as input for the model, with its steps. */
function storedJourney(path: string, journey_id: string): ModelJourney & { names: string[] } {
  const store = connect(path, { readonly: true })
  const steps = store.prepare<[string], string>('SELECT steps FROM journeys WHERE journey_id = ?').pluck()
  const enrolments = store.prepare<[string], ModelEnrolment>(
    `SELECT customer_id AS customer, customer_type, enrolled_ms AS at_ms
    FROM enrolments JOIN customers USING (customer_ref) JOIN journeys USING (journey_ref) WHERE journey_id = ?`,
  )
  const events = store.prepare<[string], Omit<ModelEvent, 'id'> & Kept>(
    `SELECT customer_id AS customer, event_id AS name, coalesce(occurred_ms, received_ms) AS at_ms, id, received_ms
    FROM events JOIN customers USING (customer_ref) JOIN journeys USING (journey_ref) WHERE journey_id = ?`,
  )
  const stored = {
    enrolments: enrolments.all(journey_id),
    events: events.all(journey_id).map(({ id, received_ms, ...event }) => ({
      ...event,
      id: wholeIdText({ id, received_ms }),
    })),
    names: eventIds(steps.get(journey_id) ?? '[]'),
  }
  store.close()
  return stored
}

/** Waits until the standings are up to date, and expects them to equal what the model computes from the store. */
export async function expectExact(path: string, journey_id: string): Promise<void> {
  await expectFollowed(path)
  const stored = storedJourney(path, journey_id)
  expect(await keptStandings(path, journey_id)).toEqual(modelStandings(stored, stored.names))
}
