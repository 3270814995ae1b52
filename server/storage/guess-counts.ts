/** What wrong guesses are counted by. */
export type CountedBy = 'pair' | 'device' | 'link' | 'network' | 'account'

/** The name of a count: what it is counted by, and the digest of the subject. */
export type CountName = { by: CountedBy; digest: string }

/** A count of wrong guesses. */
export type GuessCount = CountName & {
  failures: number
  /** Start of the time after which the count is forgotten. */
  since_ms: number
  /** Further guesses must wait until then. */
  until_ms: number
}

/**
 * When a count is forgotten: an own count this long after the last guess, a shared one this long after the first. A
 * shared count must then be reached again from zero, by pairs that have been silent for as long.
 */
export const FORGET_MS = 3_600_000

/** Counts wrong guesses, in one process or for all processes on a store. */
export type GuessCounts = {
  /**
   * Changes counts atomically.
   * @param change modifies the counts, in any order; one that was not stored has no failures. If it throws, nothing is
   *   stored
   */
  change<Result>(names: readonly CountName[], change: (counts: GuessCount[]) => Result): Promise<Result>
}
