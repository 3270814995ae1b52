import { Problem } from '../../problems.ts'
import { type Bucket, LimitCounts, type Share } from './limit-counts.ts'

/** The burst: this many seconds of a key's rate. */
const BURST_SECONDS = 2

/**
 * For a publishable key, which anyone can read, this part of the burst is kept for networks that have sent little, and
 * one network may take this share of it: a visitor sends a handful at once, so twenty of them fit beside one that sends
 * all it can.
 */
const RESERVED_PART = 1 / 2
const SHARE_OF_RESERVED = 1 / 20
const VISIT_EVENTS = 10

/** For a key that is not shared. Nothing is ever taken from it. */
const NO_SHARE: Share = { kept: 0, refused: Number.POSITIVE_INFINITY, filled_ms: 0 }

/** Sizes of full buckets and shares. */
type Sizes = { rate: number; open: number; kept: number; share: number }

/** The bucket and share that a request is measured by. */
type Measure = { bucket: Bucket; share: Share; sizes: Sizes }

/** The owner of a rate: a key, or a signed-in person. */
export type LimitedKey = {
  key_id: string
  rate_limit: number | null
  /** The sender's network, for a key that many share: a publishable one. */
  network?: string
}

/** A token bucket per key, in this process, counted in events. A rate of 0 means no limit. */
export class RateLimiter {
  readonly #defaultRate: number
  readonly #now: () => number
  readonly #counts = new LimitCounts()

  /** @param options.defaultRate events per second, for keys without a rate of their own */
  constructor({ defaultRate, now }: { defaultRate: number; now: () => number }) {
    this.#defaultRate = defaultRate
    this.#now = now
  }

  /**
   * Takes one event from the key's bucket.
   * @returns the headers `RateLimit` and `RateLimit-Policy`; none if the key has no limit
   * @throws {Problem} `rate_limited` if nothing is left
   */
  take(key: LimitedKey): Record<string, string> {
    return this.#take(key, 1, { taken: 0, refusal: 0 })
  }

  /**
   * Takes the rest of a request that counts as `count` events, of which `take` has taken one; all or nothing. A request
   * larger than the burst passes if the bucket is full, and leaves it in debt.
   * @param refusal what to charge if it is refused, see `charge`; a client that waits for `Retry-After` need not
   *   wait longer
   * @returns the current headers
   * @throws {Problem} `rate_limited` if too little is left
   */
  takeRest(key: LimitedKey, { count, refusal }: { count: number; refusal: number }): Record<string, string> {
    return this.#take(key, count, { taken: 1, refusal })
  }

  /**
   * Refunds what a network has spent on events that were refused because of what they refer to, and counts them for the
   * network alone, at the key's rate: a sender of invalid events uses up nothing of the others'.
   * @returns the current headers
   */
  giveBack(key: LimitedKey, count: number): Record<string, string> {
    const { network } = key
    if (network === undefined) return {}
    const headers = this.#measured(key, ({ bucket, share, sizes }) => {
      fill(bucket, sizes, count)
      share.refused -= count
      this.#counts.keepShare(nameOf(key.key_id, network), share)
      return rateHeaders({ bucket, share, sizes })
    })
    return headers ?? {}
  }

  /**
   * Charges more for a refused request that took as much time as this many events, even if less is left: following
   * requests must wait. For a shared key it counts for the network only.
   * @param cost in events, rounded down
   */
  charge(key: LimitedKey, cost: number): void {
    if (cost >= 1) this.#measured(key, (measure) => this.#charge(key, cost, measure))
  }

  #charge({ key_id, network }: LimitedKey, cost: number, { bucket, share }: Measure) {
    const count = Math.floor(cost)
    if (network === undefined) {
      bucket.open -= count
    } else {
      share.refused -= count
      this.#counts.keepShare(nameOf(key_id, network), share)
    }
  }

  /** @param options.taken number of these events taken before */
  #take(
    key: LimitedKey,
    count: number,
    { taken, refusal }: { taken: 0 | 1; refusal: number },
  ): Record<string, string> {
    const headers = this.#measured(key, (measure) => {
      const { bucket, share, sizes } = measure
      const { key_id, network } = key
      const needed = Math.min(count, sizes.open + sizes.share) - taken
      if (available(measure) < needed) {
        this.#charge(key, refusal, measure)
        throw limited(measure, needed + taken)
      }
      const spent = count - taken
      const beyondOpen = Math.max(0, spent - Math.max(0, bucket.open))
      const kept = Math.min(bucket.kept, share.kept, beyondOpen)
      bucket.open -= spent - kept
      if (network !== undefined && kept > 0) {
        bucket.kept -= kept
        share.kept -= kept
        this.#counts.keepShare(nameOf(key_id, network), share)
      }
      return rateHeaders(measure)
    })
    return headers ?? {}
  }

  /** Measures a request of a key. @returns undefined if the key has no limit */
  #measured<Result>(key: LimitedKey, work: (measure: Measure) => Result): Result | undefined {
    const { key_id, network } = key
    const rate = key.rate_limit ?? this.#defaultRate
    if (rate === 0) return undefined
    const now_ms = this.#now()
    const sizes = sizesOf(rate, network !== undefined)
    const bucket = this.#bucket(key_id, sizes, now_ms)
    const share = network === undefined ? NO_SHARE : this.#share(key_id, network, sizes, now_ms)
    try {
      return work({ bucket, share, sizes })
    } finally {
      this.#counts.keepBucket(key_id, bucket, (bucket) => isFull(bucket, now_ms))
    }
  }

  #bucket(key_id: string, sizes: Sizes, now_ms: number): Bucket {
    const { rate, open, kept } = sizes
    const bucket = this.#counts.bucket(key_id) ?? { open, kept, filled_ms: now_ms, rate }
    bucket.rate = rate
    fill(bucket, sizes, (elapsed_ms(bucket, now_ms) * rate) / 1000)
    bucket.filled_ms = now_ms
    return bucket
  }

  /** Returns the share of a network; full if nothing is known of it. */
  #share(keyId: string, network: string, { rate, share: most }: Sizes, now_ms: number): Share {
    const known = this.#counts.share(nameOf(keyId, network))
    const share = known ?? { kept: most, refused: rate * BURST_SECONDS, filled_ms: now_ms }
    const elapsed_s = elapsed_ms(share, now_ms) / 1000
    share.kept = Math.min(most, share.kept + (elapsed_s * most) / BURST_SECONDS)
    share.refused = Math.min(rate * BURST_SECONDS, share.refused + elapsed_s * rate)
    share.filled_ms = now_ms
    return share
  }
}

/** Whether a bucket would be full by now. A key without a bucket has a full one. */
function isFull(bucket: Bucket, now_ms: number): boolean {
  const missing = bucket.rate * BURST_SECONDS - bucket.open - bucket.kept
  return (elapsed_ms(bucket, now_ms) * bucket.rate) / 1000 >= missing
}

function nameOf(keyId: string, network: string): string {
  return `${network} ${keyId}`
}

function sizesOf(rate: number, isShared: boolean): Sizes {
  const burst = rate * BURST_SECONDS
  const kept = isShared ? burst * RESERVED_PART : 0
  // In whole events, so that a full bucket is exactly full however it was refilled.
  const share = Math.ceil(Math.min(kept / 2, Math.max(VISIT_EVENTS, kept * SHARE_OF_RESERVED)))
  return { rate, open: burst - kept, kept, share }
}

/** Not negative, because a clock that steps back must not take tokens away. */
function elapsed_ms({ filled_ms }: { filled_ms: number }, now_ms: number): number {
  return Math.max(0, now_ms - filled_ms)
}

function fill(bucket: Bucket, { open, kept }: Sizes, tokens: number) {
  const toKept = Math.min(tokens, kept - bucket.kept)
  bucket.kept += toKept
  bucket.open = Math.min(open, bucket.open + tokens - toKept)
}

/** Returns the number of events that may be sent now, for a shared key by this network. */
function available({ bucket, share }: Measure): number {
  return share.refused < 1 ? 0 : Math.max(0, bucket.open) + Math.min(bucket.kept, share.kept)
}

/** @param needed what must be available for the same request to pass */
function limited(measure: Measure, needed: number): Problem {
  const wait_s = Math.max(1, Math.ceil(waitOf(measure, needed)))
  return new Problem('rate_limited', {
    headers: { ...rateHeaders(measure), 'Retry-After': String(wait_s) },
  })
}

/** Returns the wait in seconds if nobody else sends. */
function waitOf({ bucket, share, sizes }: Measure, needed: number): number {
  const { rate } = sizes
  const shareRate = sizes.share / BURST_SECONDS
  const byOpen = (sizes.kept - bucket.kept + Math.min(needed, sizes.open) - bucket.open) / rate
  const beyondOpen = needed > sizes.open ? (needed - sizes.open - share.kept) / shareRate : 0
  const byShare =
    needed <= sizes.share
      ? Math.max((needed - share.kept) / shareRate, (needed - bucket.kept) / rate)
      : Number.POSITIVE_INFINITY
  return Math.max((1 - share.refused) / rate, Math.min(Math.max(byOpen, beyondOpen), byShare))
}

/**
 * Returns the header fields of the IETF draft "RateLimit header fields for HTTP", as they apply to the requesting
 * network.
 */
function rateHeaders(measure: Measure): Record<string, string> {
  const { bucket, share, sizes } = measure
  const { rate, open, kept } = sizes
  const filled_s = (open - bucket.open + kept - bucket.kept) / rate
  const shared_s = sizes.share === 0 ? 0 : ((sizes.share - share.kept) / sizes.share) * BURST_SECONDS
  const unlocked_s = (1 - share.refused) / rate
  return {
    RateLimit: `"default";r=${Math.floor(available(measure))};t=${Math.ceil(Math.max(filled_s, shared_s, unlocked_s))}`,
    'RateLimit-Policy': `"default";q=${open + sizes.share};w=${BURST_SECONDS}`,
  }
}
