import { setImmediate as turn } from 'node:timers/promises'
import type { Key } from '../../domain/journey-standing.ts'
import type { PageRow, StandingReader, TimesRow } from './standing-store.ts'
import { TimesReader } from './standing-times.ts'
import type { EntryPeriod, StandingFilter } from './standings.ts'

/** How many pages are read at a time; other work runs in between. Counting them takes 3 ms. */
const READ_PAGES = 512

/** Memory budget for pages kept for the next walk: 1,300,000 enrolments of five steps. Further pages are read again. */
const KEPT_BYTES = 32 * 1024 * 1024

/**
 * Walks over the pages of a journey as often as needed, with as much memory for ten million enrolments as for one
 * million.
 */
export class PageWalk {
  readonly #read: (after: Key | null) => Promise<readonly TimesRow[]>
  readonly #signal: AbortSignal
  readonly #kept: (readonly TimesRow[])[] = []
  #keptBytes = 0

  constructor(
    reader: Pick<StandingReader, 'times'>,
    { journey, generation, signal }: { journey: Key; generation: number; signal: AbortSignal },
  ) {
    this.#read = (after) => reader.times(journey, generation, after, READ_PAGES)
    this.#signal = signal
  }

  /**
   * Visits every page once, in customer order.
   * @param visit reads the page's standings until `next` returns false
   * @throws the reason of the signal
   */
  async each(visit: (page: TimesReader) => void): Promise<void> {
    const page = new TimesReader()
    let after: Key | null = null
    const show = async (rows: readonly TimesRow[]) => {
      for (const { times } of rows) {
        page.open(times)
        visit(page)
      }
      after = rows.at(-1)?.first ?? null
      await turn()
      this.#signal.throwIfAborted()
    }
    this.#signal.throwIfAborted()
    for (const rows of this.#kept) await show(rows)
    if ((this.#kept.at(-1)?.length ?? READ_PAGES) < READ_PAGES) return
    while (true) {
      const rows = await this.#read(after)
      this.#keep(rows)
      await show(rows)
      if (rows.length < READ_PAGES) return
    }
  }

  #keep(rows: readonly TimesRow[]) {
    if (this.#keptBytes >= KEPT_BYTES) return
    this.#kept.push(rows)
    for (const { times } of rows) this.#keptBytes += times.length
  }
}

/** How many pages are read at a time with their keys. */
const KEYED_PAGES = 256

/** Yields the pages of a journey with their keys, some at a time, in customer order. */
export async function* keyedPages(
  reader: Pick<StandingReader, 'pages'>,
  { journey, generation }: { journey: Key; generation: number },
): AsyncGenerator<readonly PageRow[]> {
  for (let after: Key | null = null; ; ) {
    const rows: readonly PageRow[] = await reader.pages(journey, generation, after, KEYED_PAGES)
    yield rows
    after = rows.at(-1)?.first ?? null
    if (rows.length < KEYED_PAGES) return
  }
}

/** Which enrolments have broken the strict order: see `BrokenOrders`. */
type Broken = { after(page: TimesReader): number }

/** The steps of a journey that are looked at, from 0, without `end`. The first is where windows begin. */
export class JourneyPart {
  readonly first: number
  readonly end: number
  /** An enrolment counts only if it has reached as many steps of the journey. */
  readonly least: number
  readonly #broken: Broken | undefined

  /**
   * @param steps how many steps the journey has
   * @param broken omitted unless the order is strict
   */
  constructor({ first_step, last_step }: StandingFilter, steps: number, broken?: Broken) {
    this.#broken = broken
    this.first = (first_step ?? 1) - 1
    this.end = Math.max(this.first, Math.min(last_step ?? steps, steps))
    this.least = first_step ?? 0
  }

  get steps(): number {
    return this.end - this.first
  }

  /** How many of its steps are reached in order, and within a window, which may be infinite. */
  reachedWithin(page: TimesReader, window_ms: number): number {
    const { first } = this
    const { gaps_ms } = page
    const reached = this.#broken?.after(page) || page.reached
    const end = reached < this.end ? reached : this.end
    let sinceFirst_ms = 0
    for (let step = first + 1; step < end; step += 1) {
      sinceFirst_ms += gaps_ms[step] as number
      if (sinceFirst_ms > window_ms) return step - first
    }
    return end > first ? end - first : 0
  }

  /** Whether the next step can no longer be reached, whatever the window. @param reached how many are */
  isBroken(page: TimesReader, reached: number): boolean {
    return this.#broken?.after(page) === this.first + reached
  }

  /** When the steps of the journey were reached, up to the end of the part, in any order. */
  reached_ms({ entered_ms, reached, gaps_ms }: TimesReader): number[] {
    let at_ms = entered_ms
    return Array.from(gaps_ms.subarray(0, Math.min(reached, this.end)), (gap_ms) => {
      at_ms += gap_ms
      return at_ms
    })
  }

  /** When its first step was reached. */
  begin_ms({ entered_ms, gaps_ms }: TimesReader): number {
    let begin_ms = entered_ms
    for (let step = 0; step <= this.first; step += 1) begin_ms += gaps_ms[step] as number
    return begin_ms
  }
}

/** Tests which standings of a page a filter accepts. */
export class EntryTest {
  readonly #from_ms: number
  readonly #to_ms: number
  readonly #accounts: boolean
  readonly #contacts: boolean
  readonly #least: number

  constructor({ entered_from_ms, entered_to_ms, customer_type }: StandingFilter, { least }: JourneyPart) {
    this.#from_ms = entered_from_ms ?? Number.NEGATIVE_INFINITY
    this.#to_ms = entered_to_ms ?? Number.POSITIVE_INFINITY
    this.#accounts = customer_type !== 'contact'
    this.#contacts = customer_type !== 'account'
    this.#least = least
  }

  passes({ entered_ms, isContact, reached }: TimesReader): boolean {
    if (entered_ms < this.#from_ms || entered_ms >= this.#to_ms || reached < this.#least) return false
    return isContact ? this.#contacts : this.#accounts
  }
}

/** The same for each of some periods. */
export function entryTests(
  { customer_type }: StandingFilter,
  periods: readonly EntryPeriod[],
  part: JourneyPart,
): EntryTest[] {
  return periods.map(
    (period) => new EntryTest({ ...period, ...(customer_type !== undefined && { customer_type }) }, part),
  )
}
