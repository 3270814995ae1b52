import type { CountName, GuessCount, GuessCounts, OpenCounts } from '../../storage/guess-counts.ts'
import { freeGuesses } from './attempts.ts'
import { RecentMap } from './recent-map.ts'

/**
 * Minimum number of counts kept per kind, and separately of those that are half way to a wait. So invented names evict
 * only each other: with one guess each they evict nothing that is half way, and guessing several times at each takes
 * longer than the wait that it would avoid.
 */
const COUNTS = 50_000

/** The counts of one kind, by digest. */
class Counts {
  readonly #halfTheWay: number
  readonly #few = new RecentMap<GuessCount>(COUNTS)
  readonly #many = new RecentMap<GuessCount>(COUNTS)

  constructor(by: string) {
    this.#halfTheWay = freeGuesses(by) / 2
  }

  get(digest: string): GuessCount | undefined {
    return this.#many.get(digest) ?? this.#few.get(digest)
  }

  put(digest: string, count: GuessCount | undefined): void {
    this.#few.delete(digest)
    this.#many.delete(digest)
    if (count === undefined || count.failures <= 0) return
    const counts = count.failures >= this.#halfTheWay ? this.#many : this.#few
    counts.set(digest, count)
  }
}

/** Counts in this process, enough if it alone serves the store. */
export class GuessesHere implements GuessCounts {
  readonly #kinds = new Map<string, Counts>()
  readonly #open: OpenCounts = {
    get: ({ by, digest }) => this.#of(by).get(digest),
    put: ({ by, digest }, count) => this.#of(by).put(digest, count),
  }

  async change<Result>(
    _names: readonly CountName[],
    change: (counts: OpenCounts) => Result,
  ): Promise<Result> {
    return change(this.#open)
  }

  #of(by: string): Counts {
    const known = this.#kinds.get(by)
    if (known) return known
    const made = new Counts(by)
    this.#kinds.set(by, made)
    return made
  }
}
