import type { DefinitionRejection, EventRejection, InitializeOutcome } from './event-store.ts'

type InitializeRejection = Extract<InitializeOutcome, { status: 'refused' }>['code']

/** The facts that the rules for events depend on. */
export type EventFacts = {
  /** Undefined if the journey does not exist. */
  journeyStatus: string | undefined
  /** Why the customer cannot have an event in the journey; undefined if it can. */
  customer: 'customer_not_found' | 'customer_erased' | 'customer_not_in_journey' | undefined
  isInFuture: boolean
  /** See `NewEvent`. */
  breaks: DefinitionRejection | undefined
  /** See `insertEvents`. */
  isDiscreet: boolean
}

/**
 * Returns the first rule that an event breaks (contract: "Problems"). What the sender cannot correct comes first: an
 * erased customer, then an archived journey, because initializing a customer for that is refused. With discretion the
 * customer comes last: any rule after it would reveal, by an event that is never stored, who is enrolled in the
 * journey.
 */
export function brokenEventRule({
  journeyStatus,
  customer,
  isInFuture,
  breaks,
  isDiscreet,
}: EventFacts): EventRejection | undefined {
  if (journeyStatus === undefined) return 'journey_not_found'
  if (customer === 'customer_erased' && !isDiscreet) return customer
  if (journeyStatus === 'archived') return 'journey_archived'
  if (customer && !isDiscreet) return customer
  if (isInFuture) return 'occurred_at_in_future'
  return breaks ?? customer
}

type InitializeFacts = Pick<EventFacts, 'journeyStatus' | 'isDiscreet'> & {
  /** Called only if it decides. */
  isErased: () => boolean
}

/**
 * Returns the first rule that an initialization breaks (contract: "Problems"). An erased customer comes before an
 * archived journey, because restoring the journey would not help. With discretion it comes after: nobody can be
 * registered in an archived journey, so asking would leave no trace.
 */
export function brokenInitializeRule({
  journeyStatus,
  isErased,
  isDiscreet,
}: InitializeFacts): InitializeRejection | undefined {
  if (journeyStatus === undefined) return 'journey_not_found'
  const isArchived = journeyStatus === 'archived'
  if (!(isArchived && isDiscreet) && isErased()) return 'customer_erased'
  return isArchived ? 'journey_archived' : undefined
}
