import type { Operation } from '../contract.ts'
import { instantText } from '../domain/instants.ts'
import { Problem } from '../problems.ts'
import { insertAuditEntry } from '../storage/audit-log.ts'
import { insertJourney } from '../storage/journeys.ts'
import { insertMember } from '../storage/members.ts'
import { findPersonByEmail, insertPerson } from '../storage/people.ts'
import * as links from '../storage/setup-links.ts'
import { insertWorkspace } from '../storage/workspaces.ts'
import { authorOf, personActor } from './author.ts'
import { foundByLink } from './link-attempts.ts'
import { startSession } from './session-start.ts'

export const findSetupLink: Operation<'findSetupLink'> = async ({ body }, context) => {
  const { storage, now } = context
  const link = await foundByLink(context, () => links.findSetupLink(storage.db, body.token, now()))
  const { workspace_name, expires_ms } = link
  return { status: 200, body: { workspace_name, expires_at: instantText(expires_ms) } }
}

export const setUp: Operation<'setUp'> = async ({ body }, context) => {
  const { storage, now, newId, passwords } = context
  const { token, name, email, password, workspace_name, journey_name } = body
  await foundByLink(context, () => links.findSetupLink(storage.db, token, now()))
  // Before the password is hashed, which takes a while, and below again.
  if (await findPersonByEmail(storage.db, email)) throw new Problem('person_exists')
  const password_hash = await passwords.hash(password)
  return await storage.db.transaction().execute(async (db) => {
    const created_ms = now()
    // Again, because another request may have used the link meanwhile.
    const link = await links.findSetupLink(db, token, created_ms)
    if (!link) throw new Problem('link_not_found')
    await links.deleteSetupLinks(db)

    const person = { person_id: newId('per'), name, email, password_hash }
    if (!(await insertPerson(db, { ...person, created_ms }))) throw new Problem('person_exists')
    const author = { ...authorOf(context), actor: personActor(person) }

    let { workspace_id } = link
    if (workspace_id === null) {
      if (workspace_name === undefined) throw new Problem('workspace_name_required')
      workspace_id = newId('wsp')
      if (!(await insertWorkspace(db, { workspace_id, name: workspace_name, created_ms }))) {
        throw new Problem('workspace_exists')
      }
      const subject = { kind: 'workspace', id: workspace_id, name: workspace_name } as const
      await insertAuditEntry(db, workspace_id, author, { action: 'workspace_created', subject })
    } else if (workspace_name !== undefined) {
      throw new Problem('workspace_exists')
    }

    await insertMember(db, {
      workspace_id,
      person_id: person.person_id,
      role: 'owner',
      joined_ms: created_ms,
    })
    await insertAuditEntry(db, workspace_id, author, {
      action: 'member_joined',
      subject: { kind: 'person', id: person.person_id, name },
      after: { role: 'owner' },
    })
    if (journey_name !== undefined) {
      const journey = { journey_id: newId('jrn'), name: journey_name, description: '', steps: [], created_ms }
      await insertJourney(db, workspace_id, journey)
      const subject = { kind: 'journey', id: journey.journey_id, name: journey_name } as const
      const after = { name: journey_name }
      await insertAuditEntry(db, workspace_id, author, { action: 'journey_created', subject, after })
    }
    return { status: 201, ...(await startSession(db, context, person)) }
  })
}
