import { useQuery } from '@tanstack/react-query'
import { taken } from '../problem.ts'
import { useCairn, useWorkspaceKey } from '../session/session.ts'

/** What the latest stored events with a name look like; '' is no name. */
export function useObserved(event_id: string) {
  const cairn = useCairn()
  return useQuery({
    queryKey: useWorkspaceKey('definitions', 'observed', event_id),
    queryFn: ({ signal }) => taken(cairn.getObservedEvent({ query: { event_id }, signal })),
    enabled: event_id !== '',
    staleTime: 60_000,
  })
}
