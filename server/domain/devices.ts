import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/**
 * Creates a token that recognizes a browser that has signed in to an account: a random part and its HMAC-SHA-256, keyed
 * with the account's password hash. It needs no table, and a new password invalidates it.
 */
export function newDevice(passwordHash: string): string {
  const random = randomBytes(16).toString('hex')
  return `${random}.${codeOf(random, passwordHash)}`
}

/** Whether the browser has signed in to the account with its current password. */
export function isDevice(device: string, passwordHash: string): boolean {
  const [, random, code] = /^([0-9a-f]{32})\.([0-9a-f]{64})$/.exec(device) ?? []
  if (random === undefined || code === undefined) return false
  return timingSafeEqual(Buffer.from(code, 'hex'), Buffer.from(codeOf(random, passwordHash), 'hex'))
}

function codeOf(random: string, passwordHash: string): string {
  return createHmac('sha256', passwordHash).update(random).digest('hex')
}
