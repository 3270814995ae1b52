import type { Kysely, Selectable, Transaction } from 'kysely'
import type { components } from '../../generated/contract.ts'
import type { DB, Journeys } from '../../generated/tables.ts'
import { instantText } from '../domain/instants.ts'
import type { Page, PageRows } from '../domain/paging.ts'
import { behind } from './keyset.ts'
import { bytes, readPage } from './pages.ts'

type Journey = components['schemas']['Journey']

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
    .executeTakeFirst()
  return row && journeyOf(row)
}

/** Journeys by (`created_at`, `journey_id`), newest first. */
export async function newestJourneys(
  db: Kysely<DB>,
  workspaceId: string,
  { status }: { status?: Journey['status'] },
  page: Page,
): Promise<PageRows<Journey>> {
  const journeys = db.selectFrom('journeys').where('workspace_id', '=', workspaceId)
  const listed = status ? journeys.where('status', '=', status) : journeys
  const keys = listed
    .select(['created_ms as ms', 'journey_id as id'])
    .select(bytes({ json: ['steps'], text: ['name', 'description'] }))
    .where(behind(page.after, 'created_ms', 'journey_id'))
    .orderBy('created_ms', 'desc')
    .orderBy('journey_id', 'desc')
  return await readPage(keys, page, async (ids) => {
    const rows = await journeys.selectAll().where('journey_id', 'in', ids).execute()
    return rows.map((row) => [row.journey_id, journeyOf(row)])
  })
}

/** Replaces what is given. @throws {Error} where there is no such journey */
export async function updateJourney(
  db: Transaction<DB>,
  workspaceId: string,
  id: string,
  change: Partial<Pick<Journey, 'name' | 'description' | 'steps' | 'status'>> & { updated_ms: number },
): Promise<Journey> {
  const { steps, ...columns } = change
  const row = await db
    .updateTable('journeys')
    .set({ ...columns, ...(steps && { steps: JSON.stringify(steps) }) })
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
  }
}
