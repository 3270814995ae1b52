import type { Context, Operation } from '../contract.ts'
import { emailKey } from '../domain/emails.ts'
import { instantText } from '../domain/instants.ts'
import { pageBody, pageOf } from '../domain/paging.ts'
import { assertMayDecide } from '../domain/roles.ts'
import { newToken } from '../domain/tokens.ts'
import { Problem } from '../problems.ts'
import type { Transaction } from '../storage/database.ts'
import { insertAuditEntry } from '../storage/tables/audit-log.ts'
import { addMember, noteRevokedInvitation } from '../storage/tables/audited-changes.ts'
import * as invitations from '../storage/tables/invitations.ts'
import { roleOf } from '../storage/tables/members.ts'
import { findPersonByEmail, insertPerson } from '../storage/tables/people.ts'
import { authorOf, ownRole, personActor, sessionOf } from './author.ts'
import { foundByLink } from './link-attempts.ts'
import { assertSamePassword, personWithPassword, signInRefused } from './password-guesses.ts'
import { shownSession, startSession } from './session-start.ts'

export const listInvitations: Operation<'listInvitations'> = async ({ workspaceId, query }, context) => {
  const { storage, reading, now } = context
  const lists = storage.lists(reading)
  const page = await invitations.newestInvitations(lists, workspaceId, pageOf(query, 'inv'), now())
  return { status: 200, body: pageBody(page) }
}

export const createInvitation: Operation<'createInvitation'> = async ({ workspaceId, body }, context) => {
  const { now, newId } = context
  const { email, role } = body
  const inviter = sessionOf(context.caller)
  const created_ms = now()
  const expires_ms = created_ms + invitations.VALID_MS
  const invitation_id = newId('inv')
  const token = newToken('invitation_')
  await context.change(async (db, caller) => {
    assertMayDecide(ownRole(caller), [role])
    const person = await findPersonByEmail(db, email)
    if (person && (await roleOf(db, workspaceId, person.person_id))) throw new Problem('already_member')
    const row = { invitation_id, token, email, role, invited_by: inviter.person_id, created_ms, expires_ms }
    const voided = await invitations.replaceInvitation(db, workspaceId, row)
    if (voided) {
      assertMayDecide(ownRole(caller), [voided.role])
      await noteRevokedInvitation(db, workspaceId, voided, authorOf(context))
    }
    await insertAuditEntry(db, workspaceId, authorOf(context), {
      action: 'member_invited',
      subject: { kind: 'invitation', id: invitation_id, name: email },
      after: { role },
    })
  })
  const times = { created_at: instantText(created_ms), expires_at: instantText(expires_ms) }
  return { status: 201, body: { invitation_id, email, role, invited_by: inviter.name, ...times, token } }
}

export const revokeInvitation: Operation<'revokeInvitation'> = async ({ workspaceId, path }, context) => {
  await context.change(async (db, caller) => {
    const now_ms = context.now()
    const invitation = await invitations.findInvitation(db, workspaceId, path.invitation_id, now_ms)
    if (!invitation) throw new Problem('invitation_not_found')
    assertMayDecide(ownRole(caller), [invitation.role])
    await invitations.deleteInvitation(db, workspaceId, invitation.invitation_id)
    await noteRevokedInvitation(db, workspaceId, invitation, authorOf(context))
  })
  return { status: 204 }
}

export const findInvitation: Operation<'findInvitation'> = async ({ body }, context) => {
  const { storage, now } = context
  const found = await foundByLink(context, () =>
    invitations.findOpenInvitation(storage.db, body.token, now()),
  )
  const { workspace_name, email, role, expires_ms } = found
  return { status: 200, body: { workspace_name, email, role, expires_at: instantText(expires_ms) } }
}

export const acceptInvitation: Operation<'acceptInvitation'> = async ({ body }, context) => {
  const { storage, now, newId, passwords, allowed } = context
  const { token, name, password } = body
  const { email, person_id, workspace_id } = await foundByLink(context, () =>
    invitations.findOpenInvitation(storage.db, token, now()),
  )
  // If only operators create accounts, a person without one gets the same answer as for a wrong password.
  const isNew = person_id === null && allowed.accounts === 'invitation'
  const person = isNew
    ? {
        person_id: newId('per'),
        name,
        email,
        password_hash: await passwords.hash(password, email, workspace_id),
      }
    : await personWithPassword(context, { email, password })
  return await context.change(async (db) => {
    const invitation = await usedInvitation(db, context, token)
    if (!isNew) await assertSamePassword(db, person)
    // Someone created the account meanwhile, with a password that this one was not compared with.
    else if (!(await insertPerson(db, { ...person, created_ms: now() }))) throw signInRefused()
    await join(db, context, invitation, person)
    return { status: 201, ...(await startSession(db, context, person)) }
  })
}

export const joinWorkspace: Operation<'joinWorkspace'> = async ({ body }, context) => {
  const { storage, now } = context
  const session = sessionOf(context.caller)
  await foundByLink(context, () => invitations.findOpenInvitation(storage.db, body.token, now()))
  return await context.change(async (db) => {
    const invitation = await usedInvitation(db, context, body.token)
    if (emailKey(invitation.email) !== emailKey(session.email)) throw new Problem('invitation_for_another')
    await join(db, context, invitation, session)
    return { status: 200, body: await shownSession(db, context, session) }
  })
}

/** Returns the invitation of a token and deletes it. */
async function usedInvitation(db: Transaction, { now }: Context, token: string) {
  const invitation = await invitations.findOpenInvitation(db, token, now())
  if (!invitation) throw new Problem('link_not_found')
  await invitations.deleteInvitation(db, invitation.workspace_id, invitation.invitation_id)
  return invitation
}

async function join(
  db: Transaction,
  context: Context,
  invitation: invitations.OpenInvitation,
  person: { person_id: string; name: string },
) {
  const author = { ...authorOf(context), actor: personActor(person) }
  if (!(await addMember(db, invitation, person, author))) throw new Problem('already_member')
}
