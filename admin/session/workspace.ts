import { useQuery } from '@tanstack/react-query'
import { taken } from '../problem.ts'
import { useCairn, useWorkspaceKey } from './session.ts'

/** The workspace in the URL with its settings, kept at `useWorkspaceKey('workspace')`. */
export function useWorkspace() {
  const cairn = useCairn()
  return useQuery({
    queryKey: useWorkspaceKey('workspace'),
    queryFn: ({ signal }) => taken(cairn.getWorkspace({ signal })),
  })
}
