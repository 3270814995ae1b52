import { Problem } from '../../problems.ts'
import { RecentMap } from './recent-map.ts'

/** The burst: this many seconds of a key's rate. */
const BURST_SECONDS = 2

/**
 * For a publishable key, which anyone can read, this part of the burst is reserved for networks that have sent little,
 * and one network may take this share of it: a visitor sends a handful at once, so twenty of them fit beside one that
 * sends all it can.
 */
const RESERVED_PART = 1 / 2
const SHARE_OF_RESERVE = 1 / 20
const VISIT_EVENTS = 10

/** At this number of keys, those whose buckets are full are forgotten. */
const KEYS = 10_000

/** Minimum number of networks remembered; the bucket of a forgotten one is full. */
const NETWORKS = 50_000

/** Sizes of full buckets, in events; `rate` per second. A network may take `share` of the reserve, for `price` tokens each. */
type Sizes = { rate: number; burst: number; open: number; reserve: number; share: number; price: number }

/** A token bucket in two parts. The reserve refills first. `open` is for everyone and can be in debt. */
type KeyBucket = { sizes: Sizes; open: number; reserve: number; filled_ms: number }

/**
 * The token bucket of a network at a publishable key, with the key's burst and rate. It is charged for events from the
 * reserve and for those that are refused because of what they refer to; others cost nothing. It can be in debt.
 */
type NetworkBucket = { name: string; tokens: number; filled_ms: number }

/** For a key that is not shared. Nothing is ever taken from it. */
const NO_NETWORK: NetworkBucket = { name: '', tokens: Number.POSITIVE_INFINITY, filled_ms: 0 }

/** The buckets that a request is measured by. */
type Buckets = { key: KeyBucket; network: NetworkBucket }

/** The owner of a rate: a key, or a signed-in person. */
export type LimitedKey = {
  key_id: string
  rate_limit: number | null
  /** The sender's network, for a key that many share: a publishable one. */
  network?: string
}

/**
 * Token buckets in this process, counted in events: one per key and, for a key that many share, one per network. A rate
 * of 0 means no limit.
 */
export class RateLimiter {
  readonly #defaultRate: number
  readonly #now: () => number
  readonly #keys = new Map<string, KeyBucket>()
  #mostKeys = KEYS
  readonly #networks = new RecentMap<NetworkBucket>(NETWORKS)

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
    return this.#take(key, 1, 0, 0)
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
    return this.#take(key, count, 1, refusal)
  }

  /**
   * Refunds what a network has spent on events that were refused because of what they refer to, and counts them for the
   * network alone, at the key's rate: a sender of invalid events uses up nothing of the others'.
   * @returns the current headers
   */
  giveBack(key: LimitedKey, count: number): Record<string, string> {
    const buckets = key.network === undefined ? undefined : this.#bucketsOf(key)
    if (!buckets) return {}
    fill(buckets.key, count)
    this.#charge(buckets, count)
    return rateHeaders(buckets)
  }

  /**
   * Charges more for a refused request that took as much time as this many events, even if less is left: following
   * requests must wait. For a shared key it counts for the network only.
   * @param cost in events, rounded down
   */
  charge(key: LimitedKey, cost: number): void {
    const buckets = this.#bucketsOf(key)
    if (buckets) this.#charge(buckets, cost)
  }

  #take(key: LimitedKey, count: number, taken: 0 | 1, refusal: number): Record<string, string> {
    const buckets = this.#bucketsOf(key)
    if (!buckets) return {}
    const { open, share } = buckets.key.sizes
    const needed = Math.min(count, open + share)
    if (available(buckets) < needed - taken) {
      this.#charge(buckets, refusal)
      throw limited(buckets, needed)
    }
    this.#spend(buckets, count - taken)
    return rateHeaders(buckets)
  }

  #charge({ key, network }: Buckets, cost: number) {
    const count = Math.floor(cost)
    if (network === NO_NETWORK) key.open -= count
    else this.#takeOf(network, count)
  }

  #spend({ key, network }: Buckets, count: number) {
    const beyondOpen = Math.max(0, count - Math.max(0, key.open))
    const reserved = Math.min(key.reserve, network.tokens / key.sizes.price, beyondOpen)
    key.open -= count - reserved
    if (reserved === 0) return
    key.reserve -= reserved
    this.#takeOf(network, reserved * key.sizes.price)
  }

  #takeOf(network: NetworkBucket, tokens: number) {
    network.tokens -= tokens
    this.#networks.set(network.name, network)
  }

  /** @returns the buckets as of now; undefined if the key has no limit */
  #bucketsOf({ key_id, rate_limit, network }: LimitedKey): Buckets | undefined {
    const rate = rate_limit ?? this.#defaultRate
    if (rate === 0) return undefined
    const now_ms = this.#now()
    const isShared = network !== undefined
    const key = this.#keys.get(key_id) ?? this.#newBucket(key_id, sizesOf(rate, isShared), now_ms)
    if (key.sizes.rate !== rate) key.sizes = sizesOf(rate, isShared)
    refill(key, now_ms)
    return { key, network: isShared ? this.#network(`${network} ${key_id}`, key.sizes, now_ms) : NO_NETWORK }
  }

  /** Creates a full bucket. One that is not full is never forgotten. */
  #newBucket(keyId: string, sizes: Sizes, now_ms: number): KeyBucket {
    if (this.#keys.size >= this.#mostKeys) {
      for (const [other, bucket] of this.#keys) {
        refill(bucket, now_ms)
        if (bucket.open + bucket.reserve === bucket.sizes.burst) this.#keys.delete(other)
      }
      // The next time at twice as many: then each new key pays for the check of one or two.
      this.#mostKeys = Math.max(KEYS, 2 * this.#keys.size)
    }
    const bucket = { sizes, open: sizes.open, reserve: sizes.reserve, filled_ms: now_ms }
    this.#keys.set(keyId, bucket)
    return bucket
  }

  /** Returns the bucket of a network; a full one, which is not remembered yet, if nothing is known of it. */
  #network(name: string, { rate, burst }: Sizes, now_ms: number): NetworkBucket {
    const known = this.#networks.get(name)
    if (!known) return { name, tokens: burst, filled_ms: now_ms }
    known.tokens = Math.min(burst, known.tokens + tokensSince(known, rate, now_ms))
    known.filled_ms = now_ms
    return known
  }
}

function sizesOf(rate: number, isShared: boolean): Sizes {
  const burst = rate * BURST_SECONDS
  if (!isShared) return { rate, burst, open: burst, reserve: 0, share: 0, price: 1 }
  const reserve = burst * RESERVED_PART
  const share = Math.min(reserve / 2, Math.max(VISIT_EVENTS, reserve * SHARE_OF_RESERVE))
  // In whole tokens and events, so that a full bucket is exactly full however it was refilled.
  const price = Math.ceil(burst / Math.ceil(share))
  return { rate, burst, open: burst - reserve, reserve, share: Math.floor(burst / price), price }
}

/** Not negative, because a clock that steps back must not take tokens away. */
function tokensSince({ filled_ms }: { filled_ms: number }, rate: number, now_ms: number): number {
  return (Math.max(0, now_ms - filled_ms) * rate) / 1000
}

function fill(key: KeyBucket, tokens: number) {
  const toReserve = Math.min(tokens, key.sizes.reserve - key.reserve)
  key.reserve += toReserve
  key.open = Math.min(key.sizes.open, key.open + tokens - toReserve)
}

function refill(key: KeyBucket, now_ms: number) {
  fill(key, tokensSince(key, key.sizes.rate, now_ms))
  key.filled_ms = now_ms
}

/** Returns the number of events that may be sent now, for a shared key by this network. */
function available({ key, network }: Buckets): number {
  return network.tokens < 1
    ? 0
    : Math.max(0, key.open) + Math.min(key.reserve, network.tokens / key.sizes.price)
}

/** Returns the number of events that may be sent in some seconds if nobody else sends. */
function availableIn(seconds: number, { key, network }: Buckets): number {
  const { rate, burst } = key.sizes
  const later = { key: { ...key }, network: { ...network } }
  fill(later.key, seconds * rate)
  later.network.tokens = Math.min(burst, network.tokens + seconds * rate)
  return available(later)
}

/** Returns the seconds until both buckets are full if nobody else sends. */
function fullIn({ key, network }: Buckets): number {
  const { rate, burst } = key.sizes
  return Math.ceil((burst - Math.min(key.open + key.reserve, network.tokens)) / rate)
}

/** @param needed what must be available for the same request to pass */
function limited(buckets: Buckets, needed: number): Problem {
  let tooFew_s = 0
  let enough_s = Math.max(1, fullIn(buckets))
  while (enough_s - tooFew_s > 1) {
    const middle_s = Math.floor((tooFew_s + enough_s) / 2)
    if (availableIn(middle_s, buckets) < needed) tooFew_s = middle_s
    else enough_s = middle_s
  }
  return new Problem('rate_limited', {
    headers: { ...rateHeaders(buckets), 'Retry-After': String(enough_s) },
  })
}

/**
 * Returns the header fields of the IETF draft "RateLimit header fields for HTTP", as they apply to the requesting
 * network.
 */
function rateHeaders(buckets: Buckets): Record<string, string> {
  const { open, share } = buckets.key.sizes
  return {
    RateLimit: `"default";r=${Math.floor(available(buckets))};t=${fullIn(buckets)}`,
    'RateLimit-Policy': `"default";q=${open + share};w=${BURST_SECONDS}`,
  }
}
