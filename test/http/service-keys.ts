import { newId } from '../../server/domain/identifiers.ts'
import { type KeyKind, newServiceKey } from '../../server/domain/service-keys.ts'
import {
  insertServiceKey,
  type ServiceKey,
  updateServiceKey,
} from '../../server/storage/tables/service-keys.ts'
import type { Cairn, Workspace } from '../cairn.ts'
import { inStore } from '../in-store.ts'

type Options = Partial<Pick<ServiceKey, 'allowed_origins' | 'rate_limit' | 'expires_ms'>> & { token?: string }

/** Creates a key in the store of a running server, as another process does. */
export async function createKey(
  { databaseUrl }: Pick<Cairn, 'databaseUrl'>,
  { workspace_id }: Pick<Workspace, 'workspace_id'>,
  kind: KeyKind,
  { token = newServiceKey(kind), ...options }: Options = {},
): Promise<{ key_id: string; key: string }> {
  const { key_id } = await inStore(databaseUrl, (db) =>
    insertServiceKey(db, {
      key_id: newId('key'),
      workspace_id,
      kind,
      name: 'Test key',
      token,
      allowed_origins: [],
      rate_limit: null,
      created_ms: Date.now(),
      expires_ms: null,
      ...options,
    }),
  )
  return { key_id, key: token }
}

/** Changes a key in the store of a running server, as another process does. */
export async function changeKey(
  { databaseUrl }: Pick<Cairn, 'databaseUrl'>,
  keyId: string,
  change: Partial<Pick<ServiceKey, 'expires_ms' | 'revoked_ms'>>,
): Promise<void> {
  await inStore(databaseUrl, (db) => updateServiceKey(db, keyId, change))
}
