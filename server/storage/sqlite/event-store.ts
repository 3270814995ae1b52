import type { components } from '../../../generated/contract.ts'
import { eventIdText } from '../../domain/identifiers.ts'
import { instantText } from '../../domain/instants.ts'
import { messageIdText } from '../../domain/message-ids.ts'
import type { EventOutcome, EventStore, InitializeOutcome } from '../event-store.ts'
import type { Reading } from '../storage.ts'
import type { EventRow, EventsRequest } from './event-reader.ts'
import type { Reader } from './reader.ts'
import type { Writer } from './writer.ts'

type Event = components['schemas']['Event']

/** Events in SQLite: written by the writer in groups, read by the reader. */
export function sqliteEventStore(reader: Reader, writer: Writer): EventStore {
  const list = async (request: EventsRequest, reading: Reading) => {
    const { rows, next } = await reader.events(request, reading)
    return { rows: rows.map(listed), next }
  }
  return {
    async initializeCustomer(workspace_id, customer) {
      const outcome = await writer.submit({ kind: 'initialize', workspace_id, ...customer })
      return outcome as InitializeOutcome
    },

    async insertEvents(workspace_id, events) {
      return (await writer.submit({ kind: 'events', workspace_id, events })) as EventOutcome[]
    },

    newestEvents: (workspace_id, filter, page, reading) =>
      list({ list: 'newest', workspace_id, filter, page }, reading),
    customerEvents: (workspace_id, customer_id, page, reading) =>
      list({ list: 'timeline', workspace_id, customer_id, page }, reading),
  }
}

function listed(row: EventRow): Event {
  return {
    id: eventIdText(row.id),
    journey_id: row.journey_id,
    customer_id: row.customer_id,
    event_id: row.event_id,
    custom_variables: row.custom_variables === null ? null : JSON.parse(row.custom_variables),
    occurred_at: instantText(row.occurred_ms ?? row.received_ms),
    received_at: instantText(row.received_ms),
    message_id: row.message_id === null ? null : messageIdText(row.message_id),
  }
}
