import type { Kysely, Selectable, Transaction } from 'kysely'
import type { DB, ServiceKeys } from '../../generated/tables.ts'
import { type KeyKind, keyDigest, lastFour } from '../domain/service-keys.ts'

/** A service key. Only a publishable one can be shown again; of a secret one the store has a digest. */
export type ServiceKey = {
  key_id: string
  workspace_id: string
  kind: KeyKind
  name: string
  last_four: string
  /** The key itself; null for a secret one. */
  token: string | null
  /** Empty: every origin. */
  allowed_origins: string[]
  /** Events a second; null: the server's default. */
  rate_limit: number | null
  created_ms: number
  last_used_ms: number | null
  expires_ms: number | null
  revoked_ms: number | null
}

/** Stores a new key by the text that its owner will send. */
export async function insertServiceKey(
  db: Transaction<DB>,
  key: Omit<ServiceKey, 'last_four' | 'token' | 'last_used_ms' | 'revoked_ms'> & { token: string },
): Promise<ServiceKey> {
  const { token, allowed_origins, ...columns } = key
  const row = await db
    .insertInto('service_keys')
    .values({
      ...columns,
      allowed_origins: JSON.stringify(allowed_origins),
      digest: keyDigest(token),
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
): Promise<ServiceKey | undefined> {
  const row = await db.selectFrom('service_keys').selectAll().where('digest', '=', digest).executeTakeFirst()
  return row && keyOf(row)
}

export async function findServiceKey(db: Kysely<DB>, keyId: string): Promise<ServiceKey | undefined> {
  const row = await db.selectFrom('service_keys').selectAll().where('key_id', '=', keyId).executeTakeFirst()
  return row && keyOf(row)
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

export async function updateServiceKey(
  db: Transaction<DB>,
  keyId: string,
  change: Partial<Pick<ServiceKey, 'expires_ms' | 'revoked_ms'>>,
): Promise<void> {
  await db.updateTable('service_keys').set(change).where('key_id', '=', keyId).execute()
}

function keyOf({ digest: _, ...row }: Selectable<ServiceKeys>): ServiceKey {
  return { ...row, kind: row.kind as KeyKind, allowed_origins: JSON.parse(row.allowed_origins) }
}
