import type { IncomingHttpHeaders } from 'node:http'
import type { Caller, Role, Route } from './contract.ts'
import { readCookies } from './cookies.ts'
import { type Credentials, unauthorized } from './credentials.ts'
import { isFromOwnPage, type Reached } from './origins.ts'
import { Problem } from './problems.ts'
import { membershipsOf, roleOf } from './storage/members.ts'
import { findSession, type StoredSession, updateLastSeen } from './storage/sessions.ts'
import type { Database, Storage } from './storage/storage.ts'

/** A session ends after this time without a request. */
const IDLE_MS = 12 * 3_600_000

/** The last request of a session is noted at most this often. */
const LAST_SEEN_MS = 60_000

type CallersOptions = {
  credentials: Credentials
  storage: Storage
  publicUrl: URL | undefined
  now: () => number
  onError: (error: unknown) => void
}

/** Tells from the headers who calls, and whether the caller may. */
export class Callers {
  readonly #options: CallersOptions

  constructor(options: CallersOptions) {
    this.#options = options
  }

  /**
   * The caller of an operation. Where a key and a cookie are both sent, the key decides.
   * @param reach how the request reached the server, which costs some time to find out
   * @throws {Problem} 401 and 403, in this order
   */
  async check(
    { 'x-service-key': token, origin }: IncomingHttpHeaders,
    reach: () => Reached,
    { method, accepts, roles }: Pick<Route, 'method' | 'accepts' | 'roles'>,
  ): Promise<Caller> {
    if (accepts.length > 0 && (token !== undefined || !accepts.includes('session'))) {
      const key = await this.#options.credentials.check(token?.toString(), { accepts, origin })
      return { kind: 'key', key }
    }
    const reached = reach()
    if (accepts.length === 0) {
      this.#assertOwnPage(reached)
      return { kind: 'nobody' }
    }
    const session = await this.#session(reached, accepts)
    if (method !== 'GET') this.#assertOwnPage(reached)
    const membership = roles && (await this.#membership(session, reached, roles))
    return { kind: 'person', session, membership }
  }

  #assertOwnPage(reached: Reached) {
    if (!isFromOwnPage(reached, this.#options.publicUrl)) throw new Problem('foreign_origin')
  }

  async #session(reached: Reached, accepts: Route['accepts']): Promise<StoredSession> {
    const { storage, now, publicUrl } = this.#options
    const { session: token } = readCookies(reached, publicUrl)
    const session = token === undefined ? undefined : await findSession(storage.db, token)
    const now_ms = now()
    if (!session || session.expires_ms <= now_ms || session.last_seen_ms + IDLE_MS <= now_ms) {
      throw unauthorized(accepts)
    }
    if (session.last_seen_ms + LAST_SEEN_MS <= now_ms) this.#touch(session, now_ms)
    return session
  }

  async #membership({ person_id }: StoredSession, { headers }: Reached, roles: readonly Role[]) {
    const { db } = this.#options.storage
    const named = headers['x-workspace-id']?.toString()
    const membership =
      named === undefined ? await onlyMembership(db, person_id) : await findMembership(db, named, person_id)
    if (!membership) throw new Problem('not_a_member')
    if (!roles.includes(membership.role)) throw new Problem('role_not_allowed')
    return membership
  }

  #touch({ digest }: StoredSession, now_ms: number) {
    const transaction = this.#options.storage.db.transaction()
    transaction.execute((db) => updateLastSeen(db, digest, now_ms)).catch(this.#options.onError)
  }
}

type Membership = { workspace_id: string; role: Role }

/** @throws {Problem} `workspace_required` where the person has several */
async function onlyMembership(db: Database, personId: string): Promise<Membership | undefined> {
  const [only, ...others] = await membershipsOf(db, personId)
  if (others.length > 0) throw new Problem('workspace_required')
  return only
}

async function findMembership(
  db: Database,
  workspaceId: string,
  personId: string,
): Promise<Membership | undefined> {
  const role = await roleOf(db, workspaceId, personId)
  return role && { workspace_id: workspaceId, role }
}
