import { DAY_MS } from './durations.ts'

/** The secrets of a webhook, encrypted. */
export type WebhookSecrets = {
  secret: string
  /** Those before it, separated by spaces, the latest first; they sign too until their time. */
  previous_secret: string | null
  previous_until_ms: number | null
}

/** How long replaced secrets sign beside the current one. */
const ROTATION_MS = DAY_MS
/** Most replaced secrets that sign: every message has a signature by each. */
const MAX_REPLACED = 3

/**
 * The secrets of a webhook whose current one is replaced. One that was replaced within the last 24 hours signs on, because
 * the receiver may still have it.
 * @param secret the new one, encrypted
 */
export function rotated(before: WebhookSecrets, secret: string, now_ms: number): WebhookSecrets {
  const replaced = [before.secret, ...replacedSecrets(before, now_ms)].slice(0, MAX_REPLACED)
  return { secret, previous_secret: replaced.join(' '), previous_until_ms: now_ms + ROTATION_MS }
}

/** The replaced secrets that still sign, encrypted, the latest first. */
export function replacedSecrets(
  { previous_secret, previous_until_ms }: WebhookSecrets,
  now_ms: number,
): string[] {
  return (previous_until_ms ?? 0) > now_ms ? (previous_secret?.split(' ') ?? []) : []
}
