import type { EventOutcome } from '../storage/events/event-store.ts'

/** Maximum keys counted separately: a scrape must stay bounded however many keys are in use. */
const NAMED_KEYS = 200

/**
 * Counts of the events and customers that one key has sent since the server started. An event is counted once its
 * outcome is known, in all counts at once, so that `received = created + duplicate + rejected` always holds.
 */
export class Tally {
  /** Valid events that have an outcome. */
  received = 0
  created = 0
  duplicate = 0
  rejected = 0
  /** Valid events of which none was acknowledged; not included in `received`. */
  unavailable = 0
  customersCreated = 0
  customersKnown = 0

  /**
   * Counts the events of one request.
   * @param sent the number of events
   * @param decide stores or rejects them and returns the outcome of each
   * @throws what `decide` throws; all the events then count as unavailable
   */
  async events<Outcome extends Pick<EventOutcome, 'status'>>(
    sent: number,
    decide: () => Promise<Outcome[]>,
  ): Promise<Outcome[]> {
    let outcomes: Outcome[]
    try {
      outcomes = await decide()
    } catch (error) {
      this.unavailable += sent
      throw error
    }
    // Not the number of outcomes, so that an event without one does not go unnoticed.
    this.received += sent
    for (const { status } of outcomes) this[status] += 1
    return outcomes
  }

  customer({ created }: { created: boolean }): void {
    if (created) this.customersCreated += 1
    else this.customersKnown += 1
  }
}

/** The tallies of all keys, by `key_id`. Keys above the bound share one, named `other`. */
export class Tallies {
  readonly #tallies = new Map<string, Tally>()

  of(keyId: string): Tally {
    const known = this.#tallies.get(keyId)
    if (known) return known
    const name = this.#tallies.size < NAMED_KEYS ? keyId : 'other'
    const tally = this.#tallies.get(name) ?? new Tally()
    this.#tallies.set(name, tally)
    return tally
  }

  entries(): Iterable<[keyId: string, Tally]> {
    return this.#tallies.entries()
  }
}
