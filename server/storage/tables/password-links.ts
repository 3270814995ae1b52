import type { Kysely, Transaction } from 'kysely'
import type { DB } from '../../../generated/tables.ts'
import { mayDecide } from '../../domain/roles.ts'
import { tokenDigest } from '../../domain/tokens.ts'
import { pairedRoles } from './members.ts'

/** How long a link can be used. */
export const VALID_MS = 3_600_000

/** A password link, with its person. */
export type PasswordLink = { person_id: string; name: string; email: string; expires_ms: number }

/** Creates a person's only valid link; the previous one becomes void. */
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

/** The link with a token; undefined if there is none that works. */
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
  // Checked now, not at creation: the person may have joined a workspace since in which the link's creator has no say.
  return (await decidesEverywhere(db, made_by, link.person_id)) ? link : undefined
}

/**
 * Whether one person administers another in every workspace of the other. Anyone who sets a person's password can sign in
 * as that person, and a session covers all workspaces.
 */
export async function decidesEverywhere(
  db: Kysely<DB>,
  deciderId: string,
  personId: string,
): Promise<boolean> {
  const roles = await pairedRoles(db, personId, deciderId)
  return roles.length > 0 && roles.every(({ role, other }) => other !== null && mayDecide(other, role))
}

/** Voids the password link of a person. */
export async function deletePasswordLink(db: Transaction<DB>, personId: string): Promise<void> {
  await db.deleteFrom('password_links').where('person_id', '=', personId).execute()
}

/** Voids a person's password link and the links that the person has created. */
export async function deletePasswordLinksOf(db: Transaction<DB>, personId: string): Promise<void> {
  await db
    .deleteFrom('password_links')
    .where((link) => link.or([link('person_id', '=', personId), link('made_by', '=', personId)]))
    .execute()
}
