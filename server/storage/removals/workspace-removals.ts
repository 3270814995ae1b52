import { sql } from 'kysely'
import type { Database, Transaction } from '../database.ts'
import { runDeclared } from '../effects.ts'
import { type SharedTable, sharedKeys } from '../transfer/tables.ts'
import type { RemovalStore } from './removal-store.ts'
import { insertRemoval, type Removal } from './removals.ts'

/** With them goes whoever might come: members, keys and links; and what else was being removed goes with the rest. */
const AT_ONCE = ['members', 'invitations', 'setup_links', 'service_keys', 'removals'] as const

/** What goes behind events, journeys and enrolments. */
const BEHIND = ['customer_words', 'erasures', 'audit_log'] as const satisfies SharedTable[]

/** So many rows go in a transaction, and so many journeys are being removed at a time. */
const ROWS_AT_ONCE = 500
const JOURNEYS_AT_ONCE = 10

/** What was let in before the removal has ended by then. */
const SETTLED_MS = 5_000

/**
 * Removes a workspace: from the commit on nobody finds it, its keys are unknown and its name is free; what is left of it is
 * removed by and by. Its row stays, with nothing but its identifier, so that no engine gives its number to another.
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

export type WorkspaceSweep = {
  db: Database
  now: () => number
  /** @returns false: some are in a log still */
  removeRefusals: (workspaceId: string) => Promise<boolean>
  removals: Pick<RemovalStore, 'removeJourney'>
  /**
   * Removes some customers of a workspace and of what only the engine has of it, or waits for who takes it out of a queue.
   * @returns whether nothing is left
   */
  removeOwn: (db: Transaction, workspaceId: string, rows: number) => Promise<boolean>
}

/** Removes the next rows of a workspace whose events are gone. @returns whether nothing is left */
export async function sweepWorkspace(
  { db, now, removeRefusals, removals, removeOwn }: WorkspaceSweep,
  { workspace_id, begun_ms }: Removal,
): Promise<boolean> {
  if (now() - begun_ms < SETTLED_MS) return false
  const isGone = await db.transaction().execute(async (db) => {
    if (await removeJourneys(db, removals, workspace_id, begun_ms)) return false
    for (const table of BEHIND) {
      if ((await deleteSome(db, table, workspace_id)) > 0n) return false
    }
    return await removeOwn(db, workspace_id, ROWS_AT_ONCE)
  })
  return isGone && (await removeRefusals(workspace_id))
}

/** Has the next journeys removed, each as one that is removed alone. @returns whether there are any */
async function removeJourneys(
  db: Transaction,
  removals: Pick<RemovalStore, 'removeJourney'>,
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
    if (!ids.has(journey_id)) await removals.removeJourney(db, { workspace_id, journey_id, begun_ms })
  }
  return journeys.length > 0
}

async function deleteSome(
  db: Transaction,
  table: (typeof BEHIND)[number],
  workspace_id: string,
): Promise<bigint> {
  const key = sql.join(sharedKeys[table].map((column) => sql.ref(column)))
  const some = sql`
    DELETE FROM ${sql.table(table)} WHERE (${key}) IN (
      SELECT ${key} FROM ${sql.table(table)} WHERE workspace_id = ${workspace_id} LIMIT ${sql.lit(ROWS_AT_ONCE)}
    )`
  const { numAffectedRows } = await runDeclared(db, [], some)
  return numAffectedRows ?? 0n
}
