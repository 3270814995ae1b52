import type { components } from '../../generated/contract.ts'
import type { Caller, Operation } from '../contract.ts'
import { instantText } from '../domain/instants.ts'
import { assertTimeZone } from '../domain/periods.ts'
import { Problem } from '../problems.ts'
import type { ReadingDatabase, Transaction } from '../storage/database.ts'
import * as audited from '../storage/tables/audited-views.ts'
import { findJourney } from '../storage/tables/journeys.ts'
import {
  countViews,
  findView,
  lockView,
  type StoredView,
  type ViewQuery,
  visibleViews,
} from '../storage/tables/views.ts'
import { authorOf } from './author.ts'

type View = components['schemas']['View']

/** Maximum views of a workspace, and maximum own views of a member (contract: `view_limit`). */
const VIEWS = 100

export const listViews: Operation<'listViews'> = async ({ workspaceId, query }, context) => {
  const db = context.storage.lists(context.reading)
  const views = await visibleViews(db, workspaceId, personOf(context.caller), query.journey_id)
  return { status: 200, body: { data: views.map(viewBody) } }
}

export const getView: Operation<'getView'> = async ({ workspaceId, path }, { storage, caller }) => {
  return { status: 200, body: viewBody(await existing(storage.db, workspaceId, path.view_id, caller)) }
}

export const createView: Operation<'createView'> = async ({ workspaceId, body }, context) => {
  const { name, journey_id, query, visibility } = body
  assertQuery(query)
  const now_ms = context.now()
  return await context.change(async (db, caller) => {
    const person_id = ownerOf(caller, visibility)
    const view: StoredView = {
      workspace_id: workspaceId,
      view_id: context.newId('viw'),
      journey_id,
      person_id,
      name,
      query,
      created_ms: now_ms,
      updated_ms: now_ms,
    }
    assertMayChange(view, caller)
    if (!(await findJourney(db, workspaceId, journey_id))) throw new Problem('journey_not_found')
    await assertRoom(db, view)
    await audited.createView(db, view, authorOf(context))
    return { status: 201, body: viewBody(view) }
  })
}

export const updateView: Operation<'updateView'> = async ({ workspaceId, path, body }, context) => {
  const { visibility, ...fields } = body
  if (fields.query) assertQuery(fields.query)
  return await context.change(async (db, caller) => {
    await lockView(db, workspaceId, path.view_id)
    const updated_ms = context.now()
    const before = await existing(db, workspaceId, path.view_id, caller)
    const person_id = visibility === 'workspace' ? null : before.person_id
    const after: StoredView = { ...before, ...fields, person_id, updated_ms }
    assertMayChange(after, caller)
    if (before.person_id !== person_id) await assertRoom(db, after)
    await audited.changeView(db, before, after, authorOf(context))
    return { status: 200, body: viewBody(after) }
  })
}

export const removeView: Operation<'removeView'> = async ({ workspaceId, path }, context) => {
  await context.change(async (db, caller) => {
    await lockView(db, workspaceId, path.view_id)
    const view = await existing(db, workspaceId, path.view_id, caller)
    assertMayChange(view, caller)
    await audited.removeView(db, view, authorOf(context))
  })
  return { status: 204 }
}

/** @throws {Problem} `view_not_found`, also for the own view of somebody else */
async function existing(
  db: ReadingDatabase | Transaction,
  workspaceId: string,
  viewId: string,
  caller: Caller,
): Promise<StoredView> {
  const view = await findView(db, workspaceId, viewId, personOf(caller))
  if (!view) throw new Problem('view_not_found')
  return view
}

function personOf(caller: Caller): string | undefined {
  return caller.kind === 'person' ? caller.session.person_id : undefined
}

/** @throws {Problem} `session_required` if a key asks for an own view */
function ownerOf(caller: Caller, visibility: View['visibility']): string | null {
  if (visibility === 'workspace') return null
  const person_id = personOf(caller)
  if (person_id === undefined) throw new Problem('session_required')
  return person_id
}

/** @throws {Problem} `role_not_allowed` if a viewer changes a view of the workspace */
function assertMayChange({ person_id }: StoredView, caller: Caller) {
  const isViewer = caller.kind === 'person' && caller.membership?.role === 'viewer'
  if (isViewer && person_id === null) throw new Problem('role_not_allowed')
}

/** @throws {Problem} `view_limit` */
async function assertRoom(db: Transaction, view: StoredView) {
  if ((await countViews(db, view)) >= VIEWS) throw new Problem('view_limit')
}

/** @throws {Problem} `time_zone_unknown`, `compared_period_missing` */
function assertQuery(query: ViewQuery) {
  if (query.time_zone !== undefined) assertTimeZone(query.time_zone)
  if (!hasComparedPeriod(query)) throw new Problem('compared_period_missing')
}

/** Whether a view says which period its report is compared with, if with any. */
function hasComparedPeriod({ compare, compare_from, compare_to, last_days, ...query }: ViewQuery): boolean {
  if (compare === undefined) return true
  if (compare === 'custom') return compare_from !== undefined && compare_to !== undefined
  const counts = query.entered_to === undefined && last_days !== undefined
  return query.entered_from !== undefined || counts
}

function viewBody({ view_id, name, journey_id, query, ...view }: StoredView): View {
  return {
    view_id,
    name,
    journey_id,
    query,
    visibility: view.person_id === null ? 'workspace' : 'own',
    created_at: instantText(view.created_ms),
    updated_at: instantText(view.updated_ms),
  }
}
