import type { Kysely, Transaction } from 'kysely'
import type { DB } from '../../../generated/tables.ts'
import { tokenDigest } from '../../domain/tokens.ts'

/** What a link is for. */
export type SetupLink = { workspace_id: string | null; workspace_name: string | null; expires_ms: number }

/** Makes the one link that works from now on; those before are void. */
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
 * The link of a token; undefined where there is none that works. One that was made for an empty store leads to the
 * workspace that has been made since and has no members; it works no more where there are several of them: it does not say
 * which it is for.
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

/** Voids the link of an empty store, where somebody has got in without it. */
export async function deleteFirstSetupLink(db: Transaction<DB>): Promise<void> {
  await db.deleteFrom('setup_links').where('workspace_id', 'is', null).execute()
}

export async function deleteSetupLinks(db: Transaction<DB>): Promise<void> {
  await db.deleteFrom('setup_links').execute()
}
