/** A count of wrong guesses. */
export type GuessCount = {
  failures: number
  /** Start of the time after which the count is forgotten. */
  since_ms: number
  /** Further guesses must wait until then. */
  until_ms: number
}

/**
 * When a count is forgotten: an own count this long after the last wrong guess, a shared one this long after the first.
 * A shared count must then be reached again from zero, by pairs that have been silent for as long.
 */
export const FORGET_MS = 3_600_000

/** The kind of a count, and the digest of its subject. */
export type CountName = { by: string; digest: string }

/** Exclusive access to some counts. */
export type OpenCounts = {
  get(name: CountName): GuessCount | undefined
  /** @param count undefined removes it */
  put(name: CountName, count: GuessCount | undefined): void
}

/** Counts wrong guesses, in one process or for all processes on a store. */
export type GuessCounts = {
  /**
   * Reads these counts and writes those that are put, atomically.
   * @param change if it throws, its puts are reverted
   */
  change<Result>(names: readonly CountName[], change: (counts: OpenCounts) => Result): Promise<Result>
}
