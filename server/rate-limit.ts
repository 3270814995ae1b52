import { Problem } from './problems.ts'

/** The burst is what a key may send at once: this many seconds of its rate. */
const BURST_SECONDS = 2

type Bucket = { tokens: number; filled_ms: number }
/** Whose rate it is: a key, or a person who is signed in. */
export type LimitedKey = { key_id: string; rate_limit: number | null }

/** A token bucket for each key, in this process, counted in events. A rate of 0 means no limit. */
export class RateLimiter {
  readonly #defaultRate: number
  readonly #now: () => number
  readonly #buckets = new Map<string, Bucket>()

  /** @param options.defaultRate events a second, for keys without a rate of their own */
  constructor({ defaultRate, now }: { defaultRate: number; now: () => number }) {
    this.#defaultRate = defaultRate
    this.#now = now
  }

  /**
   * Takes one event from the key's bucket.
   * @returns the headers `RateLimit` and `RateLimit-Policy`; none where the key has no limit
   * @throws {Problem} `rate_limited` where nothing is left
   */
  take(key: LimitedKey): Record<string, string> {
    const rate = this.#rateOf(key)
    if (rate === 0) return {}
    const bucket = this.#filled(key.key_id, rate)
    if (bucket.tokens < 1) throw limited(rate, bucket, 1)
    bucket.tokens -= 1
    return rateHeaders(rate, bucket)
  }

  /**
   * Takes the rest of a request that counts as so many events and for which `take` has taken one; all or nothing. One
   * that is larger than the burst passes when the bucket was full before, and leaves it in debt.
   * @returns the headers as they are now
   * @throws {Problem} `rate_limited` where too little is left
   */
  takeRest(key: LimitedKey, count: number): Record<string, string> {
    const rate = this.#rateOf(key)
    if (rate === 0) return {}
    const bucket = this.#filled(key.key_id, rate)
    const needed = Math.min(count, rate * BURST_SECONDS)
    if (bucket.tokens + 1 < needed) throw limited(rate, bucket, needed)
    bucket.tokens -= count - 1
    return rateHeaders(rate, bucket)
  }

  #rateOf({ rate_limit }: LimitedKey): number {
    return rate_limit ?? this.#defaultRate
  }

  #filled(keyId: string, rate: number): Bucket {
    const now_ms = this.#now()
    const burst = rate * BURST_SECONDS
    let bucket = this.#buckets.get(keyId)
    if (!bucket) {
      bucket = { tokens: burst, filled_ms: now_ms }
      this.#buckets.set(keyId, bucket)
    }
    // A clock that steps back must not take tokens away.
    const elapsed_ms = Math.max(0, now_ms - bucket.filled_ms)
    bucket.tokens = Math.min(burst, bucket.tokens + (elapsed_ms * rate) / 1000)
    bucket.filled_ms = now_ms
    return bucket
  }
}

/** @param needed what must be in the bucket for the same request to pass */
function limited(rate: number, bucket: Bucket, needed: number): Problem {
  const wait = Math.max(1, Math.ceil((needed - bucket.tokens) / rate))
  return new Problem('rate_limited', {
    headers: { ...rateHeaders(rate, bucket), 'Retry-After': String(wait) },
  })
}

/** The header fields of the IETF draft "RateLimit header fields for HTTP". */
function rateHeaders(rate: number, { tokens }: Bucket): Record<string, string> {
  const burst = rate * BURST_SECONDS
  return {
    RateLimit: `"default";r=${Math.max(0, Math.floor(tokens))};t=${Math.ceil((burst - tokens) / rate)}`,
    'RateLimit-Policy': `"default";q=${burst};w=${BURST_SECONDS}`,
  }
}
