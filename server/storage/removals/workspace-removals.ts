import { sql } from 'kysely'
import { CLOCKS_MS } from '../../domain/instants.ts'
import type { Database, Transaction } from '../database.ts'
import { inTransaction } from '../in-transaction.ts'
import { deleteRows, type TableOfWorkspaces } from '../tables/some-rows.ts'
import type { RemovalStore } from './removal-store.ts'
import { insertRemoval, type Removal } from './removals.ts'

/**
 * Removed immediately: members, keys and links, which give access; and other removals, because the rest includes them.
 */
const AT_ONCE = ['members', 'invitations', 'setup_links', 'service_keys', 'removals'] as const

/** Removed after events, journeys and enrolments. */
const BEHIND = [
  'customer_words',
  'erasures',
  'definition_violations',
  'event_definition_revisions',
  'event_definitions',
  'webhook_windows',
  'webhook_deliveries',
  'webhooks',
  'view_links',
  'views',
  'audit_log',
] as const satisfies TableOfWorkspaces[]

/** Maximum rows per transaction, and maximum journeys removed at a time. */
const ROWS_AT_ONCE = 500
const JOURNEYS_AT_ONCE = 10

/** After this time, requests that started before the removal have ended. */
const SETTLED_MS = 5_000

/**
 * Removes a workspace: from the commit on it is hidden, its keys are unknown and its name is free; the rest is removed
 * gradually. Its row stays, with only its identifier, so that no engine reuses its number.
 */
export async function removeWorkspace(
  db: Transaction,
  workspace_id: string,
  begun_ms: number,
): Promise<void> {
  for (const table of AT_ONCE) await db.deleteFrom(table).where('workspace_id', '=', workspace_id).execute()
  await db
    .updateTable('journeys')
    .set({ removed_ms: begun_ms })
    .where('workspace_id', '=', workspace_id)
    .execute()
  await db
    .updateTable('workspaces')
    .set({
      name: workspace_id,
      removed_ms: begun_ms,
      created_by: null,
      erasure_secret: '',
      retention_days: null,
      events_since_ms: null,
    })
    .where('workspace_id', '=', workspace_id)
    .execute()
  await insertRemoval(db, { workspace_id, kind: 'workspace', subject_id: workspace_id, begun_ms })
}

/** What an engine does of the removal of a workspace. */
export type WorkspaceRemover = Pick<RemovalStore, 'removeJourney'> & {
  /**
   * Removes some customers of a workspace and what only the engine has of it, or waits for the process that dequeues
   * it.
   * @returns whether nothing is left
   */
  removeOwn: (db: Transaction, workspaceId: string, rows: number) => Promise<boolean>
}

/** Removes the next rows of a workspace without events. @returns whether nothing is left */
export async function sweepWorkspace(
  db: Database,
  engine: WorkspaceRemover,
  { workspace_id, begun_ms }: Removal,
  now_ms: number,
): Promise<boolean> {
  const isAhead = begun_ms > now_ms + CLOCKS_MS
  if (now_ms - begun_ms < SETTLED_MS && !isAhead) return false
  return await inTransaction(db, async (db) => {
    if (await removeJourneys(db, engine, workspace_id, begun_ms)) return false
    for (const table of BEHIND) {
      if ((await deleteRows(db, table, workspace_id, sql`true`)) > 0) return false
    }
    return await engine.removeOwn(db, workspace_id, ROWS_AT_ONCE)
  })
}

/** Starts the removal of the next journeys, each like a single one. @returns whether there are any */
async function removeJourneys(
  db: Transaction,
  engine: WorkspaceRemover,
  workspace_id: string,
  begun_ms: number,
): Promise<boolean> {
  const journeys = await db
    .selectFrom('journeys')
    .select('journey_id')
    .where('workspace_id', '=', workspace_id)
    .orderBy('journey_id')
    .limit(JOURNEYS_AT_ONCE)
    .execute()
  const begun = await db
    .selectFrom('removals')
    .select('subject_id')
    .where('workspace_id', '=', workspace_id)
    .where('kind', '=', 'journey')
    .execute()
  const ids = new Set(begun.map(({ subject_id }) => subject_id))
  for (const { journey_id } of journeys) {
    if (!ids.has(journey_id)) await engine.removeJourney(db, { workspace_id, journey_id, begun_ms })
  }
  return journeys.length > 0
}
