import { digitsOf, idOf, msOf } from '../connection/uuids.ts'

/** The columns of an event without its workspace and its variables, as PostgreSQL returns them. */
export type StoredEvent = {
  id: string
  journey_id: string
  customer_id: string
  event_id: string
  at_ms: number
  is_dated: boolean
  message_id: string | null
  message_text: string | null
  received_ms: number | null
  key_id: string | null
}

/** Converts them; `id` is the UUID as 32 digits. */
export function eventOf(stored: StoredEvent) {
  const id = digitsOf(stored.id)
  return {
    id,
    journey_id: idOf('jrn', digitsOf(stored.journey_id)),
    customer_id: idOf('cus', digitsOf(stored.customer_id)),
    event_id: stored.event_id,
    occurred_ms: stored.is_dated ? stored.at_ms : null,
    received_ms: stored.received_ms ?? msOf(id),
    message_id: stored.message_text ?? stored.message_id,
    key_id: stored.key_id && idOf('key', digitsOf(stored.key_id)),
  }
}
