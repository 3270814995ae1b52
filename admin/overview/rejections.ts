import { useQuery } from '@tanstack/react-query'
import type { Schemas } from '../../client/person.ts'
import { hour_ms } from '../parts/instants/lengths.ts'
import { countOf } from '../parts/number-text.ts'
import { taken } from '../problem.ts'
import { useCairn, useMembership, useWorkspaceKey } from '../session/session.ts'

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

/** The start of the last 24 hours: whole hours, including the current one. */
export function dayStart(now: number): number {
  return now - (now % hour_ms) - 23 * hour_ms
}

/** The events of the last 24 hours, by outcome and key. */
export function useDayActivity() {
  const cairn = useCairn()
  return useQuery({
    queryKey: useWorkspaceKey('activity', 'refused'),
    queryFn: ({ signal }) => {
      const from = new Date(dayStart(Date.now())).toISOString()
      return taken(cairn.getActivity({ query: { by: 'hour', from, group_by: 'key' }, signal }))
    },
    refetchInterval: 15_000,
  })
}

/** The rejected requests of the last 24 hours; null for viewers. */
export function useDayRefusals() {
  const cairn = useCairn()
  const { canChange } = useMembership()
  return useQuery({
    queryKey: useWorkspaceKey('refusals', 'day', canChange),
    queryFn: ({ signal }) => {
      const received_from = new Date(dayStart(Date.now())).toISOString()
      return canChange
        ? taken(cairn.getRefusalSummary({ query: { received_from, periods: 1 }, signal }))
        : null
    },
    refetchInterval: 15_000,
  })
}
