import { RecentMap } from './recent-map.ts'

/** So many networks are remembered at least; one that is forgotten has its full share. */
const NETWORKS = 50_000

/** When there are so many buckets, those that are full again are forgotten. */
const BUCKETS = 10_000

/** `kept` is filled up first. `open` is for all, and can be in debt. All is in events; `rate` a second. */
export type Bucket = { open: number; kept: number; filled_ms: number; rate: number }

/** What a network may still take of what is kept, and how many of its events may still be refused. */
export type Share = { kept: number; refused: number; filled_ms: number }

/** What a rate limiter remembers. */
export class LimitCounts {
  readonly #buckets = new Map<string, Bucket>()
  #mostBuckets = BUCKETS
  readonly #shares = new RecentMap<Share>(NETWORKS)

  bucket(name: string): Bucket | undefined {
    return this.#buckets.get(name)
  }

  /**
   * Keeps a bucket. One that is not full is never forgotten.
   * @param isFull whether another one would be full by now: it need not be remembered
   */
  keepBucket(name: string, bucket: Bucket, isFull: (bucket: Bucket) => boolean): void {
    if (this.#buckets.has(name)) return
    if (this.#buckets.size >= this.#mostBuckets) {
      for (const [other, bucket] of this.#buckets) if (isFull(bucket)) this.#buckets.delete(other)
      // Not before there are twice as many: each key that is new pays for the look at one or two.
      this.#mostBuckets = Math.max(BUCKETS, 2 * this.#buckets.size)
    }
    this.#buckets.set(name, bucket)
  }

  /** A copy of what was kept of a network; undefined where that has its full share. */
  share(name: string): Share | undefined {
    const share = this.#shares.get(name)
    return share && { ...share }
  }

  keepShare(name: string, share: Share): void {
    this.#shares.set(name, share)
  }
}
