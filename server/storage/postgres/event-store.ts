import type { EventStore } from '../events/event-store.ts'
import { pause } from '../exports/export-walk.ts'
import { readWatermark } from './arrivals/arrival-order.ts'
import { uuidOf } from './connection/uuids.ts'
import { countEvents, customerActivity, oldestReceived } from './reader/event-counts.ts'
import { readNewest, readTimeline } from './reader/event-reader.ts'
import { readOldest, readSlice } from './reader/forward-reader.ts'
import type { ListReader } from './reader/list-reader.ts'
import type { WriteScheduler } from './writer/write-scheduler.ts'

/** Denominator of an export's share of the time beside writes: the same thread formats its lines and answers senders. */
const PART = 3

/** Events in PostgreSQL: written in groups (group commit), read through a fair queue. */
export function postgresEventStore(lists: ListReader, scheduler: WriteScheduler): EventStore {
  return {
    initializeCustomer: (workspaceId, customer, discretion) =>
      scheduler.submit(workspaceId, { kind: 'initialize', customer: { ...customer, discretion } }),
    insertEvents: (workspaceId, events, key_id = '', isDiscreet = false) =>
      scheduler.submit(workspaceId, { kind: 'events', key_id, events, isDiscreet }),
    checkCustomer: (workspaceId, customer, discretion) =>
      scheduler.submit(workspaceId, { kind: 'check-customer', customer: { ...customer, discretion } }),
    checkEvents: (workspaceId, events, isDiscreet = false) =>
      scheduler.submit(workspaceId, { kind: 'check-events', key_id: '', events, isDiscreet }),
    newestEvents: (workspaceId, filter, page, reading) =>
      lists.events(reading, (connection) => readNewest(connection, workspaceId, filter, page)),
    oldestEvents: (workspaceId, filter, page, reading) =>
      lists.events(reading, (connection) => readOldest(connection, workspaceId, filter, page)),
    eventsBound: (workspaceId, reading) =>
      lists.read(reading, async (connection) => {
        const { watermark_ms, told_ms } = await readWatermark(connection, uuidOf(workspaceId))
        return { place: watermark_ms, caughtUp_ms: told_ms }
      }),
    async eventSlice(request, reading) {
      const { groups } = scheduler
      let took_ms = 0
      const slice = await lists.read(reading, async (connection) => {
        const began_ms = performance.now()
        const slice = await readSlice(connection, request)
        took_ms = performance.now() - began_ms
        return slice
      })
      const { signal } = reading
      if (scheduler.groups !== groups && !slice.isLast) await pause(took_ms * (PART - 1), signal)
      return slice
    },
    countEvents: (workspaceId, filter, reading) =>
      lists.read(reading, (connection) => countEvents(connection, workspaceId, filter)),
    oldestReceived: (workspaceId, filter, reading) =>
      lists.read(reading, (connection) => oldestReceived(connection, workspaceId, filter)),
    customerEvents: (workspaceId, customerId, page, reading) =>
      lists.events(reading, (connection) => readTimeline(connection, workspaceId, customerId, page)),
    customerActivity: (workspaceId, customerIds, reading) =>
      lists.read(reading, (connection) => customerActivity(connection, workspaceId, customerIds)),
  }
}
