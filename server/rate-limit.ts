import { Problem } from './problems.ts'

/** The burst is what a key may send at once: this many seconds of its rate. */
const BURST_SECONDS = 2

type Bucket = { tokens: number; filled_ms: number }
type LimitedKey = { key_id: string; rate_limit: number | null }

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
    const rate = key.rate_limit ?? this.#defaultRate
    if (rate === 0) return {}
    const bucket = this.#filled(key.key_id, rate)
    const isLeft = bucket.tokens >= 1
    if (isLeft) bucket.tokens -= 1
    const headers = rateHeaders(rate, bucket)
    if (isLeft) return headers
    const wait = Math.max(1, Math.ceil((1 - bucket.tokens) / rate))
    throw new Problem('rate_limited', { headers: { ...headers, 'Retry-After': String(wait) } })
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

/** The header fields of the IETF draft "RateLimit header fields for HTTP". */
function rateHeaders(rate: number, { tokens }: Bucket): Record<string, string> {
  const burst = rate * BURST_SECONDS
  return {
    RateLimit: `"default";r=${Math.max(0, Math.floor(tokens))};t=${Math.ceil((burst - tokens) / rate)}`,
    'RateLimit-Policy': `"default";q=${burst};w=${BURST_SECONDS}`,
  }
}
