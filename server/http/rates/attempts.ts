import { hash } from 'node:crypto'
import { Problem } from '../../problems.ts'
import {
  type CountName,
  FORGET_MS,
  type GuessCount,
  type GuessCounts,
  type OpenCounts,
} from '../../storage/guess-counts.ts'

/**
 * Number of free wrong guesses; after that each must wait: one second, then twice as long each time up to the maximum.
 */
type Allowance = { free: number; longestWait_s: number }

/**
 * Own counts of wrong guesses: one account from one network; one account from a browser that has signed in to it
 * before, which counts towards nothing else, so that nobody can lock out the owner by guessing; the tokens of links
 * from one network.
 */
const OWN = {
  pair: { free: 5, longestWait_s: 60 },
  device: { free: 10, longestWait_s: 300 },
  link: { free: 30, longestWait_s: 300 },
} as const satisfies Record<string, Allowance>

/**
 * Counts that many pairs share: one network that tries accounts; one account that networks try. Each pair counts once,
 * with its first wrong guess. If every guess counted, five networks that keep guessing, each as often as its own count
 * allows, would keep the account's count above any limit and lock out every new browser permanently.
 */
const SHARED = {
  network: { free: 30, longestWait_s: 300 },
  account: { free: 20, longestWait_s: 60 },
} as const satisfies Record<string, Allowance>

const allowances = { ...OWN, ...SHARED }

type Kind = keyof typeof allowances

type Name = CountName & { by: Kind }

/** Returns the number of free wrong guesses of a kind. */
export function freeGuesses(by: string): number {
  return allowances[by as Kind].free
}

/** The caller and target of a guess. Values are stored as digests. */
export type Guesser = {
  own: { by: keyof typeof OWN; value: string }
  shared?: readonly { by: keyof typeof SHARED; value: string }[]
}

/** A guess in progress: what was counted for it, or how long the caller must wait. */
type Begun = { counted: readonly Failure[] } | { wait_s: number }

/** Throttles guesses of passwords and tokens with exponential backoff. */
export class Attempts {
  readonly #ledger: Pick<GuessLedger, 'begin' | 'end'>

  /** @param ledger counts the guesses */
  constructor(ledger: Pick<GuessLedger, 'begin' | 'end'>) {
    this.#ledger = ledger
  }

  /**
   * Runs a guess. It counts as wrong until its result is known, so that concurrent guesses cannot slip through. A guess
   * that must wait is not counted, nor is one that fails: an outage is not a wrong guess.
   * @param find returns undefined if the guess is wrong
   * @throws {Problem} `too_many_attempts` if further guesses must wait
   */
  async guess<Found>(guesser: Guesser, find: () => Promise<Found | undefined>): Promise<Found | undefined> {
    const begun = await this.#ledger.begin(guesser)
    if ('wait_s' in begun) {
      throw new Problem('too_many_attempts', { headers: { 'Retry-After': String(begun.wait_s) } })
    }
    let isWrong = false
    let isRight = false
    try {
      const found = await find()
      isWrong = found === undefined
      isRight = !isWrong
      return found
    } finally {
      if (!isWrong) await this.#ledger.end(begun.counted, { isRight })
    }
  }
}

/** Counts wrong guesses. */
export class GuessLedger {
  readonly #now: () => number
  readonly #counts: GuessCounts

  constructor({ now, counts }: { now: () => number; counts: GuessCounts }) {
    this.#now = now
    this.#counts = counts
  }

  /** Counts a guess as wrong, if it is allowed. */
  async begin({ own, shared = [] }: Guesser): Promise<Begun> {
    const now_ms = this.#now()
    const one = nameOf(own)
    const others = shared.map(nameOf)
    const names = [one, ...others]
    return await this.#counts.change<Begun>(names, (counts) => {
      const until_ms = Math.max(...names.map((name) => current(counts, name, now_ms)?.until_ms ?? 0))
      if (until_ms > now_ms) return { wait_s: Math.ceil((until_ms - now_ms) / 1000) }
      const isFirst = current(counts, one, now_ms) === undefined
      const counted = [
        fail(counts, one, { count: 1, since_ms: now_ms, now_ms }),
        ...others.map((other) => {
          const since_ms = current(counts, other, now_ms)?.since_ms ?? now_ms
          return fail(counts, other, { count: isFirst ? 1 : 0, since_ms, now_ms })
        }),
      ]
      return { counted }
    })
  }

  /**
   * Reverts what was counted for a guess that was not wrong.
   * @param options.isRight whether to clear the own count of the caller
   */
  async end(counted: readonly Failure[], { isRight }: { isRight: boolean }): Promise<void> {
    const names = counted.map(({ name }) => name)
    const changed = this.#counts.change(names, (counts) => {
      // Of shared counts it reverts only its own part: the owner of one account must not clear the count of others.
      const [own] = names
      if (isRight && own) counts.put(own, undefined)
      for (const failure of counted) takeBack(counts, failure)
    })
    // If the store cannot be written, the guess stays counted for a while; its result is returned all the same.
    await changed.catch(() => {})
  }
}

function current(counts: OpenCounts, name: Name, now_ms: number): GuessCount | undefined {
  const count = counts.get(name)
  return count && now_ms - count.since_ms <= FORGET_MS ? count : undefined
}

/** A counted guess: the count before it, and the count that it made. */
type Failure = { name: Name; count: 0 | 1; before: GuessCount | undefined; made: GuessCount }

function fail(
  counts: OpenCounts,
  name: Name,
  { count, since_ms, now_ms }: { count: 0 | 1; since_ms: number; now_ms: number },
): Failure {
  const { free, longestWait_s } = allowances[name.by]
  const before = current(counts, name, now_ms)
  const failures = (before?.failures ?? 0) + count
  // 0 and not `now_ms` if no wait applies: after a clock was set back, `now_ms` would mean a wait.
  const until_ms = failures < free ? 0 : now_ms + Math.min(2 ** (failures - free), longestWait_s) * 1000
  const made: GuessCount = { failures, since_ms, until_ms }
  counts.put(name, made)
  return { name, count, before, made }
}

/** Reverts a failure, and the wait that it caused. */
function takeBack(counts: OpenCounts, { name, count, before, made }: Failure) {
  const now = counts.get(name)
  if (now === undefined) return
  const isUntouched = now.failures === made.failures && now.until_ms === made.until_ms
  if (isUntouched) return counts.put(name, before)
  // Others have guessed meanwhile; what they added stays.
  const failures = now.failures - count
  const { free } = allowances[name.by]
  counts.put(name, { ...now, failures, until_ms: failures < free ? 0 : now.until_ms })
}

/** Digests a name, which has no useful bound: an email of 254 characters can have 9 KB in the form that is compared. */
function nameOf({ by, value }: { by: Kind; value: string }): Name {
  return { by, digest: hash('sha256', value, 'base64') }
}
