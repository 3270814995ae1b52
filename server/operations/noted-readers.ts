import type { Context } from '../contract.ts'
import { isId } from '../domain/identifiers.ts'
import { isRecent } from '../domain/instants.ts'
import { type AuditedChange, insertAuditEntry } from '../storage/tables/audit-log.ts'
import { workspaceName } from '../storage/tables/workspaces.ts'
import { authorOf } from './author.ts'

/** The action to record. */
type Noted = Pick<AuditedChange, 'action' | 'after'>

/** A kind of read, and the filter of an export. */
type Read = Pick<AuditedChange, 'action'> & { filter?: object }

/** Interval after which a continued read is recorded again (contract: "Exports", and `refusals_read`). */
const NOTED_MS = 3_600_000

/**
 * Records in the audit log who reads what customers sent, or exports data. Before the first read, and not for each
 * page.
 */
export async function noteReader(
  context: Context,
  workspaceId: string,
  { action, filter }: Read,
  { isGoingOn }: { isGoingOn: boolean },
): Promise<void> {
  const { now, notedReaders } = context
  // With what it exports: an export of something else does not continue it.
  const name = `${action} ${workspaceId} ${authorOf(context).actor.id} ${JSON.stringify(filter)}`
  const noted_ms = notedReaders.get(name)
  if (isGoingOn && noted_ms !== undefined && isRecent(noted_ms, now(), NOTED_MS)) return
  const after = filter && { filter: auditedFilter(filter) }
  await noteInWorkspace(context, workspaceId, { action, ...(after && { after }) })
  notedReaders.set(name, now())
}

/** Records an action on a workspace's data, if the caller is still allowed to. */
export async function noteInWorkspace(context: Context, workspaceId: string, noted: Noted): Promise<void> {
  await context.change(async (db) => {
    const name = await workspaceName(db, workspaceId)
    const subject = { kind: 'workspace', id: workspaceId, name } as const
    await insertAuditEntry(db, workspaceId, authorOf(context), { ...noted, subject })
  })
}

/**
 * Returns a filter for the audit log. Of what may identify a customer it says only that it was used, because an erasure
 * cannot find that text. Senders may use anything as a `customer_id`.
 */
export function auditedFilter(filter: object): Record<string, unknown> {
  const identifies = ([name, value]: [string, unknown]) =>
    name === 'search' ||
    name === 'client_customer_id' ||
    (name === 'customer_id' && !isId('cus', String(value)))
  return Object.fromEntries(
    Object.entries(filter).map((entry) => [entry[0], identifies(entry) ? true : entry[1]]),
  )
}
