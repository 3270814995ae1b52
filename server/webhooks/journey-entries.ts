import type { Position } from '../domain/cursors.ts'
import { instantText } from '../domain/instants.ts'
import { deliveryOf } from '../domain/webhook-messages.ts'
import { MOST_PENDING } from '../storage/tables/webhook-deliveries.ts'
import {
  closedWindows,
  type JourneyWindow,
  knownWindows,
  windowKey,
} from '../storage/tables/webhook-windows.ts'
import type { StoredWebhook, WebhookType } from '../storage/tables/webhooks.ts'
import { type FanOutOptions, NOTE_MS, withoutKnown, write } from './fan-out.ts'
import { addEntry, journeysSince, type Made, standingSince } from './journey-messages.ts'

/** Enrolments read per page, and windows examined at a time. */
const PAGE = 500
const WINDOWS_AT_ONCE = 100

/** How long an enrolment may take from its time to the answer; those since then are looked at again. */
const OVERLAP_MS = 10_000

const TYPES: WebhookType[] = ['journey.entered', 'journey.dropped']

/**
 * Tells who has entered the journeys; an initialization is no event. It moves on once all of them were read. Until then
 * it reads them again, newest first, and skips those that it has told.
 * @returns whether there may be more
 */
export async function tellEntries(webhook: StoredWebhook, options: FanOutOptions): Promise<boolean> {
  if (!webhook.types.some((type) => TYPES.includes(type))) return false
  const told: Told = { deliveries: 0, windows: 0 }
  let until_ms = options.now()
  for (const journeyId of await journeysOf(webhook, options)) {
    const complete_ms = await addEntries(told, webhook, journeyId, options)
    if (complete_ms === 'more') return true
    until_ms = Math.min(until_ms, complete_ms)
  }
  const hasNothing = told.deliveries === 0 && told.windows === 0
  if (hasNothing && until_ms < webhook.entered_ms + NOTE_MS) return false
  const entered_ms = Math.max(until_ms, webhook.entered_ms)
  await write(webhook, { entered_ms }, { deliveries: [] }, options)
  return false
}

/** How many deliveries and windows were written. */
type Told = { deliveries: number; windows: number }

async function journeysOf(
  { workspace_id, journey_ids, entered_ms }: StoredWebhook,
  { storage }: FanOutOptions,
) {
  let query = storage.db
    .selectFrom('journeys')
    .select('journey_id')
    .where('workspace_id', '=', workspace_id)
    .where('removed_ms', 'is', null)
    // Nobody enters an archived journey.
    .where(({ eb, or }) => or([eb('status', '=', 'active'), eb('updated_ms', '>=', entered_ms - OVERLAP_MS)]))
  if (journey_ids) query = query.where('journey_id', 'in', journey_ids)
  return (await query.execute()).map(({ journey_id }) => journey_id)
}

/**
 * Writes page by page who has entered a journey since it was last looked at.
 * @returns until when that is complete; `more` if as much was written as may wait to be sent
 */
async function addEntries(
  told: Told,
  webhook: StoredWebhook,
  journey_id: string,
  options: FanOutOptions,
): Promise<number | 'more'> {
  const { storage, now, reading } = options
  const entered_from_ms = Math.max(webhook.entered_ms - OVERLAP_MS, journeysSince(webhook, now()))
  let until_ms: number | undefined
  for (let after: Position | null | undefined; after !== null; ) {
    const page = { limit: PAGE, ...(after && { after }) }
    const found = await storage.standings.customers(
      webhook.workspace_id,
      journey_id,
      { entered_from_ms },
      page,
      reading,
    )
    if (!found) return now()
    // Of the first page, which was read before the others.
    until_ms ??= found.as_of_ms ?? webhook.entered_ms
    const made: Made = { deliveries: [], windows: [] }
    for (const { customer_id, entered_ms } of found.rows) {
      addEntry(made, webhook, { journey_id, customer_id }, entered_ms, now())
    }
    const deliveries = await withoutKnown(webhook, made.deliveries, options)
    const windows = await withoutKnownWindows(webhook, made.windows, options)
    if (deliveries.length > 0 || windows.length > 0)
      await write(webhook, {}, { deliveries, windows }, options)
    told.deliveries += deliveries.length
    told.windows += windows.length
    after = found.next
    if (told.deliveries >= MOST_PENDING && after !== null) return 'more'
  }
  return until_ms ?? webhook.entered_ms
}

async function withoutKnownWindows(
  webhook: StoredWebhook,
  windows: readonly JourneyWindow[],
  { storage }: FanOutOptions,
): Promise<JourneyWindow[]> {
  const customers = windows.map(({ customer_id }) => customer_id)
  const known = await knownWindows(storage.db, webhook, customers)
  return windows.filter((window) => !known.has(windowKey(window)))
}

/**
 * Tells which customers have not completed a journey in time.
 * @returns whether there may be more
 */
export async function tellDropped(webhook: StoredWebhook, options: FanOutOptions): Promise<boolean> {
  const { storage, now } = options
  const closed: JourneyWindow[] = []
  const deliveries = []
  const since_ms = journeysSince(webhook, now())
  const windows = await closedWindows(storage.db, webhook, now(), WINDOWS_AT_ONCE)
  for (const window of windows) {
    const { journey_id, customer_id, closes_ms } = window
    if (closes_ms < since_ms) {
      closed.push(window)
      continue
    }
    const standing = await standingSince(webhook, window, closes_ms, options)
    if (standing === 'later') continue
    closed.push(window)
    if (!standing || !webhook.types.includes('journey.dropped')) continue
    const { entered_ms, event_ids } = standing
    // An event of which the webhook is told in a moment may have made the entry earlier.
    const closed_ms = closes_ms - Math.max((window.entered_ms ?? entered_ms) - entered_ms, 0)
    if (closed_ms < since_ms) continue
    const reached = standing.reached.filter(({ at_ms }) => at_ms <= closed_ms)
    if (reached.length === event_ids.length) continue
    const data = {
      journey_id,
      customer_id,
      entered_at: instantText(entered_ms),
      window_closed_at: instantText(closed_ms),
      steps_reached: reached.length,
    }
    const message = { type: 'journey.dropped', timestamp: instantText(closed_ms), data } as const
    const about = { journey_id, customer_id, subject: `${journey_id} ${customer_id}`, now_ms: now() }
    deliveries.push(deliveryOf(webhook.webhook_id, message, about))
  }
  if (closed.length > 0) await write(webhook, {}, { deliveries, closed }, options)
  return closed.length === WINDOWS_AT_ONCE
}
