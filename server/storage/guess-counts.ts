/** What wrong guesses have come to. */
export type GuessCount = {
  failures: number
  /** From when the count is forgotten after a while. */
  since_ms: number
  /** Further guesses must wait until then. */
  until_ms: number
}

/**
 * A count of its own is forgotten so long after the last wrong guess, a shared one so long after the first: it has to be
 * reached again from nothing, with pairs that have been silent for as long.
 */
export const FORGET_MS = 3_600_000

/** By what guesses are counted, and the digest of whose they are. */
export type CountName = { by: string; digest: string }

/** The counts with some names, as nobody else can read or write them meanwhile. */
export type OpenCounts = {
  get(name: CountName): GuessCount | undefined
  /** @param count undefined forgets it */
  put(name: CountName, count: GuessCount | undefined): void
}

/** Where wrong guesses are counted: in one process, or for all processes on a store. */
export type GuessCounts = {
  /**
   * Reads the counts with these names and writes what is put.
   * @param change what it throws undoes what was put, and is thrown
   */
  change<Result>(names: readonly CountName[], change: (counts: OpenCounts) => Result): Promise<Result>
}
