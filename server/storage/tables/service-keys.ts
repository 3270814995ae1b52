import { type Kysely, type RawBuilder, type Selectable, type SqlBool, sql, type Transaction } from 'kysely'
import type { DB, ServiceKeys } from '../../../generated/tables.ts'
import { nameWords, wordsText } from '../../domain/name-words.ts'
import type { Page, PageRows } from '../../domain/paging.ts'
import { type KeyKind, type KeyStatus, lastFour } from '../../domain/service-keys.ts'
import { tokenDigest } from '../../domain/tokens.ts'
import type { Discretion } from '../events/event-store.ts'
import { behind, upTo } from '../lists/keyset.ts'
import { bytes, readPage, unindexed, walkEnd } from '../lists/page-query.ts'
import { hasWords } from '../lists/prefixes.ts'

/** A service key. Only a publishable key can be shown again; of a secret one only a digest is stored. */
export type ServiceKey = {
  key_id: string
  workspace_id: string
  kind: KeyKind
  name: string
  last_four: string
  /** The key itself; null for a secret one. */
  token: string | null
  /** Empty for any origin. */
  allowed_origins: string[]
  /** Events per second; null for the server's default. */
  rate_limit: number | null
  /** The person who created it; null if it was created on the command line. */
  created_by: string | null
  created_ms: number
  last_used_ms: number | null
  expires_ms: number | null
  revoked_ms: number | null
}

/** A key as used to authenticate requests, with its workspace's settings for it. */
export type CallingKey = ServiceKey & {
  /** Customer protection for this key; undefined if it may look up and rename customers. */
  discretion: Discretion | undefined
  /** Of the workspace: how often what its events are checked by was changed. 0: every event passes. */
  definition_changes: number
}

/** Stores a new key, given as the text that its owner will send. */
export async function insertServiceKey(
  db: Transaction<DB>,
  key: Omit<ServiceKey, 'last_four' | 'token' | 'created_by' | 'last_used_ms' | 'revoked_ms'> & {
    token: string
    created_by?: string | null
  },
): Promise<ServiceKey> {
  const { token, allowed_origins, ...columns } = key
  const row = await db
    .insertInto('service_keys')
    .values({
      ...columns,
      allowed_origins: JSON.stringify(allowed_origins),
      name_key: wordsText(nameWords(key.name)),
      digest: tokenDigest(token),
      token: key.kind === 'publishable' ? token : null,
      last_four: lastFour(token),
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return keyOf(row)
}

export async function findServiceKeyByDigest(
  db: Kysely<DB>,
  digest: string,
): Promise<CallingKey | undefined> {
  const row = await callingKeys(db).where('digest', '=', digest).executeTakeFirst()
  return row && callingKeyOf(row)
}

/** The keys with these digests, by digest; missing ones are omitted. */
export async function serviceKeysByDigest(
  db: Kysely<DB>,
  digests: readonly string[],
): Promise<Map<string, CallingKey>> {
  const rows = await callingKeys(db).where('digest', 'in', digests).execute()
  return new Map(rows.map((row) => [row.digest, callingKeyOf(row)]))
}

export async function findServiceKey(db: Kysely<DB>, keyId: string): Promise<CallingKey | undefined> {
  const row = await callingKeys(db).where('key_id', '=', keyId).executeTakeFirst()
  return row && callingKeyOf(row)
}

function callingKeys(db: Kysely<DB>) {
  return db
    .selectFrom('service_keys')
    .innerJoin('workspaces', 'workspaces.workspace_id', 'service_keys.workspace_id')
    .selectAll('service_keys')
    .select(['workspaces.protect_customers', 'workspaces.created_ms as workspace_ms'])
    .select('workspaces.definition_changes')
}

function callingKeyOf({
  protect_customers,
  workspace_ms,
  definition_changes,
  ...row
}: Selectable<ServiceKeys> & {
  protect_customers: number
  workspace_ms: number
  definition_changes: number
}): CallingKey {
  const isDiscreet = row.kind === 'publishable' && protect_customers === 1
  const discretion = isDiscreet ? { since_ms: workspace_ms } : undefined
  return { ...keyOf(row), discretion, definition_changes }
}

/** A key with the name of who made it. */
export type ListedServiceKey = { key: ServiceKey; creator: string | null }

export type KeyFilter = {
  kind?: KeyKind
  status?: KeyStatus
  /** Prefixes of words of the name, the last four characters, or the whole identifier. */
  search?: string
}

/**
 * Keys by (`created_at`, `key_id`), newest first. With a filter a page ends after a fixed number of keys examined.
 * @param now_ms time that decides which keys are active or expired
 */
export async function newestServiceKeys(
  db: Kysely<DB>,
  workspaceId: string,
  filter: KeyFilter,
  page: Page,
  now_ms: number,
): Promise<PageRows<ListedServiceKey>> {
  const listed = db
    .selectFrom('service_keys')
    .leftJoin('people', 'people.person_id', 'service_keys.created_by')
    .where('service_keys.workspace_id', '=', workspaceId)
  const keys = listed
    .select(['service_keys.created_ms as ms', 'service_keys.key_id as id'])
    .select(bytes({ json: ['allowed_origins'], text: ['service_keys.name', 'people.name'] }))
    .where(behind(page.after, 'service_keys.created_ms', 'service_keys.key_id'))
    .orderBy('service_keys.created_ms', 'desc')
    .orderBy('service_keys.key_id', 'desc')
  const read = async (ids: string[]) => {
    const rows = await listed
      .selectAll('service_keys')
      .select('people.name as creator')
      .where('service_keys.key_id', 'in', ids)
      .execute()
    return rows.map(({ creator, ...row }) => [row.key_id, { key: keyOf(row), creator }] as const)
  }
  const conditions = conditionsOf(filter, now_ms)
  if (conditions.length === 0) return await readPage(keys, page, read)
  const end = await walkEnd(keys)
  const matching = keys
    .where(unindexed(sql`${sql.join(conditions, sql` AND `)}`))
    .where(upTo(end, 'service_keys.created_ms', 'service_keys.key_id'))
  return await readPage(matching, page, read, { end })
}

/** The conditions of a filter on a key. The index in list order covers all of them. */
function conditionsOf({ kind, status, search }: KeyFilter, now_ms: number): RawBuilder<SqlBool>[] {
  const hasEnded = sql<SqlBool>`coalesce(service_keys.expires_ms <= ${now_ms}, 1 = 0)`
  const statuses: Record<KeyStatus, RawBuilder<SqlBool>> = {
    active: sql`service_keys.revoked_ms IS NULL AND NOT ${hasEnded}`,
    expired: sql`service_keys.revoked_ms IS NULL AND ${hasEnded}`,
    revoked: sql`service_keys.revoked_ms IS NOT NULL`,
  }
  const text = search?.trim()
  return [
    ...(kind ? [sql<SqlBool>`service_keys.kind = ${kind}`] : []),
    ...(status ? [statuses[status]] : []),
    ...(text === undefined
      ? []
      : [
          sql<SqlBool>`(${hasWords('service_keys.name_key', nameWords(text))} OR service_keys.last_four = ${text}
            OR service_keys.key_id = ${text})`,
        ]),
  ]
}

/** The keys of a workspace, oldest first. */
export async function serviceKeys(db: Kysely<DB>, workspaceId: string): Promise<ServiceKey[]> {
  const rows = await db
    .selectFrom('service_keys')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .orderBy('created_ms')
    .orderBy('key_id')
    .execute()
  return rows.map(keyOf)
}

/** Replaces the given fields. */
export async function updateServiceKey(
  db: Transaction<DB>,
  keyId: string,
  change: Partial<Pick<ServiceKey, 'name' | 'allowed_origins' | 'rate_limit' | 'expires_ms' | 'revoked_ms'>>,
): Promise<void> {
  const { allowed_origins, ...columns } = change
  await db
    .updateTable('service_keys')
    .set({
      ...columns,
      ...(columns.name !== undefined && { name_key: wordsText(nameWords(columns.name)) }),
      ...(allowed_origins && { allowed_origins: JSON.stringify(allowed_origins) }),
    })
    .where('key_id', '=', keyId)
    .execute()
}

/**
 * Creates a key that replaces another, with the same name, kind, origins and rate, and without an expiry. The old key
 * works until the end of the grace period, or until its own earlier expiry.
 * @returns the new key, and when the old one expires
 */
export async function replaceServiceKey(
  db: Transaction<DB>,
  old: ServiceKey,
  made: Pick<ServiceKey, 'key_id' | 'created_by' | 'created_ms'> & { token: string; grace_ms: number },
): Promise<{ key: ServiceKey; expires_ms: number }> {
  const { grace_ms, ...columns } = made
  const { workspace_id, kind, name, allowed_origins, rate_limit } = old
  const kept = { workspace_id, kind, name, allowed_origins, rate_limit, expires_ms: null }
  const key = await insertServiceKey(db, { ...kept, ...columns })
  const expires_ms = Math.min(made.created_ms + grace_ms, old.expires_ms ?? Number.POSITIVE_INFINITY)
  await updateServiceKey(db, old.key_id, { expires_ms })
  return { key, expires_ms }
}

function keyOf({ digest: _, name_key: _words, ...row }: Selectable<ServiceKeys>): ServiceKey {
  return { ...row, kind: row.kind as KeyKind, allowed_origins: JSON.parse(row.allowed_origins) }
}
