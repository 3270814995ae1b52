import { setImmediate as turn } from 'node:timers/promises'
import type { Key, StepNumbers } from '../../domain/journey-standing.ts'
import { StrictFold } from '../../domain/strict-order.ts'
import { entryTests, type JourneyPart, keyedPages } from './page-walk.ts'
import type { History, StandingReader } from './standing-store.ts'
import { TimesReader } from './standing-times.ts'
import type { EntryPeriod, StandingFilter } from './standings.ts'

/** The events of customers take too long to read. */
export class StrictOrderTooLarge extends Error {}

/** How long events are read before other work runs. */
const SLICE_MS = 10

/** A customer, and when it reached the steps of the journey, up to the last one that is looked at. */
export type Ordered = { customer: Key; reached_ms: readonly number[] }

export type StrictOptions = {
  journey: Key
  steps: StepNumbers
  /** The part of the journey in which the order is strict. */
  part: JourneyPart
  window_ms?: number | undefined
  /** Whether what happens after the window does not matter once that is over. */
  endsWithWindow: boolean
  asOf_ms: number
  /** When to give up, by `performance.now()`. */
  until_ms: number
  signal: AbortSignal
}

/** Reads the events of customers to find whose strict order is broken. */
export class StrictReading {
  readonly #history: History
  readonly #options: StrictOptions
  #began_ms = performance.now()

  constructor(history: History, options: StrictOptions) {
    this.#history = history
    this.#options = options
  }

  /** The span of events that decide about a customer; undefined if nothing can have broken its order. */
  span({ reached_ms }: Pick<Ordered, 'reached_ms'>): { from_ms: number; to_ms: number } | undefined {
    const { part, window_ms = Number.POSITIVE_INFINITY, endsWithWindow, asOf_ms } = this.#options
    const begin_ms = reached_ms[part.first]
    if (begin_ms === undefined) return undefined
    const end_ms = begin_ms + window_ms
    // Another step after the last one ends the waiting, which is counted with a window.
    const isOver = asOf_ms > end_ms
    const isWaiting = !isOver && end_ms < Number.POSITIVE_INFINITY && reached_ms.length < part.end
    const last_ms = isWaiting ? Number.POSITIVE_INFINITY : (reached_ms.at(-1) ?? begin_ms)
    const from_ms = begin_ms + 1
    const to_ms = isOver && endsWithWindow ? Math.min(last_ms, end_ms + 1) : last_ms
    return from_ms < to_ms ? { from_ms, to_ms } : undefined
  }

  /**
   * Returns how many steps each customer had reached when its order was broken; undefined if it is not.
   * @throws {StrictOrderTooLarge} @throws the reason of the signal
   */
  async brokenAfter(customers: readonly Ordered[]): Promise<(number | undefined)[]> {
    const { customersAtOnce } = this.#history
    const broken: (number | undefined)[] = []
    try {
      for (let from = 0; from < customers.length; from += customersAtOnce) {
        const some = customers.slice(from, from + customersAtOnce)
        // Those that are read together share a connection, so none may be left behind by an error of another.
        for (const one of await Promise.allSettled(some.map((one) => this.#brokenAfter(one)))) {
          if (one.status === 'rejected') throw one.reason
          broken.push(one.value)
        }
        await this.#yield()
      }
    } finally {
      await this.#history.rest()
    }
    return broken
  }

  async #brokenAfter(ordered: Ordered): Promise<number | undefined> {
    const { journey, steps, part } = this.#options
    const span = this.span(ordered)
    if (!span) return undefined
    const fold = new StrictFold(ordered.reached_ms, part.first, steps)
    for await (const events of this.#history.events(journey, ordered.customer, span)) {
      if (events.some((event) => fold.add(event))) break
      this.#assertTime()
    }
    return fold.brokenAfter()
  }

  /** Lets other work run if it is time. */
  async #yield() {
    this.#assertTime()
    if (performance.now() - this.#began_ms < SLICE_MS) return
    await this.#history.rest()
    this.#began_ms = performance.now()
  }

  #assertTime() {
    const { until_ms, signal } = this.#options
    signal.throwIfAborted()
    if (performance.now() > until_ms) throw new StrictOrderTooLarge('reading the events takes too long')
  }
}

/** The enrolments whose strict order is broken: a byte for each enrolment. */
export class BrokenOrders {
  /** By ordinal: how many steps were reached before; 0 if the order is not broken. */
  #after = new Uint8Array(4096)

  set(ordinal: number, reached: number): void {
    if (ordinal >= this.#after.length) {
      const after = new Uint8Array(2 * ordinal)
      after.set(this.#after)
      this.#after = after
    }
    this.#after[ordinal] = reached
  }

  /** How many steps the standing just read had reached when its order was broken; 0 if it is not. */
  after({ ordinal }: Pick<TimesReader, 'ordinal'>): number {
    return this.#after[ordinal] ?? 0
  }
}

/**
 * Finds the enrolments of some periods whose strict order is broken. The events between two steps change no standing,
 * so they are read one by one for each report.
 * @throws {StrictOrderTooLarge} @throws the reason of the signal
 */
export async function brokenOrders(
  reader: StandingReader,
  asked: StrictOptions & { generation: number; filter: StandingFilter; periods: readonly EntryPeriod[] },
): Promise<BrokenOrders> {
  const { filter, periods, part } = asked
  const tests = entryTests(filter, periods, part)
  const reading = new StrictReading(reader.history, asked)
  const broken = new BrokenOrders()
  const times = new TimesReader()
  for await (const rows of keyedPages(reader, asked)) {
    const found: (Ordered & { ordinal: number })[] = []
    for (const { first, times: encoded, keys } of rows) {
      times.open(encoded)
      const customers = Buffer.from(keys.buffer, keys.byteOffset, keys.length)
      const width = first.length / 2
      for (let from = 0; times.next(); from += width) {
        if (!tests.some((test) => test.passes(times))) continue
        const reached_ms = part.reached_ms(times)
        if (!reading.span({ reached_ms })) continue
        found.push({
          ordinal: times.ordinal,
          customer: customers.toString('hex', from, from + width),
          reached_ms,
        })
      }
    }
    const after = await reading.brokenAfter(found)
    for (const [index, { ordinal }] of found.entries()) {
      const reached = after[index]
      if (reached !== undefined) broken.set(ordinal, reached)
    }
    await turn()
  }
  return broken
}
