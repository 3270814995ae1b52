import type { EventOutcome } from './storage/events/event-store.ts'

/** Keys beyond this number are counted together: what a scrape answers must stay bounded however many are used. */
const NAMED_KEYS = 200

/**
 * What became of the events and customers that one key has sent, since the server began. An event counts when its
 * outcome is known, in all its numbers at once, so that `received = created + duplicate + rejected` holds at any moment.
 */
export class Tally {
  /** Events that passed the check of shape and were decided on. */
  received = 0
  created = 0
  duplicate = 0
  rejected = 0
  /** Events that passed the check of shape, and of which nothing was acknowledged. Not among the received. */
  unavailable = 0
  customersCreated = 0
  customersKnown = 0

  /**
   * Counts the events of one request.
   * @param sent how many they are
   * @param decide stores them, or rejects some, and gives the outcome of each
   * @throws what `decide` throws; the events are then counted as unavailable, all of them
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
    // Not the number of outcomes: an event that got none would go unnoticed.
    this.received += sent
    for (const { status } of outcomes) this[status] += 1
    return outcomes
  }

  customer({ created }: { created: boolean }): void {
    if (created) this.customersCreated += 1
    else this.customersKnown += 1
  }
}

/** The tallies of all keys, by `key_id`; that of the keys beyond the bound is named `other`. */
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
