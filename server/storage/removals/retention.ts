import { DAY_MS } from '../../domain/durations.ts'
import type { Database, ReadingDatabase, Transaction } from '../database.ts'
import { inTransaction } from '../in-transaction.ts'
import { eachByItself, insertRemoval } from './removals.ts'

/** Minimum time span of expired events before they are removed: a scan for fewer is not worth it. */
const STEP_MS = 3_600_000

/** A workspace or journey with its own retention. */
type Subject = { workspace_id: string; kind: 'workspace' | 'journey'; subject_id: string }
type Retained = Subject & { retention_days: number | null; since_ms: number | null }

/** One with the instant before which its events are removed now. */
type Aged = Retained & { before_ms: number }

/** Returns the instant before which events have expired. */
export function agedBefore(retention_days: number, now_ms: number): number {
  return now_ms - retention_days * DAY_MS
}

/**
 * Starts to remove expired events, except for workspaces and journeys with another such removal in progress. Each starts in
 * a transaction of its own: one that fails does not hold back the others, and Citus refuses to change a table that is on
 * every node after a read of all shards in the same transaction.
 * @throws the first error, after the others have started
 */
export async function beginAgeing(db: Database, now_ms: number): Promise<void> {
  await eachByItself(await agedIn(db, now_ms), async (aged) => {
    await inTransaction(db, (db) => begin(db, aged, now_ms))
  })
}

async function begin(db: Transaction, subject: Subject, now_ms: number) {
  // Another process may have started it since.
  const aged = agedOf(await subjectNow(db, subject), now_ms)
  if (!aged) return
  const { workspace_id, kind, subject_id, before_ms, since_ms } = aged
  const ageing = await db
    .selectFrom('removals')
    .select('removal_id')
    .where('workspace_id', '=', workspace_id)
    .where('kind', '=', kind)
    .where('subject_id', '=', subject_id)
    .executeTakeFirst()
  if (ageing) {
    // It may have been started by a clock that was ahead: the next one scans everything.
    if (since_ms === null) await setEventsSince(db, aged, null)
    return
  }
  const place = JSON.stringify(since_ms === null ? {} : { since_ms })
  await insertRemoval(db, { workspace_id, kind, subject_id, before_ms, begun_ms: now_ms, place })
  await setEventsSince(db, aged, before_ms)
}

async function setEventsSince(
  db: Transaction,
  { workspace_id, kind, subject_id }: Subject,
  events_since_ms: number | null,
) {
  if (kind === 'workspace') {
    const workspace = db.updateTable('workspaces').where('workspace_id', '=', workspace_id)
    await workspace.set({ events_since_ms }).execute()
  } else {
    const journeys = db.updateTable('journeys').where('workspace_id', '=', workspace_id)
    await journeys.where('journey_id', '=', subject_id).set({ events_since_ms }).execute()
  }
}

const ofWorkspaces = (db: Database | Transaction) =>
  db
    .selectFrom('workspaces')
    .select(['workspace_id', 'workspace_id as subject_id', 'retention_days', 'events_since_ms as since_ms'])
    .where('retention_days', 'is not', null)

const ofJourneys = (db: Database | Transaction) =>
  db
    .selectFrom('journeys')
    .select(['workspace_id', 'journey_id as subject_id', 'retention_days', 'events_since_ms as since_ms'])
    .where('retention_days', 'is not', null)
    .where('removed_ms', 'is', null)

async function agedIn(db: Database, now_ms: number): Promise<Subject[]> {
  const all = [
    ...(await ofWorkspaces(db).execute()).map((row) => ({ ...row, kind: 'workspace' as const })),
    ...(await ofJourneys(db).execute()).map((row) => ({ ...row, kind: 'journey' as const })),
  ]
  return all.filter((row) => agedOf(row, now_ms))
}

async function subjectNow(
  db: Transaction,
  { kind, workspace_id, subject_id }: Subject,
): Promise<Retained | undefined> {
  const row = await (kind === 'workspace'
    ? ofWorkspaces(db).where('workspace_id', '=', workspace_id)
    : ofJourneys(db).where('workspace_id', '=', workspace_id).where('journey_id', '=', subject_id)
  ).executeTakeFirst()
  return row && { ...row, kind }
}

/** @returns undefined if too little has expired */
function agedOf(retained: Retained | undefined, now_ms: number): Aged | undefined {
  if (!retained) return undefined
  const { retention_days } = retained
  // In the future only if a clock was ahead: events that were received before it have been stored after that removal.
  const since_ms = (retained.since_ms ?? 0) > now_ms ? null : retained.since_ms
  const before_ms = agedBefore(retention_days ?? 0, now_ms)
  const isAged = since_ms === null || before_ms - since_ms >= STEP_MS
  return isAged ? { ...retained, since_ms, before_ms } : undefined
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
