import { type UseQueryResult, useQueries } from '@tanstack/react-query'
import type { Schemas } from '../../client/person.ts'
import { taken } from '../problem.ts'
import { useCairn, useWorkspaceKey } from '../session/session.ts'

/** Journeys by `journey_id`. */
export type JourneyDirectory = ReadonlyMap<string, Schemas['Journey']>

/**
 * The journeys of these events, each read once. Those that have not loaded yet, or cannot be read, are missing: a list of
 * events then shows identifiers.
 */
export function useJourneysOf(events: readonly Schemas['Event'][]): JourneyDirectory {
  const cairn = useCairn()
  const key = useWorkspaceKey('journeys')
  const ids = [...new Set(events.map(({ journey_id }) => journey_id))]
  return useQueries({
    queries: ids.map((journey_id) => ({
      queryKey: [...key, journey_id],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        taken(cairn.getJourney({ path: { journey_id }, signal })),
      staleTime: 60_000,
    })),
    combine: byId,
  })
}

// Outside of the hook, so that the map changes only when the journeys do.
function byId(journeys: UseQueryResult<Schemas['Journey']>[]): JourneyDirectory {
  return new Map(journeys.flatMap(({ data }) => (data ? [[data.journey_id, data] as const] : [])))
}
