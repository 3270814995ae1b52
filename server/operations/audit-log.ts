import type { Operation } from '../contract.ts'
import { instant_ms } from '../domain/instants.ts'
import { pageBody, pageOf } from '../domain/paging.ts'
import { newestAuditEntries } from '../storage/tables/audit-log.ts'

export const listAuditLog: Operation<'listAuditLog'> = async ({ workspaceId, query }, context) => {
  const { from, to, limit: _, cursor: __, ...names } = query
  const filter = {
    ...names,
    ...(from !== undefined && { from_ms: instant_ms(from) }),
    ...(to !== undefined && { to_ms: instant_ms(to) }),
  }
  const { storage, reading } = context
  const page = await newestAuditEntries(storage.lists(reading), workspaceId, filter, pageOf(query, 'aud'))
  return { status: 200, body: pageBody(page) }
}
