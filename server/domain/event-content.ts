import { isDeepStrictEqual } from 'node:util'
import type { components } from '../../generated/contract.ts'

type EventCreation = components['schemas']['EventCreation']

/** What one event's JSON may take in UTF-8 (contract: `event_too_large`). */
const EVENT_BYTES = 64 * 1024

/** More than all fields but the variables can take, and the most that a UTF-16 code unit can take. */
const OTHER_FIELDS_BYTES = 16 * 1024
const CODE_UNIT_BYTES = 3

/**
 * Whether an event takes more than one may.
 * @param variables its custom variables as JSON text, which tells cheaply that most events are small
 */
export function isTooLarge(event: EventCreation, variables: string | null): boolean {
  const most_bytes = OTHER_FIELDS_BYTES + CODE_UNIT_BYTES * (variables?.length ?? 0)
  return most_bytes > EVENT_BYTES && Buffer.byteLength(JSON.stringify(event)) > EVENT_BYTES
}

/** An event may be dated this far ahead of the server's clock; more is a wrong clock (contract: `occurred_at`). */
const AHEAD_MS = 60 * 60 * 1000

/** Whether an event is dated in the future. */
export function isInFuture({ occurred_ms }: EventContent, now_ms: number): boolean {
  return occurred_ms !== null && occurred_ms > now_ms + AHEAD_MS
}

/** The earliest instant at which an event can have been received that is dated at another. */
export function earliestReceipt(occurred_ms: number): number {
  return occurred_ms - AHEAD_MS
}

/** What makes two messages the same event: absent fields are null, and absent equals only absent. */
export type EventContent = {
  journey_id: string
  customer_id: string
  event_id: string
  occurred_ms: number | null
  /** JSON text, in whatever order its names were sent. */
  custom_variables: string | null
}

/**
 * Whether a resend says the same as what was stored: variables are compared as JSON values.
 * @param resend one without a time of its own says nothing about it
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
  return a !== null && b !== null && isDeepStrictEqual(JSON.parse(a), JSON.parse(b))
}
