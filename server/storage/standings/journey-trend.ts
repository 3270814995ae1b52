import { type Groups, listedGroups } from './breakdown.ts'
import type { Counted, CountOptions } from './journey-report.ts'
import { EntryTest, JourneyPart, type PageWalk } from './page-walk.ts'
import type { TimesReader } from './standing-times.ts'
import type { BrokenDown, Cohort, JourneyCohorts, StandingFilter } from './standings.ts'

/**
 * Counts a trend: how many customers entered and reached each step, by cohort.
 * @param filter.starts_ms ascending: each cohort begins at one and ends at the next
 */
export async function countCohorts(
  walk: PageWalk,
  filter: BrokenDown & { starts_ms: readonly number[] },
  groups: Groups,
  { steps, asOf_ms, broken }: CountOptions,
): Promise<Counted<Pick<JourneyCohorts, 'cohorts' | 'groups'>>> {
  const part = new JourneyPart(filter, steps, broken)
  const entry = new EntryTest(filter, part)
  const whole = new CohortCount(filter, part, asOf_ms)
  const counts = groups.groups.map(() => new CohortCount(filter, part, asOf_ms))
  await walk.each((page) => {
    while (page.next()) {
      if (!entry.passes(page)) continue
      const group = groups.of(page)
      if (group < 0) continue
      whole.take(page)
      counts[group]?.take(page)
    }
  })
  const { numbers: cohorts, holdsUntil_ms } = whole.cohorts()
  const parts = counts.map((count) => ({ cohorts: count.cohorts().numbers }))
  const enrolled = ({ cohorts }: { cohorts: readonly Cohort[] }) => {
    const now = cohorts.reduce((sum, cohort) => sum + cohort.enrolled, 0)
    return { now, inAll: now }
  }
  const numbers = { cohorts, groups: filter.breakdown ? listedGroups(groups, parts, enrolled) : null }
  return { numbers, holdsUntil_ms }
}

class CohortCount {
  readonly #part: JourneyPart
  readonly #starts_ms: Float64Array
  readonly #window_ms: number | undefined
  readonly #asOf_ms: number
  readonly #steps: number
  /** How many customers have reached exactly this number of steps, cohort by cohort. */
  readonly #reached: Float64Array
  /** By cohort: the earliest end of a waiting customer's window; infinite if nobody is waiting. */
  readonly #waitingUntil_ms: Float64Array
  /** The cohort of the previous entry: adjacent customers mostly have the same. */
  #cohort = 0

  constructor(filter: StandingFilter & { starts_ms: readonly number[] }, part: JourneyPart, asOf_ms: number) {
    const { steps } = part
    const cohorts = Math.max(filter.starts_ms.length - 1, 0)
    this.#part = part
    this.#starts_ms = Float64Array.from(filter.starts_ms)
    this.#window_ms = filter.window_ms
    this.#asOf_ms = asOf_ms
    this.#steps = steps
    this.#reached = new Float64Array(cohorts * (steps + 1))
    this.#waitingUntil_ms = new Float64Array(cohorts).fill(Number.POSITIVE_INFINITY)
  }

  /** Counts the standing just read. */
  take(page: TimesReader): void {
    if (!this.#find(page.entered_ms)) return
    const window_ms = this.#window_ms ?? Number.POSITIVE_INFINITY
    const reached = this.#part.reachedWithin(page, window_ms)
    const index = this.#cohort * (this.#steps + 1) + reached
    this.#reached[index] = (this.#reached[index] as number) + 1
    if (reached === 0 || reached === this.#steps || this.#part.isBroken(page, reached)) return
    const end_ms = this.#part.begin_ms(page) + window_ms
    if (this.#asOf_ms > end_ms || end_ms >= (this.#waitingUntil_ms[this.#cohort] as number)) return
    this.#waitingUntil_ms[this.#cohort] = end_ms
  }

  cohorts(): Counted<Cohort[]> {
    let holdsUntil_ms = Number.POSITIVE_INFINITY
    const numbers = Array.from(this.#waitingUntil_ms, (waitingUntil_ms, cohort): Cohort => {
      const [starts_ms = 0, ends_ms = 0] = this.#starts_ms.subarray(cohort, cohort + 2)
      const counts = this.#reached.subarray(cohort * (this.#steps + 1), (cohort + 1) * (this.#steps + 1))
      const over_ms = ends_ms + (this.#window_ms ?? 0)
      const isOpen = this.#asOf_ms < over_ms
      if (isOpen) holdsUntil_ms = Math.min(holdsUntil_ms, over_ms - 1)
      holdsUntil_ms = Math.min(holdsUntil_ms, waitingUntil_ms)
      let left = counts.reduce((sum, count) => sum + count, 0)
      const enrolled = left
      const reached = Array.from(counts.subarray(0, this.#steps), (short) => {
        left -= short
        return left
      })
      const incomplete = isOpen || waitingUntil_ms < Number.POSITIVE_INFINITY
      return { starts_ms, ends_ms, enrolled, reached, incomplete }
    })
    return { numbers, holdsUntil_ms }
  }

  /** Finds the cohort of an entry; false if there is none. */
  #find(entered_ms: number): boolean {
    const starts_ms = this.#starts_ms
    if (this.#isIn(entered_ms)) return true
    let [low, high] = [0, starts_ms.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((starts_ms[middle] as number) <= entered_ms) low = middle + 1
      else high = middle
    }
    this.#cohort = Math.max(low - 1, 0)
    return this.#isIn(entered_ms)
  }

  #isIn(entered_ms: number): boolean {
    const [starts_ms, ends_ms] = [this.#starts_ms[this.#cohort], this.#starts_ms[this.#cohort + 1]]
    return starts_ms !== undefined && ends_ms !== undefined && entered_ms >= starts_ms && entered_ms < ends_ms
  }
}
