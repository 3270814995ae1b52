import type { Operation } from '../contract.ts'
import { instantText } from '../domain/instants.ts'
import { Problem } from '../problems.ts'
import * as audited from '../storage/tables/audited-changes.ts'
import { findPersonByEmail, hasPeople, insertPerson } from '../storage/tables/people.ts'
import * as links from '../storage/tables/setup-links.ts'
import { authorOf, personActor } from './author.ts'
import { foundByLink } from './link-attempts.ts'
import { startSession } from './session-start.ts'

export const getSetup: Operation<'getSetup'> = async (_, { storage }) => {
  return { status: 200, body: { has_accounts: await hasPeople(storage.db) } }
}

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
  // Before hashing the password, which takes a while; and again below.
  if (await findPersonByEmail(storage.db, email)) throw new Problem('person_exists')
  const password_hash = await passwords.hash(password, email)
  return await context.change(async (db) => {
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
      const workspace = { workspace_id, name: workspace_name }
      if (!(await audited.createWorkspace(db, workspace, author))) throw new Problem('workspace_exists')
    } else if (workspace_name !== undefined) {
      throw new Problem('workspace_exists', {
        detail: 'Leave workspace_name out; the link is for a workspace that exists.',
      })
    }

    await audited.addMember(db, { workspace_id, role: 'owner' }, person, author)
    if (journey_name !== undefined) {
      const journey = { journey_id: newId('jrn'), name: journey_name, description: '', steps: [] }
      await audited.createJourney(db, workspace_id, journey, author)
    }
    return { status: 201, ...(await startSession(db, context, person)) }
  })
}
