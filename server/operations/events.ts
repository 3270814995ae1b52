import type { Operation } from '../contract.ts'
import { instant_ms } from '../domain/instants.ts'
import { pageOf } from '../domain/paging.ts'

export const listEvents: Operation<'listEvents'> = async ({ workspaceId, query }, { storage, reading }) => {
  const { received_from, received_to, order, limit: _, cursor: __, ...names } = query
  const filter = {
    ...names,
    ...(received_from !== undefined && { from_ms: instant_ms(received_from) }),
    ...(received_to !== undefined && { to_ms: instant_ms(received_to) }),
  }
  const page = pageOf(query, 'evt')
  const { events } = storage
  const body =
    order === 'oldest'
      ? await events.oldestEvents(workspaceId, filter, page, reading)
      : await events.newestEvents(workspaceId, filter, page, reading)
  return { status: 200, body }
}
