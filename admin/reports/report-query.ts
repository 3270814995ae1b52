import { type QueryClient, type QueryKey, queryOptions, useQuery } from '@tanstack/react-query'
import type { PersonClient, Schemas } from '../../client/person.ts'
import { taken } from '../problem.ts'
import { useCairn, useWorkspaceKey } from '../session/session.ts'
import type { ReportQuery } from './report-filters.tsx'

/** How often a report is read again while somebody looks at it. */
const refreshEveryMs = 5000

/** Where somebody waits to see something happen. */
const watchEveryMs = 1500

/** A report of a journey. `key` is that of all reports of the workspace. */
export function reportOptions(
  cairn: PersonClient,
  key: QueryKey,
  journey_id: string,
  query: ReportQuery = {},
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

/** The report of a journey, read again every few seconds. While the filters change the last one stays. */
export function useReport(journey_id: string, query: ReportQuery) {
  const options = reportOptions(useCairn(), useReportsKey(), journey_id, query)
  return useQuery({
    ...options,
    refetchInterval: ({ state: { data } }) =>
      data && (data.enrolled === 0 || data.recomputing) ? watchEveryMs : refreshEveryMs,
    placeholderData: (before, earlier) =>
      isOfSame(options.queryKey, earlier?.queryKey) ? before : undefined,
  })
}

/** What else is shown of a journey is read again now and then, and at once when its report has other numbers. */
export const refreshChartsEveryMs = 15_000

/**
 * Whether two keys of reports are of the same kind and one journey, so that the numbers of one may stay until those of the
 * other are there.
 */
export function isOfSame(key: QueryKey, earlier: QueryKey | undefined): boolean {
  return [0, 1, 2, 3].every((place) => key[place] === earlier?.[place])
}

/** Reads what is shown beside the report of a journey again. */
export function refreshCharts(queryClient: QueryClient, key: QueryKey, journey_id: string): Promise<void> {
  const isBeside = ({ queryKey }: { queryKey: QueryKey }) => queryKey[3] !== 'report'
  return queryClient.invalidateQueries({ queryKey: [...key, journey_id], predicate: isBeside })
}

/** What tells whether a report has other numbers than before. */
export function numbersOf({ enrolled, steps, recomputing }: Schemas['JourneyReport']): string {
  return [
    enrolled,
    recomputing !== null,
    ...steps.map(({ event_id, reached }) => `${event_id} ${reached}`),
  ].join()
}
