import type { components } from '../../generated/contract.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../domain/durations.ts'

/** What kept a message from a response that counts as received. `status`: the response's status says so. */
type ErrorClass = NonNullable<components['schemas']['AttemptError']>

/** What came of one attempt. */
export type AttemptResult =
  | { status: number; ms: number; response: string; retryAfter: string | undefined }
  | { error: Exclude<ErrorClass, 'redirect' | 'status'>; ms: number }

export type Outcome =
  | { kind: 'success' }
  /** 410: the receiver wants no more. The endpoint is disabled. */
  | { kind: 'gone'; error: ErrorClass }
  /** The receiver, or a proxy before it, is overloaded. The whole endpoint waits, at least as long as it asks for. */
  | { kind: 'slow_down'; error: ErrorClass; retryAfter_ms: number | undefined }
  | { kind: 'failure'; error: ErrorClass }

/** Waits before the retries of a message: three and a quarter days in all, so that a weekend is bridged. */
const RETRY_WAITS_MS: readonly number[] = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
]

/** Also of what `Retry-After` asks for: a receiver that says a year may be mistaken. */
const LONGEST_WAIT_MS = 24 * HOUR_MS

/** Messages that failed together should not all be retried together. */
const JITTER = 0.1

const OVERLOADED = [429, 502, 503, 504]

/** Classifies what came of an attempt. @param now_ms for a `Retry-After` that is a date */
export function outcomeOf(result: AttemptResult, now_ms: number): Outcome {
  if ('error' in result) return { kind: 'failure', error: result.error }
  const { status } = result
  if (status >= 200 && status < 300) return { kind: 'success' }
  if (status === 410) return { kind: 'gone', error: 'status' }
  const error = status >= 300 && status < 400 ? 'redirect' : 'status'
  const retryAfter_ms = readRetryAfter(result.retryAfter, now_ms)
  return OVERLOADED.includes(status) || retryAfter_ms !== undefined
    ? { kind: 'slow_down', error, retryAfter_ms }
    : { kind: 'failure', error }
}

/**
 * Returns how long to wait before the next attempt of a message. After the last planned retry it goes on once a day,
 * until `isGivenUp`.
 * @param attempts made so far, at least one
 * @param retryAfter_ms what the receiver asked for; the wait is never shorter than that
 * @param random from 0 to 1
 */
export function retryWait(attempts: number, retryAfter_ms: number | undefined, random: number): number {
  const planned_ms = RETRY_WAITS_MS[attempts - 1] ?? LONGEST_WAIT_MS
  const jittered_ms = planned_ms * (1 + JITTER * (2 * random - 1))
  return Math.round(Math.max(jittered_ms, (retryAfter_ms ?? 0) * (1 + JITTER * random)))
}

/**
 * Whether a message is given up: the fault is its own, because all retries have failed while the endpoint received others.
 * While an endpoint receives nothing at all, none of its messages is given up.
 */
export function isGivenUp(
  { attempts, created_ms }: { attempts: number; created_ms: number },
  lastSuccess_ms: number | null,
): boolean {
  return attempts > RETRY_WAITS_MS.length && lastSuccess_ms !== null && lastSuccess_ms > created_ms
}

/** `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7); its obsolete forms are ignored. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/**
 * Reads `Retry-After` (RFC 9110, section 10.2.3): seconds or an HTTP date.
 * @returns milliseconds, at most a day; undefined if it is absent or invalid
 */
function readRetryAfter(value: string | undefined, now_ms: number): number | undefined {
  const text = value?.trim() ?? ''
  if (/^\d+$/.test(text)) return Math.min(Number(text) * SECOND_MS, LONGEST_WAIT_MS)
  const date_ms = HTTP_DATE.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(date_ms) ? undefined : Math.min(Math.max(date_ms - now_ms, 0), LONGEST_WAIT_MS)
}
