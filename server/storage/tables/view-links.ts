import type { Kysely, Transaction } from 'kysely'
import type { DB } from '../../../generated/tables.ts'
import { tokenDigest } from '../../domain/tokens.ts'
import type { ViewQuery } from './views.ts'

/** A link to a view, for people without an account. */
export type StoredViewLink = {
  workspace_id: string
  link_id: string
  view_id: string
  created_by: string
  created_ms: number
  expires_ms: number
}

/** A link, with the name of its creator. */
export type NamedViewLink = StoredViewLink & { creator: string }

/** What a link leads to. */
export type LinkedView = {
  workspace_id: string
  link_id: string
  expires_ms: number
  journey_id: string
  journey_name: string
  name: string
  query: ViewQuery
}

export async function insertViewLink(
  db: Transaction<DB>,
  link: StoredViewLink & { token: string },
): Promise<void> {
  const { token, ...row } = link
  await db
    .insertInto('view_links')
    .values({ ...row, digest: tokenDigest(token) })
    .execute()
}

/** The links to a view that have not expired, oldest first. They are limited in number. */
export async function openViewLinks(
  db: Kysely<DB>,
  { workspace_id, view_id }: Pick<StoredViewLink, 'workspace_id' | 'view_id'>,
  now_ms: number,
): Promise<NamedViewLink[]> {
  return await db
    .selectFrom('view_links')
    .innerJoin('people', 'people.person_id', 'view_links.created_by')
    .select(['workspace_id', 'link_id', 'view_id', 'created_by', 'view_links.created_ms', 'expires_ms'])
    .select('people.name as creator')
    .where('workspace_id', '=', workspace_id)
    .where('view_id', '=', view_id)
    .where('expires_ms', '>', now_ms)
    .orderBy('view_links.created_ms')
    .orderBy('link_id')
    .execute()
}

/** Deletes a link, and the links to its view that have expired. */
export async function deleteViewLink(db: Transaction<DB>, link: StoredViewLink, now_ms: number) {
  await db
    .deleteFrom('view_links')
    .where('workspace_id', '=', link.workspace_id)
    .where('view_id', '=', link.view_id)
    .where((eb) => eb.or([eb('link_id', '=', link.link_id), eb('expires_ms', '<=', now_ms)]))
    .execute()
}

/** Deletes the links to a view that have expired. */
export async function deleteExpiredLinks(
  db: Transaction<DB>,
  { workspace_id, view_id }: Pick<StoredViewLink, 'workspace_id' | 'view_id'>,
  now_ms: number,
) {
  await db
    .deleteFrom('view_links')
    .where('workspace_id', '=', workspace_id)
    .where('view_id', '=', view_id)
    .where('expires_ms', '<=', now_ms)
    .execute()
}

/** What the link with a token leads to; undefined if it shows nothing, for whatever reason. */
export async function findLinkedView(
  db: Kysely<DB>,
  token: string,
  now_ms: number,
): Promise<LinkedView | undefined> {
  const row = await db
    .selectFrom('view_links')
    .innerJoin('views', (join) =>
      join
        .onRef('views.workspace_id', '=', 'view_links.workspace_id')
        .onRef('views.view_id', '=', 'view_links.view_id'),
    )
    .innerJoin('journeys', (join) =>
      join
        .onRef('journeys.workspace_id', '=', 'views.workspace_id')
        .onRef('journeys.journey_id', '=', 'views.journey_id'),
    )
    .innerJoin('workspaces', 'workspaces.workspace_id', 'view_links.workspace_id')
    .select(['view_links.workspace_id', 'view_links.link_id', 'view_links.expires_ms'])
    .select(['views.journey_id', 'views.name', 'views.query'])
    .select('journeys.name as journey_name')
    .where('view_links.digest', '=', tokenDigest(token))
    .where('view_links.expires_ms', '>', now_ms)
    .where('views.person_id', 'is', null)
    .where('journeys.removed_ms', 'is', null)
    .where('workspaces.removed_ms', 'is', null)
    .where('workspaces.has_view_links', '=', 1)
    .executeTakeFirst()
  return row && { ...row, query: JSON.parse(row.query) }
}
