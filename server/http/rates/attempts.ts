import { hash } from 'node:crypto'
import { CLOCKS_MS, isRecent } from '../../domain/instants.ts'
import { Problem } from '../../problems.ts'
import {
  type CountedBy,
  type CountName,
  FORGET_MS,
  type GuessCount,
  type GuessCounts,
} from '../../storage/guess-counts.ts'
import { RecentMap } from './recent-map.ts'

/**
 * Number of free wrong guesses; after that each must wait: one second, then twice as long each time up to the maximum.
 *
 * Own counts are of one account from one network; of one account from a browser that has signed in to it before, which
 * counts towards nothing else, so that nobody can lock out the owner by guessing; of the tokens of links from one
 * network.
 *
 * Shared counts belong to many pairs: one network that tries accounts; one account that networks try. Each pair counts
 * once, with its first wrong guess. If every guess counted, five networks that keep guessing, each as often as its own
 * count allows, would keep the account's count above any limit and lock out every new browser permanently.
 */
const ALLOWANCES: Record<CountedBy, { free: number; longestWait_s: number; isShared: boolean }> = {
  pair: { free: 5, longestWait_s: 60, isShared: false },
  device: { free: 10, longestWait_s: 300, isShared: false },
  link: { free: 30, longestWait_s: 300, isShared: false },
  network: { free: 30, longestWait_s: 300, isShared: true },
  account: { free: 20, longestWait_s: 60, isShared: true },
}

/** Something that a guess is counted by. It is stored as a digest. */
type Subject = { by: CountedBy; value: string }

/** What a guess has added to a count, and the wait that it has caused. */
type Failure = { added: number; until_ms: number }

/** Throttles guesses of passwords and tokens with exponential backoff. */
export class Attempts {
  readonly #now: () => number
  readonly #counts: GuessCounts

  /** @param options.counts for all processes on the store, if there can be several */
  constructor({
    now,
    counts = new InMemoryCounts(),
  }: {
    now: () => number
    counts?: GuessCounts | undefined
  }) {
    this.#now = now
    this.#counts = counts
  }

  /**
   * Runs a guess. It counts as wrong until its result is known, so that concurrent guesses cannot slip through. A guess
   * that must wait is not counted, nor is one that fails: an outage is not a wrong guess.
   * @param subjects one own count, and those that it shares
   * @param find returns undefined if the guess is wrong
   * @throws {Problem} `too_many_attempts` if further guesses must wait
   */
  async guess<Found>(
    subjects: readonly Subject[],
    find: () => Promise<Found | undefined>,
  ): Promise<Found | undefined> {
    const names = subjects.map(nameOf)
    const counted = await this.#count(names)
    let found: Found | undefined
    try {
      found = await find()
    } catch (error) {
      await this.#takeBack(names, counted)
      throw error
    }
    if (found !== undefined) await this.#takeBack(names, counted, { isRight: true })
    return found
  }

  /** Counts a guess as wrong, if it is allowed. */
  #count(names: readonly CountName[]): Promise<Map<CountedBy, Failure>> {
    const now_ms = this.#now()
    return this.#counts.change(names, (counts) => {
      for (const count of counts) {
        if (!isRecent(count.since_ms, now_ms, FORGET_MS)) Object.assign(count, NO_FAILURES)
      }
      const wait_ms = Math.max(...counts.map((count) => waitOf(count, now_ms)))
      if (wait_ms > 0) {
        const headers = { 'Retry-After': String(Math.ceil(wait_ms / 1000)) }
        throw new Problem('too_many_attempts', { headers })
      }
      const isFirst = counts.every(({ by, failures }) => ALLOWANCES[by].isShared || failures === 0)
      return new Map(counts.map((count) => [count.by, addFailure(count, isFirst, now_ms)]))
    })
  }

  /** Reverts what was counted for a guess that was not wrong. One that was right clears the own count. */
  async #takeBack(
    names: readonly CountName[],
    counted: Map<CountedBy, Failure>,
    { isRight = false } = {},
  ): Promise<void> {
    const changed = this.#counts.change(names, (counts) => {
      for (const count of counts) {
        const { free, isShared } = ALLOWANCES[count.by]
        const { added = 0, until_ms } = counted.get(count.by) ?? {}
        // Of a shared count only its own part: the owner of one account must not clear the count of others.
        count.failures = isRight && !isShared ? 0 : Math.max(0, count.failures - added)
        // The wait stays if others have caused it meanwhile.
        if (count.failures < free || count.until_ms === until_ms) count.until_ms = 0
      }
    })
    // If the store cannot be written, the guess stays counted for a while; its result is returned all the same.
    await changed.catch(() => {})
  }
}

/** How long a count makes a guess wait. Not at all if that is longer than any wait: the clock was set back. */
function waitOf({ by, until_ms }: GuessCount, now_ms: number): number {
  const wait_ms = until_ms - now_ms
  return wait_ms > ALLOWANCES[by].longestWait_s * 1000 + CLOCKS_MS ? 0 : wait_ms
}

function addFailure(count: GuessCount, isFirst: boolean, now_ms: number): Failure {
  const { free, longestWait_s, isShared } = ALLOWANCES[count.by]
  const added = isFirst || !isShared ? 1 : 0
  if (!isShared || count.failures === 0) count.since_ms = now_ms
  count.failures += added
  const wait_s = Math.min(2 ** (count.failures - free), longestWait_s)
  // 0 and not `now_ms` if no wait applies: after a clock was set back, `now_ms` would mean a wait.
  count.until_ms = count.failures < free ? 0 : now_ms + wait_s * 1000
  return { added, until_ms: count.until_ms }
}

/** Digests a name, which has no useful bound: an email of 254 characters can have 9 KB in the form that is compared. */
function nameOf({ by, value }: Subject): CountName {
  return { by, digest: hash('sha256', value, 'base64') }
}

const NO_FAILURES = { failures: 0, since_ms: 0, until_ms: 0 }

/**
 * Minimum number of counts kept per kind, and separately of those that are half way to a wait. So invented names evict
 * only each other: with one guess each they evict nothing that is half way, and guessing several times at each takes
 * longer than the wait that it would avoid.
 */
const COUNTS = 50_000

/** Counts in this process, enough if it alone serves the store. */
class InMemoryCounts implements GuessCounts {
  readonly #maps = new Map<string, RecentMap<GuessCount>>()

  async change<Result>(
    names: readonly CountName[],
    change: (counts: GuessCount[]) => Result,
  ): Promise<Result> {
    const counts = names.map((name) => ({ ...NO_FAILURES, ...name, ...this.#find(name) }))
    const result = change(counts)
    for (const count of counts) this.#put(count)
    return result
  }

  #find({ by, digest }: CountName): GuessCount | undefined {
    return this.#map(by, true).get(digest) ?? this.#map(by, false).get(digest)
  }

  #put(count: GuessCount) {
    const { by, digest, failures } = count
    for (const isHalfWay of [true, false]) this.#map(by, isHalfWay).delete(digest)
    if (failures > 0) this.#map(by, failures >= ALLOWANCES[by].free / 2).set(digest, count)
  }

  #map(by: CountedBy, isHalfWay: boolean): RecentMap<GuessCount> {
    const name = `${by} ${isHalfWay}`
    const known = this.#maps.get(name)
    if (known) return known
    const made = new RecentMap<GuessCount>(COUNTS)
    this.#maps.set(name, made)
    return made
  }
}
