import type { components } from '../../generated/contract.ts'
import type { Operation } from '../contract.ts'
import { changedFields } from '../domain/changes.ts'
import { instant_ms, instantText } from '../domain/instants.ts'
import { pageBody, pageOf } from '../domain/paging.ts'
import { keyStatus, newServiceKey } from '../domain/service-keys.ts'
import { Problem } from '../problems.ts'
import { insertAuditEntry } from '../storage/audit-log.ts'
import { findPerson } from '../storage/people.ts'
import * as keys from '../storage/service-keys.ts'
import type { Transaction } from '../storage/storage.ts'
import { authorOf, sessionOf } from './author.ts'

type ServiceKey = components['schemas']['ServiceKey']

export const listServiceKeys: Operation<'listServiceKeys'> = async ({ workspaceId, query }, context) => {
  const { storage, now } = context
  const page = pageOf(query, 'key')
  const rows = await keys.newestServiceKeys(storage.db, workspaceId, page)
  return { status: 200, body: pageBody(rows, page, ({ key, creator }) => shown(key, creator, now())) }
}

export const createServiceKey: Operation<'createServiceKey'> = async ({ workspaceId, body }, context) => {
  const { storage, now, newId } = context
  const { kind, name, allowed_origins = [], rate_limit = null, expires_at = null } = body
  const creator = sessionOf(context)
  const created_ms = now()
  const expires_ms = expires_at === null ? null : instant_ms(expires_at)
  assertOfUse({ kind, allowed_origins, expires_ms }, created_ms)
  const token = newServiceKey(kind)
  const key = await storage.db.transaction().execute(async (db) => {
    const made = await keys.insertServiceKey(db, {
      key_id: newId('key'),
      workspace_id: workspaceId,
      kind,
      name,
      token,
      allowed_origins,
      rate_limit,
      created_by: creator.person_id,
      created_ms,
      expires_ms,
    })
    const after = audited(made)
    await insertAuditEntry(db, workspaceId, authorOf(context), {
      action: 'service_key_created',
      subject: subjectOf(made),
      after,
    })
    return made
  })
  return { status: 201, body: { ...shown(key, creator.name, created_ms), token } }
}

export const updateServiceKey: Operation<'updateServiceKey'> = async (
  { workspaceId, path, body },
  context,
) => {
  const { storage, now } = context
  const { expires_at, ...fields } = body
  const expires_ms = expires_at === undefined || expires_at === null ? expires_at : instant_ms(expires_at)
  const changed = { ...fields, ...(expires_ms !== undefined && { expires_ms }) }
  const now_ms = now()
  const { key, creator } = await storage.db.transaction().execute(async (db) => {
    const before = await findKey(db, workspaceId, path.key_id)
    if (before.revoked_ms !== null) throw new Problem('service_key_revoked')
    const after = { ...before, ...changed }
    assertOfUse({ ...after, expires_ms: expires_ms ?? null }, now_ms)
    const changes = changedFields(audited(before), audited(after))
    if (changes) {
      await keys.updateServiceKey(db, before.key_id, changed)
      const subject = subjectOf(after)
      await insertAuditEntry(db, workspaceId, authorOf(context), {
        action: 'service_key_updated',
        subject,
        ...changes,
      })
    }
    return { key: after, creator: await creatorOf(db, after) }
  })
  return { status: 200, body: shown(key, creator, now_ms) }
}

export const rotateServiceKey: Operation<'rotateServiceKey'> = async (
  { workspaceId, path, body },
  context,
) => {
  const { storage, now, newId } = context
  const creator = sessionOf(context)
  const created_ms = now()
  const { key, token } = await storage.db.transaction().execute(async (db) => {
    const old = await findKey(db, workspaceId, path.key_id)
    if (keyStatus(old, created_ms) !== 'active') throw new Problem('service_key_revoked')
    const token = newServiceKey(old.kind)
    const made = { key_id: newId('key'), created_by: creator.person_id, created_ms, token }
    const grace_ms = body.grace_seconds * 1000
    const { key, expires_ms } = await keys.replaceServiceKey(db, old, { ...made, grace_ms })
    await insertAuditEntry(db, workspaceId, authorOf(context), {
      action: 'service_key_rotated',
      subject: subjectOf(old),
      before: { expires_at: instantOrNull(old.expires_ms) },
      after: { expires_at: instantText(expires_ms), new_key_id: key.key_id, new_last_four: key.last_four },
    })
    return { key, token }
  })
  return { status: 201, body: { ...shown(key, creator.name, created_ms), token } }
}

export const revokeServiceKey: Operation<'revokeServiceKey'> = async ({ workspaceId, path }, context) => {
  const { storage, now } = context
  const now_ms = now()
  const { key, creator } = await storage.db.transaction().execute(async (db) => {
    const before = await findKey(db, workspaceId, path.key_id)
    const creator = await creatorOf(db, before)
    if (before.revoked_ms !== null) return { key: before, creator }
    await keys.updateServiceKey(db, before.key_id, { revoked_ms: now_ms })
    await insertAuditEntry(db, workspaceId, authorOf(context), {
      action: 'service_key_revoked',
      subject: subjectOf(before),
    })
    return { key: { ...before, revoked_ms: now_ms }, creator }
  })
  return { status: 200, body: shown(key, creator, now_ms) }
}

async function findKey(db: Transaction, workspaceId: string, keyId: string): Promise<keys.ServiceKey> {
  const key = await keys.findServiceKey(db, keyId)
  if (key?.workspace_id !== workspaceId) throw new Problem('service_key_not_found')
  return key
}

async function creatorOf(db: Transaction, { created_by }: keys.ServiceKey): Promise<string | null> {
  return created_by === null ? null : ((await findPerson(db, created_by))?.name ?? null)
}

/** @throws {Problem} where nobody could use the key, or its origins would mean nothing */
function assertOfUse(
  { kind, allowed_origins, expires_ms }: Pick<keys.ServiceKey, 'kind' | 'allowed_origins' | 'expires_ms'>,
  now_ms: number,
) {
  if (kind === 'secret' && allowed_origins.length > 0) throw new Problem('origins_for_secret_key')
  if (expires_ms !== null && expires_ms <= now_ms) throw new Problem('expires_at_in_past')
}

/** What the audit log tells of a key. */
function audited({ name, kind, last_four, allowed_origins, rate_limit, expires_ms }: keys.ServiceKey) {
  return { name, kind, last_four, allowed_origins, rate_limit, expires_at: instantOrNull(expires_ms) }
}

function subjectOf({ key_id, name }: keys.ServiceKey) {
  return { kind: 'service_key', id: key_id, name } as const
}

function shown(key: keys.ServiceKey, created_by: string | null, now_ms: number): ServiceKey {
  const { key_id, kind, name, last_four, token, allowed_origins, rate_limit } = key
  return {
    key_id,
    kind,
    name,
    last_four,
    token,
    allowed_origins,
    rate_limit,
    status: keyStatus(key, now_ms),
    created_by,
    created_at: instantText(key.created_ms),
    last_used_at: instantOrNull(key.last_used_ms),
    expires_at: instantOrNull(key.expires_ms),
    revoked_at: instantOrNull(key.revoked_ms),
  }
}

function instantOrNull(ms: number | null): string | null {
  return ms === null ? null : instantText(ms)
}
