import type { Kysely, Transaction } from 'kysely'
import type { DB } from '../../../generated/tables.ts'
import { mayDecide } from '../../domain/roles.ts'
import { tokenDigest } from '../../domain/tokens.ts'
import { pairedRoles } from './members.ts'

/** A link can be used for so long. */
export const VALID_MS = 3_600_000

/** Whose password a link is for. */
export type PasswordLink = { person_id: string; name: string; email: string; expires_ms: number }

/** Makes the one link for a person that works from now on; the one before is void. */
export async function replacePasswordLink(
  db: Transaction<DB>,
  link: { token: string; person_id: string; made_by: string; expires_ms: number },
): Promise<void> {
  const { token, ...row } = link
  const digest = tokenDigest(token)
  await db
    .insertInto('password_links')
    .values({ ...row, digest })
    .onConflict((conflict) => conflict.column('person_id').doUpdateSet({ ...row, digest }))
    .execute()
}

/** The link of a token; undefined where there is none that works. */
export async function findPasswordLink(
  db: Kysely<DB>,
  token: string,
  now_ms: number,
): Promise<PasswordLink | undefined> {
  const row = await db
    .selectFrom('password_links')
    .innerJoin('people', 'people.person_id', 'password_links.person_id')
    .select(['people.person_id', 'people.name', 'people.email'])
    .select(['password_links.made_by', 'password_links.expires_ms'])
    .where('password_links.digest', '=', tokenDigest(token))
    .where('password_links.expires_ms', '>', now_ms)
    .executeTakeFirst()
  if (!row) return undefined
  const { made_by, ...link } = row
  // Now, not as it was: the person may have joined a workspace since in which the maker decides nothing.
  return (await decidesEverywhere(db, made_by, link.person_id)) ? link : undefined
}

/**
 * Whether one person decides about another in every workspace of that other. Whoever gives somebody a password can sign in
 * as that person, and a session is one for all workspaces.
 */
export async function decidesEverywhere(
  db: Kysely<DB>,
  deciderId: string,
  personId: string,
): Promise<boolean> {
  const roles = await pairedRoles(db, personId, deciderId)
  return roles.length > 0 && roles.every(({ role, other }) => other !== null && mayDecide(other, role))
}

/** Voids the link for a person. */
export async function deletePasswordLink(db: Transaction<DB>, personId: string): Promise<void> {
  await db.deleteFrom('password_links').where('person_id', '=', personId).execute()
}

/** Voids the link for a person and those that it has made. */
export async function deletePasswordLinksOf(db: Transaction<DB>, personId: string): Promise<void> {
  await db
    .deleteFrom('password_links')
    .where((link) => link.or([link('person_id', '=', personId), link('made_by', '=', personId)]))
    .execute()
}
