import type { Transaction } from 'kysely'
import type { DB } from '../../../generated/tables.ts'
import { changedFields } from '../../domain/changes.ts'
import { type Authorship, insertAuditEntry } from './audit-log.ts'
import {
  definitionBody,
  deleteDefinition,
  insertDefinition,
  type StoredDefinition,
  updateDefinition,
} from './event-definitions.ts'

// Changes of event definitions with their entries in the audit log. What a revision says is not repeated there, because
// revisions never change.

/** Creates a definition; false if the name has one. */
export async function defineEvent(
  db: Transaction<DB>,
  workspaceId: string,
  definition: StoredDefinition,
  author: Authorship,
): Promise<boolean> {
  if (!(await insertDefinition(db, workspaceId, definition))) return false
  const [subject, after] = [subjectOf(definition), auditedDefinition(definition)]
  await insertAuditEntry(db, workspaceId, author, { action: 'event_defined', subject, after })
  return true
}

/** Replaces a definition's settings, and adds its newest revision if that is new. Does nothing if nothing changes. */
export async function changeDefinition(
  db: Transaction<DB>,
  workspaceId: string,
  before: StoredDefinition,
  after: StoredDefinition,
  author: Authorship,
): Promise<void> {
  const changes = changedFields(auditedDefinition(before), auditedDefinition(after))
  if (!changes) return
  await updateDefinition(db, workspaceId, before, after)
  const entry = { action: 'event_definition_updated', subject: subjectOf(after), ...changes } as const
  await insertAuditEntry(db, workspaceId, author, entry)
}

export async function removeDefinition(
  db: Transaction<DB>,
  workspaceId: string,
  definition: StoredDefinition,
  author: Authorship,
): Promise<void> {
  await deleteDefinition(db, workspaceId, definition.definition_id)
  const [subject, before] = [subjectOf(definition), auditedDefinition(definition)]
  await insertAuditEntry(db, workspaceId, author, { action: 'event_definition_removed', subject, before })
}

function subjectOf({ definition_id, event_id }: StoredDefinition) {
  return { kind: 'event_definition', id: definition_id, name: event_id } as const
}

function auditedDefinition(definition: StoredDefinition) {
  const { mode, revision, description, previous_accepted_until } = definitionBody(definition)
  return { mode, revision, description, previous_accepted_until }
}
