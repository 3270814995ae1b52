import type { Caller, Context, Operation } from '../contract.ts'
import { instantOrNull } from '../domain/instants.ts'
import { Problem } from '../problems.ts'
import type { ReadingDatabase, Transaction } from '../storage/database.ts'
import * as removals from '../storage/removals/workspace-removals.ts'
import * as audited from '../storage/tables/audited-changes.ts'
import {
  countRows,
  countWorkspacesBy,
  findWorkspace,
  settingsOf,
  workspaceStatus,
} from '../storage/tables/workspaces.ts'
import { authorOf, ownRole, sessionOf } from './author.ts'

/** Maximum workspaces that a person may create: each has its own share of the server. */
const WORKSPACES = 20

/** Maximum customers counted before a workspace is removed. */
const CUSTOMERS = 1_000_000

export const createWorkspace: Operation<'createWorkspace'> = async ({ body }, context) => {
  const { newId, allowed } = context
  if (allowed.accounts === 'operator') throw new Problem('operators_only')
  const person = sessionOf(context.caller)
  const workspace = { workspace_id: newId('wsp'), name: body.name }
  await context.change(async (db) => {
    const author = authorOf(context)
    if ((await countWorkspacesBy(db, person.person_id)) >= WORKSPACES)
      throw new Problem('too_many_workspaces')
    if (!(await audited.createWorkspace(db, workspace, author))) throw new Problem('workspace_exists')
    await audited.addMember(db, { ...workspace, role: 'owner' }, person, author)
  })
  return { status: 201, body: { ...workspace, role: 'owner', status: 'active' } }
}

export const getWorkspace: Operation<'getWorkspace'> = async ({ workspaceId }, { storage, caller }) => {
  return { status: 200, body: await workspaceOf(storage.db, workspaceId, caller) }
}

export const updateWorkspace: Operation<'updateWorkspace'> = async ({ workspaceId, body }, context) => {
  const { name, ...settings } = body
  const workspace = await context.change(async (db, caller) => {
    const author = authorOf(context)
    const isFree = name === undefined || (await audited.renameWorkspace(db, workspaceId, name, author))
    if (!isFree) throw new Problem('workspace_exists')
    await audited.changeSettings(db, workspaceId, settings, author)
    return await workspaceOf(db, workspaceId, caller)
  })
  if (settings.retention_days !== undefined) context.storage.removals.begin()
  return { status: 200, body: workspace }
}

export const archiveWorkspace: Operation<'archiveWorkspace'> = ({ workspaceId }, context) =>
  changeArchived(workspaceId, true, context)

export const restoreWorkspace: Operation<'restoreWorkspace'> = ({ workspaceId }, context) =>
  changeArchived(workspaceId, false, context)

export const removeWorkspace: Operation<'removeWorkspace'> = async (request, context) => {
  const { workspaceId, query, body } = request
  const { storage, reading } = context
  const assertRemovable = async (db: ReadingDatabase | Transaction) => {
    const { name, archived_ms } = await findWorkspace(db, workspaceId)
    if (archived_ms === null) throw new Problem('workspace_active')
    if (name !== body.name) throw new Problem('name_differs')
  }
  await assertRemovable(storage.db)
  const { customers, ...counted } = await countRows(storage.lists(reading), workspaceId, CUSTOMERS)
  const { events, isAll } = await storage.events.countEvents(workspaceId, {}, reading)
  const removal = {
    workspace_id: workspaceId,
    ...counted,
    customers: Math.min(customers, CUSTOMERS),
    more_customers: customers > CUSTOMERS,
    events,
    more_events: !isAll,
  }
  if (query.dry_run) return { status: 200, body: { ...removal, dry_run: true } }
  await context.change(async (db) => {
    await assertRemovable(db)
    await removals.removeWorkspace(db, workspaceId, context.now())
  })
  storage.removals.begin()
  return { status: 200, body: removal }
}

async function changeArchived(workspaceId: string, isArchived: boolean, context: Context) {
  const workspace = await context.change(async (db, caller) => {
    await audited.changeArchived(db, workspaceId, isArchived, authorOf(context))
    return await workspaceOf(db, workspaceId, caller)
  })
  return { status: 200 as const, body: workspace }
}

async function workspaceOf(db: ReadingDatabase | Transaction, workspaceId: string, caller: Caller) {
  const found = await findWorkspace(db, workspaceId)
  const { workspace_id, name, archived_ms, events_since_ms } = found
  return {
    workspace_id,
    name,
    status: workspaceStatus(archived_ms),
    events_since: instantOrNull(events_since_ms),
    ...settingsOf(found),
    role: ownRole(caller),
  }
}
