import type { Kysely, Selectable, Transaction } from 'kysely'
import type { components } from '../../../generated/contract.ts'
import type { DB, Invitations } from '../../../generated/tables.ts'
import { DAY_MS } from '../../domain/durations.ts'
import { emailKey } from '../../domain/emails.ts'
import { instantText } from '../../domain/instants.ts'
import type { Page, PageRows } from '../../domain/paging.ts'
import { tokenDigest } from '../../domain/tokens.ts'
import { behind, upTo } from '../lists/keyset.ts'
import { bytes, readPage } from '../lists/page-query.ts'

type Invitation = components['schemas']['Invitation']
type Role = components['schemas']['Role']

/** How long an invitation can be accepted. */
export const VALID_MS = 7 * DAY_MS

/** Who is invited, and with which role. */
export type InvitedAs = Pick<Invitation, 'invitation_id' | 'email' | 'role'>

/** An invitation that can be accepted, with its workspace. */
export type OpenInvitation = InvitedAs & {
  workspace_id: string
  workspace_name: string
  expires_ms: number
  /** The person who has an account with this email by now; null if there is none. */
  person_id: string | null
}

/**
 * Creates an invitation. An earlier one for the same email becomes void.
 * @returns the voided one, if it could still have been accepted
 */
export async function replaceInvitation(
  db: Transaction<DB>,
  workspaceId: string,
  invitation: {
    invitation_id: string
    token: string
    email: string
    role: Role
    invited_by: string
    created_ms: number
    expires_ms: number
  },
): Promise<InvitedAs | undefined> {
  const { token, ...row } = invitation
  const email_key = emailKey(row.email)
  const before = await db
    .deleteFrom('invitations')
    .where('workspace_id', '=', workspaceId)
    .where('email_key', '=', email_key)
    .returningAll()
    .executeTakeFirst()
  await db
    .insertInto('invitations')
    .values({ ...row, workspace_id: workspaceId, email_key, digest: tokenDigest(token) })
    .execute()
  return before && before.expires_ms > row.created_ms ? invitedAs(before) : undefined
}

/** Removes the open invitation to an email. @returns undefined if there was none */
export async function deleteInvitationTo(
  db: Transaction<DB>,
  workspaceId: string,
  email: string,
  now_ms: number,
): Promise<InvitedAs | undefined> {
  const row = await db
    .deleteFrom('invitations')
    .where('workspace_id', '=', workspaceId)
    .where('email_key', '=', emailKey(email))
    .where('expires_ms', '>', now_ms)
    .returningAll()
    .executeTakeFirst()
  return row && invitedAs(row)
}

/** Removes the open invitations that a member made, or those for one role. */
export async function deleteInvitationsBy(
  db: Transaction<DB>,
  workspaceId: string,
  personId: string,
  { role, now_ms }: { role?: Role; now_ms: number },
): Promise<InvitedAs[]> {
  let query = db
    .deleteFrom('invitations')
    .where('workspace_id', '=', workspaceId)
    .where('invited_by', '=', personId)
    .where('expires_ms', '>', now_ms)
    // Older ones have expired, and there may be many.
    .where('created_ms', '>=', now_ms - VALID_MS)
  if (role) query = query.where('role', '=', role)
  const rows = await query.returningAll().execute()
  return rows.map(invitedAs)
}

/** The invitations that can be accepted, by (`created_at`, `invitation_id`), newest first. */
export async function newestInvitations(
  db: Kysely<DB>,
  workspaceId: string,
  page: Page,
  now_ms: number,
): Promise<PageRows<Invitation>> {
  const open = db
    .selectFrom('invitations')
    .innerJoin('people', 'people.person_id', 'invitations.invited_by')
    .where('invitations.workspace_id', '=', workspaceId)
    .where('invitations.expires_ms', '>', now_ms)
  const keys = open
    .select(['invitations.created_ms as ms', 'invitations.invitation_id as id'])
    .select(bytes({ text: ['invitations.email', 'people.name'] }))
    .where(behind(page.after, 'invitations.created_ms', 'invitations.invitation_id'))
    // Older ones have expired. They are kept, and without this condition all of them would be examined.
    .where(upTo({ ms: now_ms - VALID_MS, id: '' }, 'invitations.created_ms', 'invitations.invitation_id'))
    .orderBy('invitations.created_ms', 'desc')
    .orderBy('invitations.invitation_id', 'desc')
  return await readPage(keys, page, async (ids) => {
    const rows = await open
      .selectAll('invitations')
      .select('people.name as inviter')
      .where('invitations.invitation_id', 'in', ids)
      .execute()
    return rows.map((row) => [row.invitation_id, invitationOf(row)])
  })
}

/** The invitation with a token; undefined if there is none that can be accepted. */
export async function findOpenInvitation(
  db: Kysely<DB>,
  token: string,
  now_ms: number,
): Promise<OpenInvitation | undefined> {
  const row = await db
    .selectFrom('invitations')
    .innerJoin('workspaces', 'workspaces.workspace_id', 'invitations.workspace_id')
    // In one statement, so that an account that is being created with this link is either seen with it or not at all.
    .leftJoin('people', 'people.email_key', 'invitations.email_key')
    .select([
      'people.person_id',
      'invitations.workspace_id',
      'workspaces.name as workspace_name',
      'invitations.invitation_id',
    ])
    .select(['invitations.email', 'invitations.role', 'invitations.expires_ms'])
    .where('invitations.digest', '=', tokenDigest(token))
    .where('invitations.expires_ms', '>', now_ms)
    .executeTakeFirst()
  return row && { ...row, role: row.role as Role }
}

/** An invitation that can be accepted; undefined if there is none. */
export async function findInvitation(
  db: Kysely<DB>,
  workspaceId: string,
  invitationId: string,
  now_ms: number,
): Promise<InvitedAs | undefined> {
  const row = await db
    .selectFrom('invitations')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('invitation_id', '=', invitationId)
    .where('expires_ms', '>', now_ms)
    .executeTakeFirst()
  return row && invitedAs(row)
}

export async function deleteInvitation(
  db: Transaction<DB>,
  workspaceId: string,
  invitationId: string,
): Promise<void> {
  await db
    .deleteFrom('invitations')
    .where('workspace_id', '=', workspaceId)
    .where('invitation_id', '=', invitationId)
    .execute()
}

function invitedAs({ invitation_id, email, role }: Selectable<Invitations>): InvitedAs {
  return { invitation_id, email, role: role as Role }
}

function invitationOf(row: Selectable<Invitations> & { inviter: string }): Invitation {
  return {
    invitation_id: row.invitation_id,
    email: row.email,
    role: row.role as Role,
    invited_by: row.inviter,
    created_at: instantText(row.created_ms),
    expires_at: instantText(row.expires_ms),
  }
}
