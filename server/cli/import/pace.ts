import { setTimeout } from 'node:timers/promises'
import { retryAfter_ms } from '../patient-fetch.ts'

/** A key's rate limit, as the server's headers report it. */
type Allowance = { burst: number; perSecond: number; left: number; at_ms: number }

const MOMENT_MS = 1000

/** Keeps requests within the key's rate limit, as reported by the `RateLimit` and `RateLimit-Policy` headers. */
export class Pace {
  #allowance: Allowance | undefined
  /** Events in flight: the remaining quota in a response may not include them. */
  #inFlight = 0
  #heldUntil_ms = 0
  #waiting = 0
  #waitingSince_ms = 0
  #held_ms = 0
  #heldLast_ms = 0

  /** Events per second; undefined if the key has no limit. */
  get perSecond(): number | undefined {
    return this.#allowance?.perSecond
  }

  /** Half of the key's burst, so that the other half refills while one batch is in flight. */
  get batchSize(): number {
    return Math.max(1, Math.floor((this.#allowance?.burst ?? Number.POSITIVE_INFINITY) / 2))
  }

  /** Whether the rate limit delays requests now, or did a moment ago, so that periodic polling notices it. */
  get isHeld(): boolean {
    return this.#waiting > 0 || Date.now() - this.#heldLast_ms < MOMENT_MS
  }

  /** Total delay so far. */
  get held_ms(): number {
    return this.#held_ms + (this.#waiting > 0 ? Date.now() - this.#waitingSince_ms : 0)
  }

  /** Waits until the key may send this many events. @throws the signal's reason */
  async take(events: number, signal: AbortSignal): Promise<void> {
    let wait_ms = this.#wait_ms(events)
    if (wait_ms > 0) {
      if (this.#waiting === 0) this.#waitingSince_ms = Date.now()
      this.#waiting += 1
      try {
        for (; wait_ms > 0; wait_ms = this.#wait_ms(events)) await setTimeout(wait_ms, undefined, { signal })
      } finally {
        this.#waiting -= 1
        this.#heldLast_ms = Date.now()
        if (this.#waiting === 0) this.#held_ms += Date.now() - this.#waitingSince_ms
      }
    }
    this.#inFlight += events
    if (this.#allowance) {
      this.#allowance = { ...this.#allowance, left: this.#left(this.#allowance) - events, at_ms: Date.now() }
    }
  }

  /** Updates the quota from a response; undefined if there was none. */
  settle(events: number, response: Response | undefined): void {
    this.#inFlight -= events
    if (!response) return
    const [, left] = /;r=(\d+)/.exec(response.headers.get('ratelimit') ?? '') ?? []
    const [, burst, window_s] = /;q=(\d+);w=(\d+)/.exec(response.headers.get('ratelimit-policy') ?? '') ?? []
    if (left !== undefined && burst !== undefined && window_s !== undefined) {
      this.#allowance = {
        burst: Number(burst),
        perSecond: Number(burst) / Number(window_s),
        left: Number(left) - this.#inFlight,
        at_ms: Date.now(),
      }
    } else if (response.ok) {
      this.#allowance = undefined
    } else if (response.status === 413 && this.#allowance) {
      // From a proxy; the server has not counted them.
      this.#allowance.left += events
    }
    if (response.status === 429) {
      // Others use this key too. What they leave can only be found by trying again.
      this.#heldUntil_ms =
        Date.now() + Math.max(MOMENT_MS, retryAfter_ms(response.headers.get('retry-after')))
    }
  }

  #left({ left, at_ms, perSecond, burst }: Allowance): number {
    return Math.min(burst, left + ((Date.now() - at_ms) / 1000) * perSecond)
  }

  #wait_ms(events: number): number {
    const held_ms = this.#heldUntil_ms - Date.now()
    if (!this.#allowance) return held_ms
    const missing = Math.min(events, this.#allowance.burst) - this.#left(this.#allowance)
    return Math.ceil(Math.max(held_ms, (missing / this.#allowance.perSecond) * 1000))
  }
}
