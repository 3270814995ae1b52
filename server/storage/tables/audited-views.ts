import type { Transaction } from 'kysely'
import type { DB } from '../../../generated/tables.ts'
import { changedFields } from '../../domain/changes.ts'
import { instantText } from '../../domain/instants.ts'
import { type AuditedChange, type Authorship, insertAuditEntry } from './audit-log.ts'
import * as links from './view-links.ts'
import * as views from './views.ts'

// Changes of views with their entries in the audit log, for views of the workspace only: own ones concern nobody else.

type StoredView = views.StoredView

export async function createView(db: Transaction<DB>, view: StoredView, author: Authorship): Promise<void> {
  await views.insertView(db, view)
  if (isShared(view)) await note(db, view, author, { action: 'view_created', after: audited(view) })
}

/** Replaces what can change of a view. An own view that is given to the workspace appears there. */
export async function changeView(
  db: Transaction<DB>,
  before: StoredView,
  after: StoredView,
  author: Authorship,
): Promise<void> {
  await views.updateView(db, after)
  if (!isShared(after)) return
  if (!isShared(before))
    return await note(db, after, author, { action: 'view_created', after: audited(after) })
  const changes = changedFields(audited(before), audited(after))
  if (changes) await note(db, after, author, { action: 'view_updated', ...changes })
}

/** Deletes a view with its links. */
export async function removeView(db: Transaction<DB>, view: StoredView, author: Authorship): Promise<void> {
  await views.deleteView(db, view)
  if (isShared(view)) await note(db, view, author, { action: 'view_removed', before: audited(view) })
}

/** Creates a link. The log does not hold its token. */
export async function createViewLink(
  db: Transaction<DB>,
  view: StoredView,
  link: links.NamedViewLink & { token: string },
  author: Authorship,
): Promise<void> {
  const { creator: _, ...row } = link
  await links.insertViewLink(db, row)
  await note(db, view, author, { action: 'view_link_created', after: auditedLink(link) })
}

export async function revokeViewLink(
  db: Transaction<DB>,
  view: StoredView,
  link: links.StoredViewLink,
  author: Authorship,
): Promise<void> {
  await links.deleteViewLink(db, link, author.at_ms)
  await note(db, view, author, { action: 'view_link_revoked', before: auditedLink(link) })
}

async function note(
  db: Transaction<DB>,
  { workspace_id, view_id, name }: StoredView,
  author: Authorship,
  change: Omit<AuditedChange, 'subject'>,
) {
  const subject = { kind: 'view', id: view_id, name } as const
  await insertAuditEntry(db, workspace_id, author, { ...change, subject })
}

function isShared({ person_id }: StoredView): boolean {
  return person_id === null
}

function auditedLink({ link_id, expires_ms }: links.StoredViewLink) {
  return { link_id, expires_at: instantText(expires_ms) }
}

function audited({ name, journey_id, query }: StoredView) {
  return { name, journey_id, query }
}
