import { Paper, Stack, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Schemas } from '../../client/person.ts'
import { taken } from '../problem.ts'
import { useCairn, useWorkspaceKey } from '../session/session.ts'
import { ViewLine } from './view-line.tsx'

/** Maximum views shown, the ones saved last. */
const limit = 10

/** The newest views of the workspace and the person's own. */
export function OverviewViews({ views }: { views: readonly Schemas['View'][] }) {
  const newest = views.slice(-limit).reverse()
  return (
    <Paper component="section" aria-labelledby="views-heading" withBorder p="md" miw={0}>
      <Title order={2} size="h4" id="views-heading" mb="sm">
        Views
      </Title>
      <Stack component="ul" gap="xs" m={0} p={0} style={{ listStyle: 'none' }}>
        {newest.map((view) => (
          <JourneyViewLine key={view.view_id} view={view} />
        ))}
      </Stack>
    </Paper>
  )
}

function JourneyViewLine({ view }: { view: Schemas['View'] }) {
  const cairn = useCairn()
  const { journey_id } = view
  const journey = useQuery({
    queryKey: useWorkspaceKey('journeys', journey_id),
    queryFn: ({ signal }) => taken(cairn.getJourney({ path: { journey_id }, signal })),
    staleTime: 60_000,
  })
  return <ViewLine view={view} journey={journey.data?.name} />
}
