import { setImmediate as nextRound } from 'node:timers/promises'

/**
 * Maximum characters redacted or searched between two yields to other work of the main thread: 1 ms, or 8 ms for the
 * worst texts (only quotes).
 */
const SLICE_CHARACTERS = 16 * 1024

/** Returns a function that yields to other work of the main thread after a number of characters. */
export function pacer(): (characters: number) => Promise<void> {
  let worked = 0
  return async (characters) => {
    worked += characters
    if (worked < SLICE_CHARACTERS) return
    worked = 0
    await nextRound()
  }
}
