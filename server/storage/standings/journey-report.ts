import { EntryTest, type PageWalk, reachedWithin } from './page-walk.ts'
import type { TimesReader } from './standing-times.ts'
import type { JourneyNumbers, StandingFilter } from './standings.ts'
import { StepTimesCount } from './step-times.ts'

/** The numbers counted in a walk over a journey's pages, and the time from which some of them change. */
export type Counted<Numbers> = { numbers: Numbers; holdsUntil_ms: number }

type ReportNumbers = Pick<JourneyNumbers, 'enrolled' | 'steps'>

/** Counts the numbers of a report. @param options.steps how many steps the journey has */
export async function countReport(
  walk: PageWalk,
  filter: StandingFilter,
  { steps, asOf_ms }: { steps: number; asOf_ms: number },
): Promise<Counted<ReportNumbers>> {
  const count = new ReportCount(filter, steps, asOf_ms)
  await walk.each((page) => count.take(page))
  while (count.times.endWalk()) await walk.each((page) => count.look(page))
  return { numbers: count.numbers(), holdsUntil_ms: count.holdsUntil_ms }
}

class ReportCount {
  readonly times: StepTimesCount
  /** The first time at which a waiting customer becomes dropped. */
  holdsUntil_ms = Number.POSITIVE_INFINITY
  readonly #entry: EntryTest
  readonly #window_ms: number
  readonly #asOf_ms: number
  readonly #steps: number
  /** How many customers have reached exactly this number of steps. */
  readonly #reached: Float64Array
  /** How many of them can still reach the next step. */
  readonly #waiting: Float64Array
  /** By step. */
  readonly #outOfOrder: Float64Array

  constructor(filter: StandingFilter, steps: number, asOf_ms: number) {
    this.#entry = new EntryTest(filter)
    this.#window_ms = filter.window_ms ?? Number.POSITIVE_INFINITY
    this.#asOf_ms = asOf_ms
    this.#steps = steps
    this.times = new StepTimesCount(steps)
    this.#reached = new Float64Array(steps + 1)
    this.#waiting = new Float64Array(steps + 1)
    this.#outOfOrder = new Float64Array(steps)
  }

  take(page: TimesReader): void {
    while (page.next()) {
      if (!this.#entry.passes(page)) continue
      const reached = reachedWithin(page, this.#window_ms)
      this.#reached[reached] = (this.#reached[reached] as number) + 1
      for (let step = 0; step < reached; step += 1) this.times.count(step, page.gaps_ms[step] as number)
      if (reached > 0 && reached < this.#steps) this.#countWaiting(page, reached)
      for (let index = 0; index < page.earlyCount; index += 1) {
        const step = page.early[index] as number
        if (step >= page.reached) this.#outOfOrder[step] = (this.#outOfOrder[step] as number) + 1
      }
    }
  }

  look(page: TimesReader): void {
    while (page.next()) {
      if (!this.#entry.passes(page)) continue
      const reached = reachedWithin(page, this.#window_ms)
      for (let step = 0; step < reached; step += 1) this.times.look(step, page.gaps_ms[step] as number)
    }
  }

  numbers(): ReportNumbers {
    const hasWindow = this.#window_ms < Number.POSITIVE_INFINITY
    let enrolled = this.#reached.reduce((sum, count) => sum + count, 0)
    const numbers: ReportNumbers = { enrolled, steps: [] }
    const steps = Array.from({ length: this.#steps }, (_, step) => {
      const short = this.#reached[step] ?? 0
      const waiting = this.#waiting[step] ?? 0
      enrolled -= short
      const isCounted = hasWindow && step > 0
      return {
        reached: enrolled,
        waiting: isCounted ? waiting : null,
        dropped: isCounted ? short - waiting : null,
        out_of_order: this.#outOfOrder[step] ?? 0,
        times: this.times.times(step),
      }
    })
    return { ...numbers, steps }
  }

  #countWaiting({ entered_ms, gaps_ms }: TimesReader, reached: number) {
    const end_ms = entered_ms + (gaps_ms[0] as number) + this.#window_ms
    if (this.#asOf_ms > end_ms) return
    this.#waiting[reached] = (this.#waiting[reached] as number) + 1
    if (end_ms < this.holdsUntil_ms) this.holdsUntil_ms = end_ms
  }
}
