import type { components } from '../../../generated/contract.ts'
import type { EventContent } from '../../domain/event-content.ts'
import type { JsonBytes } from '../../domain/json-bytes.ts'
import type { Page } from '../../domain/paging.ts'
import type { Reading } from '../database.ts'
import type { EventSliceRequest, Slice, WalkBound } from '../exports/exports.ts'
import type { CountFilter, EventFilter, TimelineFilter } from './event-filter.ts'

type Customer = components['schemas']['CustomerInitialization']
type EventPage = components['schemas']['EventPage']

/** An event to store; null means not sent. */
export type NewEvent = EventContent & {
  message_id: string | null
  /** It exceeds the size limit: it is rejected and counted. What makes it large may be omitted. */
  isTooLarge?: true
  /** Why the event definitions of its workspace reject it, unless its message is known. */
  breaks?: DefinitionRejection
  /** Its time is that of an earlier receipt and was not sent: an event with another time is still the same. */
  isUndated?: true
}

/**
 * For a caller who may neither change nor recognize known customers. If only the answer is requested (dry run), it is
 * the same for every customer that the journey accepts.
 */
export type Discretion = {
  /** A new customer's identifier gets a random time since this instant: the true one would reveal that it is new. */
  since_ms: number
}

/** `created`: the customer was not known before. `enrolled`: it was not in the journey before; for replays. */
export type InitializeOutcome =
  | { status: 'stored'; customer_id: string; created: boolean; enrolled: boolean }
  | { status: 'refused'; code: 'journey_not_found' | 'journey_archived' | 'customer_erased' }

export type EventOutcome =
  | { status: 'created' | 'duplicate'; id: string; received_ms: number }
  | { status: 'rejected'; code: EventRejection }

export type EventRejection =
  | 'journey_not_found'
  | 'journey_archived'
  | 'customer_not_found'
  | 'customer_erased'
  | 'customer_not_in_journey'
  | 'message_id_conflict'
  | 'occurred_at_in_future'
  | DefinitionRejection
  | 'event_too_large'

/** Why an event is rejected that the event definitions of its workspace do not allow. */
export type DefinitionRejection = 'unknown_event' | 'event_not_as_defined'

/** `isAll`: false if counting stopped early; there are at least `events`. */
export type CountedEvents = { events: number; isAll: boolean }

/** `latest_ms`: when its latest event occurred. `isAll`: false if the customer may have more than `events`. */
export type CustomerActivity = { latest_ms: number | null; events: number; isAll: boolean }

/** Maximum events counted per customer of a list: for fifty customers as many as any other page may scan. */
export const COUNTED_PER_CUSTOMER = 200

/** Maximum time for counting: some million events. */
export const COUNTING_MS = 2_000

/**
 * Registers customers and stores events; one implementation per engine. What a method has answered is on disk, and
 * every later read sees it.
 *
 * @throws {Unavailable} from every method if the store cannot accept the work now; nothing was acknowledged
 */
export type EventStore = {
  /** Creates or finds the customer, updates its name (unless with discretion), and enrols it in the journey. */
  initializeCustomer(
    workspaceId: string,
    customer: Customer,
    discretion?: Discretion,
  ): Promise<InitializeOutcome>

  /**
   * Stores events, committed together, and returns an outcome for each, in order.
   * @param keyId the key that sent them, if any; their outcomes are counted by it
   * @param isDiscreet whether refusals are the same for every customer without an event (see `brokenEventRule`)
   */
  insertEvents(
    workspaceId: string,
    events: readonly NewEvent[],
    keyId?: string,
    isDiscreet?: boolean,
  ): Promise<EventOutcome[]>

  /**
   * Returns what `initializeCustomer` would answer now, without storing anything. A customer that would be created is
   * the `unmadeId`; with discretion every customer is.
   */
  checkCustomer(workspaceId: string, customer: Customer, discretion?: Discretion): Promise<InitializeOutcome>

  /**
   * Returns what `insertEvents` would answer now, without storing or counting anything. An event that would be created
   * is the `unmadeId`, received now.
   * @param isDiscreet whether to reveal nothing about what is stored: every customer counts as enrolled in the journey,
   *   and every `message_id` as new
   */
  checkEvents(workspaceId: string, events: readonly NewEvent[], isDiscreet?: boolean): Promise<EventOutcome[]>

  /** Events of the workspace by arrival, which is the order of `id`, newest first. */
  newestEvents(
    workspaceId: string,
    filter: EventFilter,
    page: Page,
    reading: Reading,
  ): Promise<JsonBytes<EventPage>>

  /**
   * Events of the workspace by arrival, oldest first: each exactly once, whatever else is stored meanwhile. With
   * several replicas this is not quite the order of `id`.
   */
  oldestEvents(
    workspaceId: string,
    filter: EventFilter,
    page: Page,
    reading: Reading,
  ): Promise<JsonBytes<EventPage>>

  /** The end of a forward walk over the workspace's events that starts now. */
  eventsBound(workspaceId: string, reading: Reading): Promise<WalkBound>

  /** The next events of an export in the order of `oldestEvents`. A slice may be empty without being the last. */
  eventSlice(request: EventSliceRequest, reading: Reading): Promise<Slice>

  /** Number of events that match a filter: all of them, unless counting takes too long. */
  countEvents(workspaceId: string, filter: CountFilter, reading: Reading): Promise<CountedEvents>

  /** When the oldest matching event was received; null if there is none, or it is not found within seconds. */
  oldestReceived(
    workspaceId: string,
    filter: Pick<EventFilter, 'journey_id' | 'from_ms'>,
    reading: Reading,
  ): Promise<number | null>

  /** Events of a customer by (`occurred_at`, `id`), latest first; empty for an unknown customer. */
  customerEvents(
    workspaceId: string,
    customerId: string,
    page: Page & TimelineFilter,
    reading: Reading,
  ): Promise<JsonBytes<EventPage>>

  /** The activity of the given customers, by identifier. */
  customerActivity(
    workspaceId: string,
    customerIds: readonly string[],
    reading: Reading,
  ): Promise<Map<string, CustomerActivity>>
}
