import type { components } from '../../generated/contract.ts'
import type { Caller } from '../contract.ts'
import { isTooLarge } from '../domain/event-content.ts'
import { instant_ms } from '../domain/instants.ts'
import type { DefinitionRejection, NewEvent } from '../storage/events/event-store.ts'

type EventCreation = components['schemas']['EventCreation']

/**
 * Converts an event of the contract to the form in which it is stored.
 * @param breaks see `NewEvent`
 */
export function newEvent(event: EventCreation, breaks?: DefinitionRejection): NewEvent {
  const { journey_id, customer_id, event_id, message_id = null, occurred_at, custom_variables } = event
  const row = {
    journey_id,
    customer_id,
    event_id,
    message_id,
    occurred_ms: occurred_at === undefined ? null : instant_ms(occurred_at),
    custom_variables: custom_variables === undefined ? null : JSON.stringify(custom_variables),
  }
  return breaks ? { ...row, breaks } : row
}

/** The same for an event of a batch, which has its own size limit; a single event is limited by its body. */
export function newBatchEvent(event: EventCreation, breaks?: DefinitionRejection): NewEvent {
  const row = newEvent(event, breaks)
  return isTooLarge(event, row.custom_variables) ? { ...row, custom_variables: null, isTooLarge: true } : row
}

/** Returns the `definition_changes` of the caller's workspace, as its key was cached with; undefined for people. */
export function definitionChangesOf(caller: Caller): number | undefined {
  return caller.kind === 'key' ? caller.key.definition_changes : undefined
}
