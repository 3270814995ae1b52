import { type QueryKey, useQuery } from '@tanstack/react-query'
import { taken } from '../problem.ts'
import { useCairn, useWorkspaceKey } from '../session/session.ts'

/** The key of what `useHasEvents` knows. */
export function useHasEventsKey(): QueryKey {
  return useWorkspaceKey('events', 'any')
}

/**
 * Whether the workspace has an event. Not asked again once it has: whoever has sent one knows how to, also where the last
 * one was removed meanwhile, with its customer or for its age.
 */
export function useHasEvents() {
  const cairn = useCairn()
  return useQuery({
    queryKey: useHasEventsKey(),
    queryFn: async ({ signal }) => {
      const { data, next_cursor } = await taken(cairn.listEvents({ query: { limit: 1 }, signal }))
      return data.length > 0 || next_cursor !== null
    },
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    staleTime: ({ state }) => (state.data ? Number.POSITIVE_INFINITY : 0),
  })
}
