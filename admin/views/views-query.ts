import { useQuery, useQueryClient } from '@tanstack/react-query'
import { taken } from '../problem.ts'
import { useCairn, useWorkspaceKey } from '../session/session.ts'

/** The views of a journey, or of all journeys, that the person sees. */
export function useViews(journey_id?: string) {
  const cairn = useCairn()
  const query = journey_id === undefined ? {} : { journey_id }
  return useQuery({
    queryKey: useWorkspaceKey('views', query),
    queryFn: ({ signal }) => taken(cairn.listViews({ query, signal })),
  })
}

/** Reloads all lists of views. */
export function useViewsRefresh(): () => Promise<void> {
  const queryClient = useQueryClient()
  const queryKey = useWorkspaceKey('views')
  return () => queryClient.invalidateQueries({ queryKey })
}
