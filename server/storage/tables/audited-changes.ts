import type { Transaction } from 'kysely'
import type { components } from '../../../generated/contract.ts'
import type { DB } from '../../../generated/tables.ts'
import { changedFields } from '../../domain/changes.ts'
import { instantOrNull, instantText } from '../../domain/instants.ts'
import { type AuditedChange, type Authorship, insertAuditEntry } from './audit-log.ts'
import type { InvitedAs } from './invitations.ts'
import { insertJourney, updateJourney } from './journeys.ts'
import { insertMember, membershipsOf } from './members.ts'
import { deletePasswordLink } from './password-links.ts'
import { updateName, updatePassword } from './people.ts'
import { insertServiceKey, replaceServiceKey, type ServiceKey, updateServiceKey } from './service-keys.ts'
import { deleteSessionsOf } from './sessions.ts'
import {
  findWorkspace,
  insertWorkspace,
  settingsOf,
  updateArchived,
  updateSettings,
  updateWorkspaceName,
  type WorkspaceSettings,
  workspaceName,
} from './workspaces.ts'

// Changes in this file are recorded in the audit log in the same words, whether a person, a key or a command makes
// them. The time of a change is that of its author.

type Journey = components['schemas']['Journey']
type Role = components['schemas']['Role']

/** Creates a workspace; false if one with that name exists. */
export async function createWorkspace(
  db: Transaction<DB>,
  { workspace_id, name }: { workspace_id: string; name: string },
  author: Authorship,
): Promise<boolean> {
  if (!(await insertWorkspace(db, { workspace_id, name, ...creation(author) }))) return false
  const subject = { kind: 'workspace', id: workspace_id, name } as const
  await insertAuditEntry(db, workspace_id, author, { action: 'workspace_created', subject })
  return true
}

/** Renames a workspace; false if another one has the name. Does nothing if the name is unchanged. */
export async function renameWorkspace(
  db: Transaction<DB>,
  workspaceId: string,
  name: string,
  author: Authorship,
): Promise<boolean> {
  const changes = changedFields({ name: await workspaceName(db, workspaceId) }, { name })
  if (!changes) return true
  if (!(await updateWorkspaceName(db, workspaceId, name))) return false
  const subject = { kind: 'workspace', id: workspaceId, name } as const
  await insertAuditEntry(db, workspaceId, author, { action: 'workspace_renamed', subject, ...changes })
  return true
}

/** The action of a change of each setting, in the order of their entries. */
const SETTING_ACTIONS = {
  retention_days: 'workspace_retention_changed',
  protect_customers: 'workspace_protection_changed',
  unknown_events: 'workspace_unknown_events_changed',
  view_links: 'workspace_view_links_changed',
} as const satisfies Record<keyof WorkspaceSettings, AuditedChange['action']>

/** Changes settings of a workspace, with an entry for each; does nothing about those that are unchanged. */
export async function changeSettings(
  db: Transaction<DB>,
  workspaceId: string,
  settings: Partial<WorkspaceSettings>,
  author: Authorship,
): Promise<void> {
  const found = await findWorkspace(db, workspaceId)
  const subject = { kind: 'workspace', id: workspaceId, name: found.name } as const
  const changed = changedFields<Partial<WorkspaceSettings>>(settingsOf(found), settings)
  if (!changed) return
  await updateSettings(db, workspaceId, changed.after)
  for (const setting of Object.keys(SETTING_ACTIONS) as (keyof WorkspaceSettings)[]) {
    if (changed.after[setting] === undefined) continue
    const [before, after] = [{ [setting]: changed.before[setting] }, { [setting]: changed.after[setting] }]
    const entry = { action: SETTING_ACTIONS[setting], subject, before, after }
    await insertAuditEntry(db, workspaceId, author, entry)
  }
}

/** Archives a workspace, or restores it; does nothing if it is already in that state. */
export async function changeArchived(
  db: Transaction<DB>,
  workspaceId: string,
  isArchived: boolean,
  author: Authorship,
): Promise<void> {
  const { name, archived_ms } = await findWorkspace(db, workspaceId)
  if ((archived_ms !== null) === isArchived) return
  await updateArchived(db, workspaceId, isArchived ? author.at_ms : null)
  const subject = { kind: 'workspace', id: workspaceId, name } as const
  await insertAuditEntry(db, workspaceId, author, {
    action: isArchived ? 'workspace_archived' : 'workspace_restored',
    subject,
  })
}

/** Renames a person, for all workspaces of the person. Does nothing if the name is unchanged. */
export async function renamePerson(
  db: Transaction<DB>,
  before: { person_id: string; name: string; email: string },
  name: string,
  author: Authorship,
): Promise<void> {
  const changes = changedFields({ name: before.name }, { name })
  if (!changes) return
  await updateName(db, before.person_id, name)
  await noteEverywhere(db, before, author, { action: 'person_renamed', ...changes })
}

/**
 * Makes a person a member, by the person's own action or by a command; false, without a change, if the person is one
 * already.
 */
export async function addMember(
  db: Transaction<DB>,
  { workspace_id, role }: { workspace_id: string; role: Role },
  { person_id, name }: { person_id: string; name: string },
  author: Authorship,
): Promise<boolean> {
  const isNew = await insertMember(db, { workspace_id, person_id, role, joined_ms: author.at_ms })
  if (!isNew) return false
  await insertAuditEntry(db, workspace_id, author, {
    action: author.actor.kind === 'command_line' ? 'member_added' : 'member_joined',
    subject: { kind: 'person', id: person_id, name },
    after: { role },
  })
  return true
}

/** Records that an invitation was revoked. */
export async function noteRevokedInvitation(
  db: Transaction<DB>,
  workspaceId: string,
  { invitation_id, email, role }: InvitedAs,
  author: Authorship,
): Promise<void> {
  await insertAuditEntry(db, workspaceId, author, {
    action: 'invitation_revoked',
    subject: { kind: 'invitation', id: invitation_id, name: email },
    before: { role },
  })
}

/** Records what happened to a person's account in the audit log of each workspace of the person. */
export async function noteEverywhere(
  db: Transaction<DB>,
  { person_id, email }: { person_id: string; email: string },
  author: Authorship,
  change: Omit<AuditedChange, 'subject'>,
): Promise<void> {
  const subject = { kind: 'person', id: person_id, name: email } as const
  for (const { workspace_id } of await membershipsOf(db, person_id)) {
    await insertAuditEntry(db, workspace_id, author, { ...change, subject })
  }
}

/**
 * Replaces a person's password. The person's password link becomes void, and the sessions end.
 * @param except the digest of a session that continues
 */
export async function replacePassword(
  db: Transaction<DB>,
  { password_hash, ...person }: { person_id: string; email: string; password_hash: string },
  author: Authorship,
  action: 'password_changed' | 'password_reset',
  { except }: { except?: string } = {},
): Promise<void> {
  await updatePassword(db, person.person_id, password_hash)
  await deletePasswordLink(db, person.person_id)
  await deleteSessionsOf(db, person.person_id, except === undefined ? {} : { except })
  await noteEverywhere(db, person, author, { action })
}

export async function createJourney(
  db: Transaction<DB>,
  workspaceId: string,
  journey: Pick<Journey, 'journey_id' | 'name' | 'description' | 'steps'>,
  author: Authorship,
): Promise<Journey> {
  const made = await insertJourney(db, workspaceId, { ...journey, created_ms: author.at_ms })
  const entry = {
    action: 'journey_created',
    subject: journeySubject(made),
    after: createdJourney(made),
  } as const
  await insertAuditEntry(db, workspaceId, author, entry)
  return made
}

/** Replaces the given fields. A journey that already has these values is left unchanged, including its `updated_at`. */
export async function changeJourney(
  db: Transaction<DB>,
  workspaceId: string,
  before: Journey,
  change: Partial<Pick<Journey, 'name' | 'description' | 'steps' | 'status' | 'retention_days'>>,
  author: Authorship,
): Promise<Journey> {
  const changes = changedFields(auditedJourney(before), auditedJourney({ ...before, ...change }))
  if (!changes) return before
  const updated_ms = author.at_ms
  const after = await updateJourney(db, workspaceId, before.journey_id, { ...change, updated_ms })
  const { status } = changes.after
  const restored = status === 'active' ? 'journey_restored' : 'journey_updated'
  const action = status === 'archived' ? 'journey_archived' : restored
  await insertAuditEntry(db, workspaceId, author, { action, subject: journeySubject(after), ...changes })
  return after
}

export async function createServiceKey(
  db: Transaction<DB>,
  key: Pick<
    ServiceKey,
    'key_id' | 'workspace_id' | 'kind' | 'name' | 'allowed_origins' | 'rate_limit' | 'expires_ms'
  > & { token: string },
  author: Authorship,
): Promise<ServiceKey> {
  const made = await insertServiceKey(db, { ...key, ...creation(author) })
  const entry = { action: 'service_key_created', subject: keySubject(made), after: auditedKey(made) } as const
  await insertAuditEntry(db, made.workspace_id, author, entry)
  return made
}

/** Replaces the given fields. */
export async function changeServiceKey(
  db: Transaction<DB>,
  before: ServiceKey,
  change: Partial<Pick<ServiceKey, 'name' | 'allowed_origins' | 'rate_limit' | 'expires_ms'>>,
  author: Authorship,
): Promise<ServiceKey> {
  const after = { ...before, ...change }
  const changes = changedFields(auditedKey(before), auditedKey(after))
  if (!changes) return before
  await updateServiceKey(db, before.key_id, change)
  const entry = { action: 'service_key_updated', subject: keySubject(after), ...changes } as const
  await insertAuditEntry(db, before.workspace_id, author, entry)
  return after
}

/** Creates a key that replaces another. @returns the new key, and when the old one expires */
export async function rotateServiceKey(
  db: Transaction<DB>,
  old: ServiceKey,
  made: { key_id: string; token: string; grace_ms: number },
  author: Authorship,
): Promise<{ key: ServiceKey; expires_ms: number }> {
  const { key, expires_ms } = await replaceServiceKey(db, old, { ...made, ...creation(author) })
  await insertAuditEntry(db, old.workspace_id, author, {
    action: 'service_key_rotated',
    subject: keySubject(old),
    before: { expires_at: auditedKey(old).expires_at },
    after: { expires_at: instantText(expires_ms), new_key_id: key.key_id, new_last_four: key.last_four },
  })
  return { key, expires_ms }
}

/** Revokes a key. A key that is already revoked stays as it is. */
export async function revokeServiceKey(
  db: Transaction<DB>,
  key: ServiceKey,
  author: Authorship,
): Promise<ServiceKey> {
  if (key.revoked_ms !== null) return key
  const revoked_ms = author.at_ms
  await updateServiceKey(db, key.key_id, { revoked_ms })
  const entry = { action: 'service_key_revoked', subject: keySubject(key) } as const
  await insertAuditEntry(db, key.workspace_id, author, entry)
  return { ...key, revoked_ms }
}

/** Who creates a workspace or a key, and when. */
function creation({ actor, at_ms }: Authorship) {
  return { created_by: actor.kind === 'person' ? actor.id : null, created_ms: at_ms }
}

function createdJourney({ name, description, steps, status }: Journey) {
  return { name, description, steps, status }
}

function auditedJourney(journey: Journey) {
  return { ...createdJourney(journey), retention_days: journey.retention_days }
}

function journeySubject({ journey_id, name }: Journey) {
  return { kind: 'journey', id: journey_id, name } as const
}

function auditedKey({ name, kind, last_four, allowed_origins, rate_limit, expires_ms }: ServiceKey) {
  const expires_at = instantOrNull(expires_ms)
  return { name, kind, last_four, allowed_origins, rate_limit, expires_at }
}

function keySubject({ key_id, name }: ServiceKey) {
  return { kind: 'service_key', id: key_id, name } as const
}
