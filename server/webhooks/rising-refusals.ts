import { HOUR_MS } from '../domain/durations.ts'
import { instantText } from '../domain/instants.ts'
import { deliveryOf } from '../domain/webhook-messages.ts'
import type { ProblemCode } from '../problems.ts'
import { inTransaction } from '../storage/in-transaction.ts'
import { insertDeliveries } from '../storage/tables/webhook-deliveries.ts'
import type { StoredWebhook } from '../storage/tables/webhooks.ts'
import { type FanOutOptions, withoutKnown } from './fan-out.ts'

/** From this many on, and more than this many times as many as in the hour before. */
const LEAST = 10
const TIMES = 2

/** Tells which keys have more requests rejected than before; once in an hour of the clock for each key and code. */
export async function tellRisingRefusals(
  webhook: StoredWebhook,
  { storage, now, reading }: Pick<FanOutOptions, 'storage' | 'now' | 'reading'>,
): Promise<void> {
  if (!webhook.types.includes('refusals.rising')) return
  const to_ms = now()
  const span = { from_ms: to_ms - 2 * HOUR_MS, to_ms }
  const { groups } = await storage.refusals.summary(webhook.workspace_id, span, 2, reading)
  const byKeyAndCode = Map.groupBy(groups, ({ key_id, code }) => `${key_id} ${code}`)
  const rising = [...byKeyAndCode.values()].flatMap((groups) => {
    const { key_id, code } = groups[0] as (typeof groups)[number]
    const sum = (period: number) => groups.reduce((sum, { counts }) => sum + (counts[period] ?? 0), 0)
    const [count_before, count] = [sum(0), sum(1)]
    if (count < LEAST || count <= TIMES * count_before) return []
    const from = instantText(to_ms - HOUR_MS)
    const to = instantText(to_ms)
    const data = { key_id, code: code as ProblemCode, count, count_before, from, to }
    const message = { type: 'refusals.rising', timestamp: to, data } as const
    const subject = `${key_id} ${code} ${Math.floor(to_ms / HOUR_MS)}`
    return [deliveryOf(webhook.webhook_id, message, { subject, now_ms: to_ms })]
  })
  const fresh = await withoutKnown(webhook, rising, { storage })
  if (fresh.length === 0) return
  await inTransaction(storage.db, (db) => insertDeliveries(db, webhook, fresh))
}
