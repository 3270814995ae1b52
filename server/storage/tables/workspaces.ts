import { type Kysely, sql, type Transaction } from 'kysely'
import type { components } from '../../../generated/contract.ts'
import type { DB } from '../../../generated/tables.ts'
import { newErasureSecret } from '../../domain/own-digest.ts'
import type { ReadingDatabase } from '../database.ts'

/** What can be set of a workspace besides its name. */
export type WorkspaceSettings = Pick<
  components['schemas']['Workspace'],
  'retention_days' | 'protect_customers' | 'unknown_events' | 'view_links'
>

/** Creates a workspace; false if one with that name exists. */
export async function insertWorkspace(
  db: Transaction<DB>,
  workspace: { workspace_id: string; name: string; created_ms: number; created_by?: string | null },
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('workspaces')
    .values({ ...workspace, erasure_secret: newErasureSecret(), protect_customers: 1 })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === 1n
}

/** Renames a workspace; false, without a change, if another one has the name. */
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

/** Details of an existing workspace. */
export async function findWorkspace(db: Kysely<DB>, workspaceId: string) {
  return await db
    .selectFrom('workspaces')
    .select(['workspace_id', 'name', 'archived_ms', 'retention_days', 'events_since_ms', 'protect_customers'])
    .select(['unknown_events', 'has_view_links'])
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirstOrThrow()
}

/** The settings in a workspace's row. */
export function settingsOf({
  retention_days,
  protect_customers,
  unknown_events,
  has_view_links,
}: Awaited<ReturnType<typeof findWorkspace>>): WorkspaceSettings {
  return {
    retention_days,
    protect_customers: protect_customers === 1,
    unknown_events: unknown_events as WorkspaceSettings['unknown_events'],
    view_links: has_view_links === 1 ? 'on' : 'off',
  }
}

/** Sets what is given. */
export async function updateSettings(
  db: Transaction<DB>,
  workspaceId: string,
  { protect_customers, view_links, ...settings }: Partial<WorkspaceSettings>,
): Promise<void> {
  await db
    .updateTable('workspaces')
    .set({
      ...settings,
      ...(protect_customers !== undefined && { protect_customers: protect_customers ? 1 : 0 }),
      ...(view_links !== undefined && { has_view_links: view_links === 'on' ? 1 : 0 }),
    })
    .where('workspace_id', '=', workspaceId)
    .execute()
  if (settings.unknown_events !== undefined) await noteDefinitionChange(db, workspaceId)
}

/**
 * Makes every process read again what a workspace's events are checked by, and other transactions that change it wait
 * for the end of this one. Call it in each transaction that changes it.
 */
export async function noteDefinitionChange(db: Transaction<DB>, workspaceId: string): Promise<void> {
  await db
    .updateTable('workspaces')
    .set(({ eb }) => ({ definition_changes: eb('definition_changes', '+', 1) }))
    .where('workspace_id', '=', workspaceId)
    .execute()
}

/** Returns how often what a workspace's events are checked by was changed. */
export async function definitionChanges(db: Kysely<DB>, workspaceId: string): Promise<number | undefined> {
  const row = await db
    .selectFrom('workspaces')
    .select('definition_changes')
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirst()
  return row?.definition_changes
}

export function workspaceStatus(archived_ms: number | null): components['schemas']['WorkspaceStatus'] {
  return archived_ms === null ? 'active' : 'archived'
}

/** Archives a workspace, or restores it. @param archived_ms null for an active one */
export async function updateArchived(
  db: Transaction<DB>,
  workspaceId: string,
  archived_ms: number | null,
): Promise<void> {
  await db.updateTable('workspaces').set({ archived_ms }).where('workspace_id', '=', workspaceId).execute()
}

/** The name of an existing workspace. */
export async function workspaceName(db: Kysely<DB>, workspaceId: string): Promise<string> {
  const { name } = await db
    .selectFrom('workspaces')
    .select('name')
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirstOrThrow()
  return name
}

/** How many workspaces a person has created, other than on the command line. */
export async function countWorkspacesBy(db: Kysely<DB>, personId: string): Promise<number> {
  const { made } = await db
    .selectFrom('workspaces')
    .select(({ fn }) => fn.countAll<number>().as('made'))
    .where('created_by', '=', personId)
    .executeTakeFirstOrThrow()
  return Number(made)
}

/** Whether a workspace exists and is not being removed. */
export async function hasWorkspace(db: Kysely<DB>, workspaceId: string): Promise<boolean> {
  const there = db
    .selectFrom('workspaces')
    .select('workspace_id')
    .where('workspace_id', '=', workspaceId)
    .where('removed_ms', 'is', null)
  return (await there.executeTakeFirst()) !== undefined
}

/** The workspaces with the name, or all workspaces. */
export async function workspaces(db: Kysely<DB>, name?: string) {
  let query = db
    .selectFrom('workspaces')
    .select(['workspace_id', 'name'])
    .where('removed_ms', 'is', null)
    .orderBy('created_ms')
  if (name !== undefined) query = query.where('name', '=', name)
  return await query.execute()
}

/** The number of rows in a workspace, other than events. @param most customers are counted up to one more than this */
export async function countRows(db: ReadingDatabase, workspaceId: string, most: number) {
  const ofWorkspace = (table: 'journeys' | 'service_keys' | 'members') =>
    db.selectFrom(table).where('workspace_id', '=', workspaceId)
  const count = sql<number>`count(*)`.as('count')
  const journeys = ofWorkspace('journeys').where('removed_ms', 'is', null)
  const customers = db
    .selectFrom('customers')
    .select('customer_id')
    .where('workspace_id', '=', workspaceId)
    .limit(most + 1)
    .as('counted')
  const counts = await Promise.all([
    journeys.select(count).executeTakeFirstOrThrow(),
    db.selectFrom(customers).select(count).executeTakeFirstOrThrow(),
    ofWorkspace('service_keys').select(count).executeTakeFirstOrThrow(),
    ofWorkspace('members').select(count).executeTakeFirstOrThrow(),
  ])
  const [journey, customer, key, member] = counts
  return {
    journeys: journey.count,
    customers: customer.count,
    keys: key.count,
    members: member.count,
  }
}

/** Whether the store contains a workspace. */
export async function hasWorkspaces(db: Kysely<DB>): Promise<boolean> {
  const found = await db
    .selectFrom('workspaces')
    .select('workspace_id')
    .where('removed_ms', 'is', null)
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}
