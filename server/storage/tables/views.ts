import type { Kysely, Selectable, Transaction } from 'kysely'
import type { components } from '../../../generated/contract.ts'
import type { DB, Views } from '../../../generated/tables.ts'

export type ViewQuery = components['schemas']['ViewQuery']

export type StoredView = Omit<Selectable<Views>, 'query'> & { query: ViewQuery }

/** Who asks: a person also sees its own views; undefined for a key. */
type Viewer = string | undefined

/** How many views of a journey are deleted in one transaction, which others wait for. */
const DELETED_AT_ONCE = 500

export async function insertView(db: Transaction<DB>, { query, ...row }: StoredView): Promise<void> {
  await db
    .insertInto('views')
    .values({ ...row, query: JSON.stringify(query) })
    .execute()
}

/** Replaces what can change of a view. */
export async function updateView(db: Transaction<DB>, { query, ...row }: StoredView): Promise<void> {
  const { name, person_id, updated_ms } = row
  await db
    .updateTable('views')
    .set({ name, person_id, updated_ms, query: JSON.stringify(query) })
    .where('workspace_id', '=', row.workspace_id)
    .where('view_id', '=', row.view_id)
    .execute()
}

/** Makes other transactions that change a view wait for the end of this one. Call it before reading. */
export async function lockView(db: Transaction<DB>, workspaceId: string, viewId: string): Promise<void> {
  await db
    .updateTable('views')
    .set(({ ref }) => ({ updated_ms: ref('updated_ms') }))
    .where('workspace_id', '=', workspaceId)
    .where('view_id', '=', viewId)
    .execute()
}

/** The views that somebody sees, oldest first. They are limited in number. */
export async function visibleViews(
  db: Kysely<DB>,
  workspaceId: string,
  viewer: Viewer,
  journeyId?: string,
): Promise<StoredView[]> {
  let query = visible(db, workspaceId, viewer).orderBy('views.created_ms').orderBy('views.view_id')
  if (journeyId !== undefined) query = query.where('views.journey_id', '=', journeyId)
  return (await query.execute()).map(storedOf)
}

/** A view that somebody sees; undefined if there is none, or its journey was removed. */
export async function findView(
  db: Kysely<DB>,
  workspaceId: string,
  viewId: string,
  viewer: Viewer,
): Promise<StoredView | undefined> {
  const row = await visible(db, workspaceId, viewer).where('views.view_id', '=', viewId).executeTakeFirst()
  return row && storedOf(row)
}

/**
 * The views that need variables of events, the last changed first.
 * @param limit how many of a workspace, and in all
 */
export async function latestViewsOfVariables(
  db: Kysely<DB>,
  limit: { perWorkspace: number; inAll: number },
): Promise<StoredView[]> {
  const rows = await db
    .selectFrom((from) =>
      from
        .selectFrom('views')
        // As in `breakdown: variable:plan` and in `variables`.
        .where('query', 'like', '%"variable%')
        .selectAll()
        .select(({ fn }) =>
          fn
            .agg<number>('row_number')
            .over((over) => over.partitionBy('workspace_id').orderBy('updated_ms', 'desc'))
            .as('place'),
        )
        .as('latest'),
    )
    .where('place', '<=', limit.perWorkspace)
    .selectAll()
    .orderBy('updated_ms', 'desc')
    .limit(limit.inAll)
    .execute()
  return rows.map(({ place: _, ...row }) => storedOf(row))
}

/** How many views a person has of its own, or the workspace has. */
export async function countViews(
  db: Transaction<DB>,
  { workspace_id, person_id }: Pick<StoredView, 'workspace_id' | 'person_id'>,
): Promise<number> {
  const { count } = await db
    .selectFrom('views')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('workspace_id', '=', workspace_id)
    .where('person_id', person_id === null ? 'is' : '=', person_id)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Deletes a view with its links. */
export async function deleteView(
  db: Transaction<DB>,
  { workspace_id, view_id }: Pick<StoredView, 'workspace_id' | 'view_id'>,
): Promise<void> {
  for (const table of ['view_links', 'views'] as const) {
    await db
      .deleteFrom(table)
      .where('workspace_id', '=', workspace_id)
      .where('view_id', '=', view_id)
      .execute()
  }
}

/** Deletes the own views of a person, which have no links. */
export async function deleteViewsOf(db: Transaction<DB>, workspaceId: string, personId: string) {
  await db
    .deleteFrom('views')
    .where('workspace_id', '=', workspaceId)
    .where('person_id', '=', personId)
    .execute()
}

/** Deletes some views of a journey with their links. @returns whether none is left */
export async function deleteViewsOfJourney(
  db: Transaction<DB>,
  workspaceId: string,
  journeyId: string,
): Promise<boolean> {
  const rows = await db
    .selectFrom('views')
    .select('view_id')
    .where('workspace_id', '=', workspaceId)
    .where('journey_id', '=', journeyId)
    .limit(DELETED_AT_ONCE)
    .execute()
  const ids = rows.map(({ view_id }) => view_id)
  if (ids.length === 0) return true
  for (const table of ['view_links', 'views'] as const) {
    await db.deleteFrom(table).where('workspace_id', '=', workspaceId).where('view_id', 'in', ids).execute()
  }
  return ids.length < DELETED_AT_ONCE
}

function visible(db: Kysely<DB>, workspaceId: string, viewer: Viewer) {
  return db
    .selectFrom('views')
    .innerJoin('journeys', (join) =>
      join
        .onRef('journeys.workspace_id', '=', 'views.workspace_id')
        .onRef('journeys.journey_id', '=', 'views.journey_id'),
    )
    .selectAll('views')
    .where('views.workspace_id', '=', workspaceId)
    .where('journeys.removed_ms', 'is', null)
    .where((eb) => {
      const ofAll = eb('views.person_id', 'is', null)
      return viewer === undefined ? ofAll : eb.or([ofAll, eb('views.person_id', '=', viewer)])
    })
}

function storedOf({ query, ...row }: Selectable<Views>): StoredView {
  return { ...row, query: JSON.parse(query) }
}
