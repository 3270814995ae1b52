import type { components } from '../../../generated/contract.ts'
import type { EventContent } from '../../domain/event-content.ts'
import type { JsonBytes } from '../../domain/json-bytes.ts'
import type { Page } from '../../domain/paging.ts'
import type { Reading } from '../database.ts'
import type { EventSliceRequest, Slice, WalkBound } from '../exports/exports.ts'
import type { CountFilter, EventFilter } from './event-filter.ts'

type Customer = components['schemas']['CustomerInitialization']
type EventPage = components['schemas']['EventPage']

/** An event as it is to be stored; null is what was not sent. */
export type NewEvent = EventContent & {
  message_id: string | null
  /** It is larger than an event may be: it is refused, and counted. What makes it large need not be in it. */
  isTooLarge?: true
  /** Its time is that of an earlier receipt and was not sent: it is the same event as one with another time. */
  isUndated?: true
}

/**
 * A customer is registered by somebody who may neither change nor recognize one who is known. Where only the answer is asked
 * for it is the same for everybody whom the journey takes.
 */
export type Discretion = {
  /** A new customer gets an identifier with a random time since then: the true one would tell that it is new. */
  since_ms: number
}

export type InitializeOutcome =
  | { status: 'stored'; customer_id: string; created: boolean }
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
  | 'event_too_large'

/** `isAll`: false where counting has ended before all were looked at; there are so many at least. */
export type CountedEvents = { events: number; isAll: boolean }

/** Counting ends after so long: some million events. */
export const COUNTING_MS = 2_000

/**
 * Where customers are registered and events are kept, one implementation for each engine. What a method has answered
 * is on disk, and every later read sees it.
 *
 * @throws {Unavailable} from every method where the store cannot take the work now; nothing was acknowledged
 */
export type EventStore = {
  /** Makes the customer or finds it, updates its name, unless with discretion, and enters it in the journey. */
  initializeCustomer(
    workspaceId: string,
    customer: Customer,
    discretion?: Discretion,
  ): Promise<InitializeOutcome>

  /**
   * Stores events, committed together, each with an outcome of its own, in order.
   * @param keyId the key with which they were sent, if they were sent with one: what became of them is counted by it
   * @param isDiscreet what is refused is refused alike for every customer without an event (see `brokenEventRule`)
   */
  insertEvents(
    workspaceId: string,
    events: readonly NewEvent[],
    keyId?: string,
    isDiscreet?: boolean,
  ): Promise<EventOutcome[]>

  /**
   * What `initializeCustomer` would answer now. Nothing is stored; who would be made is the `unmadeId`, and with discretion so
   * is everybody.
   */
  checkCustomer(workspaceId: string, customer: Customer, discretion?: Discretion): Promise<InitializeOutcome>

  /**
   * What `insertEvents` would answer now. Nothing is stored, and nothing counted; what would be created is the `unmadeId`,
   * received now.
   * @param isDiscreet nothing is said of what is stored: every customer is as if it took part in the journey, and every
   * `message_id` is new
   */
  checkEvents(workspaceId: string, events: readonly NewEvent[], isDiscreet?: boolean): Promise<EventOutcome[]>

  /** Events of the workspace in the order of their arrival, which is the order of `id`, newest first. */
  newestEvents(
    workspaceId: string,
    filter: EventFilter,
    page: Page,
    reading: Reading,
  ): Promise<JsonBytes<EventPage>>

  /**
   * Events of the workspace in the order of their arrival, oldest first: each once, whatever else is stored meanwhile and
   * wherever. On several replicas that is not quite the order of `id`.
   */
  oldestEvents(
    workspaceId: string,
    filter: EventFilter,
    page: Page,
    reading: Reading,
  ): Promise<JsonBytes<EventPage>>

  /** Where a walk forward over the events of the workspace ends that begins now. */
  eventsBound(workspaceId: string, reading: Reading): Promise<WalkBound>

  /** The next events of an export in the order of `oldestEvents`; it may have none and not be the last. */
  eventSlice(request: EventSliceRequest, reading: Reading): Promise<Slice>

  /** How many events a filter lets through: all of them, unless counting takes too long. */
  countEvents(workspaceId: string, filter: CountFilter, reading: Reading): Promise<CountedEvents>

  /** When the oldest event was received that a filter lets through; null where there is none, or not found in seconds. */
  oldestReceived(
    workspaceId: string,
    filter: Pick<EventFilter, 'journey_id' | 'from_ms'>,
    reading: Reading,
  ): Promise<number | null>

  /** Events of a customer by (`occurred_at`, `id`), latest first; empty for a customer that does not exist. */
  customerEvents(
    workspaceId: string,
    customerId: string,
    page: Page,
    reading: Reading,
  ): Promise<JsonBytes<EventPage>>
}
