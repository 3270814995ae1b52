// engines: none (opens no store)

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { StepTimesCount } from '../../../server/storage/standings/step-times.ts'
import { modelTimes } from '../../fixtures/standings/model.ts'
import { casesToTry } from '../../fixtures/thoroughness.ts'

/** The result of the walks over some times, and the number of walks. */
function walked(times_ms: readonly number[]) {
  const count = new StepTimesCount(2)
  for (const time_ms of times_ms) count.count(1, time_ms)
  let walks = 1
  while (count.endWalk()) {
    for (const time_ms of times_ms) count.look(1, time_ms)
    walks += 1
  }
  return { times: count.times(1), other: count.times(0), walks }
}

/** Up to 300 years and beyond, with adjacent and repeated times. */
const times = fc.array(
  fc.oneof(
    fc.nat(3),
    fc.nat(2_000),
    fc.integer({ min: 2 ** 31 - 5, max: 2 ** 31 + 5 }),
    fc.nat(2 ** 49 - 1000),
  ),
  { maxLength: 200 },
)

describe('the percentiles of how long a step took', () => {
  it('are those of the sorted times', () => {
    fc.assert(
      fc.property(times, (times_ms) => {
        const { times, other } = walked(times_ms)
        expect(times).toEqual(modelTimes(times_ms))
        expect(other).toEqual({ n: 0, median_ms: null, p90_ms: null })
      }),
      { numRuns: casesToTry({ inCi: 5_000, elsewhere: 1_000 }) },
    )
  })

  it('are found if times cluster too densely to be collected', () => {
    // 200,000 within a second, after 300 years: in one bucket.
    const times_ms = Array.from({ length: 200_000 }, (_, index) => 2 ** 43 + ((index * 7_919) % 1_000))
    const { times, walks } = walked(times_ms)
    expect(times).toEqual(modelTimes(times_ms))
    expect(walks).toBeGreaterThan(2)
  })
})
