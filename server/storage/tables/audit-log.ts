import { type Kysely, type Selectable, type SqlBool, sql, type Transaction } from 'kysely'
import type { components } from '../../../generated/contract.ts'
import type { AuditLog, DB } from '../../../generated/tables.ts'
import type { Position } from '../../domain/cursors.ts'
import { newId } from '../../domain/identifiers.ts'
import { instantText } from '../../domain/instants.ts'
import { parseJsonText } from '../../domain/json-text.ts'
import type { Page, PageRows } from '../../domain/paging.ts'
import { behind, upTo } from '../lists/keyset.ts'
import { bytes, readPage, unindexed, walkEnd } from '../lists/page-query.ts'

type AuditEntry = components['schemas']['AuditEntry']
type AuditAction = components['schemas']['AuditAction']
type AuditArea = components['schemas']['AuditArea']

/** Who did something, when and from where. */
export type Authorship = Pick<AuditEntry, 'actor' | 'address' | 'request_id'> & { at_ms: number }

/** An action, and the fields it changed. They never contain a secret. */
export type AuditedChange = Pick<AuditEntry, 'action' | 'subject'> & {
  before?: Record<string, unknown>
  after?: Record<string, unknown>
}

export type AuditFilter = {
  area?: AuditArea
  actor_id?: string
  subject_id?: string
  /** At this time or later. */
  from_ms?: number
  /** Before this time. */
  to_ms?: number
}

const AREAS: Record<AuditAction, AuditArea> = {
  signed_in: 'sessions',
  sign_in_failed: 'sessions',
  signed_out: 'sessions',
  signed_out_everywhere: 'sessions',
  session_ended: 'sessions',
  person_renamed: 'members',
  password_changed: 'sessions',
  password_change_failed: 'sessions',
  password_reset: 'sessions',
  workspace_created: 'members',
  workspace_renamed: 'members',
  workspace_retention_changed: 'members',
  workspace_protection_changed: 'members',
  workspace_unknown_events_changed: 'members',
  workspace_view_links_changed: 'members',
  workspace_archived: 'members',
  workspace_restored: 'members',
  setup_link_created: 'members',
  store_restored: 'members',
  member_added: 'members',
  member_invited: 'members',
  invitation_revoked: 'members',
  member_joined: 'members',
  member_role_changed: 'members',
  member_removed: 'members',
  password_link_created: 'members',
  service_key_created: 'service_keys',
  service_key_updated: 'service_keys',
  service_key_rotated: 'service_keys',
  service_key_revoked: 'service_keys',
  journey_created: 'journeys',
  journey_updated: 'journeys',
  journey_archived: 'journeys',
  journey_restored: 'journeys',
  journey_removed: 'journeys',
  event_defined: 'event_definitions',
  event_definition_updated: 'event_definitions',
  event_definition_removed: 'event_definitions',
  webhook_created: 'webhooks',
  webhook_updated: 'webhooks',
  webhook_secret_rotated: 'webhooks',
  webhook_replayed: 'webhooks',
  webhook_removed: 'webhooks',
  view_created: 'views',
  view_updated: 'views',
  view_removed: 'views',
  view_link_created: 'views',
  view_link_revoked: 'views',
  refusals_read: 'refusals',
  refusals_replayed: 'refusals',
  customer_erased: 'customers',
  events_exported: 'exports',
  customers_exported: 'exports',
  customer_exported: 'exports',
}

/** Any user of the `cairn` command. */
export function commandLine(at_ms: number): Authorship {
  return { at_ms, actor: { kind: 'command_line', id: null, name: null }, address: null, request_id: null }
}

/** Records a change, in the same transaction as the change: without the record there is no change. */
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

/**
 * Entries by (`at`, `id`), newest first. If two or more of area, actor and subject are given, a page ends after a fixed
 * number of entries examined.
 */
export async function newestAuditEntries(
  db: Kysely<DB>,
  workspaceId: string,
  { from_ms, to_ms, ...filter }: AuditFilter,
  page: Page,
): Promise<PageRows<AuditEntry>> {
  const entries = db.selectFrom('audit_log').where('workspace_id', '=', workspaceId)
  const [indexed = sql<SqlBool>`true`, ...others] = conditionsOf(filter)
  const first = from_ms === undefined ? undefined : { ms: from_ms, id: '' }
  const keysUpTo = (end: Position | undefined) =>
    entries
      .select(['at_ms as ms', 'entry_id as id'])
      .select(bytes({ json: ['before', 'after'], text: ['actor_name', 'subject_name'] }))
      .where(indexed)
      .where(behind(earlier(page.after, to_ms), 'at_ms', 'entry_id'))
      .where(upTo(end, 'at_ms', 'entry_id'))
      .orderBy('at_ms', 'desc')
      .orderBy('entry_id', 'desc')
  const end = others.length > 0 ? await walkEnd(keysUpTo(first)) : undefined
  const keys = others.reduce((keys, other) => keys.where(unindexed(other)), keysUpTo(end ?? first))
  const read = async (ids: string[]) => {
    const rows = await entries.selectAll().where('entry_id', 'in', ids).execute()
    return rows.map((row) => [row.entry_id, entryOf(row)] as const)
  }
  return await readPage(keys, page, read, { end })
}

/** The conditions of a filter, the most selective first. Each has an index. */
function conditionsOf({ subject_id, actor_id, area }: Omit<AuditFilter, 'from_ms' | 'to_ms'>) {
  return Object.entries({ subject_id, actor_id, area })
    .filter(([, value]) => value !== undefined)
    .map(([column, value]) => sql<SqlBool>`${sql.ref(column)} = ${value}`)
}

/** The position after which a page begins. Combined with the time: SQLite uses the index for one bound only. */
function earlier(after: Position | undefined, to_ms: number | undefined): Position | undefined {
  if (to_ms === undefined || (after && after.ms < to_ms)) return after
  return { ms: to_ms, id: '' }
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
    before: row.before === null ? null : parseJsonText(row.before),
    after: row.after === null ? null : parseJsonText(row.after),
    request_id: row.request_id,
  }
}
