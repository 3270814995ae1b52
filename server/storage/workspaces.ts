import type { Kysely, Transaction } from 'kysely'
import type { DB } from '../../generated/tables.ts'
import { newErasureSecret } from '../domain/own-digest.ts'

/** Makes a workspace; false where one of that name exists. */
export async function insertWorkspace(
  db: Transaction<DB>,
  workspace: { workspace_id: string; name: string; created_ms: number; created_by?: string | null },
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('workspaces')
    .values({ ...workspace, erasure_secret: newErasureSecret() })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === 1n
}

/** Renames a workspace; false where another one has the name, and nothing is changed. */
export async function updateWorkspaceName(
  db: Transaction<DB>,
  workspaceId: string,
  name: string,
): Promise<boolean> {
  const [other] = await workspaces(db, name)
  if (other) return other.workspace_id === workspaceId
  await db.updateTable('workspaces').set({ name }).where('workspace_id', '=', workspaceId).execute()
  return true
}

/** What can be said of a workspace that exists. */
export async function findWorkspace(db: Kysely<DB>, workspaceId: string) {
  return await db
    .selectFrom('workspaces')
    .select(['workspace_id', 'name', 'retention_days', 'events_since_ms'])
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirstOrThrow()
}

/** Says how long a workspace keeps events. @param retention_days null: for ever */
export async function updateRetention(
  db: Transaction<DB>,
  workspaceId: string,
  retention_days: number | null,
): Promise<void> {
  await db.updateTable('workspaces').set({ retention_days }).where('workspace_id', '=', workspaceId).execute()
}

/** The name of a workspace that exists. */
export async function workspaceName(db: Kysely<DB>, workspaceId: string): Promise<string> {
  const { name } = await db
    .selectFrom('workspaces')
    .select('name')
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirstOrThrow()
  return name
}

/** How many workspaces a person has made, on whatever way but the command line. */
export async function countWorkspacesBy(db: Kysely<DB>, personId: string): Promise<number> {
  const { made } = await db
    .selectFrom('workspaces')
    .select(({ fn }) => fn.countAll<number>().as('made'))
    .where('created_by', '=', personId)
    .executeTakeFirstOrThrow()
  return Number(made)
}

/** The workspaces with the name, or all of them. */
export async function workspaces(db: Kysely<DB>, name?: string) {
  let query = db.selectFrom('workspaces').select(['workspace_id', 'name']).orderBy('created_ms')
  if (name !== undefined) query = query.where('name', '=', name)
  return await query.execute()
}

/** Whether the store has any workspace. */
export async function hasWorkspaces(db: Kysely<DB>): Promise<boolean> {
  return (await db.selectFrom('workspaces').select('workspace_id').limit(1).executeTakeFirst()) !== undefined
}
