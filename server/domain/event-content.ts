import { isDeepStrictEqual } from 'node:util'
import type { components } from '../../generated/contract.ts'
import { parseJsonText } from './json-text.ts'

type EventCreation = components['schemas']['EventCreation']

/** Maximum bytes of one event as JSON in UTF-8 (contract: `event_too_large`). */
export const EVENT_BYTES = 64 * 1024

/** Upper bounds: all fields except the variables, and a UTF-16 code unit in UTF-8. */
const OTHER_FIELDS_BYTES = 16 * 1024
const CODE_UNIT_BYTES = 3

/**
 * Whether an event exceeds the size limit.
 * @param variables its custom variables as JSON text, whose length shows cheaply that most events are small
 */
export function isTooLarge(event: EventCreation, variables: string | null): boolean {
  const most_bytes = OTHER_FIELDS_BYTES + CODE_UNIT_BYTES * (variables?.length ?? 0)
  return most_bytes > EVENT_BYTES && Buffer.byteLength(JSON.stringify(event)) > EVENT_BYTES
}

/** Maximum time an event may be ahead of the server's clock; more means a wrong clock (contract: `occurred_at`). */
const AHEAD_MS = 60 * 60 * 1000

/** Whether an event is too far in the future. */
export function isInFuture({ occurred_ms }: EventContent, now_ms: number): boolean {
  return occurred_ms !== null && occurred_ms > now_ms + AHEAD_MS
}

/** Returns the earliest instant at which an event with this date can have been received. */
export function earliestReceipt(occurred_ms: number): number {
  return occurred_ms - AHEAD_MS
}

/** What identifies an event's content: absent fields are null, and absent equals only absent. */
export type EventContent = {
  journey_id: string
  customer_id: string
  event_id: string
  occurred_ms: number | null
  /** JSON text; the order of names does not matter. */
  custom_variables: string | null
}

/**
 * Whether a resend has the content that was stored; variables are compared as JSON values.
 * @param resend one with `isUndated` does not know the time, so its time is not compared
 */
export function isSameContent(stored: EventContent, resend: EventContent & { isUndated?: true }): boolean {
  return (
    stored.journey_id === resend.journey_id &&
    stored.customer_id === resend.customer_id &&
    stored.event_id === resend.event_id &&
    (stored.occurred_ms === resend.occurred_ms || resend.isUndated === true) &&
    isSameJson(stored.custom_variables, resend.custom_variables)
  )
}

function isSameJson(a: string | null, b: string | null): boolean {
  if (a === b) return true
  // Another order of names has the same length. A large stored event costs no more to compare than what was sent.
  if (a === null || b === null || a.length !== b.length) return false
  return isDeepStrictEqual(parseJsonText(a), parseJsonText(b))
}
