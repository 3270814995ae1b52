import { type Kysely, sql, type Transaction } from 'kysely'
import type { components } from '../../../generated/contract.ts'
import type { DB } from '../../../generated/tables.ts'
import type { DefinedValue } from '../../domain/event-definitions.ts'
import { instantOrNull, instantText } from '../../domain/instants.ts'
import { parseJsonText } from '../../domain/json-text.ts'
import type { Page, PageRows } from '../../domain/paging.ts'
import { behind } from '../lists/keyset.ts'
import { bytes, readPage } from '../lists/page-query.ts'
import { noteDefinitionChange } from './workspaces.ts'

type EventDefinition = components['schemas']['EventDefinition']

/** A definition as it is stored, with its newest revision. */
export type StoredDefinition = Pick<
  EventDefinition,
  'definition_id' | 'event_id' | 'revision' | 'description' | 'mode'
> & {
  variables: DefinedValue
  previous_until_ms: number | null
  created_ms: number
  updated_ms: number
}

/** What a definition says, since a time. */
export type DefinitionRevision = Pick<
  StoredDefinition,
  'revision' | 'description' | 'variables' | 'created_ms'
>

/** Creates a definition with its first revision; false if the name has one. */
export async function insertDefinition(
  db: Transaction<DB>,
  workspace_id: string,
  definition: StoredDefinition,
): Promise<boolean> {
  const { description, variables, ...row } = definition
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('event_definitions')
    .values({ workspace_id, ...row })
    .onConflict((conflict) => conflict.columns(['workspace_id', 'event_id']).doNothing())
    .executeTakeFirstOrThrow()
  if (numInsertedOrUpdatedRows !== 1n) return false
  await insertRevision(db, workspace_id, definition)
  await noteDefinitionChange(db, workspace_id)
  return true
}

/** Makes other transactions that change a definition wait for the end of this one. Call it before reading. */
export async function lockDefinition(
  db: Transaction<DB>,
  workspaceId: string,
  definitionId: string,
): Promise<void> {
  await db
    .updateTable('event_definitions')
    .set(({ ref }) => ({ updated_ms: ref('updated_ms') }))
    .where('workspace_id', '=', workspaceId)
    .where('definition_id', '=', definitionId)
    .execute()
}

/** Replaces a definition's settings, and adds its newest revision if that is new. */
export async function updateDefinition(
  db: Transaction<DB>,
  workspace_id: string,
  before: StoredDefinition,
  after: StoredDefinition,
): Promise<void> {
  const { definition_id, mode, revision, previous_until_ms, updated_ms } = after
  await db
    .updateTable('event_definitions')
    .set({ mode, revision, previous_until_ms, updated_ms })
    .where('workspace_id', '=', workspace_id)
    .where('definition_id', '=', definition_id)
    .execute()
  if (after.revision !== before.revision) await insertRevision(db, workspace_id, after)
  await noteDefinitionChange(db, workspace_id)
}

async function insertRevision(db: Transaction<DB>, workspace_id: string, definition: StoredDefinition) {
  const { definition_id, revision, description, variables, updated_ms: created_ms } = definition
  await db
    .insertInto('event_definition_revisions')
    .values({
      workspace_id,
      definition_id,
      revision,
      description,
      variables: JSON.stringify(variables),
      created_ms,
    })
    .execute()
}

/** Deletes a definition, its revisions and its violations. */
export async function deleteDefinition(
  db: Transaction<DB>,
  workspaceId: string,
  definitionId: string,
): Promise<void> {
  for (const table of ['definition_violations', 'event_definition_revisions', 'event_definitions'] as const) {
    await db
      .deleteFrom(table)
      .where('workspace_id', '=', workspaceId)
      .where('definition_id', '=', definitionId)
      .execute()
  }
  await noteDefinitionChange(db, workspaceId)
}

/** The definitions of a workspace with their newest revisions. */
function current(db: Kysely<DB>, workspaceId: string) {
  return db
    .selectFrom('event_definitions')
    .innerJoin('event_definition_revisions', (join) =>
      join
        .onRef('event_definition_revisions.workspace_id', '=', 'event_definitions.workspace_id')
        .onRef('event_definition_revisions.definition_id', '=', 'event_definitions.definition_id')
        .onRef('event_definition_revisions.revision', '=', 'event_definitions.revision'),
    )
    .where('event_definitions.workspace_id', '=', workspaceId)
}

const COLUMNS = [
  'event_definitions.definition_id',
  'event_definitions.event_id',
  'event_definitions.revision',
  'event_definitions.mode',
  'event_definitions.previous_until_ms',
  'event_definitions.created_ms',
  'event_definitions.updated_ms',
  'event_definition_revisions.description',
  'event_definition_revisions.variables',
] as const

export async function findDefinition(
  db: Kysely<DB>,
  workspaceId: string,
  definitionId: string,
): Promise<StoredDefinition | undefined> {
  const row = await current(db, workspaceId)
    .select(COLUMNS)
    .where('event_definitions.definition_id', '=', definitionId)
    .executeTakeFirst()
  return row && storedOf(row)
}

/** All definitions of a workspace, by name. They are limited in number and size. */
export async function allDefinitions(db: Kysely<DB>, workspaceId: string): Promise<StoredDefinition[]> {
  const rows = await current(db, workspaceId).select(COLUMNS).orderBy('event_definitions.event_id').execute()
  return rows.map(storedOf)
}

/** What the events of a workspace are checked by. */
export type CheckedDefinitions = {
  /** The workspace's `definition_changes`; later changes may be included too. */
  changes: number
  unknown_events: components['schemas']['UnknownEvents']
  definitions: CheckedDefinition[]
}

/** The current definition of a name. `variables` are JSON. */
export type CheckedDefinition = Pick<EventDefinition, 'definition_id' | 'event_id' | 'revision' | 'mode'> & {
  variables: string
  /** The revision before, if it is accepted too until some time. */
  previous?: { variables: string; until_ms: number }
}

export async function checkedDefinitions(db: Kysely<DB>, workspaceId: string): Promise<CheckedDefinitions> {
  // First, so that what is read afterwards is not older.
  const { definition_changes, unknown_events } = await db
    .selectFrom('workspaces')
    .select(['definition_changes', 'unknown_events'])
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirstOrThrow()
  const rows = await current(db, workspaceId)
    .leftJoin('event_definition_revisions as before', (join) =>
      join
        .onRef('before.workspace_id', '=', 'event_definitions.workspace_id')
        .onRef('before.definition_id', '=', 'event_definitions.definition_id')
        .on('before.revision', '=', sql`event_definitions.revision - 1`)
        .on('event_definitions.previous_until_ms', 'is not', null),
    )
    .select([
      'event_definitions.definition_id',
      'event_definitions.event_id',
      'event_definitions.revision',
      'event_definitions.mode',
      'event_definitions.previous_until_ms',
    ])
    .select(['event_definition_revisions.variables', 'before.variables as before'])
    .execute()
  return {
    changes: definition_changes,
    unknown_events: unknown_events as CheckedDefinitions['unknown_events'],
    definitions: rows.map(({ mode, variables, before, previous_until_ms, ...row }) => ({
      ...row,
      mode: mode as CheckedDefinition['mode'],
      variables,
      ...(before !== null &&
        previous_until_ms !== null && { previous: { variables: before, until_ms: previous_until_ms } }),
    })),
  }
}

/** How many definitions a workspace has, and their size in bytes. */
export async function measureDefinitions(
  db: Kysely<DB>,
  workspaceId: string,
): Promise<{ definitions: number; bytes: number }> {
  const size = sql<number>`coalesce(sum(octet_length(variables) + octet_length(description)), 0)`
  const { definitions, bytes } = await current(db, workspaceId)
    .select([sql<number>`count(*)`.as('definitions'), size.as('bytes')])
    .executeTakeFirstOrThrow()
  return { definitions: Number(definitions), bytes: Number(bytes) }
}

/** Definitions by (`created_at`, `definition_id`), newest first. */
export async function newestDefinitions(
  db: Kysely<DB>,
  workspaceId: string,
  { event_id }: { event_id?: string },
  page: Page,
): Promise<PageRows<EventDefinition>> {
  const all = current(db, workspaceId)
  const listed = event_id === undefined ? all : all.where('event_definitions.event_id', '=', event_id)
  const keys = listed
    .select(['event_definitions.created_ms as ms', 'event_definitions.definition_id as id'])
    .select(bytes({ json: ['variables'], text: ['description', 'event_id'] }))
    .where(behind(page.after, 'event_definitions.created_ms', 'event_definitions.definition_id'))
    .orderBy('event_definitions.created_ms', 'desc')
    .orderBy('event_definitions.definition_id', 'desc')
  return await readPage(keys, page, async (ids) => {
    const rows = await all.select(COLUMNS).where('event_definitions.definition_id', 'in', ids).execute()
    return rows.map((row) => [row.definition_id, definitionBody(storedOf(row))] as const)
  })
}

/** Revisions of a definition, newest first. @param before only those with a smaller number */
export async function newestRevisions(
  db: Kysely<DB>,
  workspaceId: string,
  definitionId: string,
  { before, limit }: { before?: number | undefined; limit: number },
): Promise<DefinitionRevision[]> {
  let query = db
    .selectFrom('event_definition_revisions')
    .select(['revision', 'description', 'variables', 'created_ms'])
    .where('workspace_id', '=', workspaceId)
    .where('definition_id', '=', definitionId)
    .orderBy('revision', 'desc')
    .limit(limit)
  if (before !== undefined) query = query.where('revision', '<', before)
  const rows = await query.execute()
  return rows.map((row) => ({ ...row, variables: parseJsonText(row.variables) }))
}

type Row = Omit<StoredDefinition, 'variables' | 'mode'> & { variables: string; mode: string }

function storedOf({ variables, mode, ...row }: Row): StoredDefinition {
  return { ...row, mode: mode as EventDefinition['mode'], variables: parseJsonText(variables) }
}

/** A definition in the form of the contract. */
export function definitionBody(definition: StoredDefinition): EventDefinition {
  const { definition_id, event_id, revision, description, mode, variables } = definition
  const { previous_until_ms, created_ms, updated_ms } = definition
  return {
    definition_id,
    event_id,
    revision,
    description,
    mode,
    variables,
    previous_accepted_until: instantOrNull(previous_until_ms),
    created_at: instantText(created_ms),
    updated_at: instantText(updated_ms),
  }
}
