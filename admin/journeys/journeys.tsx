import { Anchor, Box, Button, SegmentedControl, Stack, Table } from '@mantine/core'
import { IconPlus, IconRoute } from '@tabler/icons-react'
import { useState } from 'react'
import { Link, useNavigate, useSearchParams } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { Identifier } from '../parts/identifier.tsx'
import { Instant } from '../parts/instant.tsx'
import { LoadMore } from '../parts/load-more.tsx'
import { Loading } from '../parts/loading.tsx'
import { Page } from '../parts/page.tsx'
import { usePages } from '../parts/pages.ts'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { taken } from '../problem.ts'
import { useCairn, useMembership, useWorkspaceKey } from '../session/session.ts'
import { JourneyStatusBadge } from './journey-status-badge.tsx'
import { JourneyStatusButton } from './journey-status-button.tsx'
import { NewJourneyDialog } from './new-journey-dialog.tsx'

type Filter = Schemas['JourneyStatus'] | 'all'

/** The journeys of the workspace, newest first. The filter is in the query string. */
export function JourneysScreen() {
  const cairn = useCairn()
  const { workspace_id, canChange } = useMembership()
  const navigate = useNavigate()
  const [search, setSearch] = useSearchParams()
  const [isCreating, setIsCreating] = useState(false)
  const filter = filterOf(search.get('status'))
  const journeys = usePages(useWorkspaceKey('journeys', 'list', filter), (cursor) =>
    taken(
      cairn.listJourneys({
        query: { ...(filter !== 'all' && { status: filter }), ...(cursor && { cursor }) },
      }),
    ),
  )
  const createButton = canChange && (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setIsCreating(true)}>
      Create journey
    </Button>
  )

  return (
    <Page
      title="Journeys"
      description="A journey is what you follow customers through, for example onboarding. Programs name its journey_id when they send customers and events."
      action={createButton}
    >
      <Stack>
        <SegmentedControl
          aria-label="Journeys to show"
          value={filter}
          onChange={(value) => setSearch(value === 'active' ? {} : { status: value })}
          data={[
            { value: 'active', label: 'Active' },
            { value: 'archived', label: 'Archived' },
            { value: 'all', label: 'All' },
          ]}
          style={{ alignSelf: 'flex-start' }}
        />
        {journeys.isPending && <Loading lines={5} />}
        {journeys.items.length > 0 && <JourneyTable journeys={journeys.items} />}
        {journeys.isEmpty && <NoJourneys filter={filter} />}
        {journeys.error && !journeys.isFetchNextPageError && (
          <ProblemAlert error={journeys.error} onRetry={() => journeys.refetch()} />
        )}
        <LoadMore query={journeys} />
      </Stack>
      <NewJourneyDialog
        opened={isCreating}
        onClose={() => setIsCreating(false)}
        onCreated={({ journey_id }) => navigate(`/w/${workspace_id}/journeys/${journey_id}`)}
      />
    </Page>
  )
}

function JourneyTable({ journeys }: { journeys: Schemas['Journey'][] }) {
  const { workspace_id, canChange } = useMembership()
  return (
    <Table aria-label="Journeys" verticalSpacing="sm">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Journey</Table.Th>
          <Table.Th visibleFrom="xs">Status</Table.Th>
          <Table.Th visibleFrom="md" ta="right">
            Steps
          </Table.Th>
          <Table.Th visibleFrom="md">Updated</Table.Th>
          {canChange && <Table.Th visibleFrom="xs">Actions</Table.Th>}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {journeys.map((journey) => (
          <Table.Tr key={journey.journey_id}>
            {/* As wide as the others leave it; without a width of its own the identifier would not be shortened. */}
            <Table.Td w="100%" maw={0}>
              <Anchor
                component={Link}
                to={`/w/${workspace_id}/journeys/${journey.journey_id}`}
                fw={500}
                style={{ overflowWrap: 'anywhere' }}
              >
                {journey.name}
              </Anchor>
              <div>
                <Identifier value={journey.journey_id} label={`journey_id of ${journey.name}`} />
              </div>
              <Box hiddenFrom="xs">
                <JourneyStatusBadge status={journey.status} />
              </Box>
            </Table.Td>
            <Table.Td visibleFrom="xs">
              <JourneyStatusBadge status={journey.status} />
            </Table.Td>
            <Table.Td visibleFrom="md" ta="right">
              {journey.steps.length.toLocaleString('en')}
            </Table.Td>
            <Table.Td visibleFrom="md">
              <Instant at={journey.updated_at} />
            </Table.Td>
            {canChange && (
              <Table.Td visibleFrom="xs">
                <JourneyStatusButton journey={journey} />
              </Table.Td>
            )}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}

function NoJourneys({ filter }: { filter: Filter }) {
  const { canChange } = useMembership()
  if (filter === 'archived') {
    return (
      <EmptyState title="No archived journeys" icon={<IconRoute />}>
        A journey that takes no more customers and events is listed here. What it holds stays readable.
      </EmptyState>
    )
  }
  return (
    <EmptyState title={filter === 'active' ? 'No active journeys' : 'No journeys yet'} icon={<IconRoute />}>
      Customers and events are collected journey by journey.{' '}
      {canChange
        ? 'Create a journey, then send your first event to it.'
        : 'An owner or an admin of the workspace can create one.'}
    </EmptyState>
  )
}

function filterOf(status: string | null): Filter {
  return status === 'archived' || status === 'all' ? status : 'active'
}
