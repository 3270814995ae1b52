import { hash } from 'node:crypto'
import { Problem } from '../../problems.ts'
import {
  type CountName,
  FORGET_MS,
  type GuessCount,
  type GuessCounts,
  type OpenCounts,
} from '../../storage/guess-counts.ts'

/** How many wrong guesses are free, and how long those after them must wait: a second, then twice as long each time. */
type Allowance = { free: number; longestWait_s: number }

/**
 * By what guesses are counted, each wrong one: one account from one network; one account from a browser that has signed
 * in to it before, which is counted by nothing else, so that nobody locks out its owner by guessing; the tokens of
 * links, from one network.
 */
const OWN = {
  pair: { free: 5, longestWait_s: 60 },
  device: { free: 10, longestWait_s: 300 },
  link: { free: 30, longestWait_s: 300 },
} as const satisfies Record<string, Allowance>

/**
 * What many of them have in common: one network, which tries accounts; one account, which networks try. Each pair counts
 * once, with its first wrong guess. Were every guess counted, five networks that go on guessing, each as often as its own
 * count lets it, would keep the account's count above any bound and every new browser out for ever.
 */
const SHARED = {
  network: { free: 30, longestWait_s: 300 },
  account: { free: 20, longestWait_s: 60 },
} as const satisfies Record<string, Allowance>

const allowances = { ...OWN, ...SHARED }

type Kind = keyof typeof allowances

type Name = CountName & { by: Kind }

/** So many wrong guesses of a kind are free. */
export function freeGuesses(by: string): number {
  return allowances[by as Kind].free
}

/** Who guesses at what. The values are kept as digests. */
export type Guesser = {
  own: { by: keyof typeof OWN; value: string }
  shared?: readonly { by: keyof typeof SHARED; value: string }[]
}

/** A guess that has begun: what was counted for it, or how long whoever guesses must wait. */
type Begun = { counted: readonly Failure[] } | { wait_s: number }

/** Lets people guess, as often as they may. */
export class Attempts {
  readonly #ledger: Pick<GuessLedger, 'begin' | 'end'>

  /** @param ledger where guesses are counted; it may be in another thread */
  constructor(ledger: Pick<GuessLedger, 'begin' | 'end'>) {
    this.#ledger = ledger
  }

  /**
   * Lets somebody guess. Until it is known how it ends the guess counts as wrong: guesses side by side must not slip
   * through. One that must wait does not count, nor does one that fails: an outage is no wrong guess.
   * @param find undefined where the guess is wrong
   * @throws {Problem} `too_many_attempts` where further guesses must wait
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

  /** Counts a guess as wrong, where it may be made. */
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
   * Takes back what was counted for a guess that was not wrong.
   * @param options.isRight nothing counts any more against who has guessed
   */
  async end(counted: readonly Failure[], { isRight }: { isRight: boolean }): Promise<void> {
    const names = counted.map(({ name }) => name)
    const changed = this.#counts.change(names, (counts) => {
      // Of those that are shared it takes back its own alone: who has an account must not clear the count of others.
      const [own] = names
      if (isRight && own) counts.put(own, undefined)
      for (const failure of counted) takeBack(counts, failure)
    })
    // Where the store cannot be written the guess goes on counting for a while; what came of it is told all the same.
    await changed.catch(() => {})
  }
}

function current(counts: OpenCounts, name: Name, now_ms: number): GuessCount | undefined {
  const count = counts.get(name)
  return count && now_ms - count.since_ms <= FORGET_MS ? count : undefined
}

/** A guess that was counted: what the count was before, and what was made of it. */
type Failure = { name: Name; count: 0 | 1; before: GuessCount | undefined; made: GuessCount }

function fail(
  counts: OpenCounts,
  name: Name,
  { count, since_ms, now_ms }: { count: 0 | 1; since_ms: number; now_ms: number },
): Failure {
  const { free, longestWait_s } = allowances[name.by]
  const before = current(counts, name, now_ms)
  const failures = (before?.failures ?? 0) + count
  // Not `now_ms` where nobody waits: a clock that is set back would make them.
  const until_ms = failures < free ? 0 : now_ms + Math.min(2 ** (failures - free), longestWait_s) * 1000
  const made: GuessCount = { failures, since_ms, until_ms }
  counts.put(name, made)
  return { name, count, before, made }
}

/** Takes a failure back, and the wait that it made. */
function takeBack(counts: OpenCounts, { name, count, before, made }: Failure) {
  const now = counts.get(name)
  if (now === undefined) return
  const isUntouched = now.failures === made.failures && now.until_ms === made.until_ms
  if (isUntouched) return counts.put(name, before)
  // Others have guessed meanwhile; what they have added stays.
  const failures = now.failures - count
  const { free } = allowances[name.by]
  counts.put(name, { ...now, failures, until_ms: failures < free ? 0 : now.until_ms })
}

/** A digest, because names have no bound worth the name: an email of 254 characters can be 9 KB as it is compared. */
function nameOf({ by, value }: { by: Kind; value: string }): Name {
  return { by, digest: hash('sha256', value, 'base64') }
}
