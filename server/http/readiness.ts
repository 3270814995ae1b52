import { setTimeout } from 'node:timers/promises'

/** How long a result is shared: each check is a durable write, and anyone may ask without a credential. */
const SHARED_MS = 1_000

/** How long a scrape waits for the check, which is less than a scraper's usual patience of ten seconds. */
const PATIENCE_MS = 5_000

/** Whether a check succeeds within five seconds. */
export async function isReady(assertWritable: () => Promise<void>): Promise<boolean> {
  const given = new AbortController()
  const tooLate = setTimeout(PATIENCE_MS, false, { signal: given.signal, ref: false }).catch(() => false)
  const checked = assertWritable().then(
    () => true,
    () => false,
  )
  return await Promise.race([checked, tooLate]).finally(() => given.abort())
}

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
