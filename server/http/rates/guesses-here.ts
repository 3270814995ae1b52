import type { CountName, GuessCount, GuessCounts, OpenCounts } from '../../storage/guess-counts.ts'
import { freeGuesses } from './attempts.ts'
import { RecentMap } from './recent-map.ts'

/**
 * So many counts of each kind are remembered at least, and apart from them so many of those that have come half the way to
 * a wait. So names that are made up for the purpose put only each other out: with one guess each nothing that has come
 * half the way; and to guess so often at each takes longer than the waiting that is saved by it.
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

/** Counts of this process, which are all there are where it alone serves the store. */
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
