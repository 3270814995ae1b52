import type { EventRejection, InitializeOutcome } from './event-store.ts'

type InitializeRejection = Extract<InitializeOutcome, { status: 'refused' }>['code']

/** What the rules on events look at. */
export type EventFacts = {
  /** Undefined where there is no such journey. */
  journeyStatus: string | undefined
  /** Why the customer can have no event in the journey; undefined if it can. */
  customer: 'customer_not_found' | 'customer_erased' | 'customer_not_in_journey' | undefined
  isInFuture: boolean
}

/**
 * The first rule that an event breaks (contract: "Problems"). What the sender cannot correct comes first: an erased customer,
 * then an archived journey, for which no customer can be initialized.
 */
export function brokenEventRule({
  journeyStatus,
  customer,
  isInFuture,
}: EventFacts): EventRejection | undefined {
  if (journeyStatus === undefined) return 'journey_not_found'
  if (customer === 'customer_erased') return customer
  if (journeyStatus === 'archived') return 'journey_archived'
  if (customer) return customer
  return isInFuture ? 'occurred_at_in_future' : undefined
}

type InitializeFacts = Pick<EventFacts, 'journeyStatus'> & {
  /** Called only where the answer decides. */
  isErased: () => boolean
}

/**
 * The first rule that an initialization breaks (contract: "Problems"). An erased customer comes before an archived journey,
 * because restoring the journey would not help.
 */
export function brokenInitializeRule({
  journeyStatus,
  isErased,
}: InitializeFacts): InitializeRejection | undefined {
  if (journeyStatus === undefined) return 'journey_not_found'
  if (isErased()) return 'customer_erased'
  return journeyStatus === 'archived' ? 'journey_archived' : undefined
}
