import type { Config } from './config.ts'
import { newToken } from './domain/tokens.ts'
import { hasPeople } from './storage/people.ts'
import { replaceSetupLink } from './storage/setup-links.ts'
import type { Storage, Transaction } from './storage/storage.ts'
import { hasWorkspaces } from './storage/workspaces.ts'

const VALID_MS = 3_600_000

/**
 * Makes a link that creates the first person of a workspace, and voids those before. Its token stands in the fragment,
 * which browsers do not send and servers do not log.
 * @param link.workspace_id the workspace; null: the link creates it
 */
export async function makeSetupLink(
  db: Transaction,
  { workspace_id, baseUrl, now_ms }: { workspace_id: string | null; baseUrl: string; now_ms: number },
): Promise<string> {
  const token = newToken('setup_')
  await replaceSetupLink(db, { token, workspace_id, expires_ms: now_ms + VALID_MS })
  return `${baseUrl}/admin/setup#token=${token}`
}

/** A link for a store without data; undefined for any other. */
export async function firstSetupLink(
  { db }: Storage,
  { baseUrl, now_ms }: { baseUrl: string; now_ms: number },
): Promise<string | undefined> {
  if ((await hasPeople(db)) || (await hasWorkspaces(db))) return undefined
  return await db.transaction().execute((db) => makeSetupLink(db, { workspace_id: null, baseUrl, now_ms }))
}

/** Where a browser on this machine, or wherever `CAIRN_PUBLIC_URL` says, finds the server. */
export function browserUrl({ publicUrl, host }: Config, port: number): string {
  if (publicUrl) return publicUrl.origin
  const name = { '0.0.0.0': '127.0.0.1', '::': '[::1]' }[host] ?? (host.includes(':') ? `[${host}]` : host)
  return `http://${name}:${port}`
}
