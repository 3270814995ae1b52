import { RecentMap } from './recent-map.ts'

/** Minimum number of networks remembered; a forgotten one has its full share. */
const NETWORKS = 50_000

/** At this number of buckets, full ones are forgotten. */
const BUCKETS = 10_000

/**
 * A token bucket in two parts, in events; `rate` per second. `kept` refills first. `open` is for everyone and can be in
 * debt.
 */
export type Bucket = { open: number; kept: number; filled_ms: number; rate: number }

/** The remaining share of a network: of what is kept, and of its events that may still be refused. */
export type Share = { kept: number; refused: number; filled_ms: number }

/** The state of a rate limiter. */
export class LimitCounts {
  readonly #buckets = new Map<string, Bucket>()
  #mostBuckets = BUCKETS
  readonly #shares = new RecentMap<Share>(NETWORKS)

  bucket(name: string): Bucket | undefined {
    return this.#buckets.get(name)
  }

  /**
   * Stores a bucket. A bucket that is not full is never forgotten.
   * @param isFull whether another bucket would be full by now, and need not be remembered
   */
  keepBucket(name: string, bucket: Bucket, isFull: (bucket: Bucket) => boolean): void {
    if (this.#buckets.has(name)) return
    if (this.#buckets.size >= this.#mostBuckets) {
      for (const [other, bucket] of this.#buckets) if (isFull(bucket)) this.#buckets.delete(other)
      // The next time at twice as many: then each new key pays for the check of one or two.
      this.#mostBuckets = Math.max(BUCKETS, 2 * this.#buckets.size)
    }
    this.#buckets.set(name, bucket)
  }

  /** Returns a copy of a network's share; undefined if the network has its full share. */
  share(name: string): Share | undefined {
    const share = this.#shares.get(name)
    return share && { ...share }
  }

  keepShare(name: string, share: Share): void {
    this.#shares.set(name, share)
  }
}
