import type { components } from '../../../generated/contract.ts'
import { cursorPosition } from '../../domain/cursors.ts'
import { instant_ms } from '../../domain/instants.ts'
import { JsonBytes } from '../../domain/json-bytes.ts'
import type { Page } from '../../domain/paging.ts'
import type { Reading } from '../database.ts'
import { COUNTING_MS, type EventStore } from '../events/event-store.ts'
import type { EventsRequest } from './reader/event-reader.ts'
import type { Reader } from './reader/reader.ts'
import type { WriteScheduler } from './writer/write-scheduler.ts'

type EventPage = components['schemas']['EventPage']

/** A page of a forward walk, which always has a cursor. */
type ForwardPage = Pick<EventPage, 'data' | 'caught_up_to'> & { next_cursor: string }

const decoder = new TextDecoder()

/** Events in SQLite: written by the writer in groups (group commit), read by the reader. */
export function sqliteEventStore(reader: Reader, scheduler: WriteScheduler, now: () => number): EventStore {
  const list = async (request: EventsRequest, reading: Reading) =>
    new JsonBytes<EventPage>(await reader.events(request, reading))
  return {
    initializeCustomer: (workspace_id, customer, discretion) =>
      scheduler.submit({ kind: 'initialize', workspace_id, ...customer, discretion }),
    insertEvents: (workspace_id, events, key_id = '', isDiscreet = false) =>
      scheduler.submit({ kind: 'events', workspace_id, key_id, events, isDiscreet }),
    checkCustomer: (workspace_id, customer, discretion) =>
      scheduler.submit({ kind: 'check-customer', workspace_id, ...customer, discretion }),
    checkEvents: (workspace_id, events, isDiscreet = false) =>
      scheduler.submit({ kind: 'check-events', workspace_id, key_id: '', events, isDiscreet }),

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
    async oldestReceived(workspace_id, filter, reading) {
      let page: Page = { limit: 1 }
      // Each slice scans a maximum number of events, found by the indexes; other reads run in between.
      for (const until_ms = performance.now() + COUNTING_MS; performance.now() < until_ms; ) {
        const { bytes } = await list({ list: 'oldest', workspace_id, filter, page, now_ms: now() }, reading)
        const { data, next_cursor, caught_up_to }: ForwardPage = JSON.parse(decoder.decode(bytes))
        if (data[0]) return instant_ms(data[0].received_at)
        if (caught_up_to !== null) return null
        page = { limit: 1, after: cursorPosition(next_cursor, 'evt') }
      }
      return null
    },
    customerEvents: (workspace_id, customer_id, page, reading) =>
      list({ list: 'timeline', workspace_id, customer_id, page }, reading),
    customerActivity: (workspace_id, customer_ids, reading) =>
      reader.customerActivity({ kind: 'customer-activity', workspace_id, customer_ids }, reading),
  }
}
