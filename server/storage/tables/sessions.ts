import type { Kysely, Transaction } from 'kysely'
import type { DB } from '../../../generated/tables.ts'
import { tokenDigest } from '../../domain/tokens.ts'
import { runDeclared } from '../effects.ts'

/** Each sign-in creates one session and deletes up to this many expired ones, so that they do not accumulate. */
const DELETED_SESSIONS = 100

/**
 * Limit of sessions per person (API: `OpenSessions.data`): enough for a browser on each device, and for trying things
 * out.
 */
const SESSIONS = 100

/** A session ends after this time without a request. */
export const IDLE_MS = 12 * 3_600_000

/** A session and its person. */
export type StoredSession = {
  digest: string
  person_id: string
  name: string
  email: string
  created_ms: number
  last_seen_ms: number
  expires_ms: number
}

/** @param session.token the value of the cookie; only its digest is stored */
export async function insertSession(
  db: Transaction<DB>,
  session: {
    token: string
    session_id: string
    person_id: string
    browser: string | null
    created_ms: number
    expires_ms: number
  },
): Promise<void> {
  const { token, ...row } = session
  await db
    .insertInto('sessions')
    .values({ ...row, digest: tokenDigest(token), last_seen_ms: row.created_ms })
    .execute()
}

/** The valid sessions of a person, most recently used first. */
export async function openSessions(db: Kysely<DB>, personId: string, now_ms: number) {
  return await db
    .selectFrom('sessions')
    .select(['digest', 'session_id', 'browser', 'created_ms', 'last_seen_ms', 'expires_ms'])
    .where('person_id', '=', personId)
    .where('last_seen_ms', '>', now_ms - IDLE_MS)
    .where('expires_ms', '>', now_ms)
    .orderBy('last_seen_ms', 'desc')
    .orderBy('session_id', 'desc')
    .limit(SESSIONS)
    .execute()
}

/** The session with the digest of the cookie, whether expired or not. */
export async function findSession(db: Kysely<DB>, digest: string): Promise<StoredSession | undefined> {
  return await db
    .selectFrom('sessions')
    .innerJoin('people', 'people.person_id', 'sessions.person_id')
    .select(['sessions.digest', 'sessions.person_id', 'people.name', 'people.email'])
    .select(['sessions.created_ms', 'sessions.last_seen_ms', 'sessions.expires_ms'])
    .where('sessions.digest', '=', digest)
    .executeTakeFirst()
}

export async function updateLastSeen(
  db: Transaction<DB>,
  digest: string,
  last_seen_ms: number,
): Promise<void> {
  // It changes nothing that anybody obeys.
  await runDeclared(db, [], db.updateTable('sessions').set({ last_seen_ms }).where('digest', '=', digest))
}

export async function deleteSession(db: Transaction<DB>, digest: string): Promise<void> {
  await db.deleteFrom('sessions').where('digest', '=', digest).execute()
}

/** Ends the sessions of a person, except the one with the digest. */
export async function deleteSessionsOf(
  db: Transaction<DB>,
  personId: string,
  { except = '' }: { except?: string } = {},
): Promise<void> {
  await db.deleteFrom('sessions').where('person_id', '=', personId).where('digest', '<>', except).execute()
}

/**
 * Ends a person's sessions beyond the limit, least recently used first. If an earlier version let many accumulate,
 * only a limited number is deleted at a time.
 */
export async function deleteExcessSessions(db: Transaction<DB>, personId: string): Promise<void> {
  const excess = db
    .selectFrom('sessions')
    .select('digest')
    .where('person_id', '=', personId)
    .orderBy('last_seen_ms', 'desc')
    .orderBy('session_id', 'desc')
    .offset(SESSIONS)
    .limit(DELETED_SESSIONS)
  await db.deleteFrom('sessions').where('digest', 'in', excess).execute()
}

/**
 * Deletes expired sessions, up to a limit: the rest follows with later calls, so that no call blocks the writer for
 * long.
 */
export async function deleteExpiredSessions(db: Transaction<DB>, now_ms: number): Promise<void> {
  const expired = db.selectFrom('sessions').select('digest').where('expires_ms', '<=', now_ms)
  await db
    .deleteFrom('sessions')
    .where('digest', 'in', expired.orderBy('expires_ms').limit(DELETED_SESSIONS))
    .execute()
}
