import type { components } from '../../generated/contract.ts'
import type { Context } from '../contract.ts'
import { newDevice } from '../domain/devices.ts'
import { instantText } from '../domain/instants.ts'
import { newToken, tokenDigest } from '../domain/tokens.ts'
import type { Database, Transaction } from '../storage/database.ts'
import { noteEverywhere } from '../storage/tables/audited-changes.ts'
import { membershipsOf } from '../storage/tables/members.ts'
import type { StoredPerson } from '../storage/tables/people.ts'
import {
  deleteExcessSessions,
  deleteExpiredSessions,
  deleteSession,
  insertSession,
} from '../storage/tables/sessions.ts'
import { authorOf, personActor } from './author.ts'

type Session = components['schemas']['Session']

/** Maximum lifetime of a session. */
const SESSION_S = 14 * 86_400

/**
 * Signs a person in, and ends the session that the request carries.
 * @returns the response body and its cookies
 */
export async function startSession(
  db: Transaction,
  context: Context,
  { password_hash, ...person }: StoredPerson,
) {
  const { now, newId, browser, cookies } = context
  const created_ms = now()
  const expires_ms = created_ms + SESSION_S * 1000
  const token = newToken('')
  const { session: earlier } = cookies
  if (earlier !== undefined) await deleteSession(db, tokenDigest(earlier))
  await deleteExpiredSessions(db, created_ms)
  const { person_id } = person
  await insertSession(db, { token, session_id: newId('ses'), person_id, browser, created_ms, expires_ms })
  await deleteExcessSessions(db, person_id)
  const author = { ...authorOf(context), actor: personActor(person) }
  await noteEverywhere(db, person, author, { action: 'signed_in' })
  const body = await shownSession(db, context, { ...person, created_ms, expires_ms })
  return { body, cookies: { session: { token, maxAge_s: SESSION_S }, device: newDevice(password_hash) } }
}

/** Returns a session in the form of the contract, with the person's current workspaces. */
export async function shownSession(
  db: Database,
  { allowed }: Pick<Context, 'allowed'>,
  session: Session['person'] & { created_ms: number; expires_ms: number },
): Promise<Session> {
  const { person_id, name, email, created_ms, expires_ms } = session
  return {
    person: { person_id, name, email },
    workspaces: await membershipsOf(db, person_id),
    owners_make_workspaces: allowed.accounts !== 'operator',
    created_at: instantText(created_ms),
    expires_at: instantText(expires_ms),
  }
}
