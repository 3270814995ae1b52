/** How long a result is shared: each check is a durable write, and anyone may ask without a credential. */
const SHARED_MS = 1_000

/** Shares one check among all who ask within a second. @returns a function that resolves or rejects like the check */
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
