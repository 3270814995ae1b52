import type { IncomingHttpHeaders } from 'node:http'
import type { Caller, Role, Route } from '../../contract.ts'
import { isRecent } from '../../domain/instants.ts'
import { tokenDigest } from '../../domain/tokens.ts'
import { Problem } from '../../problems.ts'
import type { Database, Transaction } from '../../storage/database.ts'
import { inTransaction } from '../../storage/in-transaction.ts'
import type { ServedStorage } from '../../storage/storage.ts'
import { membershipsOf, roleOf } from '../../storage/tables/members.ts'
import { findSession, IDLE_MS, type StoredSession, updateLastSeen } from '../../storage/tables/sessions.ts'
import { readCookies } from './cookies.ts'
import { type Credentials, type Queued, unauthorized } from './credentials.ts'
import { LookUpQueue } from './look-up-queue.ts'
import { type Ingress, isFromOwnPage } from './origins.ts'

/** Minimum interval between updates of a session's last request. */
const LAST_SEEN_MS = 60_000

type CallersOptions = {
  credentials: Credentials
  storage: ServedStorage
  publicUrl: URL | undefined
  now: () => number
  onError: (error: unknown) => void
}

/** Authenticates and authorizes the caller from the headers. */
export class Callers {
  readonly #options: CallersOptions
  readonly #lookUps = new LookUpQueue()

  constructor(options: CallersOptions) {
    this.#options = options
  }

  /**
   * Returns the caller of an operation. If both a key and a cookie are sent, the key decides.
   * @param sender how the request reached the server and from which network, which takes some time to determine
   * @param before the caller of the same request, as of an earlier check: a person stays in the workspace
   * @throws {Problem} 401 and 403, in this order
   * @throws {Unavailable} `overloaded` if too many look-ups are waiting
   */
  async check(
    { 'x-service-key': token, origin }: IncomingHttpHeaders,
    sender: { ingress: () => Ingress; network: () => string },
    { method, accepts, roles }: Pick<Route, 'method' | 'accepts' | 'roles'>,
    before?: Caller,
  ): Promise<Caller> {
    if (accepts.length > 0 && (token !== undefined || !accepts.includes('session'))) {
      const queued: Queued = (lookUp) => this.#lookUps.run(sender.network(), lookUp)
      const key = await this.#options.credentials.check(token?.toString(), { accepts, origin, queued })
      return { kind: 'key', key }
    }
    const ingress = sender.ingress()
    if (accepts.length === 0) {
      if (method !== 'GET') this.#assertOwnPage(ingress)
      return { kind: 'nobody' }
    }
    const { db } = this.#options.storage
    const { session: cookie } = readCookies(ingress, this.#options.publicUrl)
    const find = () => this.#session(db, cookie && tokenDigest(cookie), accepts)
    const session = await (cookie ? this.#lookUps.run(sender.network(), find) : find())
    this.#touch(session)
    if (method !== 'GET') this.#assertOwnPage(ingress)
    const chosen = before?.kind === 'person' ? before.membership?.workspace_id : undefined
    const named = chosen ?? ingress.headers['x-workspace-id']?.toString()
    const membership = roles && (await findMembership(db, session, named))
    if (roles) assertRole(membership, roles)
    return { kind: 'person', session, membership }
  }

  /**
   * Checks a caller again inside a transaction. While the request was queued, the person may have been signed out,
   * removed or demoted, or the key revoked, by a request that was answered before this one changes anything.
   * @throws {Problem} 401 and 403, in this order
   */
  async recheck(
    db: Transaction,
    caller: Caller,
    { accepts, roles }: Pick<Route, 'accepts' | 'roles'>,
  ): Promise<Caller> {
    if (caller.kind === 'nobody') return caller
    if (caller.kind === 'key') {
      return { kind: 'key', key: await this.#options.credentials.recheck(db, caller.key, accepts) }
    }
    const session = await this.#session(db, caller.session.digest, accepts)
    const membership =
      caller.membership && (await findMembership(db, session, caller.membership.workspace_id))
    if (roles) assertRole(membership, roles)
    return { kind: 'person', session, membership }
  }

  #assertOwnPage(ingress: Ingress) {
    if (!isFromOwnPage(ingress, this.#options.publicUrl)) throw new Problem('foreign_origin')
  }

  async #session(
    db: Database,
    digest: string | undefined,
    accepts: Route['accepts'],
  ): Promise<StoredSession> {
    const session = digest === undefined ? undefined : await findSession(db, digest)
    const now_ms = this.#options.now()
    if (!session || session.expires_ms <= now_ms || session.last_seen_ms + IDLE_MS <= now_ms) {
      throw unauthorized(accepts)
    }
    return session
  }

  #touch({ digest, last_seen_ms }: StoredSession) {
    const { storage, now, onError } = this.#options
    const now_ms = now()
    if (isRecent(last_seen_ms, now_ms, LAST_SEEN_MS)) return
    inTransaction(storage.db, (db) => updateLastSeen(db, digest, now_ms)).catch(onError)
  }
}

type Membership = { workspace_id: string; role: Role }

/** @throws {Problem} `not_a_member`, `role_not_allowed` */
function assertRole(membership: Membership | undefined, roles: readonly Role[]) {
  if (!membership) throw new Problem('not_a_member')
  if (!roles.includes(membership.role)) throw new Problem('role_not_allowed')
}

/**
 * Returns the person's membership in the workspace, or its only one if no workspace is named.
 * @throws {Problem} `workspace_required` if the person has several
 */
async function findMembership(
  db: Database,
  { person_id }: StoredSession,
  workspaceId: string | undefined,
): Promise<Membership | undefined> {
  if (workspaceId === undefined) {
    const [only, ...others] = await membershipsOf(db, person_id)
    if (others.length > 0) throw new Problem('workspace_required')
    return only
  }
  const role = await roleOf(db, workspaceId, person_id)
  return role && { workspace_id: workspaceId, role }
}
