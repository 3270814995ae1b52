import { networkInterfaces } from 'node:os'
import type { Config } from './config.ts'
import { newToken } from './domain/tokens.ts'
import type { Transaction } from './storage/database.ts'
import { inTransaction } from './storage/in-transaction.ts'
import type { Storage } from './storage/storage.ts'
import { hasPeople } from './storage/tables/people.ts'
import { replaceSetupLink } from './storage/tables/setup-links.ts'
import { hasWorkspaces } from './storage/tables/workspaces.ts'

const VALID_MS = 3_600_000

/**
 * Creates a link that creates the first person of a workspace, and voids earlier links. Its token is in the URL
 * fragment, which browsers do not send and servers do not log.
 * @param link.workspace_id the workspace; null: the link creates one
 */
export async function makeSetupLink(
  db: Transaction,
  { workspace_id, baseUrl, now_ms }: { workspace_id: string | null; baseUrl: string; now_ms: number },
): Promise<string> {
  const token = newToken('setup_')
  await replaceSetupLink(db, { token, workspace_id, expires_ms: now_ms + VALID_MS })
  return `${baseUrl}/admin/setup#token=${token}`
}

/** Creates a link if the store has no data; undefined otherwise. */
export async function firstSetupLink(
  { db }: Storage,
  { baseUrl, now_ms }: { baseUrl: string; now_ms: number },
): Promise<string | undefined> {
  if ((await hasPeople(db)) || (await hasWorkspaces(db))) return undefined
  return await inTransaction(db, (db) => makeSetupLink(db, { workspace_id: null, baseUrl, now_ms }))
}

/**
 * Returns the URL for browsers: `CAIRN_PUBLIC_URL` if set, else the address that the server listens on. If it listens
 * on all interfaces, it is meant for other machines too, so the result is an address that they can reach.
 */
export function browserUrl({ publicUrl, host }: Pick<Config, 'publicUrl' | 'host'>, port: number): string {
  if (publicUrl) return publicUrl.origin
  const address = host === '0.0.0.0' || host === '::' ? reachableAddress(host) : host
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`
}

/**
 * Returns a network address of this machine; the loopback address if it is on no network or may not know.
 * @param interfaces for tests
 */
export function reachableAddress(host: '0.0.0.0' | '::', interfaces = networkInterfaces): string {
  const addresses = Object.values(ownInterfaces(interfaces)).flatMap((found = []) => found)
  // Link-local addresses need an interface name beside them, or lead nowhere.
  const reachable = addresses.filter(
    ({ internal, address }) => !internal && !/^(169\.254\.|fe80:)/.test(address),
  )
  const first = (family: string) => reachable.find((address) => address.family === family)?.address
  return first('IPv4') ?? (host === '::' ? (first('IPv6') ?? '::1') : '127.0.0.1')
}

/** Returns none if the process may not ask, as under a systemd unit without AF_NETLINK. */
function ownInterfaces(interfaces: typeof networkInterfaces): ReturnType<typeof networkInterfaces> {
  try {
    return interfaces()
  } catch {
    return {}
  }
}
