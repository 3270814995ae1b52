// engines: sqlite (what only SQLite has)

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createWorkspace } from '../../../../server/cli/init.ts'
import { updateJourney } from '../../../../server/storage/tables/journeys.ts'
import { openStore, type Store } from '../../../fixtures/file-store.ts'
import { type ModelEnrolment, type ModelEvent, modelStandings } from '../../../fixtures/standings/model.ts'
import { idOf, newEvent } from '../../../fixtures/store.ts'
import { casesToTry } from '../../../fixtures/thoroughness.ts'
import { expectFollowed, keptEntries, keptStandings } from './kept-standings.ts'

const NAMES = ['a', 'b', 'c', 'd']

/** Actions on a store: an enrolment, events, some of them early or late, an edit, a restart. */
type Act =
  | { act: 'enrol'; customer: number; at: number; isAccount: boolean }
  | { act: 'events'; events: { customer: number; name: string; at: number }[] }
  | { act: 'edit'; names: string[] }
  | { act: 'reopen' }
  | { act: 'follow' }

const CUSTOMERS = 5
/** Few timestamps, so that many are equal. */
const at = fc.integer({ min: 0, max: 8 })
const customer = fc.integer({ min: 0, max: CUSTOMERS - 1 })
const steps = fc.shuffledSubarray(NAMES)
const acts: fc.Arbitrary<Act[]> = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({ act: fc.constant('enrol' as const), customer, at, isAccount: fc.boolean() }),
    },
    {
      weight: 8,
      arbitrary: fc.record({
        act: fc.constant('events' as const),
        events: fc.array(fc.record({ customer, name: fc.constantFrom(...NAMES, 'other'), at }), {
          maxLength: 12,
        }),
      }),
    },
    { weight: 2, arbitrary: fc.record({ act: fc.constant('edit' as const), names: steps }) },
    { weight: 1, arbitrary: fc.record({ act: fc.constant('reopen' as const) }) },
    { weight: 2, arbitrary: fc.record({ act: fc.constant('follow' as const) }) },
  ),
  { minLength: 4, maxLength: 24, size: 'max' },
)

const START_MS = Date.parse('2026-01-01T00:00:00Z')

/** A journey of a store that is reopened again and again, with the actions applied to the model. */
class Subject {
  store: Store
  readonly #workspace_id: string
  readonly journey_id: string
  readonly #customers = new Map<number, string>()
  readonly enrolments: ModelEnrolment[] = []
  readonly events: ModelEvent[] = []
  names: string[] = []
  static #clock_ms = START_MS

  private constructor(store: Store, ids: { workspace_id: string; journey_id: string }) {
    this.store = store
    this.#workspace_id = ids.workspace_id
    this.journey_id = ids.journey_id
  }

  static open(path?: string): Promise<Store> {
    return openStore({ ...(path !== undefined && { path }), now: () => Subject.#clock_ms })
  }

  static async in(store: Store): Promise<Subject> {
    const names = { workspace: crypto.randomUUID(), journey: 'Onboarding' }
    return new Subject(store, await createWorkspace(store.databaseUrl, names))
  }

  async do(act: Act): Promise<void> {
    if (act.act === 'enrol') await this.#enrol(act)
    else if (act.act === 'events') await this.#insert(act.events)
    else if (act.act === 'edit') await this.#edit(act.names)
    else if (act.act === 'follow') await expectFollowed(this.store.path)
    else {
      await this.store.close()
      this.store = await Subject.open(this.store.path)
    }
  }

  async #enrol({ customer, at, isAccount }: Act & { act: 'enrol' }) {
    if (this.#customers.has(customer)) return
    Subject.#clock_ms = START_MS + at
    const customer_type = isAccount ? 'account' : 'contact'
    const names = { client_customer_id: `user-${customer}`, customer_type, customer_name: 'Ada' } as const
    const customer_id = idOf(
      await this.store.events.initializeCustomer(this.#workspace_id, {
        ...names,
        journey_id: this.journey_id,
      }),
    )
    this.#customers.set(customer, customer_id)
    this.enrolments.push({ customer: customer_id, customer_type, at_ms: START_MS + at })
  }

  async #insert(events: { customer: number; name: string; at: number }[]) {
    Subject.#clock_ms = START_MS + 1000
    const known = events.flatMap(({ customer, name, at }) => {
      const customer_id = this.#customers.get(customer)
      return customer_id === undefined ? [] : [{ customer_id, name, at_ms: START_MS + at }]
    })
    if (known.length === 0) return
    const { journey_id } = this
    const outcomes = await this.store.events.insertEvents(
      this.#workspace_id,
      known.map(({ customer_id, name, at_ms }) =>
        newEvent(
          { workspace_id: this.#workspace_id, journey_id, customer_id },
          { event_id: name, occurred_ms: at_ms },
        ),
      ),
    )
    for (const [index, outcome] of outcomes.entries()) {
      const { customer_id = '', name = '', at_ms = 0 } = known[index] ?? {}
      this.events.push({ customer: customer_id, name, at_ms, id: idOf(outcome) })
    }
  }

  async #edit(names: string[]) {
    this.names = names
    const steps = names.map((event_id) => ({ event_id, name: event_id }))
    await this.store.db
      .transaction()
      .execute((db) =>
        updateJourney(db, this.#workspace_id, this.journey_id, { steps, updated_ms: START_MS }),
      )
  }
}

describe('standings', () => {
  it('equal those of a full rebuild, whatever the order of events, edits and restarts', async () => {
    let store = await Subject.open()
    await fc.assert(
      fc.asyncProperty(steps, acts, async (names, acts) => {
        const subject = await Subject.in(store)
        try {
          for (const act of [{ act: 'edit', names } as const, ...acts]) await subject.do(act)
        } finally {
          store = subject.store
        }
        await expectFollowed(store.path)
        const model = modelStandings(subject, subject.names)
        expect(await keptStandings(store.path, subject.journey_id)).toEqual(model)
        const entries = model.map(({ customer, entered_ms }) => ({ customer, entered_ms }))
        expect(await keptEntries(store.path, subject.journey_id)).toEqual(entries)
      }),
      { numRuns: casesToTry({ inCi: 12, elsewhere: 8 }), endOnFailure: true },
    )
    await store.close()
  })
})
