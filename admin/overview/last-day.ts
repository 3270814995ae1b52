import { useQuery } from '@tanstack/react-query'
import { hour_ms } from '../parts/instants/lengths.ts'
import { taken } from '../problem.ts'
import { useCairn, useMembership, useWorkspaceKey } from '../session/session.ts'

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
