/** Which events of a workspace are listed, counted or exported. All conditions hold together. */
export type EventFilter = {
  /** The one event that has it, or none. */
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
  /** Dated at this instant or later; an event without a time of its own is dated when it was received. */
  occurred_from_ms?: number
  /** Dated before this instant. */
  occurred_to_ms?: number
}

export type CountFilter = Pick<EventFilter, 'journey_id' | 'to_ms'>
