import type { Operation, OperationRequest } from '../contract.ts'
import { earliestReceipt } from '../domain/event-content.ts'
import { instant_ms } from '../domain/instants.ts'
import { pageOf } from '../domain/paging.ts'
import type { EventFilter } from '../storage/events/event-filter.ts'

export const listEvents: Operation<'listEvents'> = async ({ workspaceId, query }, { storage, reading }) => {
  const { order, limit: _, cursor: __, ...given } = query
  const filter = eventFilter(given)
  const page = pageOf(query, 'evt')
  const { events } = storage
  const body =
    order === 'oldest'
      ? await events.oldestEvents(workspaceId, filter, page, reading)
      : await events.newestEvents(workspaceId, filter, page, reading)
  return { status: 200, body }
}

type Given = Omit<OperationRequest<'listEvents'>['query'], 'order' | 'limit' | 'cursor'>

/** Converts the filters of a request. */
export function eventFilter(given: Given): EventFilter {
  const { received_from, received_to, occurred_from, occurred_to, ...names } = given
  const from = [
    ...(received_from === undefined ? [] : [instant_ms(received_from)]),
    // An event cannot have been received long before it occurred, which gives the scan an end.
    ...(occurred_from === undefined ? [] : [earliestReceipt(instant_ms(occurred_from))]),
  ]
  return {
    ...names,
    ...(from.length > 0 && { from_ms: Math.max(...from) }),
    ...(received_to !== undefined && { to_ms: instant_ms(received_to) }),
    ...(occurred_from !== undefined && { occurred_from_ms: instant_ms(occurred_from) }),
    ...(occurred_to !== undefined && { occurred_to_ms: instant_ms(occurred_to) }),
  }
}
