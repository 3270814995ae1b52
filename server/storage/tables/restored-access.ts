import type { Kysely, Transaction } from 'kysely'
import type { DB } from '../../../generated/tables.ts'
import { type Authorship, insertAuditEntry } from './audit-log.ts'
import { changeServiceKey, revokeServiceKey } from './audited-changes.ts'
import { type ServiceKey, serviceKeys } from './service-keys.ts'
import { workspaces } from './workspaces.ts'

/** The access rights in a workspace. */
export type Access = {
  workspace_id: string
  workspace_name: string
  /** Including expired and revoked keys. */
  keys: ServiceKey[]
  members: AccessOfMember[]
}

export type AccessOfMember = {
  person_id: string
  name: string
  email: string
  role: string
  password_hash: string
}

/** The access rights in each workspace of a store. */
export async function accessTo(db: Kysely<DB>): Promise<Access[]> {
  const found: Access[] = []
  for (const { workspace_id, name } of await workspaces(db)) {
    const members = await db
      .selectFrom('members')
      .innerJoin('people', 'people.person_id', 'members.person_id')
      .select(['people.person_id', 'people.name', 'people.email', 'people.password_hash', 'members.role'])
      .where('members.workspace_id', '=', workspace_id)
      .orderBy('people.email')
      .execute()
    const keys = await serviceKeys(db, workspace_id)
    found.push({ workspace_id, workspace_name: name, keys, members })
  }
  return found
}

/** Temporary access that was ended. */
export type EndedAccess = {
  sessions: number
  setup_links: number
  invitations: number
  password_links: number
  view_links: number
}

/**
 * Revokes access that a restored backup would bring back: every session, every link, and every key that has ended in
 * the store that it replaces. It is recorded in each workspace's audit log.
 * @param replaced undefined if the content of that store is unknown
 */
export async function endOldAccess(
  db: Transaction<DB>,
  { replaced, author }: { replaced: readonly Access[] | undefined; author: Authorship },
): Promise<EndedAccess> {
  const ended = {
    sessions: await emptied(db, 'sessions'),
    setup_links: await emptied(db, 'setup_links'),
    invitations: await emptied(db, 'invitations'),
    password_links: await emptied(db, 'password_links'),
    view_links: await emptied(db, 'view_links'),
  }
  const since = new Map(replaced?.flatMap(({ keys }) => keys.map((key) => [key.key_id, key])))
  for (const { workspace_id, workspace_name, keys } of await accessTo(db)) {
    const subject = { kind: 'workspace', id: workspace_id, name: workspace_name } as const
    await insertAuditEntry(db, workspace_id, author, { action: 'store_restored', subject })
    for (const key of keys) await endAs(db, key, since.get(key.key_id), author)
  }
  return ended
}

/** Ends a key as it has ended elsewhere since. */
async function endAs(
  db: Transaction<DB>,
  key: ServiceKey,
  since: ServiceKey | undefined,
  author: Authorship,
) {
  if (!since) return
  if (since.revoked_ms !== null) {
    await revokeServiceKey(db, key, author)
  } else if (since.expires_ms !== null && since.expires_ms < (key.expires_ms ?? Number.POSITIVE_INFINITY)) {
    await changeServiceKey(db, key, { expires_ms: since.expires_ms }, author)
  }
}

async function emptied(db: Transaction<DB>, table: keyof EndedAccess): Promise<number> {
  return Number((await db.deleteFrom(table).executeTakeFirstOrThrow()).numDeletedRows)
}
