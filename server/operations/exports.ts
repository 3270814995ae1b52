import type { Context, Operation } from '../contract.ts'
import { firstPosition } from '../domain/cursors.ts'
import { instantText } from '../domain/instants.ts'
import { pageOf } from '../domain/paging.ts'
import { customerSlice } from '../storage/arrived-customers.ts'
import { type AuditedChange, insertAuditEntry } from '../storage/audit-log.ts'
import { exportLines, settledBound } from '../storage/export-walk.ts'
import { workspaceName } from '../storage/workspaces.ts'
import { authorOf } from './author.ts'
import { eventFilter } from './events.ts'

export const exportEvents: Operation<'exportEvents'> = async ({ workspaceId, query }, context) => {
  const { limit, cursor, format = 'ndjson', ...filter } = query
  const { storage, reading, now } = context
  await noteExport(context, workspaceId, { action: 'events_exported', after: { filter }, cursor })
  const bound = await settledBound(now, reading.signal, () =>
    storage.events.eventsBound(workspaceId, reading),
  )
  const parts = exportLines({
    list: 'events',
    filter,
    after: pageOf(query, 'evt').after ?? firstPosition('evt'),
    limit,
    format,
    bound,
    read: (after, most) =>
      storage.events.eventSlice(
        { workspace_id: workspaceId, filter: eventFilter(filter), after, bound: bound.place, most, format },
        reading,
      ),
  })
  return {
    status: 200,
    file: { contentType: CONTENT_TYPES[format], name: exportFileName(context, 'events', format), parts },
  }
}

export const exportCustomers: Operation<'exportCustomers'> = async ({ workspaceId, query }, context) => {
  const { limit, cursor, format = 'ndjson', ...filter } = query
  const { storage, reading, now } = context
  await noteExport(context, workspaceId, { action: 'customers_exported', after: { filter }, cursor })
  const arrived = await settledBound(now, reading.signal, () => storage.arrivedCustomers(reading))
  const parts = exportLines({
    list: 'customers',
    filter,
    after: pageOf(query, 'cus').after ?? firstPosition('cus'),
    limit,
    format,
    bound: arrived,
    read: (after, most) =>
      customerSlice(storage.lists(reading), workspaceId, filter, { after, most, format }, arrived),
  })
  return {
    status: 200,
    file: { contentType: CONTENT_TYPES[format], name: exportFileName(context, 'customers', format), parts },
  }
}

/** Who goes on behind a cursor is noted again after so long (contract: "Exports"). */
const NOTED_MS = 3_600_000

type Noted = Pick<AuditedChange, 'action' | 'after'> & { cursor: string | undefined }

/** Notes who takes data out, before any of it is read. */
async function noteExport(context: Context, workspaceId: string, { action, after, cursor }: Noted) {
  const { now, change, notedReaders } = context
  const author = authorOf(context)
  const name = `${action} ${workspaceId} ${author.actor.id}`
  const noted_ms = notedReaders.get(name)
  if (cursor !== undefined && noted_ms !== undefined && noted_ms + NOTED_MS > now()) return
  await change(async (db) => {
    const subject = {
      kind: 'workspace',
      id: workspaceId,
      name: await workspaceName(db, workspaceId),
    } as const
    await insertAuditEntry(db, workspaceId, author, { action, subject, ...(after && { after }) })
  })
  notedReaders.set(name, now())
}

const CONTENT_TYPES = { ndjson: 'application/x-ndjson', csv: 'text/csv' } as const

/** For example `events-20261120T083100Z.ndjson`. */
export function exportFileName({ now }: Context, what: string, extension: string): string {
  const at = instantText(now()).replace(/[-:]|\.\d+/g, '')
  return `${what}-${at}.${extension}`
}
