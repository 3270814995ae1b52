// engines: none (opens no store)

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Standing } from '../../../server/domain/journey-standing.ts'
import { PAGE_STANDINGS, StandingPage } from '../../../server/storage/standings/standing-page.ts'
import type { PageRow } from '../../../server/storage/standings/standing-store.ts'
import { MAX_STEPS } from '../../../server/storage/standings/standing-times.ts'
import { instants, key } from '../../fixtures/standings/arbitraries.ts'
import { casesToTry } from '../../fixtures/thoroughness.ts'

const FIRST_MS = Date.parse('0000-01-01T00:00:00Z')
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z')

const standing: fc.Arbitrary<Standing> = fc
  .record({
    customer_type: fc.constantFrom('account' as const, 'contact' as const),
    times: fc.array(instants, { minLength: 1, maxLength: MAX_STEPS + 1 }),
    ids: fc.array(fc.nat(2 ** 40 - 1).map(key), { minLength: MAX_STEPS, maxLength: MAX_STEPS }),
    early: fc.uniqueArray(fc.nat(MAX_STEPS - 1), { maxLength: MAX_STEPS }),
  })
  .map(({ customer_type, times, ids, early }) => {
    const [entered_ms = 0, ...ascending] = times.toSorted((one, other) => one - other)
    return {
      customer_type,
      entered_ms,
      reached: ascending.map((at_ms, step) => ({ at_ms, id: ids[step] ?? '' })),
      early: early.toSorted((one, other) => one - other),
    }
  })

/** Encodes pages and decodes them again. */
function kept(rows: readonly PageRow[]) {
  return rows.flatMap((row) => [...new StandingPage(row).standings()])
}

function pageOf(count: number, from = 0, each = nobody): StandingPage {
  const page = new StandingPage()
  for (let number = from; number < from + count; number += 1) page.set(key(2 * number), each)
  return page
}

const nobody: Standing = { customer_type: 'account', entered_ms: 0, reached: [], early: [] }

describe('a page of standings', () => {
  it('keeps them as written, by customer, through changes and splits', () => {
    const changes = fc.array(fc.array(fc.tuple(fc.nat(200).map(key), standing), { maxLength: 100 }))
    fc.assert(
      fc.property(changes, (slices) => {
        const expected = new Map<string, Standing>()
        let rows: PageRow[] = []
        for (const slice of slices) {
          for (const [customer, standing] of slice) {
            expected.set(customer, standing)
            const row = rows.findLast(({ first }) => first <= customer) ?? rows[0]
            const page = new StandingPage(row)
            page.set(customer, standing)
            expect(page.get(customer)).toEqual(standing)
            rows = rows.flatMap((other) => (other === row ? [] : [other])).concat(page.rows())
            rows.sort((one, other) => (one.first < other.first ? -1 : 1))
          }
          expect(kept(rows)).toEqual(
            [...expected]
              .sort(([one], [other]) => (one < other ? -1 : 1))
              .map(([customer, standing]) => ({ customer, standing })),
          )
        }
      }),
      { numRuns: casesToTry({ inCi: 200, elsewhere: 20 }) },
    )
  })

  it('keeps the largest possible standing, in the first year and in the last', () => {
    const reached = Array.from({ length: MAX_STEPS }, (_, step) => ({
      at_ms: step === MAX_STEPS - 1 ? LAST_MS : FIRST_MS + step,
      id: 'f'.repeat(10),
    }))
    const early = Array.from({ length: MAX_STEPS }, (_, step) => step)
    const greatest: Standing = { customer_type: 'contact', entered_ms: FIRST_MS, reached, early }
    const page = new StandingPage()
    page.set(key(1), { ...nobody, entered_ms: LAST_MS })
    page.set(key(2), greatest)
    expect(kept(page.rows())[1]).toEqual({ customer: key(2), standing: greatest })
  })

  it('supports keys of any length', () => {
    const uuid = (digit: string) => digit.repeat(32)
    const page = new StandingPage()
    const one: Standing = { ...nobody, reached: [{ at_ms: 1, id: uuid('e') }] }
    page.set(uuid('b'), one)
    page.set(uuid('a'), nobody)
    const [row] = page.rows()
    const read = new StandingPage(row)
    expect(row?.first).toBe(uuid('a'))
    expect(read.get(uuid('b'))).toEqual(one)
    expect(read.get(uuid('c'))).toBeUndefined()
  })

  it('splits when it overflows: into full pages if it grew at its end, else into halves', () => {
    expect(pageOf(PAGE_STANDINGS).rows()).toHaveLength(1)
    const atEnd = pageOf(PAGE_STANDINGS + 1).rows()
    expect(atEnd.map((row) => new StandingPage(row).size)).toEqual([PAGE_STANDINGS, 1])

    const [full] = pageOf(PAGE_STANDINGS).rows()
    const page = new StandingPage(full)
    page.set(key(1), nobody)
    expect(page.rows().map((row) => new StandingPage(row).size)).toEqual([33, 32])
    expect(new StandingPage().rows()).toEqual([])
  })

  it('takes 24 bytes for the times of five steps, as reports read them', () => {
    const day_ms = 86_400_000
    const each: Standing = {
      customer_type: 'account',
      entered_ms: 20_000 * day_ms,
      reached: Array.from({ length: 5 }, (_, step) => ({
        at_ms: (20_000 + step) * day_ms,
        id: key(step),
      })),
      early: [],
    }
    const [row] = pageOf(PAGE_STANDINGS, 0, each).rows()
    expect((row?.times.length ?? 0) / PAGE_STANDINGS).toBeLessThan(24)
  })
})
