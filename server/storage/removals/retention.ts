import type { Database, ReadingDatabase, Transaction } from '../database.ts'
import { insertRemoval } from './removals.ts'

const DAY_MS = 86_400_000

/** Minimum time span of expired events before they are removed: a scan for fewer is not worth it. */
const STEP_MS = 3_600_000

/** A workspace or journey with its own retention, and the instant before which its events are removed now. */
type Aged = {
  workspace_id: string
  kind: 'workspace' | 'journey'
  subject_id: string
  before_ms: number
  since_ms: number | null
}

/** Returns the instant before which events have expired. */
export function agedBefore(retention_days: number, now_ms: number): number {
  return now_ms - retention_days * DAY_MS
}

/** Starts to remove expired events, except for workspaces and journeys with another such removal in progress. */
export async function beginAgeing(db: Database, now_ms: number): Promise<void> {
  if ((await agedIn(db, now_ms)).length === 0) return
  await db.transaction().execute(async (db) => {
    // Another process may have started it.
    for (const aged of await agedIn(db, now_ms)) await begin(db, aged, now_ms)
  })
}

async function begin(db: Transaction, aged: Aged, now_ms: number) {
  const { workspace_id, kind, subject_id, before_ms, since_ms } = aged
  const ageing = await db
    .selectFrom('removals')
    .select('removal_id')
    .where('workspace_id', '=', workspace_id)
    .where('kind', '=', kind)
    .where('subject_id', '=', subject_id)
    .executeTakeFirst()
  if (ageing) return
  const place = JSON.stringify(since_ms === null ? {} : { since_ms })
  await insertRemoval(db, { workspace_id, kind, subject_id, before_ms, begun_ms: now_ms, place })
  const events_since_ms = before_ms
  if (kind === 'workspace') {
    const workspace = db.updateTable('workspaces').where('workspace_id', '=', workspace_id)
    await workspace.set({ events_since_ms }).execute()
  } else {
    const journeys = db.updateTable('journeys').where('workspace_id', '=', workspace_id)
    await journeys.where('journey_id', '=', subject_id).set({ events_since_ms }).execute()
  }
}

async function agedIn(db: Database | Transaction, now_ms: number): Promise<Aged[]> {
  const workspaces = await db
    .selectFrom('workspaces')
    .select(['workspace_id', 'retention_days', 'events_since_ms'])
    .where('retention_days', 'is not', null)
    .execute()
  const journeys = await db
    .selectFrom('journeys')
    .select(['workspace_id', 'journey_id', 'retention_days', 'events_since_ms'])
    .where('retention_days', 'is not', null)
    .where('removed_ms', 'is', null)
    .execute()
  const all = [
    ...workspaces.map((row) => ({ ...row, kind: 'workspace' as const, subject_id: row.workspace_id })),
    ...journeys.map((row) => ({ ...row, kind: 'journey' as const, subject_id: row.journey_id })),
  ]
  return all.flatMap(({ workspace_id, kind, subject_id, retention_days, events_since_ms: since_ms }) => {
    const before_ms = agedBefore(retention_days ?? 0, now_ms)
    const isAged = since_ms === null || before_ms - since_ms >= STEP_MS
    return isAged ? { workspace_id, kind, subject_id, before_ms, since_ms } : []
  })
}

/** Returns since when the events of a journey are kept; null if none have expired. */
export async function eventsSince(
  db: ReadingDatabase,
  workspaceId: string,
  journeyId: string,
): Promise<number | null> {
  const row = await db
    .selectFrom('journeys')
    .innerJoin('workspaces', 'workspaces.workspace_id', 'journeys.workspace_id')
    .select(['journeys.events_since_ms as journey_ms', 'workspaces.events_since_ms as workspace_ms'])
    .where('journeys.workspace_id', '=', workspaceId)
    .where('journeys.journey_id', '=', journeyId)
    .executeTakeFirst()
  const known = [row?.journey_ms, row?.workspace_ms].flatMap((ms) => ms ?? [])
  return known.length === 0 ? null : Math.max(...known)
}
