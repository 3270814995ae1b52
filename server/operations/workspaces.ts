import type { Operation } from '../contract.ts'
import { Problem } from '../problems.ts'
import * as audited from '../storage/audited-changes.ts'
import { countWorkspacesBy } from '../storage/workspaces.ts'
import { authorOf, ownRole, sessionOf } from './author.ts'

/** A person makes so many at the most: each has a share of the server of its own, and none can be removed. */
const WORKSPACES = 20

export const createWorkspace: Operation<'createWorkspace'> = async ({ body }, context) => {
  const { newId, allowed } = context
  if (allowed.accounts === 'operator') throw new Problem('operators_only')
  const person = sessionOf(context.caller)
  const workspace = { workspace_id: newId('wsp'), name: body.name }
  const author = authorOf(context)
  await context.change(async (db) => {
    if ((await countWorkspacesBy(db, person.person_id)) >= WORKSPACES)
      throw new Problem('too_many_workspaces')
    if (!(await audited.createWorkspace(db, workspace, author))) throw new Problem('workspace_exists')
    await audited.addMember(db, { ...workspace, role: 'owner' }, person, author)
  })
  return { status: 201, body: { ...workspace, role: 'owner' } }
}

export const updateWorkspace: Operation<'updateWorkspace'> = async ({ workspaceId, body }, context) => {
  return await context.change(async (db, caller) => {
    const isFree = await audited.renameWorkspace(db, workspaceId, body.name, authorOf(context))
    if (!isFree) throw new Problem('workspace_exists')
    return { status: 200, body: { workspace_id: workspaceId, name: body.name, role: ownRole(caller) } }
  })
}
