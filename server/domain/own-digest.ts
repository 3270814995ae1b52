import { createHmac, randomBytes } from 'node:crypto'

/** Returns a new secret for the digests of a workspace. */
export function newErasureSecret(): string {
  return randomBytes(32).toString('hex')
}

/**
 * Returns what is stored of an erased customer (a tombstone), so that it is recognized if it comes again: a keyed
 * digest (HMAC-SHA-256, 64 hexadecimal digits) of its type and own identifier. Without the workspace's secret nobody
 * can try out identifiers.
 */
export function ownDigest(
  secret: string,
  { customer_type, client_customer_id }: { customer_type: string; client_customer_id: string },
): string {
  return createHmac('sha256', secret).update(`${customer_type}\0${client_customer_id}`).digest('hex')
}
