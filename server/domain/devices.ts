import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/**
 * By what a browser is known again that has signed in to an account: a random part, and its HMAC-SHA-256 under the
 * account's password hash. So it needs no table, and a new password makes it worthless.
 */
export function newDevice(passwordHash: string): string {
  const random = randomBytes(16).toString('hex')
  return `${random}.${codeOf(random, passwordHash)}`
}

/** Whether the browser has signed in to the account with this password. */
export function isDevice(device: string, passwordHash: string): boolean {
  const [, random, code] = /^([0-9a-f]{32})\.([0-9a-f]{64})$/.exec(device) ?? []
  if (random === undefined || code === undefined) return false
  return timingSafeEqual(Buffer.from(code, 'hex'), Buffer.from(codeOf(random, passwordHash), 'hex'))
}

function codeOf(random: string, passwordHash: string): string {
  return createHmac('sha256', passwordHash).update(random).digest('hex')
}
