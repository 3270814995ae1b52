import { useQuery } from '@tanstack/react-query'
import type { Schemas } from '../../client/person.ts'
import { wholeList } from '../parts/whole-list.ts'
import { taken } from '../problem.ts'
import { useCairn, useWorkspaceKey } from '../session/session.ts'

/** The journeys of the workspace by `journey_id`, archived ones included. */
export type JourneyDirectory = ReadonlyMap<string, Schemas['Journey']>

const empty: JourneyDirectory = new Map()

/**
 * The journeys that events name by `journey_id` only. Empty until they are there, and if they cannot be read: a list of
 * events then shows identifiers.
 */
export function useJourneyDirectory(): JourneyDirectory {
  const cairn = useCairn()
  const { data } = useQuery({
    queryKey: useWorkspaceKey('journeys', 'directory'),
    queryFn: ({ signal }) =>
      wholeList((cursor) =>
        taken(cairn.listJourneys({ query: { limit: 500, ...(cursor && { cursor }) }, signal })),
      ),
    select: byId,
    staleTime: 60_000,
  })
  return data ?? empty
}

// Outside the hook, so that the map is made anew only when the journeys change.
function byId(journeys: Schemas['Journey'][]): JourneyDirectory {
  return new Map(journeys.map((journey) => [journey.journey_id, journey]))
}
