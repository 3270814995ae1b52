import type { Context } from '../contract.ts'
import { type AuditedChange, insertAuditEntry } from '../storage/tables/audit-log.ts'
import { workspaceName } from '../storage/tables/workspaces.ts'
import { authorOf } from './author.ts'

/** What is done with a workspace's data. */
type Noted = Pick<AuditedChange, 'action' | 'after'>

/** Who reads on is noted again after so long (contract: "Exports", and `refusals_read`). */
const NOTED_MS = 3_600_000

/** Notes who reads what customers sent, or takes data out, before any of it is read; not each page of it. */
export async function noteReader(
  context: Context,
  workspaceId: string,
  noted: Noted,
  { isGoingOn }: { isGoingOn: boolean },
): Promise<void> {
  const { now, notedReaders } = context
  const name = `${noted.action} ${workspaceId} ${authorOf(context).actor.id}`
  const noted_ms = notedReaders.get(name)
  if (isGoingOn && noted_ms !== undefined && noted_ms + NOTED_MS > now()) return
  await noteInWorkspace(context, workspaceId, noted)
  notedReaders.set(name, now())
}

/** Notes what is done with a workspace's data, by whoever is still allowed to. */
export async function noteInWorkspace(context: Context, workspaceId: string, noted: Noted): Promise<void> {
  await context.change(async (db) => {
    const name = await workspaceName(db, workspaceId)
    const subject = { kind: 'workspace', id: workspaceId, name } as const
    await insertAuditEntry(db, workspaceId, authorOf(context), { ...noted, subject })
  })
}
