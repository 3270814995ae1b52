import type { components } from '../../generated/contract.ts'
import type { Operation } from '../contract.ts'
import {
  type DefinitionDifference,
  definitionDifferences,
  isSameRevision,
  verdictOf,
} from '../domain/definition-changes.ts'
import { type DefinedValue, definitionFaults } from '../domain/event-definitions.ts'
import { unmadeId } from '../domain/identifiers.ts'
import { instant_ms, instantText } from '../domain/instants.ts'
import { pageBody, pageOf } from '../domain/paging.ts'
import { Problem } from '../problems.ts'
import type { ReadingDatabase, Transaction } from '../storage/database.ts'
import {
  changeDefinition,
  defineEvent as insert,
  removeDefinition,
} from '../storage/tables/audited-definitions.ts'
import { countNotConforming } from '../storage/tables/definition-violations.ts'
import * as definitions from '../storage/tables/event-definitions.ts'
import { authorOf } from './author.ts'
import { definitionTrial } from './definition-trial.ts'
import { firstDay } from './violation-tally.ts'

type StoredDefinition = definitions.StoredDefinition
type Update = components['schemas']['EventDefinitionUpdate']

/** Maximum definitions of a workspace, their size, and the revisions of each (contract: `definition_limit`). */
const DEFINITIONS = 1_000
const DEFINITION_BYTES = 4 * 1024 * 1024
const REVISIONS = 1_000

/** Revisions per page: as many as fit into 1 MiB at their maximum size, with their differences. */
const PAGE_REVISIONS = 20

/** Days over which lists count events that do not conform, including the current one. */
const SUMMED_DAYS = 7

/** Differences that a reply lists. */
const LISTED_DIFFERENCES = 100

export const listEventDefinitions: Operation<'listEventDefinitions'> = async (request, context) => {
  const { workspaceId, query } = request
  const db = context.storage.lists(context.reading)
  const { rows, next } = await definitions.newestDefinitions(db, workspaceId, query, pageOf(query, 'def'))
  const now_ms = context.now()
  const from_ms = firstDay(now_ms, SUMMED_DAYS)
  const ids = rows.map(({ definition_id }) => definition_id)
  await context.violationTally.written()
  const events = await countNotConforming(db, workspaceId, ids, { from_ms, now_ms })
  const counted = rows.map((row) => ({ ...row, not_conforming: events.get(row.definition_id) ?? 0 }))
  return { status: 200, body: pageBody({ rows: counted, next }) }
}

export const getEventDefinition: Operation<'getEventDefinition'> = async (
  { workspaceId, path },
  { storage },
) => {
  const definition = await existing(storage.db, workspaceId, path.definition_id)
  return { status: 200, body: definitions.definitionBody(definition) }
}

export const defineEvent: Operation<'defineEvent'> = async ({ workspaceId, body, query }, context) => {
  const { event_id, description = '', mode = 'warn' } = body
  const variables = (body.variables ?? { type: 'object' }) as DefinedValue
  assertSound(variables)
  const now_ms = context.now()
  const definition: StoredDefinition = {
    definition_id: query.dry_run ? unmadeId('def') : context.newId('def'),
    event_id,
    revision: 1,
    description,
    mode,
    variables,
    previous_until_ms: null,
    created_ms: now_ms,
    updated_ms: now_ms,
  }
  const change = changeBody(definition, [], 'additive')
  if (query.dry_run) {
    const page = { limit: 1 }
    const { rows } = await definitions.newestDefinitions(context.storage.db, workspaceId, { event_id }, page)
    if (rows.length > 0) throw new Problem('event_already_defined')
    await assertWithinLimits(context.storage.db, workspaceId, { definitions: 1, bytes: sizeOf(definition) })
    const trial = await definitionTrial(workspaceId, definition, context)
    return { status: 200, body: { ...change, trial, dry_run: true } }
  }
  await context.change(async (db) => {
    if (!(await insert(db, workspaceId, definition, authorOf(context))))
      throw new Problem('event_already_defined')
    await assertWithinLimits(db, workspaceId)
  })
  return { status: 201, body: change }
}

export const updateEventDefinition: Operation<'updateEventDefinition'> = async (request, context) => {
  const { workspaceId, path, body, query } = request
  if (body.variables) assertSound(body.variables as DefinedValue)
  if (query.dry_run) {
    const before = await existing(context.storage.db, workspaceId, path.definition_id)
    const { after, differences } = changed(before, body, context.now())
    if (after.revision !== before.revision) {
      const bytes = sizeOf(after) - sizeOf(before)
      await assertWithinLimits(context.storage.db, workspaceId, { definitions: 0, bytes })
    }
    const trial = await definitionTrial(workspaceId, after, context)
    return { status: 200, body: { ...changeBody(after, differences), trial, dry_run: true } }
  }
  const change = await context.change(async (db) => {
    await definitions.lockDefinition(db, workspaceId, path.definition_id)
    const before = await existing(db, workspaceId, path.definition_id)
    const { after, differences } = changed(before, body, context.now())
    await changeDefinition(db, workspaceId, before, after, authorOf(context))
    if (after.revision !== before.revision) await assertWithinLimits(db, workspaceId)
    return changeBody(after, differences)
  })
  return { status: 200, body: change }
}

export const removeEventDefinition: Operation<'removeEventDefinition'> = async (
  { workspaceId, path },
  context,
) => {
  await context.change(async (db) => {
    await definitions.lockDefinition(db, workspaceId, path.definition_id)
    const definition = await existing(db, workspaceId, path.definition_id)
    await removeDefinition(db, workspaceId, definition, authorOf(context))
  })
  return { status: 204 }
}

export const listEventDefinitionRevisions: Operation<'listEventDefinitionRevisions'> = async (
  request,
  context,
) => {
  const { workspaceId, path, query } = request
  const db = context.storage.lists(context.reading)
  await existing(db, workspaceId, path.definition_id)
  // One more, to which the last of the page is compared.
  const page = { before: query.before, limit: PAGE_REVISIONS + 1 }
  const found = await definitions.newestRevisions(db, workspaceId, path.definition_id, page)
  const revisions = found.slice(0, PAGE_REVISIONS)
  const data = revisions.map(({ created_ms, ...revision }, index) => {
    const before = found[index + 1]
    const differences = before ? definitionDifferences(before.variables, revision.variables) : []
    return {
      ...revision,
      created_at: instantText(created_ms),
      ...verdicts(differences, before ? 'none' : 'additive'),
    }
  })
  const last = revisions.at(-1)
  return { status: 200, body: { data, next_before: last && last.revision > 1 ? last.revision : null } }
}

/** @throws {Problem} `definition_not_found` */
async function existing(
  db: ReadingDatabase | Transaction,
  workspaceId: string,
  definitionId: string,
): Promise<StoredDefinition> {
  const definition = await definitions.findDefinition(db, workspaceId, definitionId)
  if (!definition) throw new Problem('definition_not_found')
  return definition
}

/** @throws {Problem} `invalid_definition` */
function assertSound(variables: DefinedValue) {
  const faults = definitionFaults(variables).map(({ pointer, detail }) => {
    return { pointer: `/variables${pointer}`, detail }
  })
  if (faults.length > 0) throw new Problem('invalid_definition', { faults })
}

/**
 * @param added what a dry run would add to the definitions that are stored
 * @throws {Problem} `definition_limit`; a transaction is rolled back
 */
async function assertWithinLimits(
  db: ReadingDatabase | Transaction,
  workspaceId: string,
  added = { definitions: 0, bytes: 0 },
) {
  const stored = await definitions.measureDefinitions(db, workspaceId)
  const isTooMany = stored.definitions + added.definitions > DEFINITIONS
  if (isTooMany || stored.bytes + added.bytes > DEFINITION_BYTES) throw new Problem('definition_limit')
}

/** The size of a definition as `measureDefinitions` counts it. */
function sizeOf({ description, variables }: StoredDefinition): number {
  return Buffer.byteLength(JSON.stringify(variables)) + Buffer.byteLength(description)
}

/**
 * Returns a definition as an update would leave it.
 * @throws {Problem} `breaking_definition`, if the update does not confirm it; `definition_limit`
 */
function changed(
  before: StoredDefinition,
  { description, mode, variables, previous_accepted_until, confirm_breaking }: Update,
  updated_ms: number,
): { after: StoredDefinition; differences: DefinitionDifference[] } {
  const after = {
    ...before,
    ...(description !== undefined && { description }),
    ...(mode && { mode }),
    ...(variables && { variables: variables as DefinedValue }),
  }
  if (!isSameRevision(before, after)) {
    after.revision += 1
    after.previous_until_ms = null
  }
  if (after.revision > REVISIONS) throw new Problem('definition_limit')
  if (previous_accepted_until !== undefined) {
    after.previous_until_ms = previous_accepted_until === null ? null : instant_ms(previous_accepted_until)
  }
  const differences = definitionDifferences(before.variables, after.variables)
  const breaking = differences.filter(({ senders, readers }) => [senders, readers].includes('breaking'))
  if (breaking.length > 0 && !confirm_breaking) {
    const faults = breaking.map(({ pointer, detail }) => ({ pointer, detail }))
    throw new Problem('breaking_definition', { faults })
  }
  const fields = ['revision', 'mode', 'previous_until_ms'] as const
  const isChanged = fields.some((field) => before[field] !== after[field])
  return { after: isChanged ? { ...after, updated_ms } : before, differences }
}

function changeBody(
  definition: StoredDefinition,
  differences: DefinitionDifference[],
  none: 'none' | 'additive' = 'none',
) {
  return { definition: definitions.definitionBody(definition), ...verdicts(differences, none) }
}

/** @param none the verdict without differences; a first revision is additive */
function verdicts(differences: DefinitionDifference[], none: 'none' | 'additive') {
  if (differences.length === 0) return { senders: none, readers: none, changes: [] }
  return {
    senders: verdictOf(differences, 'senders'),
    readers: verdictOf(differences, 'readers'),
    changes: differences.slice(0, LISTED_DIFFERENCES),
  }
}
