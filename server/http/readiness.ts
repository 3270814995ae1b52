/** What one look has found is told for so long: it is a durable write, and whoever asks shows no credential. */
const SHARED_MS = 1_000

/** Shares one look among all who ask within a second. @returns asks; rejects as the look did */
export function sharedLook(look: () => Promise<void>): () => Promise<void> {
  let found: Promise<void> | undefined
  let began_ms = Number.NEGATIVE_INFINITY
  let isUnderWay = false
  return () => {
    if (!found || (!isUnderWay && performance.now() - began_ms >= SHARED_MS)) {
      began_ms = performance.now()
      isUnderWay = true
      found = look().finally(() => {
        isUnderWay = false
      })
    }
    return found
  }
}
