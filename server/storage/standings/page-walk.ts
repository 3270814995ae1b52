import { setImmediate as turn } from 'node:timers/promises'
import type { Key } from '../../domain/journey-standing.ts'
import type { StandingReader, TimesRow } from './standing-store.ts'
import { TimesReader } from './standing-times.ts'
import type { StandingFilter } from './standings.ts'

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

/** Tests which standings of a page a filter accepts. */
export class EntryTest {
  readonly #from_ms: number
  readonly #to_ms: number
  readonly #accounts: boolean
  readonly #contacts: boolean

  constructor({ entered_from_ms, entered_to_ms, customer_type }: StandingFilter) {
    this.#from_ms = entered_from_ms ?? Number.NEGATIVE_INFINITY
    this.#to_ms = entered_to_ms ?? Number.POSITIVE_INFINITY
    this.#accounts = customer_type !== 'contact'
    this.#contacts = customer_type !== 'account'
  }

  passes({ entered_ms, isContact }: { entered_ms: number; isContact: boolean }): boolean {
    if (entered_ms < this.#from_ms || entered_ms >= this.#to_ms) return false
    return isContact ? this.#contacts : this.#accounts
  }
}

/** How many steps are reached within a window, which may be infinite. */
export function reachedWithin({ reached, gaps_ms }: TimesReader, window_ms: number): number {
  let sinceFirst_ms = 0
  for (let step = 1; step < reached; step += 1) {
    sinceFirst_ms += gaps_ms[step] as number
    if (sinceFirst_ms > window_ms) return step
  }
  return reached
}
