import { type QueryClient, type QueryKey, queryOptions, useQuery } from '@tanstack/react-query'
import type { PersonClient, Schemas } from '../../client/person.ts'
import { taken } from '../problem.ts'
import { useCairn, useWorkspaceKey } from '../session/session.ts'
import type { ComparedQuery } from './report-filters.ts'

/** Interval at which a visible report is reloaded. */
const refreshEveryMs = 5000

/** The interval while somebody waits for the first numbers. */
const watchEveryMs = 1500

/** The query of a journey's report. `key` is that of all reports of the workspace. */
export function reportOptions(
  cairn: PersonClient,
  key: QueryKey,
  journey_id: string,
  query: ComparedQuery = {},
) {
  return queryOptions({
    queryKey: [...key, journey_id, 'report', query],
    queryFn: ({ signal }) => taken(cairn.getJourneyReport({ path: { journey_id }, query, signal })),
  })
}

/** The key of all reports of the workspace. */
export function useReportsKey(): QueryKey {
  return useWorkspaceKey('reports')
}

/** The report of a journey, reloaded every few seconds. The previous one stays while new filters load. */
export function useReport(journey_id: string, query: ComparedQuery) {
  const options = reportOptions(useCairn(), useReportsKey(), journey_id, query)
  return useQuery({
    ...options,
    refetchInterval: ({ state: { data } }) =>
      data && (data.enrolled === 0 || data.recomputing) ? watchEveryMs : refreshEveryMs,
    placeholderData: (before, earlier) =>
      isOfSame(options.queryKey, earlier?.queryKey) ? before : undefined,
  })
}

/** Interval at which the charts are reloaded; they are also reloaded when the numbers of the report change. */
export const refreshChartsEveryMs = 15_000

/**
 * Whether two keys are of the same kind of report and the same journey, so that the numbers of one may stay until those of the
 * other have loaded.
 */
export function isOfSame(key: QueryKey, earlier: QueryKey | undefined): boolean {
  return [0, 1, 2, 3].every((place) => key[place] === earlier?.[place])
}

/** Reloads everything of a journey except its report. */
export function refreshCharts(queryClient: QueryClient, key: QueryKey, journey_id: string): Promise<void> {
  const isBeside = ({ queryKey }: { queryKey: QueryKey }) => queryKey[3] !== 'report'
  return queryClient.invalidateQueries({ queryKey: [...key, journey_id], predicate: isBeside })
}

/** A text that changes whenever the numbers of a report change. */
export function numbersOf({ enrolled, steps, recomputing }: Schemas['JourneyReport']): string {
  return [
    enrolled,
    recomputing !== null,
    ...steps.map(({ event_id, reached }) => `${event_id} ${reached}`),
  ].join()
}
