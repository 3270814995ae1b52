import type { Response } from 'express'
import { addHeaders } from '../answers/answer.ts'
import type { LimitedKey, RateLimiter } from './rate-limit.ts'

/** Bytes of a malformed body that are charged as one event: the size of a small event in a batch. */
const REJECTED_EVENT_BYTES = 4 * 1024

/** Bytes of a rate-limited body that are charged as one event: it was parsed and validated too. */
const LIMITED_EVENT_BYTES = 16 * 1024

/** The rate limit accounting of one request. The headers of the response say what is left. */
export class RequestRate {
  readonly #limiter: RateLimiter
  readonly #key: LimitedKey
  readonly #res: Response

  constructor(limiter: RateLimiter, key: LimitedKey, res: Response) {
    this.#limiter = limiter
    this.#key = key
    this.#res = res
  }

  /** Takes the one event that each request counts as. @throws {Problem} `rate_limited` */
  take(): void {
    addHeaders(this.#res, this.#limiter.take(this.#key))
  }

  /**
   * Takes the other events of a batch.
   * @param bytes the length of its body
   * @throws {Problem} `rate_limited`
   */
  takeRest(count: number, bytes: number): void {
    if (count <= 1) return
    const refusal = bytes / LIMITED_EVENT_BYTES
    addHeaders(this.#res, this.#limiter.takeRest(this.#key, { count, refusal }))
  }

  /** Charges the time that it took to reject a malformed body. @param bytes its length */
  chargeRejected(bytes: number): void {
    this.#limiter.charge(this.#key, bytes / REJECTED_EVENT_BYTES)
  }

  /** Refunds events rejected because of what they refer to: they must not use up a rate that others share. */
  refund(count: number): void {
    addHeaders(this.#res, this.#limiter.giveBack(this.#key, count))
  }
}
