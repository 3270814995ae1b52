// engines: none (opens no store)

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { outOfOrder, type Standing } from '../../../server/domain/journey-standing.ts'
import {
  customerStanding,
  journeyCustomers,
  LOOKED_AT,
} from '../../../server/storage/standings/journey-customers.ts'
import { StandingPage } from '../../../server/storage/standings/standing-page.ts'
import type { Entry, StandingReader } from '../../../server/storage/standings/standing-store.ts'
import type { CustomerFilter } from '../../../server/storage/standings/standings.ts'
import { instants, journeys, key } from '../../fixtures/standings/arbitraries.ts'
import {
  type ModelStanding,
  modelEntered,
  modelIsOpen,
  modelOrdered,
  modelReaches,
} from '../../fixtures/standings/model.ts'
import { casesToTry } from '../../fixtures/thoroughness.ts'
import { memoryStandings } from './memory-standings.ts'

const NAMES = ['one', 'two', 'three']
const JOURNEY = { journey: key(1), generation: 1, event_ids: NAMES, version: 1, building: null }
const { signal } = new AbortController()

const steps = fc.integer({ min: 1, max: NAMES.length + 1 })

const filters: fc.Arbitrary<CustomerFilter> = fc.record(
  {
    entered_from_ms: instants,
    entered_to_ms: instants,
    customer_type: fc.constantFrom('account' as const, 'contact' as const),
    window_ms: fc.nat(8),
    reached: steps,
    not_reached: steps,
    standing: fc.constantFrom('waiting' as const, 'dropped' as const),
    out_of_order: steps,
    first_step: steps,
    last_step: steps,
    step_order: fc.constantFrom('sequential' as const, 'strict' as const),
  },
  { requiredKeys: [], noNullPrototype: true },
)

/** The expected list of customers, in order. */
function expectedCustomers(standings: readonly ModelStanding[], filter: CustomerFilter, asOf_ms: number) {
  const { reached, not_reached, standing: course, out_of_order, window_ms, first_step = 1 } = filter
  const last_step = Math.min(filter.last_step ?? NAMES.length, NAMES.length)
  const isUnknown = [reached, out_of_order].some((step = 0) => step > NAMES.length)
  return modelEntered(standings, filter)
    .filter((standing) => {
      const isShort = modelReaches(standing, first_step, filter) && !modelReaches(standing, last_step, filter)
      const isOpen = modelIsOpen(standing, { window_ms: window_ms ?? 0, first_step }, asOf_ms)
      return (
        !isUnknown &&
        (reached === undefined || modelReaches(standing, reached, filter)) &&
        (not_reached === undefined || !modelReaches(standing, not_reached, filter)) &&
        (out_of_order === undefined || standing.out_of_order.includes(out_of_order)) &&
        (course === undefined || (window_ms !== undefined && isShort && isOpen === (course === 'waiting')))
      )
    })
    .toSorted((one, other) => other.entered_ms - one.entered_ms || (one.customer > other.customer ? -1 : 1))
}

/** The list from its beginning, page by page. */
async function walk(reader: StandingReader, filter: CustomerFilter, limit: number) {
  const found: { customer: string; standing: Standing }[] = []
  let pages = 0
  let after: Entry | null = null
  do {
    const page = await journeyCustomers(reader, JOURNEY, filter, { limit, after, signal })
    expect(page.found.length).toBeLessThanOrEqual(limit)
    found.push(...page.found)
    after = page.next
    pages += 1
  } while (after)
  return { found, pages }
}

describe('the customers of a journey', () => {
  it('match the filter, newest entry first, on pages of any size', async () => {
    const asked = fc.tuple(
      journeys(NAMES, { customers: 70 }),
      filters,
      instants,
      fc.integer({ min: 1, max: 9 }),
    )
    await fc.assert(
      fc.asyncProperty(asked, async ([journey, filter, asOf_ms, limit]) => {
        const reader = memoryStandings(journey, NAMES, asOf_ms)
        const { found } = await walk(reader, filter, limit)
        const expected = expectedCustomers(modelOrdered(journey, NAMES, filter), filter, asOf_ms)
        expect(found.map(({ customer }) => customer)).toEqual(expected.map(({ customer }) => customer))
        for (const [index, { customer, standing }] of found.entries()) {
          const { customer_type, entered_ms, reached, out_of_order } = expected[index] ?? {}
          expect(standing).toMatchObject({ customer_type, entered_ms, reached })
          expect(outOfOrder(standing).map((step) => step + 1)).toEqual(out_of_order)
          if (filter.step_order === 'strict') continue
          expect(await customerStanding(reader, { ...JOURNEY, customer })).toEqual(standing)
        }
      }),
      { numRuns: casesToTry({ inCi: 500, elsewhere: 150 }) },
    )
  })

  it('end a page after examining 10,000, and continue after them', async () => {
    const count = LOOKED_AT + 1
    const rows = Array.from({ length: Math.ceil(count / 64) }, (_, index) => {
      const page = new StandingPage()
      for (let number = index * 64; number < Math.min((index + 1) * 64, count); number += 1) {
        const customer_type = number === 0 ? 'contact' : 'account'
        page.set(key(number), { customer_type, entered_ms: number, reached: [], early: [] })
      }
      return page.rows()
    }).flat()
    const reader: StandingReader = {
      ...memoryStandings({ enrolments: [], events: [] }, NAMES, 0),
      pagesWith: async (_journey, _generation, customers) =>
        [
          ...new Set(
            customers.map((customer) => rows[Math.floor(Number.parseInt(customer, 16) / 64)] ?? rows[0]),
          ),
        ].filter((row) => row !== undefined),
      entries: async (_journey, _generation, { before, limit }) => {
        const newest = (before?.entered_ms ?? count) - 1
        return Array.from({ length: Math.min(limit, newest + 1) }, (_, index) => {
          return { entered_ms: newest - index, customer: key(newest - index) }
        })
      },
    }
    const filter = { customer_type: 'contact' as const }
    const first = await journeyCustomers(reader, JOURNEY, filter, { limit: 50, after: null, signal })
    expect(first).toEqual({ found: [], next: { entered_ms: 1, customer: key(1) } })
    const { found, pages } = await walk(reader, filter, 50)
    expect(found.map(({ customer }) => customer)).toEqual([key(0)])
    expect(pages).toBe(2)
    // As many as are read at a time.
    expect((await walk(reader, {}, 256)).found).toHaveLength(count)
  })
})
