import { CLOCKS_MS } from '../domain/instants.ts'
import { inTransaction } from '../storage/in-transaction.ts'
import { makeDueAfterStep } from '../storage/tables/webhook-deliveries.ts'
import { advanceWebhook, type StoredWebhook } from '../storage/tables/webhooks.ts'
import type { FanOutOptions } from './fan-out.ts'

/**
 * Lets a webhook go on after the clock was set back. By instants that are still to come it would be told nothing that
 * happens until then, and what has failed would not be sent again.
 */
export async function followClock(
  webhook: StoredWebhook,
  { storage, now }: Pick<FanOutOptions, 'storage' | 'now'>,
): Promise<void> {
  const { from_ms, told_ms, entered_ms } = webhook
  const now_ms = now()
  const isAhead = Math.max(from_ms, told_ms, entered_ms) > now_ms
  const passed = (ms: number) => (ms > now_ms + CLOCKS_MS ? now_ms - CLOCKS_MS : Math.min(ms, now_ms))
  const progress = { from_ms: passed(from_ms), told_ms: passed(told_ms), entered_ms: passed(entered_ms) }
  await inTransaction(storage.db, async (db) => {
    const isDue = await makeDueAfterStep(db, webhook, { now_ms, tried_after_ms: now_ms + CLOCKS_MS })
    if (!isAhead && !isDue) return
    await advanceWebhook(db, webhook, { ...progress, ...(isDue && { retry_ms: null }) }, undefined)
  })
}
