import type { Operation, OperationRequest } from '../contract.ts'
import { instant_ms } from '../domain/instants.ts'
import { pageOf } from '../domain/paging.ts'
import type { EventFilter } from '../storage/event-store.ts'

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

/** What a request asks of the events that it wants. */
export function eventFilter({ received_from, received_to, ...names }: Given): EventFilter {
  return {
    ...names,
    ...(received_from !== undefined && { from_ms: instant_ms(received_from) }),
    ...(received_to !== undefined && { to_ms: instant_ms(received_to) }),
  }
}
