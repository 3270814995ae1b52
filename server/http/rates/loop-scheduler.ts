import { performance } from 'node:perf_hooks'
import { setImmediate as nextRound } from 'node:timers/promises'
import { FairQueue, type Owner } from '../../domain/fair-queue.ts'
import { Unavailable } from '../../storage/unavailable.ts'

/** Who has used how much is looked at after so long; what was used before counts half as much each time. */
const WINDOW_MS = 100

/** From this part of its time in use, the event loop has to be shared. */
const BUSY = 0.7

/** A workspace takes turns when it uses so many times as much as those that are active do on average. */
const FAR_ABOVE = 1.5

/** Of what waits, about so much is done at a time; what comes in meanwhile, of those who use less, goes first. */
const SLICE_MS = 2

/** What a request takes of the event loop beside what is measured: its head, its line in the log. */
const REQUEST_MS = 0.15

/** What waits has been taken from no connection yet, or is a body that holds a place of its own. */
const WAITING = { perCaller: 1_000, inAll: 5_000 }

/** What one workspace uses, or all who have shown no credential: in this window, and on average in a window and a turn. */
type Use = { now_ms: number; turns: number; usual_ms: number; turn_ms: number }

/** Less than this is forgotten. */
const NOTHING_MS = 0.01

type Waiting = { owner: Owner; resolve: () => void }

/**
 * Shares the time of the event loop, which is one for all. As long as it has time left, or one workspace alone uses it,
 * nobody waits. Else a workspace that uses far more than the others takes turns, its callers among themselves, and
 * between two slices of that all others are served. Nothing is held back that could be done.
 */
export class LoopScheduler {
  readonly #waiting = new FairQueue<Waiting>(WAITING)
  readonly #uses = new Map<string, Use>()
  #windowEnds_ms = performance.now() + WINDOW_MS
  #utilization = performance.eventLoopUtilization()
  /** What a workspace may use in a window without taking turns. */
  #most_ms = Number.POSITIVE_INFINITY
  #isServing = false

  /** Begins a request. */
  begin(owner: Owner): LoopTime {
    this.spend(owner, REQUEST_MS)
    return new LoopTime(this, owner)
  }

  /** For a `LoopTime` alone. @returns what ends when it is the owner's turn, where it has to wait */
  turn(owner: Owner): Promise<void> | undefined {
    const use = this.#use(owner)
    use.turns += 1
    if (Math.max(use.usual_ms, use.now_ms) <= this.#most_ms) return undefined
    return new Promise((resolve) => {
      if (!this.#waiting.add({ owner, resolve })) throw new Unavailable('overloaded')
      if (this.#isServing) return
      this.#isServing = true
      setImmediate(() => this.#serve())
    })
  }

  /** For a `LoopTime` alone: counts time that the owner's workspace has used. */
  spend(owner: Owner, time_ms: number): void {
    const now_ms = performance.now()
    if (now_ms >= this.#windowEnds_ms) this.#look(now_ms)
    this.#use(owner).now_ms += time_ms
  }

  #use({ workspaceId }: Owner): Use {
    let use = this.#uses.get(workspaceId)
    if (!use) {
      use = { now_ms: 0, turns: 0, usual_ms: 0, turn_ms: REQUEST_MS }
      this.#uses.set(workspaceId, use)
    }
    return use
  }

  #look(now_ms: number) {
    const utilization = performance.eventLoopUtilization()
    const { utilization: busy } = performance.eventLoopUtilization(utilization, this.#utilization)
    this.#utilization = utilization
    const windows = 1 + Math.floor((now_ms - this.#windowEnds_ms) / WINDOW_MS)
    this.#windowEnds_ms = now_ms + WINDOW_MS
    let used_ms = 0
    for (const [workspaceId, use] of this.#uses) {
      use.usual_ms = (use.usual_ms + use.now_ms) / 2 ** windows
      if (use.turns > 0) use.turn_ms = Math.max(REQUEST_MS, use.now_ms / use.turns)
      use.now_ms = 0
      use.turns = 0
      used_ms += use.usual_ms
      if (use.usual_ms < NOTHING_MS) this.#uses.delete(workspaceId)
    }
    const isShared = busy > BUSY && this.#uses.size > 1
    this.#most_ms = isShared ? (FAR_ABOVE * used_ms) / this.#uses.size : Number.POSITIVE_INFINITY
  }

  /** Does a slice of what waits. */
  #serve() {
    let expected_ms = 0
    while (expected_ms < SLICE_MS) {
      const item = this.#waiting.begin()
      if (!item) break
      this.#waiting.end(item)
      item.resolve()
      expected_ms += this.#use(item.owner).turn_ms
    }
    // In the next round of the loop, after what has come in.
    if (this.#waiting.size > 0) setImmediate(() => this.#serve())
    else this.#isServing = false
  }
}

/** The time of the event loop that one request uses. It counts but for what is awaited by a method of this class. */
export class LoopTime {
  readonly #scheduler: LoopScheduler
  readonly #owner: Owner
  #since_ms = performance.now()

  constructor(scheduler: LoopScheduler, owner: Owner) {
    this.#scheduler = scheduler
    this.#owner = owner
  }

  /**
   * Lets others go before who have used less. To be awaited between pieces of work of a millisecond or so.
   * @returns undefined where nobody need wait
   * @throws {Unavailable} `overloaded` where too much waits
   */
  next(): Promise<void> | undefined {
    this.end()
    const turn = this.#scheduler.turn(this.#owner)
    if (turn) return turn.then(() => this.#resume())
    this.#resume()
    return undefined
  }

  /** As `next`, and lets at least go before what has come in, whoever it is of: for long work of one request. */
  async pass(): Promise<void> {
    await this.away(this.#scheduler.turn(this.#owner) ?? nextRound())
  }

  /** Awaits what is done elsewhere. */
  async away<Result>(work: Promise<Result>): Promise<Result> {
    this.end()
    try {
      return await work
    } finally {
      this.#resume()
    }
  }

  /** Counts what has been used. */
  end(): void {
    const now_ms = performance.now()
    if (now_ms > this.#since_ms) this.#scheduler.spend(this.#owner, now_ms - this.#since_ms)
    this.#since_ms = Number.POSITIVE_INFINITY
  }

  #resume() {
    this.#since_ms = performance.now()
  }
}
