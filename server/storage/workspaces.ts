import type { Kysely, Transaction } from 'kysely'
import type { DB } from '../../generated/tables.ts'

/** Makes a workspace; false where one of that name exists. */
export async function insertWorkspace(
  db: Transaction<DB>,
  workspace: { workspace_id: string; name: string; created_ms: number },
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('workspaces')
    .values(workspace)
    .onConflict((conflict) => conflict.column('name').doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === 1n
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
