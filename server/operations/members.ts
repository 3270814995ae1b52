import type { components } from '../../generated/contract.ts'
import type { Context, Operation } from '../contract.ts'
import { pageBody, pageOf } from '../domain/paging.ts'
import { assertMayDecide } from '../domain/roles.ts'
import { Problem } from '../problems.ts'
import type { Transaction } from '../storage/database.ts'
import { insertAuditEntry } from '../storage/tables/audit-log.ts'
import { noteRevokedInvitation } from '../storage/tables/audited-changes.ts'
import { deleteInvitationsBy, deleteInvitationTo } from '../storage/tables/invitations.ts'
import * as members from '../storage/tables/members.ts'
import { deletePasswordLinksOf } from '../storage/tables/password-links.ts'
import { authorOf, ownRole } from './author.ts'

type Member = components['schemas']['Member']

export const listMembers: Operation<'listMembers'> = async ({ workspaceId, query }, context) => {
  const { storage, reading } = context
  const page = await members.newestMembers(storage.lists(reading), workspaceId, query, pageOf(query, 'per'))
  return { status: 200, body: pageBody(page) }
}

export const updateMember: Operation<'updateMember'> = async ({ workspaceId, path, body }, context) => {
  return await context.change(async (db, caller) => {
    const member = await findMember(db, workspaceId, path.person_id)
    assertMayDecide(ownRole(caller), [member.role, body.role])
    if (body.role === member.role) return { status: 200, body: member }
    if (member.role === 'owner') await assertOtherOwner(db, workspaceId)
    await members.updateRole(db, workspaceId, member.person_id, body.role)
    await deletePasswordLinksOf(db, member.person_id)
    if (body.role === 'viewer') await revokeInvitations(db, context, workspaceId, member)
    if (body.role === 'admin') await revokeInvitations(db, context, workspaceId, member, 'owner')
    await insertAuditEntry(db, workspaceId, authorOf(context), {
      action: 'member_role_changed',
      subject: subjectOf(member),
      before: { role: member.role },
      after: { role: body.role },
    })
    return { status: 200, body: { ...member, role: body.role } }
  })
}

export const removeMember: Operation<'removeMember'> = async ({ workspaceId, path }, context) => {
  await context.change(async (db, caller) => {
    const member = await findMember(db, workspaceId, path.person_id)
    assertMayDecide(ownRole(caller), [member.role])
    if (member.role === 'owner') await assertOtherOwner(db, workspaceId)
    await members.deleteMember(db, workspaceId, member.person_id)
    await deletePasswordLinksOf(db, member.person_id)
    await revokeInvitations(db, context, workspaceId, member)
    // One from before the person joined in another way.
    const own = await deleteInvitationTo(db, workspaceId, member.email, context.now())
    if (own) await noteRevokedInvitation(db, workspaceId, own, authorOf(context))
    await insertAuditEntry(db, workspaceId, authorOf(context), {
      action: 'member_removed',
      subject: subjectOf(member),
      before: { role: member.role },
    })
  })
  return { status: 204 }
}

async function findMember(db: Transaction, workspaceId: string, personId: string): Promise<Member> {
  const member = await members.findMember(db, workspaceId, personId)
  if (!member) throw new Problem('member_not_found')
  return member
}

/** Revokes the invitations of a member who may no longer make them, or those for one role. */
async function revokeInvitations(
  db: Transaction,
  context: Context,
  workspaceId: string,
  { person_id }: Member,
  role?: Member['role'],
) {
  const filter = { now_ms: context.now(), ...(role && { role }) }
  const revoked = await deleteInvitationsBy(db, workspaceId, person_id, filter)
  for (const invitation of revoked) {
    await noteRevokedInvitation(db, workspaceId, invitation, authorOf(context))
  }
}

async function assertOtherOwner(db: Transaction, workspaceId: string) {
  if ((await members.countOwners(db, workspaceId)) < 2) throw new Problem('last_owner')
}

function subjectOf({ person_id, name }: Member) {
  return { kind: 'person', id: person_id, name } as const
}
