import { type Kysely, type Selectable, sql, type Transaction } from 'kysely'
import type { components } from '../../../generated/contract.ts'
import type { DB, Journeys } from '../../../generated/tables.ts'
import { instantText } from '../../domain/instants.ts'
import { nameWords, wordsText } from '../../domain/name-words.ts'
import type { Page, PageRows } from '../../domain/paging.ts'
import { behind, upTo } from '../lists/keyset.ts'
import { bytes, readPage, unindexed, walkEnd } from '../lists/page-query.ts'
import { hasWords } from '../lists/prefixes.ts'

type Journey = components['schemas']['Journey']

export type JourneyFilter = Partial<Pick<Journey, 'status'>> & {
  /** Prefixes of words of the name, or the whole identifier. */
  search?: string
}

// A journey that is being removed counts as missing.

export async function insertJourney(
  db: Transaction<DB>,
  workspaceId: string,
  journey: Pick<Journey, 'journey_id' | 'name' | 'description' | 'steps'> & { created_ms: number },
): Promise<Journey> {
  const { steps, created_ms, ...row } = journey
  const inserted = await db
    .insertInto('journeys')
    .values({
      ...row,
      workspace_id: workspaceId,
      name_key: wordsText(nameWords(row.name)),
      steps: JSON.stringify(steps),
      status: 'active',
      created_ms,
      updated_ms: created_ms,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return journeyOf(inserted)
}

export async function findJourney(
  db: Kysely<DB>,
  workspaceId: string,
  id: string,
): Promise<Journey | undefined> {
  const row = await db
    .selectFrom('journeys')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('journey_id', '=', id)
    .where('removed_ms', 'is', null)
    .executeTakeFirst()
  return row && journeyOf(row)
}

/** The given journeys that exist in the workspace, by identifier. */
export async function journeysWith(
  db: Kysely<DB>,
  workspaceId: string,
  ids: readonly string[],
): Promise<Map<string, Journey>> {
  if (ids.length === 0) return new Map()
  const named = db.selectFrom('journeys').selectAll().where('workspace_id', '=', workspaceId)
  const rows = await named.where('journey_id', 'in', ids).where('removed_ms', 'is', null).execute()
  return new Map(rows.map((row) => [row.journey_id, journeyOf(row)]))
}

/**
 * Journeys by (`created_at`, `journey_id`), newest first. With a search a page ends after a fixed number of journeys
 * examined.
 */
export async function newestJourneys(
  db: Kysely<DB>,
  workspaceId: string,
  { status, search }: JourneyFilter,
  page: Page,
): Promise<PageRows<Journey>> {
  const journeys = db
    .selectFrom('journeys')
    .where('workspace_id', '=', workspaceId)
    .where('removed_ms', 'is', null)
  const listed = status ? journeys.where('status', '=', status) : journeys
  const keys = listed
    .select(['created_ms as ms', 'journey_id as id'])
    .select(bytes({ json: ['steps'], text: ['name', 'description'] }))
    .where(behind(page.after, 'created_ms', 'journey_id'))
    .orderBy('created_ms', 'desc')
    .orderBy('journey_id', 'desc')
  const read = async (ids: string[]) => [...(await journeysWith(db, workspaceId, ids))]
  if (search === undefined) return await readPage(keys, page, read)
  const end = await walkEnd(keys)
  const matching = keys
    .where(unindexed(sql`${hasWords('name_key', nameWords(search))} OR journey_id = ${search.trim()}`))
    .where(upTo(end, 'created_ms', 'journey_id'))
  return await readPage(matching, page, read, { end })
}

/** Replaces the given fields. @throws {Error} if there is no such journey */
export async function updateJourney(
  db: Transaction<DB>,
  workspaceId: string,
  id: string,
  change: Partial<Pick<Journey, 'name' | 'description' | 'steps' | 'status' | 'retention_days'>> & {
    updated_ms: number
  },
): Promise<Journey> {
  const { steps, ...columns } = change
  const row = await db
    .updateTable('journeys')
    .set({
      ...columns,
      ...(columns.name !== undefined && { name_key: wordsText(nameWords(columns.name)) }),
      ...(steps && { steps: JSON.stringify(steps) }),
    })
    .where('workspace_id', '=', workspaceId)
    .where('journey_id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
  return journeyOf(row)
}

function journeyOf(row: Selectable<Journeys>): Journey {
  return {
    journey_id: row.journey_id,
    name: row.name,
    description: row.description,
    steps: JSON.parse(row.steps),
    status: row.status as Journey['status'],
    created_at: instantText(row.created_ms),
    updated_at: instantText(row.updated_ms),
    retention_days: row.retention_days,
  }
}
