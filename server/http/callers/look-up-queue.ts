import { siteOf } from '../../domain/addresses.ts'
import { FairQueue, type Owner } from '../../domain/fair-queue.ts'
import { Unavailable } from '../../storage/unavailable.ts'

/** Look-ups in progress at a time; the store answers each in less than a millisecond. */
const RUNNING = 4

/** Half of what the store lets wait: the rest is left to callers whose key is known. One network may take half of it. */
const WAITING = { perCaller: 250, inAll: 500 }

/** How long a look-up may wait: longer only if the store does not answer. */
const DEADLINE_MS = 5_000

type Waiting = { owner: Owner; begin: () => void; refuse: () => void }

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
    if (this.#running >= RUNNING) await this.#wait({ workspaceId: siteOf(network), caller: network })
    else this.#running += 1
    try {
      return await lookUp()
    } finally {
      const next = this.#waiting.take()
      if (next) next.begin()
      else this.#running -= 1
    }
  }

  #wait(owner: Owner): Promise<void> {
    return new Promise((resolve, reject) => {
      const refuse = () => {
        clearTimeout(deadline)
        this.#waiting.delete(waiting)
        reject(new Unavailable('overloaded'))
      }
      const begin = () => {
        clearTimeout(deadline)
        resolve()
      }
      const waiting = { owner, begin, refuse }
      const deadline = setTimeout(refuse, DEADLINE_MS)
      this.#waiting.push(waiting)?.refuse()
    })
  }
}
