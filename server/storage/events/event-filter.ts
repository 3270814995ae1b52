import type { VariableFilter } from '../../domain/event-values.ts'

/** A filter of events for lists, counts and exports. All conditions must hold. */
export type EventFilter = {
  /** The only event with this identifier. */
  id?: string
  journey_id?: string
  customer_id?: string
  event_id?: string
  /** Sent with this key. */
  key_id?: string
  /** Received at this instant or later. */
  from_ms?: number
  /** Received before this instant. */
  to_ms?: number
  /** Occurred at this instant or later; an event without a time of its own occurred when it was received. */
  occurred_from_ms?: number
  /** Occurred before this instant. */
  occurred_to_ms?: number
  /** What its variables must be. */
  variables?: readonly VariableFilter[]
}

/** The filter of a customer's timeline. */
export type TimelineFilter = Pick<EventFilter, 'variables'>

export type CountFilter = Pick<EventFilter, 'journey_id' | 'to_ms'>
