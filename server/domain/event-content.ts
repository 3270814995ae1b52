import { isDeepStrictEqual } from 'node:util'

/** What makes two messages the same event: absent fields are null, and absent equals only absent. */
export type EventContent = {
  journey_id: string
  customer_id: string
  event_id: string
  occurred_ms: number | null
  /** JSON text, in whatever order its names were sent. */
  custom_variables: string | null
}

/** Whether a resend says the same as what was stored: variables are compared as JSON values. */
export function isSameContent(a: EventContent, b: EventContent): boolean {
  return (
    a.journey_id === b.journey_id &&
    a.customer_id === b.customer_id &&
    a.event_id === b.event_id &&
    a.occurred_ms === b.occurred_ms &&
    isSameJson(a.custom_variables, b.custom_variables)
  )
}

function isSameJson(a: string | null, b: string | null): boolean {
  if (a === b) return true
  return a !== null && b !== null && isDeepStrictEqual(JSON.parse(a), JSON.parse(b))
}
