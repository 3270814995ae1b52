import { FairQueue, type Owner } from '../../domain/fair-queue.ts'
import { siteOf } from '../../domain/networks.ts'
import { Unavailable } from '../../storage/unavailable.ts'

/** Look-ups in progress at a time; the store answers each in less than a millisecond. */
const RUNNING = 4

/** Half of what the store lets wait: the rest is left to callers whose key is known. */
const WAITING = 500

type Waiting = { owner: Owner; begin: () => void; refuse: (error: Unavailable) => void }

/**
 * Queues the look-ups of credentials that are not cached. Anyone can invent keys and sessions, as many as the connections
 * carry: networks take turns (fair queuing), and the one with the most waiting is refused first.
 */
export class LookUpQueue {
  #running = 0
  readonly #waiting = new FairQueue<Waiting>({ perCaller: WAITING, inAll: WAITING })

  /** @throws {Unavailable} `overloaded` if too many of the network are waiting */
  async run<Result>(network: string, lookUp: () => Promise<Result>): Promise<Result> {
    // A finished look-up passes its place on to the next.
    if (this.#running >= RUNNING) await this.#wait({ workspaceId: siteOf(network), caller: network })
    else this.#running += 1
    try {
      return await lookUp()
    } finally {
      const next = this.#waiting.begin()
      if (next) this.#waiting.end(next)
      else this.#running -= 1
      next?.begin()
    }
  }

  #wait(owner: Owner): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting = { owner, begin: resolve, refuse: reject }
      if (this.#waiting.add(waiting)) return
      const crowdedOut = this.#waiting.crowdOut(owner)
      crowdedOut?.refuse(new Unavailable('overloaded'))
      if (!crowdedOut || !this.#waiting.add(waiting)) reject(new Unavailable('overloaded'))
    })
  }
}
