import type { Schemas } from '../../client/person.ts'
import { countOf } from '../parts/number-text.ts'

/**
 * Rejections by kind: events, as in the event counters; requests with events that were rejected as a whole, which are not in
 * the event counters; and registrations of customers.
 */
export type Rejections = Schemas['RefusalKinds']

/**
 * The rejections of a span. Events are counted exactly, including those whose contents were not saved.
 * @param refusals undefined for viewers, who may not see rejected requests
 */
export function rejectionsOf(
  { rejected }: Pick<Schemas['ActivityCounts'], 'rejected'>,
  refusals: Pick<Schemas['RefusalSummary'], 'kinds'> | undefined,
): Rejections {
  const { requests = 0, customers = 0 } = refusals?.kinds ?? {}
  return { events: rejected, requests, customers }
}

export function rejectionCount({ events, requests, customers }: Rejections): number {
  return events + requests + customers
}

/** `24 events, 2,647 requests, 12 registrations`, without kinds that are 0. */
export function rejectionText({ events, requests, customers }: Rejections): string {
  const parts = [
    events > 0 && countOf(events, 'event'),
    requests > 0 && countOf(requests, 'request'),
    customers > 0 && countOf(customers, 'registration'),
  ].filter(Boolean)
  return parts.length > 0 ? parts.join(', ') : 'nothing'
}
