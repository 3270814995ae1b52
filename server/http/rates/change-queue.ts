import { FairQueue, type Owner } from '../../domain/fair-queue.ts'
import { Unavailable } from '../../storage/unavailable.ts'
import { turnIn, type Waiting } from './turns.ts'

/** Maximum waiting per caller, as many as commit before the deadline at 100 ms each, and in total. */
const WAITING = { perCaller: 100, inAll: 1_000 }

/** Maximum wait for a turn, longer than the store waits for a lock: after that the caller has lost patience. */
const DEADLINE_MS = 10_000

/**
 * Fair queue of the transactions of requests, of which one runs at a time: by workspace and, within each, by caller. A key that
 * changes journeys by the hundred delays the revocation of another by one of its transactions, not by all. Events are not
 * written by transactions of requests, and the server's own do not wait here.
 */
export class ChangeQueue {
  readonly #waiting = new FairQueue<Waiting>(WAITING)
  #isBusy = false

  get waiting(): number {
    return this.#waiting.size
  }

  /**
   * Runs a transaction when it is its turn.
   * @throws {Unavailable} `overloaded` if too many are waiting, or its turn does not come in time; the reason of an outage that
   *   ended the one before
   */
  async run<Result>(owner: Owner, transaction: () => Promise<Result>): Promise<Result> {
    if (this.#isBusy) await turnIn(this.#waiting, owner, DEADLINE_MS)
    this.#isBusy = true
    try {
      return await transaction()
    } catch (error) {
      // The others would meet the same outage, each after a wait of its own.
      if (error instanceof Unavailable && error.reason !== 'overloaded') this.#refuseWaiting(error)
      throw error
    } finally {
      this.#passOn()
    }
  }

  #refuseWaiting(error: Unavailable) {
    for (const { refuse } of this.#waiting.items()) refuse(error)
  }

  /** The queue stays busy until the next one has begun, so that none that has just come goes before it. */
  #passOn() {
    const next = this.#waiting.take()
    if (next) next.begin()
    else this.#isBusy = false
  }
}
