import type { Operation } from '../contract.ts'
import { instantText } from '../domain/instants.ts'
import { assertMayDecide } from '../domain/roles.ts'
import { newToken } from '../domain/tokens.ts'
import { Problem } from '../problems.ts'
import { noteEverywhere, replacePassword } from '../storage/tables/audited-changes.ts'
import { findMember } from '../storage/tables/members.ts'
import * as links from '../storage/tables/password-links.ts'
import { authorOf, ownRole, personActor, sessionOf } from './author.ts'
import { foundByLink } from './link-attempts.ts'
import { startSession } from './session-start.ts'

export const createPasswordLink: Operation<'createPasswordLink'> = async ({ workspaceId, path }, context) => {
  const maker = sessionOf(context.caller)
  const expires_ms = context.now() + links.VALID_MS
  const token = newToken('password_')
  return await context.change(async (db, caller) => {
    const member = await findMember(db, workspaceId, path.person_id)
    if (!member) throw new Problem('member_not_found')
    const { person_id } = member
    if (person_id === maker.person_id) throw new Problem('own_password')
    assertMayDecide(ownRole(caller), [member.role])
    if (!(await links.decidesEverywhere(db, maker.person_id, person_id)))
      throw new Problem('member_elsewhere')
    await links.replacePasswordLink(db, { token, person_id, made_by: maker.person_id, expires_ms })
    await noteEverywhere(db, member, authorOf(context), { action: 'password_link_created' })
    return { status: 201, body: { person_id, expires_at: instantText(expires_ms), token } }
  })
}

export const findPasswordLink: Operation<'findPasswordLink'> = async ({ body }, context) => {
  const { storage, now } = context
  const link = await foundByLink(context, () => links.findPasswordLink(storage.db, body.token, now()))
  const { name, email, expires_ms } = link
  return { status: 200, body: { name, email, expires_at: instantText(expires_ms) } }
}

export const resetPassword: Operation<'resetPassword'> = async ({ body }, context) => {
  const { storage, now, passwords } = context
  const { token, password } = body
  const { email: account } = await foundByLink(context, () =>
    links.findPasswordLink(storage.db, token, now()),
  )
  const password_hash = await passwords.hash(password, account)
  return await context.change(async (db) => {
    // Again, because it may have been used or voided meanwhile.
    const link = await links.findPasswordLink(db, token, now())
    if (!link) throw new Problem('link_not_found')
    const { person_id, name, email } = link
    const author = { ...authorOf(context), actor: personActor(link) }
    await replacePassword(db, { person_id, email, password_hash }, author, 'password_reset')
    return { status: 201, ...(await startSession(db, context, { person_id, name, email, password_hash })) }
  })
}
