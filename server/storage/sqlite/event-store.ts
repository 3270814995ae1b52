import type { components } from '../../../generated/contract.ts'
import { JsonBytes } from '../../domain/json-bytes.ts'
import type { EventOutcome, EventStore, InitializeOutcome } from '../event-store.ts'
import type { Reading } from '../storage.ts'
import type { EventsRequest } from './event-reader.ts'
import type { Reader } from './reader.ts'
import { SPAN_EVENTS } from './spans.ts'
import type { Writer } from './writer.ts'

type EventPage = components['schemas']['EventPage']

/** Events in SQLite: written by the writer in groups, read by the reader. */
export function sqliteEventStore(reader: Reader, writer: Writer, now: () => number): EventStore {
  const list = async (request: EventsRequest, reading: Reading) =>
    new JsonBytes<EventPage>(await reader.events(request, reading))
  return {
    async initializeCustomer(workspace_id, customer) {
      const outcome = await writer.submit({ kind: 'initialize', workspace_id, ...customer })
      return outcome as InitializeOutcome
    },

    async insertEvents(workspace_id, events, key_id = '') {
      return (await writer.submit({ kind: 'events', workspace_id, key_id, events })) as EventOutcome[]
    },

    async checkCustomer(workspace_id, customer) {
      return (await writer.submit({ kind: 'check-customer', workspace_id, ...customer })) as InitializeOutcome
    },

    async checkEvents(workspace_id, events) {
      return (await writer.submit({
        kind: 'check-events',
        workspace_id,
        key_id: '',
        events,
      })) as EventOutcome[]
    },

    newestEvents: (workspace_id, filter, page, reading) =>
      list({ list: 'newest', workspace_id, filter, page }, reading),
    oldestEvents: (workspace_id, filter, page, reading) =>
      list({ list: 'oldest', workspace_id, filter, page, now_ms: now() }, reading),
    async eventsBound(_workspace_id, reading) {
      const caughtUp_ms = now()
      const last = 'SELECT seq FROM events ORDER BY seq DESC LIMIT 1'
      const [row] = (await reader.rows({ sql: last, parameters: [] }, reading)) as { seq: number }[]
      return { place: row?.seq ?? 0, caughtUp_ms }
    },
    eventSlice: (request, reading) => reader.eventSlice(request, reading),
    countEvents: (workspace_id, filter, reading) =>
      reader.countEvents({ kind: 'count', workspace_id, filter }, reading),
    async oldestReceived(workspace_id, { journey_id = null, from_ms = 0 }, reading) {
      const parameters = [workspace_id, journey_id, from_ms]
      const [row] = (await reader.rows({ sql: OLDEST, parameters }, reading)) as { received_ms: number }[]
      return row?.received_ms ?? null
    },
    customerEvents: (workspace_id, customer_id, page, reading) =>
      list({ list: 'timeline', workspace_id, customer_id, page }, reading),
  }
}

/** Looked for from the first span on that has an event of the time. */
const OLDEST = `
  WITH asked (workspace, journey, from_ms) AS (SELECT ?, ?, ?)
  SELECT received_ms FROM asked, events
  WHERE seq >= ${SPAN_EVENTS} * (SELECT min(span) FROM event_spans WHERE greatest_received_ms >= from_ms)
    AND workspace_ref = (SELECT workspace_ref FROM workspaces WHERE workspace_id = workspace)
    AND (journey IS NULL OR journey_ref = (
      SELECT journey_ref FROM journeys WHERE workspace_id = workspace AND journey_id = journey AND removed_ms IS NULL
    ))
    AND received_ms >= from_ms
  ORDER BY seq LIMIT 1`
