import type { Context } from '../contract.ts'
import { type AuditedChange, insertAuditEntry } from '../storage/tables/audit-log.ts'
import { workspaceName } from '../storage/tables/workspaces.ts'
import { authorOf } from './author.ts'

/** The action to record. */
type Noted = Pick<AuditedChange, 'action' | 'after'>

/** Interval after which a continued read is recorded again (contract: "Exports", and `refusals_read`). */
const NOTED_MS = 3_600_000

/**
 * Records in the audit log who reads what customers sent, or exports data. Before the first read, and not for each
 * page.
 */
export async function noteReader(
  context: Context,
  workspaceId: string,
  noted: Noted,
  { isGoingOn }: { isGoingOn: boolean },
): Promise<void> {
  const { now, notedReaders } = context
  // With what it exports: an export of something else does not continue it.
  const name = `${noted.action} ${workspaceId} ${authorOf(context).actor.id} ${JSON.stringify(noted.after)}`
  const noted_ms = notedReaders.get(name)
  if (isGoingOn && noted_ms !== undefined && noted_ms + NOTED_MS > now()) return
  await noteInWorkspace(context, workspaceId, noted)
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
