import { useQuery } from '@tanstack/react-query'
import { taken } from '../problem.ts'
import { useCairn, useWorkspaceKey } from '../session/session.ts'

/** How often a name was received, and when most recently. */
export type ReceivedName = { count: number; last_at: string }

/** By event name, the most frequent first. */
export type ReceivedNames = ReadonlyMap<string, ReceivedName>

const none: ReceivedNames = new Map()

/** The event names that a journey, or all of them, received in the last 30 days; empty until they have loaded. */
export function useReceivedNames(journey_id?: string): ReceivedNames {
  const cairn = useCairn()
  const { data } = useQuery({
    queryKey: useWorkspaceKey('activity', 'names', journey_id),
    queryFn: async ({ signal }) => {
      const query = { ...(journey_id && { journey_id }), by: 'day', group_by: 'event' } as const
      const { groups } = await taken(cairn.getActivity({ query, signal }))
      const stored = groups.filter(({ created }) => created > 0)
      return new Map(
        stored.flatMap(({ event_id, created, last_at }) =>
          event_id === null ? [] : [[event_id, { count: created, last_at }] as const],
        ),
      )
    },
    staleTime: 60_000,
  })
  return data ?? none
}
