import type { components } from '../../generated/contract.ts'
import { cursorPosition, cursorText } from '../domain/cursors.ts'
import { instant_ms } from '../domain/instants.ts'
import { parseJsonText } from '../domain/json-text.ts'
import { deliveryOf, eventDelivery, type NewDelivery, skippedDelivery } from '../domain/webhook-messages.ts'
import type { Reading, Transaction } from '../storage/database.ts'
import { inTransaction } from '../storage/in-transaction.ts'
import { oldestCustomers } from '../storage/lists/arrived-customers.ts'
import type { ServedStorage } from '../storage/storage.ts'
import { inSlices } from '../storage/tables/some-rows.ts'
import { insertDeliveries, knownDeliveries } from '../storage/tables/webhook-deliveries.ts'
import { deleteWindow, insertWindows, type JourneyWindow } from '../storage/tables/webhook-windows.ts'
import { advanceWebhook, type StoredWebhook, type WebhookProgress } from '../storage/tables/webhooks.ts'

type Customer = components['schemas']['Customer']
type Event = components['schemas']['Event']
type EventPage = components['schemas']['EventPage']

export type FanOutOptions = {
  storage: ServedStorage
  now: () => number
  /** Whose lease must hold; undefined if there is one server. */
  owner: string | undefined
  reading: Reading
}

/** Events or customers read at a time: with their messages they are written in some milliseconds. */
const READ_AT_ONCE = 500

type Reader = Pick<FanOutOptions, 'storage' | 'reading'>

/** How long the first event is looked for at a time. */
const WALK_MS = 1_000

/** How often progress without messages is written. */
export const NOTE_MS = 60_000

/**
 * Reads the next events for a webhook and makes deliveries of them, in one transaction with the cursor: a server that is
 * killed makes them again, or not at all.
 * @returns whether there may be more
 */
export async function tellEvents(webhook: StoredWebhook, options: FanOutOptions): Promise<boolean> {
  if (!webhook.types.includes('event.created')) return false
  const { now } = options
  const told = await tellSkipped(webhook, options)
  const { events, cursor, read_ms, isMore } = await nextEvents(told, told.event_cursor, options)
  const deliveriesOf = (events: Event[]) => {
    return events
      .filter((event) => isWanted(told, event))
      .map((event) => eventDelivery(told.webhook_id, event, now()))
  }
  const [again, first] = replayedFirst(told, events, ({ received_at }) => received_at)
  const made = { deliveries: deliveriesOf(first), again: deliveriesOf(again) }
  const progress = { event_cursor: cursor, told_ms: Math.max(read_ms, told.told_ms) }
  if (events.length > 0 || progress.told_ms > told.told_ms + NOTE_MS)
    await write(told, progress, made, options)
  return isMore
}

/** Returns those that are told again, and the others. */
function replayedFirst<Item>(
  { replay_ms }: StoredWebhook,
  items: readonly Item[],
  at: (item: Item) => string,
): [again: Item[], first: Item[]] {
  const isAgain = (item: Item) => replay_ms !== null && instant_ms(at(item)) < replay_ms
  return [items.filter(isAgain), items.filter((item) => !isAgain(item))]
}

/** Says which events were removed before a webhook was told about them. @returns the webhook as it is then */
async function tellSkipped(webhook: StoredWebhook, options: FanOutOptions): Promise<StoredWebhook> {
  const since_ms = await removedBefore(options.storage, webhook)
  if (since_ms <= webhook.told_ms) return webhook
  const now_ms = options.now()
  const skipped = skippedDelivery(webhook.webhook_id, { from_ms: webhook.told_ms, to_ms: since_ms }, now_ms)
  await write(webhook, { told_ms: since_ms }, { deliveries: [skipped] }, options)
  return { ...webhook, told_ms: since_ms }
}

/** Returns the instant before which retention has removed events that a webhook is told about; 0 if it has not. */
async function removedBefore({ db }: ServedStorage, { workspace_id, journey_ids }: StoredWebhook) {
  const workspace = await db
    .selectFrom('workspaces')
    .select('events_since_ms as since_ms')
    .where('workspace_id', '=', workspace_id)
    .executeTakeFirst()
  let journeys = db
    .selectFrom('journeys')
    .select(({ fn }) => fn.max('events_since_ms').as('since_ms'))
    .where('workspace_id', '=', workspace_id)
  if (journey_ids) journeys = journeys.where('journey_id', 'in', journey_ids)
  const journey = await journeys.executeTakeFirst()
  return Math.max(workspace?.since_ms ?? 0, journey?.since_ms ?? 0)
}

/** Events in the order of arrival, and where the next ones begin. */
type ReadEvents = {
  events: Event[]
  cursor: string | null
  /** Everything received before has been read with them; 0 if that is unknown. */
  read_ms: number
  isMore: boolean
}

/** Returns the next events after a cursor of a webhook. */
export async function nextEvents(
  { workspace_id, from_ms }: StoredWebhook,
  cursor: string | null,
  { storage, reading }: Reader,
): Promise<ReadEvents> {
  const began_ms = performance.now()
  for (let after = cursor; ; ) {
    const page = { limit: READ_AT_ONCE, ...(after !== null && { after: cursorPosition(after, 'evt') }) }
    const { bytes } = await storage.events.oldestEvents(workspace_id, { from_ms }, page, reading)
    const { data, next_cursor, caught_up_to }: EventPage = parseJsonText(new TextDecoder().decode(bytes))
    after = next_cursor
    const isMore = caught_up_to === null || caught_up_to === undefined
    // Pages without events lead to the first one.
    if (data.length === 0 && isMore && performance.now() - began_ms < WALK_MS) continue
    const until = caught_up_to ?? data.at(-1)?.received_at
    return { events: data, cursor: after, read_ms: until === undefined ? 0 : instant_ms(until), isMore }
  }
}

function isWanted({ journey_ids, event_ids }: StoredWebhook, event: Event): boolean {
  if (journey_ids && !journey_ids.includes(event.journey_id)) return false
  return !event_ids || event_ids.includes(event.event_id)
}

/** The same for the customers that were created. */
export async function tellCustomers(webhook: StoredWebhook, options: FanOutOptions): Promise<boolean> {
  if (!webhook.types.includes('customer.created')) return false
  const { now } = options
  const { webhook_id } = webhook
  const { customers, cursor, caughtUp_ms, isEmpty } = await nextCustomers(webhook, options)
  // A page may also be cut by its size, or lose its rows meanwhile.
  const isMore = caughtUp_ms === null
  if (isEmpty && !isMore) return false
  const deliveriesOf = (customers: Customer[]) => {
    return customers.map((customer) => {
      const { customer_id, created_at } = customer
      const message = { type: 'customer.created', timestamp: created_at, data: customer } as const
      return deliveryOf(webhook_id, message, { subject: customer_id, customer_id, now_ms: now() })
    })
  }
  const [again, first] = replayedFirst(webhook, customers, ({ created_at }) => created_at)
  const made = { deliveries: deliveriesOf(first), again: deliveriesOf(again) }
  await write(webhook, { customer_cursor: cursor }, made, options)
  return isMore
}

/** Returns the next customers to tell a webhook about, and the page's watermark; `isEmpty` if it had no others either. */
async function nextCustomers(
  { workspace_id, customer_cursor, from_ms }: StoredWebhook,
  { storage, reading }: Reader,
) {
  const after = customer_cursor === null ? {} : { after: cursorPosition(customer_cursor, 'cus') }
  const page = { limit: READ_AT_ONCE, ...after }
  const arrived = await storage.arrivedCustomers(reading)
  const found = await oldestCustomers(storage.lists(reading), workspace_id, {}, page, arrived)
  const { rows, next, caughtUp_ms } = found
  return {
    customers: rows.filter(({ created_at }) => instant_ms(created_at) >= from_ms),
    cursor: cursorText(next),
    caughtUp_ms,
    isEmpty: rows.length === 0,
  }
}

/**
 * Returns since when a webhook has not been told everything: when the first event or customer that it has not been told was
 * received or created, or until when everything has been read.
 */
export async function untoldSince(webhook: StoredWebhook, reader: Reader): Promise<number> {
  const { types, from_ms, told_ms, event_cursor } = webhook
  const since: number[] = []
  if (types.includes('event.created')) {
    const { events, isMore, read_ms } = await nextEvents(webhook, event_cursor, reader)
    since.push(...events.map(({ received_at }) => instant_ms(received_at)))
    if (events.length === 0) since.push(isMore ? told_ms : read_ms)
  }
  if (types.includes('customer.created')) {
    const { customers, caughtUp_ms } = await nextCustomers(webhook, reader)
    since.push(...customers.map(({ created_at }) => instant_ms(created_at)))
    if (customers.length === 0) since.push(caughtUp_ms ?? from_ms)
  }
  return Math.min(...since)
}

/** What one step of reading leads to. */
type Made = {
  deliveries: readonly NewDelivery[]
  /** Those that are sent again if they were. */
  again?: readonly NewDelivery[]
  windows?: readonly JourneyWindow[]
  /** Windows that are over. */
  closed?: readonly JourneyWindow[]
}

/**
 * Writes deliveries and how far has been read together. Nothing is written about customers that were erased meanwhile.
 * @throws {WebhookMoved} if the webhook was changed meanwhile, or another server works on it
 */
export async function write(
  webhook: StoredWebhook,
  progress: Partial<WebhookProgress>,
  { deliveries, again = [], windows = [], closed = [] }: Made,
  { storage, owner }: Pick<FanOutOptions, 'storage' | 'owner'>,
): Promise<void> {
  await inTransaction(storage.db, async (db) => {
    await advanceWebhook(db, webhook, progress, owner)
    const customers = [...deliveries, ...again, ...windows].flatMap(({ customer_id }) => customer_id ?? [])
    const erased = await erasedAmong(db, webhook.workspace_id, customers)
    const isThere = ({ customer_id }: { customer_id: string | null }) => !erased.has(customer_id ?? '')
    await insertDeliveries(db, webhook, deliveries.filter(isThere))
    await insertDeliveries(db, webhook, again.filter(isThere), { again: true })
    await insertWindows(db, webhook, windows.filter(isThere))
    for (const window of closed) await deleteWindow(db, webhook, window)
  })
}

/** Leaves out deliveries that exist: most are made again, and not writing them is cheaper. */
export async function withoutKnown(
  webhook: StoredWebhook,
  deliveries: readonly NewDelivery[],
  { storage }: Pick<FanOutOptions, 'storage'>,
): Promise<NewDelivery[]> {
  const ids = deliveries.map(({ delivery_id }) => delivery_id)
  const known = await knownDeliveries(storage.db, webhook, ids)
  return deliveries.filter(({ delivery_id }) => !known.has(delivery_id))
}

async function erasedAmong(db: Transaction, workspaceId: string, customerIds: readonly string[]) {
  const erased = new Set<string>()
  for (const some of inSlices([...new Set(customerIds)])) {
    const rows = await db
      .selectFrom('erasures')
      .select('customer_id')
      .where('workspace_id', '=', workspaceId)
      .where('customer_id', 'in', some)
      .execute()
    for (const { customer_id } of rows) erased.add(customer_id)
  }
  return erased
}
