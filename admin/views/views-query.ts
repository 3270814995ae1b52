import { useQuery, useQueryClient } from '@tanstack/react-query'
import { taken } from '../problem.ts'
import { useCairn, useWorkspaceKey } from '../session/session.ts'

/** The views of a journey that the person sees. */
export function useViews(journey_id: string) {
  const cairn = useCairn()
  return useQuery({
    queryKey: useWorkspaceKey('views', { journey_id }),
    queryFn: ({ signal }) => taken(cairn.listViews({ query: { journey_id }, signal })),
  })
}

/** Reloads all lists of views. */
export function useViewsRefresh(): () => Promise<void> {
  const queryClient = useQueryClient()
  const queryKey = useWorkspaceKey('views')
  return () => queryClient.invalidateQueries({ queryKey })
}
