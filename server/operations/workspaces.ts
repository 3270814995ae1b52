import type { Caller, Operation } from '../contract.ts'
import { instantText } from '../domain/instants.ts'
import { Problem } from '../problems.ts'
import * as audited from '../storage/audited-changes.ts'
import type { ReadingDatabase, Transaction } from '../storage/storage.ts'
import { countWorkspacesBy, findWorkspace } from '../storage/workspaces.ts'
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

export const getWorkspace: Operation<'getWorkspace'> = async ({ workspaceId }, { storage, caller }) => {
  return { status: 200, body: await workspaceOf(storage.db, workspaceId, caller) }
}

export const updateWorkspace: Operation<'updateWorkspace'> = async ({ workspaceId, body }, context) => {
  const { name, retention_days } = body
  const author = authorOf(context)
  const workspace = await context.change(async (db, caller) => {
    const isFree = name === undefined || (await audited.renameWorkspace(db, workspaceId, name, author))
    if (!isFree) throw new Problem('workspace_exists')
    if (retention_days !== undefined) await audited.changeRetention(db, workspaceId, retention_days, author)
    return await workspaceOf(db, workspaceId, caller)
  })
  if (retention_days !== undefined) context.storage.removals.begin()
  return { status: 200, body: workspace }
}

async function workspaceOf(db: ReadingDatabase | Transaction, workspaceId: string, caller: Caller) {
  const { events_since_ms, ...workspace } = await findWorkspace(db, workspaceId)
  const events_since = events_since_ms === null ? null : instantText(events_since_ms)
  return { ...workspace, events_since, role: ownRole(caller) }
}
