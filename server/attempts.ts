import { Problem } from './problems.ts'

/** How many wrong guesses are free, and how long those after them must wait: a second, then twice as long each time. */
type Allowance = { free: number; longestWait_s: number }

/**
 * By what guesses are counted. One account from one address; one address, whatever the account; one account, from wherever;
 * one account from a browser that has signed in to it before, which is counted by nothing else: so nobody locks out its
 * owner by guessing. The tokens of links, from one address.
 */
const ALLOWANCES = {
  pair: { free: 5, longestWait_s: 60 },
  address: { free: 30, longestWait_s: 300 },
  account: { free: 50, longestWait_s: 60 },
  device: { free: 10, longestWait_s: 300 },
  link: { free: 30, longestWait_s: 300 },
} as const satisfies Record<string, Allowance>

/** A count is forgotten when so much time has passed without a wrong guess. */
const FORGET_MS = 3_600_000

/** Beyond this number the counts that have not changed for longest are forgotten. */
const COUNTS = 100_000

export type Subject = { by: keyof typeof ALLOWANCES; value: string }

type Count = { failures: number; last_ms: number; until_ms: number }

/** Counts wrong guesses, in this process. */
export class Attempts {
  readonly #now: () => number
  readonly #counts = new Map<string, Count>()

  constructor({ now }: { now: () => number }) {
    this.#now = now
  }

  /**
   * Begins a guess, which counts as wrong until it is told to be right: guesses side by side must not slip through. One
   * that must wait does not count.
   * @returns takes it back, where the guess was right
   * @throws {Problem} `too_many_attempts` where one of the subjects must wait
   */
  begin(subjects: readonly Subject[]): () => void {
    const now_ms = this.#now()
    const until_ms = Math.max(...subjects.map((subject) => this.#count(subject, now_ms).until_ms))
    if (until_ms > now_ms) {
      const wait_s = Math.ceil((until_ms - now_ms) / 1000)
      throw new Problem('too_many_attempts', { headers: { 'Retry-After': String(wait_s) } })
    }
    for (const subject of subjects) {
      this.#put(subject, failed(this.#count(subject, now_ms), ALLOWANCES[subject.by], now_ms))
    }
    return () => {
      for (const subject of subjects) {
        const count = this.#count(subject, now_ms)
        // Whoever has an account must not clear the count of others by signing in to it.
        const isShared = subject.by !== 'pair' && subject.by !== 'device'
        const failures = isShared ? Math.max(0, count.failures - 1) : 0
        this.#put(subject, { ...count, failures, until_ms: 0 })
      }
    }
  }

  #count(subject: Subject, now_ms: number): Count {
    const count = this.#counts.get(nameOf(subject))
    const isForgotten = count === undefined || now_ms - count.last_ms > FORGET_MS
    return isForgotten ? { failures: 0, last_ms: now_ms, until_ms: 0 } : count
  }

  #put(subject: Subject, count: Count) {
    const name = nameOf(subject)
    // The map keeps the order of insertion: what was put last goes last.
    this.#counts.delete(name)
    this.#counts.set(name, count)
    const [oldest] = this.#counts.keys()
    if (this.#counts.size > COUNTS && oldest !== undefined) this.#counts.delete(oldest)
  }
}

function failed({ failures }: Count, { free, longestWait_s }: Allowance, now_ms: number): Count {
  const beyond = failures + 1 - free
  // Not `now_ms` where nobody waits: a clock that is set back would make them.
  const until_ms = beyond < 0 ? 0 : now_ms + Math.min(2 ** beyond, longestWait_s) * 1000
  return { failures: failures + 1, last_ms: now_ms, until_ms }
}

function nameOf({ by, value }: Subject): string {
  return `${by} ${value}`
}
