import type { Operation } from '../contract.ts'
import { instant_ms } from '../domain/instants.ts'
import { pageOf } from '../domain/paging.ts'

export const listEvents: Operation<'listEvents'> = async ({ workspaceId, query }, { storage, reading }) => {
  const { received_from, received_to, limit: _, cursor: __, ...names } = query
  const filter = {
    ...names,
    ...(received_from !== undefined && { from_ms: instant_ms(received_from) }),
    ...(received_to !== undefined && { to_ms: instant_ms(received_to) }),
  }
  const body = await storage.events.newestEvents(workspaceId, filter, pageOf(query, 'evt'), reading)
  return { status: 200, body }
}
