import type { components } from '../../generated/contract.ts'
import type { Position } from '../domain/cursors.ts'
import { duration_ms } from '../domain/durations.ts'
import { instant_ms, instantText } from '../domain/instants.ts'
import { eventIdsOf } from '../domain/journey-standing.ts'
import { deliveryOf, type NewDelivery } from '../domain/webhook-messages.ts'
import { settledIfSoon } from '../storage/exports/export-walk.ts'
import type { CustomerJourney } from '../storage/standings/standings.ts'
import type { JourneyWindow } from '../storage/tables/webhook-windows.ts'
import type { StoredWebhook } from '../storage/tables/webhooks.ts'
import { type FanOutOptions, nextEvents, withoutKnown, write } from './fan-out.ts'

// What a customer has reached is taken from the standings, once they include what was read. A message is made again when
// a later event concerns the same step; its identifier is the same, so it is told once.

type Event = components['schemas']['Event']

/** Someone in a journey. */
export type Enrolment = { journey_id: string; customer_id: string }

/** Customers whose standings are read at a time. */
const AT_ONCE = 8

/** Journeys of a customer read at a time. */
const PAGE = 500

/** Whether a webhook is told anything about journeys. */
export function isToldOfJourneys({ types }: StoredWebhook): boolean {
  return types.some((type) => type.startsWith('journey.'))
}

/**
 * Tells which steps customers have reached with the next events.
 * @returns whether there may be more
 */
export async function tellSteps(webhook: StoredWebhook, options: FanOutOptions): Promise<boolean> {
  if (!isToldOfJourneys(webhook)) return false
  const since = { ...webhook, from_ms: journeysSince(webhook, options.now()) }
  const { events, cursor, isMore } = await nextEvents(since, webhook.journey_cursor, options)
  if (events.length === 0) return false
  const clock_ms = await options.storage.clock_ms(options.reading)
  const made: Made = { deliveries: [], windows: [] }
  const groups = [...byEnrolment(webhook, await eventsThatTell(webhook, events, options))]
  for (let from = 0; from < groups.length; from += AT_ONCE) {
    const some = groups.slice(from, from + AT_ONCE)
    const standings = await Promise.all(
      some.map(([, events]) => standingWith(webhook, events, clock_ms, options)),
    )
    // They follow what is stored within moments.
    if (standings.includes('later')) return false
    for (const [index, [, events]] of some.entries()) {
      const standing = standings[index]
      if (standing && standing !== 'later') addSteps(made, webhook, standing, events, options.now())
    }
  }
  const deliveries = await withoutKnown(webhook, made.deliveries, options)
  await write(webhook, { journey_cursor: cursor }, { ...made, deliveries }, options)
  return isMore
}

/**
 * Returns the instant since when a webhook is told about journeys: its creation, or when it skipped what it had missed. A
 * replay repeats none of these messages.
 */
export function journeysSince({ from_ms, replay_ms, created_ms }: StoredWebhook, now_ms: number): number {
  const since_ms = replay_ms === null ? from_ms : created_ms
  // One that is still to come: the clock was set back.
  return since_ms > now_ms ? 0 : since_ms
}

/** Returns the events that may lead to a message: any may be someone's first in a journey, others only if they are steps. */
async function eventsThatTell(
  { workspace_id, types }: StoredWebhook,
  events: readonly Event[],
  { storage }: FanOutOptions,
): Promise<readonly Event[]> {
  if (types.includes('journey.entered') || types.includes('journey.dropped')) return events
  const rows = await storage.db
    .selectFrom('journeys')
    .select(['journey_id', 'steps'])
    .where('workspace_id', '=', workspace_id)
    .where('journey_id', 'in', [...new Set(events.map(({ journey_id }) => journey_id))])
    .execute()
  const key = (event: Pick<Event, 'journey_id' | 'event_id'>) => `${event.journey_id} ${event.event_id}`
  const steps = rows.flatMap(({ journey_id, steps }) =>
    eventIdsOf(steps).map((event_id) => key({ journey_id, event_id })),
  )
  const known = new Set(steps)
  return events.filter((event) => known.has(key(event)))
}

/** Messages, and windows that begin. */
export type Made = { deliveries: NewDelivery[]; windows: JourneyWindow[] }

function byEnrolment({ journey_ids }: StoredWebhook, events: readonly Event[]): Map<string, Event[]> {
  const wanted = events.filter(({ journey_id }) => !journey_ids || journey_ids.includes(journey_id))
  return Map.groupBy(wanted, ({ journey_id, customer_id }) => `${journey_id} ${customer_id}`)
}

function latest_ms(events: readonly Event[]): number {
  return Math.max(...events.map(({ received_at }) => instant_ms(received_at)))
}

/**
 * Returns where the customer of some events stands with them, as `standingSince` does.
 * @param clock_ms what the clock showed once they were read. Events with a later time are from before it was set back.
 */
async function standingWith(
  webhook: StoredWebhook,
  events: readonly Event[],
  clock_ms: number,
  options: FanOutOptions,
): Promise<CustomerJourney | undefined | 'later'> {
  const since_ms = Math.min(latest_ms(events), clock_ms)
  const look = async () => {
    const standing = await standingSince(webhook, events[0] as Event, since_ms, options)
    return { standing, caughtUp_ms: standing === 'later' ? Number.NEGATIVE_INFINITY : since_ms }
  }
  // Waits, because the next time the clock will show more.
  const isAhead = latest_ms(events) > clock_ms
  const { standing } = isAhead ? await settledIfSoon(since_ms, options.reading.signal, look) : await look()
  return standing
}

/**
 * Returns where a customer stands in a journey.
 * @returns undefined if it takes no part; `later` if what was stored until an instant is not included yet, or if the
 * standing is still that of the steps before a change
 */
export async function standingSince(
  { workspace_id }: StoredWebhook,
  { journey_id, customer_id }: Enrolment,
  since_ms: number,
  { storage, reading }: FanOutOptions,
): Promise<CustomerJourney | undefined | 'later'> {
  for (let after: Position | null | undefined; after !== null; ) {
    const page = { limit: PAGE, ...(after && { after }) }
    const found = await storage.standings.customerJourneys(workspace_id, customer_id, page, reading)
    const journey = found.rows.find((row) => row.journey_id === journey_id)
    const as_of_ms = journey ? journey.as_of_ms : found.as_of_ms
    if (as_of_ms === null || as_of_ms < since_ms || journey?.recomputing) return 'later'
    if (journey) return journey
    after = found.next
  }
  return undefined
}

/** Adds the messages to which events of a customer in a journey have led. */
function addSteps(
  made: Made,
  webhook: StoredWebhook,
  standing: CustomerJourney,
  events: readonly Event[],
  now_ms: number,
) {
  const { journey_id, entered_ms, reached, event_ids } = standing
  const [{ customer_id }] = events as [Event]
  const enrolment = { journey_id, customer_id }
  const ids = new Set(events.map(({ id }) => id))
  if (events.some(({ occurred_at }) => instant_ms(occurred_at) === entered_ms))
    addEntry(made, webhook, enrolment, entered_ms, now_ms)
  const first = reached.findIndex(({ id }) => ids.has(id))
  if (first === -1) return
  for (let index = first; index < reached.length; index += 1) {
    const { at_ms = 0 } = reached[index] ?? {}
    const event_id = event_ids[index] ?? ''
    const about = { ...enrolment, subject: `${journey_id} ${customer_id} ${event_id}`, now_ms }
    const timestamp = instantText(at_ms)
    if (webhook.types.includes('journey.step_reached')) {
      const data = { ...enrolment, step: index + 1, event_id, reached_at: timestamp }
      made.deliveries.push(
        deliveryOf(webhook.webhook_id, { type: 'journey.step_reached', timestamp, data }, about),
      )
    }
    if (webhook.types.includes('journey.completed') && index === event_ids.length - 1) {
      const data = { ...enrolment, entered_at: instantText(entered_ms), completed_at: timestamp }
      made.deliveries.push(
        deliveryOf(webhook.webhook_id, { type: 'journey.completed', timestamp, data }, about),
      )
    }
  }
}

/** Adds what is told when a customer enters a journey. */
export function addEntry(
  made: Made,
  { webhook_id, types, dropped_after }: StoredWebhook,
  enrolment: Enrolment,
  entered_ms: number,
  now_ms: number,
) {
  const { journey_id, customer_id } = enrolment
  if (types.includes('journey.entered')) {
    const timestamp = instantText(entered_ms)
    const message = {
      type: 'journey.entered',
      timestamp,
      data: { ...enrolment, entered_at: timestamp },
    } as const
    const about = { ...enrolment, subject: `${journey_id} ${customer_id}`, now_ms }
    made.deliveries.push(deliveryOf(webhook_id, message, about))
  }
  if (types.includes('journey.dropped') && dropped_after !== null)
    made.windows.push({ ...enrolment, entered_ms, closes_ms: entered_ms + duration_ms(dropped_after) })
}
