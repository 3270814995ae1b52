import { performance } from 'node:perf_hooks'
import { setImmediate as nextRound } from 'node:timers/promises'
import { FairQueue, type Owner } from '../../domain/fair-queue.ts'
import { Unavailable } from '../../storage/unavailable.ts'

/** Window of accounting; earlier use counts half as much per window (exponential decay). */
const WINDOW_MS = 100

/** Utilization of the event loop above which its time is shared. */
const BUSY = 0.7

/** A workspace must queue if it uses this many times the average of the active ones. */
const FAR_ABOVE = 1.5

/** Length of a slice of queued work. Between slices, requests of those who use less go first. */
const SLICE_MS = 2

/** Estimated time of a request outside of what is measured: its head, its log line. */
const REQUEST_MS = 0.15

/** Maximum waiting. A waiting request is still in its connection, or its body has its own reservation. */
const WAITING = { perCaller: 1_000, inAll: 5_000 }

/**
 * The use of a workspace, or of all callers without a credential: in this window, and averages per window and per piece of
 * work (`turn`).
 */
type Use = { now_ms: number; slices: number; usual_ms: number; slice_ms: number }

/** A use below this is forgotten. */
const NOTHING_MS = 0.01

type Waiting = { owner: Owner; resolve: () => void }

/**
 * Shares the time of the event loop fairly. While it has time left, or only one workspace uses it, nobody waits.
 * Otherwise the work of workspaces that use far more than the others is queued fairly, by workspace and caller, and runs in
 * slices; between two slices all other requests are served. It is work-conserving: nothing waits while the loop is idle.
 */
export class LoopScheduler {
  readonly #waiting = new FairQueue<Waiting>(WAITING)
  readonly #uses = new Map<string, Use>()
  #windowEnds_ms = performance.now() + WINDOW_MS
  #utilization = performance.eventLoopUtilization()
  /** Maximum use of a workspace per window without queuing. */
  #most_ms = Number.POSITIVE_INFINITY
  #isServing = false

  /** Starts the accounting of a request. */
  begin(owner: Owner): LoopTime {
    this.spend(owner, REQUEST_MS)
    return new LoopTime(this, owner)
  }

  /** Called by `LoopTime` only. @returns a promise that resolves when the owner may continue; undefined if it may now */
  admission(owner: Owner): Promise<void> | undefined {
    const use = this.#use(owner)
    use.slices += 1
    if (Math.max(use.usual_ms, use.now_ms) <= this.#most_ms) return undefined
    return new Promise((resolve) => {
      if (!this.#waiting.add({ owner, resolve })) throw new Unavailable('overloaded')
      if (this.#isServing) return
      this.#isServing = true
      setImmediate(() => this.#serve())
    })
  }

  /** Called by `LoopTime` only: records time used by the owner's workspace. */
  spend(owner: Owner, time_ms: number): void {
    const now_ms = performance.now()
    if (now_ms >= this.#windowEnds_ms) this.#look(now_ms)
    this.#use(owner).now_ms += time_ms
  }

  #use({ workspaceId }: Owner): Use {
    let use = this.#uses.get(workspaceId)
    if (!use) {
      use = { now_ms: 0, slices: 0, usual_ms: 0, slice_ms: REQUEST_MS }
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
      if (use.slices > 0) use.slice_ms = Math.max(REQUEST_MS, use.now_ms / use.slices)
      use.now_ms = 0
      use.slices = 0
      used_ms += use.usual_ms
      if (use.usual_ms < NOTHING_MS) this.#uses.delete(workspaceId)
    }
    const isShared = busy > BUSY && this.#uses.size > 1
    this.#most_ms = isShared ? (FAR_ABOVE * used_ms) / this.#uses.size : Number.POSITIVE_INFINITY
  }

  /** Runs a slice of queued work. */
  #serve() {
    let expected_ms = 0
    while (expected_ms < SLICE_MS) {
      const item = this.#waiting.take()
      if (!item) break
      item.resolve()
      expected_ms += this.#use(item.owner).slice_ms
    }
    // In the next iteration of the loop, after new arrivals.
    if (this.#waiting.size > 0) setImmediate(() => this.#serve())
    else this.#isServing = false
  }
}

/** The event loop time of one request. Everything counts except what is awaited by a method of this class. */
export class LoopTime {
  readonly #scheduler: LoopScheduler
  readonly #owner: Owner
  #since_ms = performance.now()

  constructor(scheduler: LoopScheduler, owner: Owner) {
    this.#scheduler = scheduler
    this.#owner = owner
  }

  /**
   * Yields to callers who have used less. Await it between pieces of work of about a millisecond.
   * @returns undefined if there is no need to wait
   * @throws {Unavailable} `overloaded` if too much is waiting
   */
  next(): Promise<void> | undefined {
    this.end()
    const admission = this.#scheduler.admission(this.#owner)
    if (admission) return admission.then(() => this.#resume())
    this.#resume()
    return undefined
  }

  /** Like `next`, but always yields at least to new arrivals of any workspace: for long work of one request. */
  async pass(): Promise<void> {
    await this.away(this.#scheduler.admission(this.#owner) ?? nextRound())
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
