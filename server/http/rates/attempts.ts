import { hash } from 'node:crypto'
import { Problem } from '../../problems.ts'
import { RecentMap } from './recent-map.ts'

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

/**
 * A count of its own is forgotten so long after the last wrong guess, a shared one so long after the first: it has to be
 * reached again from nothing, with pairs that have been silent for as long.
 */
const FORGET_MS = 3_600_000

/**
 * So many counts of each kind are remembered at least, and apart from them so many of those that have come half the way to
 * a wait. So names that are made up for the purpose put only each other out: with one guess each nothing that has come
 * half the way; and to guess so often at each takes longer than the waiting that is saved by it.
 */
const COUNTS = 50_000

/** Who guesses at what. The values are kept as digests. */
export type Guesser = {
  own: { by: keyof typeof OWN; value: string }
  shared?: readonly { by: keyof typeof SHARED; value: string }[]
}

type Count = { failures: number; since_ms: number; until_ms: number }

/** The counts of one kind, by name. */
class Counts {
  readonly allowance: Allowance
  readonly #few = new RecentMap<Count>(COUNTS)
  readonly #many = new RecentMap<Count>(COUNTS)

  constructor(allowance: Allowance) {
    this.allowance = allowance
  }

  get(name: string): Count | undefined {
    return this.#many.get(name) ?? this.#few.get(name)
  }

  put(name: string, count: Count | undefined): void {
    this.#few.delete(name)
    this.#many.delete(name)
    if (count === undefined || count.failures <= 0) return
    const isHalfTheWay = count.failures >= this.allowance.free / 2
    const counts = isHalfTheWay ? this.#many : this.#few
    counts.set(name, count)
  }
}

/** Counts wrong guesses, in this process. */
export class Attempts {
  readonly #now: () => number
  readonly #own = {
    pair: new Counts(OWN.pair),
    device: new Counts(OWN.device),
    link: new Counts(OWN.link),
  }
  readonly #shared = { network: new Counts(SHARED.network), account: new Counts(SHARED.account) }

  constructor({ now }: { now: () => number }) {
    this.#now = now
  }

  /**
   * Lets somebody guess. Until it is known how it ends the guess counts as wrong: guesses side by side must not slip
   * through. One that must wait does not count, nor does one that fails: an outage is no wrong guess.
   * @param find undefined where the guess is wrong
   * @throws {Problem} `too_many_attempts` where further guesses must wait
   */
  async guess<Found>(
    { own, shared = [] }: Guesser,
    find: () => Promise<Found | undefined>,
  ): Promise<Found | undefined> {
    const now_ms = this.#now()
    const one = { counts: this.#own[own.by], name: nameOf(own.value) }
    const others = shared.map(({ by, value }) => ({ counts: this.#shared[by], name: nameOf(value) }))
    assertMayGuess([one, ...others], now_ms)

    const isFirst = current(one, now_ms) === undefined
    const takeBack = [
      fail(one, { count: 1, since_ms: now_ms, now_ms }),
      ...others.map((other) => {
        const since_ms = current(other, now_ms)?.since_ms ?? now_ms
        return fail(other, { count: isFirst ? 1 : 0, since_ms, now_ms })
      }),
    ]
    let isWrong = false
    try {
      const found = await find()
      isWrong = found === undefined
      // Of those that are shared it takes back its own alone: who has an account must not clear the count of others.
      if (!isWrong) one.counts.put(one.name, undefined)
      return found
    } finally {
      if (!isWrong) for (const take of takeBack) take()
    }
  }
}

/** Whose guesses are counted together. */
type Subject = { counts: Counts; name: string }

function assertMayGuess(subjects: readonly Subject[], now_ms: number) {
  const until_ms = Math.max(...subjects.map((subject) => current(subject, now_ms)?.until_ms ?? 0))
  if (until_ms <= now_ms) return
  const wait_s = Math.ceil((until_ms - now_ms) / 1000)
  throw new Problem('too_many_attempts', { headers: { 'Retry-After': String(wait_s) } })
}

function current({ counts, name }: Subject, now_ms: number): Count | undefined {
  const count = counts.get(name)
  return count && now_ms - count.since_ms <= FORGET_MS ? count : undefined
}

/** @returns takes the failure back, and the wait that it made */
function fail(
  subject: Subject,
  { count, since_ms, now_ms }: { count: 0 | 1; since_ms: number; now_ms: number },
): () => void {
  const { counts, name } = subject
  const { free, longestWait_s } = counts.allowance
  const before = current(subject, now_ms)
  const failures = (before?.failures ?? 0) + count
  // Not `now_ms` where nobody waits: a clock that is set back would make them.
  const until_ms = failures < free ? 0 : now_ms + Math.min(2 ** (failures - free), longestWait_s) * 1000
  const made: Count = { failures, since_ms, until_ms }
  counts.put(name, made)
  return () => {
    const now = counts.get(name)
    if (now === made) return counts.put(name, before)
    // Others have guessed meanwhile; what they have added stays.
    if (now === undefined) return
    const failures = now.failures - count
    counts.put(name, { ...now, failures, until_ms: failures < free ? 0 : now.until_ms })
  }
}

/** A digest, because names have no bound worth the name: an email of 254 characters can be 9 KB as it is compared. */
function nameOf(value: string): string {
  return hash('sha256', value, 'base64')
}
