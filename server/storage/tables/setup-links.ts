import type { Kysely, Transaction } from 'kysely'
import type { DB } from '../../../generated/tables.ts'
import { tokenDigest } from '../../domain/tokens.ts'

/** The purpose of a link. */
export type SetupLink = { workspace_id: string | null; workspace_name: string | null; expires_ms: number }

/** Creates the only valid link; earlier ones become void. */
export async function replaceSetupLink(
  db: Transaction<DB>,
  link: { token: string; workspace_id: string | null; expires_ms: number },
): Promise<void> {
  const { token, ...row } = link
  await db.deleteFrom('setup_links').execute()
  await db
    .insertInto('setup_links')
    .values({ ...row, digest: tokenDigest(token) })
    .execute()
}

/**
 * The link with a token; undefined if there is none that works. A link created for an empty store leads to the
 * workspace that was created since and has no members. With several such workspaces it stops working, because it does
 * not identify one.
 */
export async function findSetupLink(
  db: Kysely<DB>,
  token: string,
  now_ms: number,
): Promise<SetupLink | undefined> {
  const link = await db
    .selectFrom('setup_links')
    .leftJoin('workspaces', 'workspaces.workspace_id', 'setup_links.workspace_id')
    .select(['setup_links.workspace_id', 'workspaces.name as workspace_name', 'setup_links.expires_ms'])
    .where('setup_links.digest', '=', tokenDigest(token))
    .where('setup_links.expires_ms', '>', now_ms)
    .executeTakeFirst()
  if (!link || link.workspace_id !== null) return link
  const [only, second] = await db
    .selectFrom('workspaces')
    .leftJoin('members', 'members.workspace_id', 'workspaces.workspace_id')
    .select(['workspaces.workspace_id', 'workspaces.name as workspace_name'])
    .where('workspaces.removed_ms', 'is', null)
    .where('members.person_id', 'is', null)
    .limit(2)
    .execute()
  if (second) return undefined
  return only ? { ...link, ...only } : link
}

/** Voids the link of an empty store, once somebody has gained access without it. */
export async function deleteFirstSetupLink(db: Transaction<DB>): Promise<void> {
  await db.deleteFrom('setup_links').where('workspace_id', 'is', null).execute()
}

export async function deleteSetupLinks(db: Transaction<DB>): Promise<void> {
  await db.deleteFrom('setup_links').execute()
}
