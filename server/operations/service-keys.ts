import type { components } from '../../generated/contract.ts'
import type { Context, Operation } from '../contract.ts'
import { instant_ms, instantOrNull, instantText } from '../domain/instants.ts'
import { pageBody, pageOf } from '../domain/paging.ts'
import { keyStatus, newServiceKey } from '../domain/service-keys.ts'
import { Problem } from '../problems.ts'
import type { Transaction } from '../storage/database.ts'
import * as audited from '../storage/tables/audited-changes.ts'
import { findPerson } from '../storage/tables/people.ts'
import * as keys from '../storage/tables/service-keys.ts'
import { authorOf, sessionOf } from './author.ts'

type ServiceKey = components['schemas']['ServiceKey']

export const listServiceKeys: Operation<'listServiceKeys'> = async ({ workspaceId, query }, context) => {
  const { storage, reading, now } = context
  const lists = storage.lists(reading)
  const now_ms = now()
  const { rows, next } = await keys.newestServiceKeys(lists, workspaceId, query, pageOf(query, 'key'), now_ms)
  const shownKeys = rows.map(({ key, creator }) => shown(key, creator, now_ms))
  return { status: 200, body: pageBody({ rows: shownKeys, next }) }
}

export const createServiceKey: Operation<'createServiceKey'> = async ({ workspaceId, body }, context) => {
  const { now, newId } = context
  const { kind, name, allowed_origins = [], rate_limit = null, expires_at = null } = body
  const creator = sessionOf(context.caller)
  const now_ms = now()
  const expires_ms = expires_at === null ? null : instant_ms(expires_at)
  assertOfUse({ kind, allowed_origins, expires_ms }, now_ms)
  assertMayGive(rate_limit, context)
  const token = newServiceKey(kind)
  const key = { key_id: newId('key'), workspace_id: workspaceId, kind, name, token, allowed_origins }
  const made = await context.change((db) => {
    return audited.createServiceKey(db, { ...key, rate_limit, expires_ms }, authorOf(context))
  })
  return { status: 201, body: { ...shown(made, creator.name, now_ms), token } }
}

export const updateServiceKey: Operation<'updateServiceKey'> = async (
  { workspaceId, path, body },
  context,
) => {
  const { expires_at, ...fields } = body
  const expires_ms = expires_at === undefined || expires_at === null ? expires_at : instant_ms(expires_at)
  const change = { ...fields, ...(expires_ms !== undefined && { expires_ms }) }
  return await context.change(async (db) => {
    const now_ms = context.now()
    const before = await findKey(db, workspaceId, path.key_id)
    // Otherwise a key that was rotated without grace, or has expired, would become valid again with a new expiry.
    if (keyStatus(before, now_ms) !== 'active') throw new Problem('service_key_revoked')
    assertOfUse({ ...before, ...change, expires_ms: expires_ms ?? null }, now_ms)
    // A rate set by an operator stays with the key.
    if (fields.rate_limit !== before.rate_limit) assertMayGive(fields.rate_limit ?? null, context)
    const after = await audited.changeServiceKey(db, before, change, authorOf(context))
    return { status: 200, body: shown(after, await creatorOf(db, after), now_ms) }
  })
}

export const rotateServiceKey: Operation<'rotateServiceKey'> = async (
  { workspaceId, path, body },
  context,
) => {
  const { now, newId } = context
  const creator = sessionOf(context.caller)
  return await context.change(async (db) => {
    const now_ms = now()
    const old = await findKey(db, workspaceId, path.key_id)
    if (keyStatus(old, now_ms) !== 'active') throw new Problem('service_key_revoked')
    const token = newServiceKey(old.kind)
    const made = { key_id: newId('key'), token, grace_ms: body.grace_seconds * 1000 }
    const { key } = await audited.rotateServiceKey(db, old, made, authorOf(context))
    return { status: 201, body: { ...shown(key, creator.name, now_ms), token } }
  })
}

export const revokeServiceKey: Operation<'revokeServiceKey'> = async ({ workspaceId, path }, context) => {
  return await context.change(async (db) => {
    const before = await findKey(db, workspaceId, path.key_id)
    const key = await audited.revokeServiceKey(db, before, authorOf(context))
    return { status: 200, body: shown(key, await creatorOf(db, key), context.now()) }
  })
}

async function findKey(db: Transaction, workspaceId: string, keyId: string): Promise<keys.ServiceKey> {
  const key = await keys.findServiceKey(db, keyId)
  if (key?.workspace_id !== workspaceId) throw new Problem('service_key_not_found')
  return key
}

async function creatorOf(db: Transaction, { created_by }: keys.ServiceKey): Promise<string | null> {
  return created_by === null ? null : ((await findPerson(db, created_by))?.name ?? null)
}

/** @throws {Problem} if nobody could use the key, or its origins would have no effect */
function assertOfUse(
  { kind, allowed_origins, expires_ms }: Pick<keys.ServiceKey, 'kind' | 'allowed_origins' | 'expires_ms'>,
  now_ms: number,
) {
  if (kind === 'secret' && allowed_origins.length > 0) throw new Problem('origins_for_secret_key')
  if (expires_ms !== null && expires_ms <= now_ms) throw new Problem('expires_at_in_past')
}

/** @throws {Problem} `rate_limit_too_high` if only an operator may set this rate */
function assertMayGive(rate_limit: number | null, { allowed }: Context) {
  const { rateLimitMax } = allowed
  if (rate_limit === null || rateLimitMax === 0 || (rate_limit > 0 && rate_limit <= rateLimitMax)) return
  throw new Problem('rate_limit_too_high', {
    detail: `Send a rate_limit from 1 to ${rateLimitMax}, or ask an operator: cairn key create --rate-limit sets any rate.`,
  })
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
