import { siteOf } from '../../domain/addresses.ts'
import { FairQueue } from '../../domain/fair-queue.ts'
import { turnIn, type Waiting } from '../rates/turns.ts'

/** Look-ups in progress at a time; the store answers each in less than a millisecond. */
const RUNNING = 4

/** Half of what the store lets wait: the rest is left to callers whose key is known. One network may take half of it. */
const WAITING = { perCaller: 250, inAll: 500 }

/** How long a look-up may wait: longer only if the store does not answer. */
const DEADLINE_MS = 5_000

/**
 * Queues the look-ups of credentials that are not cached. Anyone can invent keys and sessions, as many as the connections
 * carry: networks take turns (fair queuing), and the one with the most waiting is refused first.
 */
export class LookUpQueue {
  #running = 0
  readonly #waiting = new FairQueue<Waiting>(WAITING)

  /** @throws {Unavailable} `overloaded` if too many of the network are waiting, or for too long */
  async run<Result>(network: string, lookUp: () => Promise<Result>): Promise<Result> {
    // A finished look-up passes its place on to the next.
    if (this.#running >= RUNNING) {
      await turnIn(this.#waiting, { workspaceId: siteOf(network), caller: network }, DEADLINE_MS)
    } else this.#running += 1
    try {
      return await lookUp()
    } finally {
      const next = this.#waiting.take()
      if (next) next.begin()
      else this.#running -= 1
    }
  }
}
