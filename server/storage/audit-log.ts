import type { Kysely, Selectable, Transaction } from 'kysely'
import type { components } from '../../generated/contract.ts'
import type { AuditLog, DB } from '../../generated/tables.ts'
import type { Position } from '../domain/cursors.ts'
import { newId } from '../domain/identifiers.ts'
import { instantText } from '../domain/instants.ts'
import { type Page, type PageRows, pageRows } from '../domain/paging.ts'
import { behind } from './keyset.ts'

type AuditEntry = components['schemas']['AuditEntry']
type AuditAction = components['schemas']['AuditAction']
type AuditArea = components['schemas']['AuditArea']

/** Who did something, when and from where. */
export type Authorship = Pick<AuditEntry, 'actor' | 'address' | 'request_id'> & { at_ms: number }

/** What was done, and the fields that it changed. They never hold a secret. */
export type AuditedChange = Pick<AuditEntry, 'action' | 'subject'> & {
  before?: Record<string, unknown>
  after?: Record<string, unknown>
}

export type AuditFilter = {
  area?: AuditArea
  actor_id?: string
  subject_id?: string
  /** At this instant or later. */
  from_ms?: number
  /** Before this instant. */
  to_ms?: number
}

const AREAS: Record<AuditAction, AuditArea> = {
  signed_in: 'sessions',
  sign_in_failed: 'sessions',
  signed_out: 'sessions',
  signed_out_everywhere: 'sessions',
  password_changed: 'sessions',
  workspace_created: 'members',
  setup_link_created: 'members',
  member_added: 'members',
  member_invited: 'members',
  invitation_revoked: 'members',
  member_joined: 'members',
  member_role_changed: 'members',
  member_removed: 'members',
  service_key_created: 'service_keys',
  service_key_updated: 'service_keys',
  service_key_rotated: 'service_keys',
  service_key_revoked: 'service_keys',
  journey_created: 'journeys',
  journey_updated: 'journeys',
  journey_archived: 'journeys',
  journey_restored: 'journeys',
}

/** Whoever may run the `cairn` command. */
export function commandLine(at_ms: number): Authorship {
  return { at_ms, actor: { kind: 'command_line', id: null, name: null }, address: null, request_id: null }
}

/** Notes a change, in the transaction that makes it: what is not noted is not done. */
export async function insertAuditEntry(
  db: Transaction<DB>,
  workspaceId: string,
  { at_ms, actor, address, request_id }: Authorship,
  { action, subject, before, after }: AuditedChange,
): Promise<void> {
  await db
    .insertInto('audit_log')
    .values({
      workspace_id: workspaceId,
      entry_id: newId('aud'),
      at_ms,
      area: AREAS[action],
      action,
      actor_kind: actor.kind,
      actor_id: actor.id,
      actor_name: actor.name,
      subject_kind: subject.kind,
      subject_id: subject.id,
      subject_name: subject.name,
      address,
      before: before ? JSON.stringify(before) : null,
      after: after ? JSON.stringify(after) : null,
      request_id,
    })
    .execute()
}

/** Entries by (`at`, `id`), newest first. */
export async function newestAuditEntries(
  db: Kysely<DB>,
  workspaceId: string,
  { area, actor_id, subject_id, from_ms, to_ms }: AuditFilter,
  page: Page,
): Promise<PageRows<{ entry: AuditEntry; position: Position }>> {
  let query = db.selectFrom('audit_log').selectAll().where('workspace_id', '=', workspaceId)
  if (area) query = query.where('area', '=', area)
  if (actor_id !== undefined) query = query.where('actor_id', '=', actor_id)
  if (subject_id !== undefined) query = query.where('subject_id', '=', subject_id)
  if (from_ms !== undefined) query = query.where('at_ms', '>=', from_ms)
  if (to_ms !== undefined) query = query.where('at_ms', '<', to_ms)
  const rows = await query
    .where(behind(page.after, 'at_ms', 'entry_id'))
    .orderBy('at_ms', 'desc')
    .orderBy('entry_id', 'desc')
    .limit(page.limit + 1)
    .execute()
  const listed = rows.map((row) => ({ entry: entryOf(row), position: { ms: row.at_ms, id: row.entry_id } }))
  return pageRows(listed, page)
}

function entryOf(row: Selectable<AuditLog>): AuditEntry {
  return {
    id: row.entry_id,
    at: instantText(row.at_ms),
    area: row.area as AuditArea,
    action: row.action as AuditAction,
    actor: { kind: row.actor_kind as AuditEntry['actor']['kind'], id: row.actor_id, name: row.actor_name },
    subject: {
      kind: row.subject_kind as AuditEntry['subject']['kind'],
      id: row.subject_id,
      name: row.subject_name,
    },
    address: row.address,
    before: row.before === null ? null : JSON.parse(row.before),
    after: row.after === null ? null : JSON.parse(row.after),
    request_id: row.request_id,
  }
}
