import type { Kysely, Transaction } from 'kysely'
import type { DB } from '../../../generated/tables.ts'
import { tokenDigest } from '../../domain/tokens.ts'
import { runDeclared } from '../effects.ts'

/** Each sign-in makes one session and removes so many, so that they do not pile up. */
const DELETED_SESSIONS = 100

/** A person has so many at the most (contract: `OpenSessions.data`): a browser on each device, and what is tried out. */
const SESSIONS = 100

/** A session ends after this time without a request. */
export const IDLE_MS = 12 * 3_600_000

/** A session, and whose it is. */
export type StoredSession = {
  digest: string
  person_id: string
  name: string
  email: string
  created_ms: number
  last_seen_ms: number
  expires_ms: number
}

/** @param session.token what the cookie has; only its digest is stored */
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

/** The sessions of a person that can be used, the one that was used last first. */
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

/** The session whose cookie has the digest, whether or not it has expired. */
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

/** Ends the sessions of a person, but for the one with the digest. */
export async function deleteSessionsOf(
  db: Transaction<DB>,
  personId: string,
  { except = '' }: { except?: string } = {},
): Promise<void> {
  await db.deleteFrom('sessions').where('person_id', '=', personId).where('digest', '<>', except).execute()
}

/**
 * Ends those sessions of a person that are more than it may have, the least used first. Of what an earlier version has let
 * pile up only so many go at a time.
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

/** Removes expired sessions, but only so many: more of them go with the next call, and no call holds up the writer. */
export async function deleteExpiredSessions(db: Transaction<DB>, now_ms: number): Promise<void> {
  const expired = db.selectFrom('sessions').select('digest').where('expires_ms', '<=', now_ms)
  await db
    .deleteFrom('sessions')
    .where('digest', 'in', expired.orderBy('expires_ms').limit(DELETED_SESSIONS))
    .execute()
}
