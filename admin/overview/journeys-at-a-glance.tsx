import { Anchor, Box, Table, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { countText, shareText } from '../parts/number-text.ts'
import { visibleName } from '../parts/visible-name.ts'
import { taken } from '../problem.ts'
import { reportOptions, useReportsKey } from '../reports/report-query.ts'
import { useCairn, useMembership, useWorkspaceKey } from '../session/session.ts'
import { OverviewPart, OverviewTable } from './overview-part.tsx'

/** Maximum journeys shown, the newest active ones. */
const limit = 10

const columns = [
  { name: 'Journey' },
  { name: 'Entered', width: 98, isNumber: true },
  { name: 'Completed', width: 98, isNumber: true },
  { width: '35%', onlyWide: true },
]

/** The newest active journeys with their conversion. */
export function JourneysAtAGlance() {
  const cairn = useCairn()
  const queryClient = useQueryClient()
  const reportsKey = useReportsKey()
  const journeys = useQuery({
    queryKey: useWorkspaceKey('journeys', 'of-overview'),
    queryFn: ({ signal }) => taken(cairn.listJourneys({ query: { status: 'active', limit }, signal })),
  })
  const shown = journeys.data?.data ?? []
  const ids = shown.map(({ journey_id }) => journey_id)
  // One report after the other: ten at once would take the server's time from everyone else. The rows below wait for theirs.
  const reports = useQuery({
    queryKey: useWorkspaceKey('reports', 'of-overview', ids),
    queryFn: async () => {
      for (const id of ids) await queryClient.fetchQuery(reportOptions(cairn, reportsKey, id))
      return ids.length
    },
    enabled: ids.length > 0,
    refetchInterval: 30_000,
  })
  return (
    <OverviewPart title="Journeys" to="journeys" all="All journeys" query={journeys}>
      {reports.error && <Text size="sm">The numbers of some journeys cannot be loaded at the moment.</Text>}
      {journeys.data && shown.length === 0 && <Text size="sm">No active journeys.</Text>}
      {shown.length > 0 && (
        <OverviewTable label="Journeys" columns={columns}>
          {shown.map((journey) => (
            <JourneyLine key={journey.journey_id} journey={journey} />
          ))}
        </OverviewTable>
      )}
    </OverviewPart>
  )
}

function JourneyLine({ journey: { journey_id, name } }: { journey: Schemas['Journey'] }) {
  const { workspace_id } = useMembership()
  // Read by the loop above.
  const options = reportOptions(useCairn(), useReportsKey(), journey_id)
  const { data: report } = useQuery({ ...options, enabled: false })
  const last = report?.steps.at(-1)
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={400} className="breakable">
        <Anchor component={Link} inherit to={`/w/${workspace_id}/journeys/${journey_id}`}>
          {visibleName(name, journey_id)}
        </Anchor>
        {report?.recomputing && <Text size="xs">recalculating</Text>}
      </Table.Th>
      <Table.Td ta="right">{report ? countText(report.enrolled) : '…'}</Table.Td>
      <Table.Td ta="right">{report ? completionText(report) : '…'}</Table.Td>
      <Table.Td visibleFrom="sm">
        {last && last.reached > 0 && (
          <Box className="bar" style={{ width: `${(last.of_enrolled ?? 0) * 100}%` }} />
        )}
      </Table.Td>
    </Table.Tr>
  )
}

function completionText({ enrolled, steps }: Schemas['JourneyReport']): string {
  const last = steps.at(-1)
  if (!last) return 'no steps'
  return enrolled === 0 ? '–' : `${countText(last.reached)} (${shareText(last.of_enrolled)})`
}
