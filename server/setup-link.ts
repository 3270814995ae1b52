import { networkInterfaces } from 'node:os'
import type { Config } from './config.ts'
import { newToken } from './domain/tokens.ts'
import type { Transaction } from './storage/database.ts'
import type { Storage } from './storage/storage.ts'
import { hasPeople } from './storage/tables/people.ts'
import { replaceSetupLink } from './storage/tables/setup-links.ts'
import { hasWorkspaces } from './storage/tables/workspaces.ts'

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

/**
 * Where a browser finds the server: where `CAIRN_PUBLIC_URL` says, else at the address that it listens on. Who lets it
 * listen on all of them means other machines too, so that it is one of those that they can reach.
 */
export function browserUrl({ publicUrl, host }: Pick<Config, 'publicUrl' | 'host'>, port: number): string {
  if (publicUrl) return publicUrl.origin
  const address = host === '0.0.0.0' || host === '::' ? reachableAddress(host) : host
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`
}

/** An address of this machine on a network; the machine's own, where it is on none. */
function reachableAddress(host: '0.0.0.0' | '::'): string {
  const addresses = Object.values(networkInterfaces()).flatMap((found = []) => found)
  // Addresses that a network card gives itself need its name beside them, or lead nowhere.
  const reachable = addresses.filter(
    ({ internal, address }) => !internal && !/^(169\.254\.|fe80:)/.test(address),
  )
  const first = (family: string) => reachable.find((address) => address.family === family)?.address
  return first('IPv4') ?? (host === '::' ? (first('IPv6') ?? '::1') : '127.0.0.1')
}
