import { createHmac, randomBytes } from 'node:crypto'

/** With which the digests of a workspace are made. */
export function newErasureSecret(): string {
  return randomBytes(32).toString('hex')
}

/**
 * What is kept of a customer who was erased, so that it is known when it comes again: 64 hexadecimal digits of what its
 * sender calls it, keyed (HMAC-SHA-256), so that nobody can try out names without the workspace's secret.
 */
export function ownDigest(
  secret: string,
  { customer_type, client_customer_id }: { customer_type: string; client_customer_id: string },
): string {
  return createHmac('sha256', secret).update(`${customer_type}\0${client_customer_id}`).digest('hex')
}
