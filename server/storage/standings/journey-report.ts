import { type Groups, listedGroups } from './breakdown.ts'
import { EntryTest, JourneyPart, type PageWalk } from './page-walk.ts'
import type { TimesReader } from './standing-times.ts'
import type {
  ComparedNumbers,
  ComparedReport,
  JourneyNumbers,
  PartNumbers,
  StandingFilter,
} from './standings.ts'
import { StepTimesCount } from './step-times.ts'
import type { BrokenOrders } from './strict-order.ts'

/** The numbers counted in a walk over a journey's pages, and the time from which some of them change. */
export type Counted<Numbers> = { numbers: Numbers; holdsUntil_ms: number }

export type CountOptions = {
  /** How many steps the journey has. */
  steps: number
  /** Up to which time its events are counted. */
  asOf_ms: number
  /** Which enrolments have broken the strict order; omitted unless the order is strict. */
  broken?: BrokenOrders
}

/**
 * Limit of steps, over all groups, whose times are counted in one walk: 43 kB each. More groups take further walks.
 */
const STEPS_AT_ONCE = 256

/** Counts the numbers of a report, of all its groups and periods. */
export async function countReport(
  walk: PageWalk,
  filter: ComparedReport,
  groups: Groups,
  options: CountOptions,
): Promise<Counted<Pick<JourneyNumbers, 'enrolled' | 'steps' | 'comparison' | 'groups'>>> {
  const { compared, breakdown, ...period } = filter
  const current = await countPeriod(walk, period, groups, options)
  const other = compared && (await countPeriod(walk, { ...period, ...compared }, groups, options))
  const [whole, ...parts] = current.numbers.map((numbers, index): ComparedNumbers => {
    return { ...numbers, comparison: other?.numbers[index] ?? null }
  })
  if (!whole) throw new Error('the whole was not counted')
  const enrolled = ({ enrolled: now, comparison }: ComparedNumbers) => {
    return { now, inAll: now + (comparison?.enrolled ?? 0) }
  }
  return {
    numbers: { ...whole, groups: breakdown ? listedGroups(groups, parts, enrolled) : null },
    holdsUntil_ms: Math.min(current.holdsUntil_ms, other?.holdsUntil_ms ?? Number.POSITIVE_INFINITY),
  }
}

/** Counts one period: the numbers of the whole, followed by those of each group. */
async function countPeriod(
  walk: PageWalk,
  filter: StandingFilter,
  groups: Groups,
  { steps, asOf_ms, broken }: CountOptions,
): Promise<Counted<PartNumbers[]>> {
  const part = new JourneyPart(filter, steps, broken)
  const entry = new EntryTest(filter, part)
  const atOnce = Math.max(1, Math.floor(STEPS_AT_ONCE / Math.max(part.steps, 1)))
  const numbers: PartNumbers[] = []
  let holdsUntil_ms = Number.POSITIVE_INFINITY
  // The whole has the index 0, and a group one more than its own.
  for (let from = 0; from <= groups.groups.length; from += atOnce) {
    const length = Math.min(atOnce, groups.groups.length + 1 - from)
    const counts = Array.from({ length }, () => new ReportCount(filter, part, asOf_ms))
    const whole = from === 0 ? counts[0] : undefined
    const visit = (take: (count: ReportCount, page: TimesReader) => void) => (page: TimesReader) => {
      while (page.next()) {
        if (!entry.passes(page)) continue
        const group = groups.of(page)
        if (group < 0) continue
        if (whole) take(whole, page)
        const count = counts[group + 1 - from]
        if (count && count !== whole) take(count, page)
      }
    }
    await walk.each(visit((count, page) => count.take(page)))
    const look = visit((count, page) => count.look(page))
    while (counts.filter(({ times }) => times.endWalk()).length > 0) await walk.each(look)
    for (const count of counts) {
      numbers.push(count.numbers())
      holdsUntil_ms = Math.min(holdsUntil_ms, count.holdsUntil_ms)
    }
  }
  return { numbers, holdsUntil_ms }
}

class ReportCount {
  readonly times: StepTimesCount
  /** The first time at which a waiting customer becomes dropped. */
  holdsUntil_ms = Number.POSITIVE_INFINITY
  readonly #part: JourneyPart
  readonly #window_ms: number
  readonly #asOf_ms: number
  readonly #steps: number
  /** How many customers have reached exactly this number of the part's steps. */
  readonly #reached: Float64Array
  /** How many of them can still reach the next step. */
  readonly #waiting: Float64Array
  /** By step. */
  readonly #outOfOrder: Float64Array

  constructor({ window_ms }: StandingFilter, part: JourneyPart, asOf_ms: number) {
    const { steps } = part
    this.#part = part
    this.#window_ms = window_ms ?? Number.POSITIVE_INFINITY
    this.#asOf_ms = asOf_ms
    this.#steps = steps
    this.times = new StepTimesCount(steps)
    this.#reached = new Float64Array(steps + 1)
    this.#waiting = new Float64Array(steps + 1)
    this.#outOfOrder = new Float64Array(steps)
  }

  /** Counts the standing just read. */
  take(page: TimesReader): void {
    const { first } = this.#part
    const reached = this.#part.reachedWithin(page, this.#window_ms)
    this.#reached[reached] = (this.#reached[reached] as number) + 1
    for (let step = 0; step < reached; step += 1) {
      this.times.count(step, page.gaps_ms[first + step] as number)
    }
    if (reached > 0 && reached < this.#steps) this.#countWaiting(page, reached)
    for (let index = 0; index < page.earlyCount; index += 1) {
      const step = page.early[index] as number
      if (step < page.reached || step >= first + this.#steps) continue
      this.#outOfOrder[step - first] = (this.#outOfOrder[step - first] as number) + 1
    }
  }

  look(page: TimesReader): void {
    const { first } = this.#part
    const reached = this.#part.reachedWithin(page, this.#window_ms)
    for (let step = 0; step < reached; step += 1) {
      this.times.look(step, page.gaps_ms[first + step] as number)
    }
  }

  numbers(): PartNumbers {
    const hasWindow = this.#window_ms < Number.POSITIVE_INFINITY
    const enrolled = this.#reached.reduce((sum, count) => sum + count, 0)
    let left = enrolled
    const steps = Array.from({ length: this.#steps }, (_, step) => {
      const short = this.#reached[step] ?? 0
      const waiting = this.#waiting[step] ?? 0
      left -= short
      const isCounted = hasWindow && step > 0
      return {
        reached: left,
        waiting: isCounted ? waiting : null,
        dropped: isCounted ? short - waiting : null,
        out_of_order: this.#outOfOrder[step] ?? 0,
        times: this.times.times(step),
      }
    })
    return { enrolled, steps }
  }

  #countWaiting(page: TimesReader, reached: number) {
    const end_ms = this.#part.begin_ms(page) + this.#window_ms
    if (this.#asOf_ms > end_ms || this.#part.isBroken(page, reached)) return
    this.#waiting[reached] = (this.#waiting[reached] as number) + 1
    if (end_ms < this.holdsUntil_ms) this.holdsUntil_ms = end_ms
  }
}
