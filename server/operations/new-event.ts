import type { components } from '../../generated/contract.ts'
import { isTooLarge } from '../domain/event-content.ts'
import { instant_ms } from '../domain/instants.ts'
import type { NewEvent } from '../storage/events/event-store.ts'

type EventCreation = components['schemas']['EventCreation']

/** Converts an event of the contract to the form in which it is stored. */
export function newEvent(event: EventCreation): NewEvent {
  const { journey_id, customer_id, event_id, message_id = null, occurred_at, custom_variables } = event
  return {
    journey_id,
    customer_id,
    event_id,
    message_id,
    occurred_ms: occurred_at === undefined ? null : instant_ms(occurred_at),
    custom_variables: custom_variables === undefined ? null : JSON.stringify(custom_variables),
  }
}

/** The same for an event of a batch, which has its own size limit; a single event is limited by its body. */
export function newBatchEvent(event: EventCreation): NewEvent {
  const row = newEvent(event)
  return isTooLarge(event, row.custom_variables) ? { ...row, custom_variables: null, isTooLarge: true } : row
}
