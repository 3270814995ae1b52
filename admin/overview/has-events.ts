import { type QueryKey, useQuery } from '@tanstack/react-query'
import { taken } from '../problem.ts'
import { useCairn, useWorkspaceKey } from '../session/session.ts'

/** How often a workspace without events is looked at. */
const LOOK_MS = 15_000

/** The query key of `useHasEvents`. */
export function useHasEventsKey(): QueryKey {
  return useWorkspaceKey('events', 'any')
}

/**
 * Whether the workspace has an event. Not read again once it has: anyone who has sent one knows how to, even if the last event
 * was deleted since, with its customer or by retention.
 */
export function useHasEvents() {
  const cairn = useCairn()
  return useQuery({
    queryKey: useHasEventsKey(),
    queryFn: async ({ signal }) => {
      const { data, next_cursor } = await taken(cairn.listEvents({ query: { limit: 1 }, signal }))
      return data.length > 0 || next_cursor !== null
    },
    // A program may send the first one while other screens are open.
    refetchInterval: ({ state }) => (state.data === false ? LOOK_MS : false),
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    staleTime: ({ state }) => (state.data ? Number.POSITIVE_INFINITY : 0),
  })
}
