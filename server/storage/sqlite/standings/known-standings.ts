import type { Standing } from '../../../domain/journey-standing.ts'

/** What of a standing tells whether an event changes it. */
type Known = { entered_ms: number; reached_ms: readonly number[]; early: readonly number[] }

type KnownJourney = {
  /** As JSON. */
  event_ids: string
  /** The steps by the hashes of their names. */
  steps: ReadonlyMap<number, number>
  customers: Map<number, Known>
}

/** So many standings are known at a time, in some 30 MB; beyond that all are forgotten. */
const GREATEST_KNOWN = 2 ** 17

/**
 * The standings that were looked at last, so that an event that changes nothing, as most do, costs neither a look at its row
 * nor at the pages.
 */
export class KnownStandings {
  readonly #journeys = new Map<number, KnownJourney>()
  readonly #hash: (name: string) => number
  #count = 0

  /** @param hash of an event's name, as the ring has it */
  constructor(hash: (name: string) => number) {
    this.#hash = hash
  }

  /** Those of a journey, as long as its steps are these; else they are forgotten. */
  of(journey_ref: number, event_ids: readonly string[], json: string): KnownJourney {
    const known = this.#journeys.get(journey_ref)
    if (known?.event_ids === json) return known
    this.#count -= known?.customers.size ?? 0
    const steps = new Map(event_ids.map((event_id, step) => [this.#hash(event_id), step]))
    const journey = { event_ids: json, steps, customers: new Map<number, Known>() }
    this.#journeys.set(journey_ref, journey)
    return journey
  }

  /** Notes how a standing is now, for the steps that were named last. */
  note(journey_ref: number, customer_ref: number, { entered_ms, reached, early }: Standing): void {
    const customers = this.#journeys.get(journey_ref)?.customers
    if (!customers) return
    const before = customers.size
    customers.set(customer_ref, { entered_ms, reached_ms: reached.map(({ at_ms }) => at_ms), early })
    this.#count += customers.size - before
    if (this.#count > GREATEST_KNOWN) this.forget()
  }

  /** Forgets everything: what was noted may have been rolled back. */
  forget(): void {
    this.#journeys.clear()
    this.#count = 0
  }
}

/**
 * Whether an event of a customer surely changes nothing. Also where its name is another one with the hash of a step's: such
 * an event changes no more than that step's would.
 */
export function changesNothing(
  { customers, steps }: KnownJourney,
  { customer, name, at_ms }: { customer: number; name: number; at_ms: number },
): boolean {
  const known = customers.get(customer)
  if (!known || at_ms < known.entered_ms) return false
  const step = steps.get(name)
  if (step === undefined) return true
  const { reached_ms, early } = known
  // At the same instant the lesser event fills the step.
  if (step < reached_ms.length) return at_ms > (reached_ms[step] as number)
  return step > reached_ms.length && early.includes(step)
}
