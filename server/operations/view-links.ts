import type { components } from '../../generated/contract.ts'
import type { Operation } from '../contract.ts'
import { DAY_MS } from '../domain/durations.ts'
import { instantText } from '../domain/instants.ts'
import { newToken } from '../domain/tokens.ts'
import { Problem } from '../problems.ts'
import type { ReadingDatabase, Transaction } from '../storage/database.ts'
import * as audited from '../storage/tables/audited-views.ts'
import { deleteExpiredLinks, type NamedViewLink, openViewLinks } from '../storage/tables/view-links.ts'
import { findView, lockView, type StoredView } from '../storage/tables/views.ts'
import { findWorkspace } from '../storage/tables/workspaces.ts'
import { authorOf, sessionOf } from './author.ts'

/** Maximum links to a view (contract: `view_link_limit`). */
const LINKS = 20

export const listViewLinks: Operation<'listViewLinks'> = async ({ workspaceId, path }, context) => {
  const { storage, reading, caller, now } = context
  const db = storage.lists(reading)
  const view = await existing(db, workspaceId, path.view_id, sessionOf(caller).person_id)
  return { status: 200, body: { data: (await openViewLinks(db, view, now())).map(linkBody) } }
}

export const createViewLink: Operation<'createViewLink'> = async ({ workspaceId, path, body }, context) => {
  const { person_id, name } = sessionOf(context.caller)
  const created_ms = context.now()
  const { valid_days = 30 } = body
  const token = newToken('viewlink_')
  return await context.change(async (db) => {
    await lockView(db, workspaceId, path.view_id)
    const view = await existing(db, workspaceId, path.view_id, person_id)
    const { has_view_links } = await findWorkspace(db, workspaceId)
    if (!has_view_links) throw new Problem('view_links_off')
    if (view.person_id !== null) throw new Problem('view_not_shared')
    await deleteExpiredLinks(db, view, created_ms)
    if ((await openViewLinks(db, view, created_ms)).length >= LINKS) throw new Problem('view_link_limit')
    const link: NamedViewLink = {
      workspace_id: workspaceId,
      link_id: context.newId('vlk'),
      view_id: view.view_id,
      created_by: person_id,
      creator: name,
      created_ms,
      expires_ms: created_ms + valid_days * DAY_MS,
    }
    await audited.createViewLink(db, view, { ...link, token }, authorOf(context))
    return { status: 201, body: { ...linkBody(link), token } }
  })
}

export const revokeViewLink: Operation<'revokeViewLink'> = async ({ workspaceId, path }, context) => {
  const { person_id } = sessionOf(context.caller)
  await context.change(async (db) => {
    await lockView(db, workspaceId, path.view_id)
    const view = await existing(db, workspaceId, path.view_id, person_id)
    const links = await openViewLinks(db, view, context.now())
    const link = links.find(({ link_id }) => link_id === path.link_id)
    if (!link) throw new Problem('view_link_not_found')
    await audited.revokeViewLink(db, view, link, authorOf(context))
  })
  return { status: 204 }
}

async function existing(
  db: ReadingDatabase | Transaction,
  workspaceId: string,
  viewId: string,
  personId: string,
): Promise<StoredView> {
  const view = await findView(db, workspaceId, viewId, personId)
  if (!view) throw new Problem('view_not_found')
  return view
}

function linkBody(link: NamedViewLink): components['schemas']['ViewLink'] {
  const { link_id, view_id, creator, created_ms, expires_ms } = link
  return {
    link_id,
    view_id,
    created_by: creator,
    created_at: instantText(created_ms),
    expires_at: instantText(expires_ms),
  }
}
