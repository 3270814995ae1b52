import { Anchor, Box, Button, Group, SegmentedControl, Stack, Table, Text } from '@mantine/core'
import { IconPlus, IconRoute, IconSearch } from '@tabler/icons-react'
import { useState } from 'react'
import { Link, useNavigate, useSearchParams } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { FilterField } from '../parts/filters/filter-field.tsx'
import { oneOf, text } from '../parts/filters/filter-readers.ts'
import { useFilters } from '../parts/filters/filters.ts'
import { Identifier } from '../parts/identifier.tsx'
import { Instant } from '../parts/instants/instant.tsx'
import { ArrowKeys } from '../parts/lists/arrow-keys.tsx'
import { LoadMore } from '../parts/lists/load-more.tsx'
import { usePages } from '../parts/lists/pages.ts'
import { RowMenuHeader } from '../parts/lists/row-menu.tsx'
import { Loading } from '../parts/loading.tsx'
import { countText } from '../parts/number-text.ts'
import { Page } from '../parts/page.tsx'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { isolated, visibleName } from '../parts/visible-name.ts'
import { taken } from '../problem.ts'
import { useCairn, useMembership, useWorkspaceKey } from '../session/session.ts'
import { JourneyMenu } from './journey-status.tsx'
import { JourneyStatusBadge } from './journey-status-badge.tsx'
import { NewJourneyDialog } from './new-journey-dialog.tsx'

type Filter = Schemas['JourneyStatus'] | 'all'

/** The journeys of the workspace, newest first, searchable by the words of their names. The filters are in the query string. */
export function JourneysScreen() {
  const cairn = useCairn()
  const { workspace_id, canChange } = useMembership()
  const navigate = useNavigate()
  const [, setParameters] = useSearchParams()
  const { values, set } = useFilters({
    search: text,
    status: oneOf(['active', 'archived', 'all']),
  })
  const [isCreating, setIsCreating] = useState(false)
  const filter: Filter = values.status || 'active'
  const search = values.search.trim()
  const journeys = usePages(
    useWorkspaceKey('journeys', 'list', { filter, search }),
    (cursor, signal) => {
      const query = { ...(filter !== 'all' && { status: filter }), ...(search && { search }) }
      return taken(cairn.listJourneys({ query: { ...query, ...(cursor && { cursor }) }, signal }))
    },
    { keepsList: true },
  )
  const createButton = canChange && (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setIsCreating(true)}>
      Create journey
    </Button>
  )

  return (
    <Page
      title="Journeys"
      description="A journey is a funnel that your customers go through, for example onboarding. Programs send its journey_id with customers and events."
      action={createButton}
    >
      <Stack>
        <Group gap="sm">
          <Box flex="1 1 18rem">
            <FilterField
              aria-label="Search journeys"
              placeholder="Search by name or journey_id"
              leftSection={<IconSearch size={16} aria-hidden />}
              value={values.search}
              onChange={(value) => set('search', value)}
            />
          </Box>
          <SegmentedControl
            aria-label="Journeys to show"
            value={filter}
            // Pushed to the history: Back returns to the previous filter.
            onChange={(value) =>
              setParameters((before) => {
                if (value === 'active') before.delete('status')
                else before.set('status', value)
                return before
              })
            }
            data={[
              { value: 'active', label: 'Active' },
              { value: 'archived', label: 'Archived' },
              { value: 'all', label: 'All' },
            ]}
          />
        </Group>
        {journeys.isPending && <Loading lines={5} />}
        {journeys.items.length > 0 && (
          <div aria-busy={journeys.isPlaceholderData}>
            <JourneyTable journeys={journeys.items} />
          </div>
        )}
        {journeys.isEmpty && <NoJourneys filter={filter} search={search} />}
        <ProblemAlert error={journeys.listError} onRetry={() => journeys.refetch()} />
        <LoadMore query={journeys} />
      </Stack>
      <NewJourneyDialog
        opened={isCreating}
        onClose={() => setIsCreating(false)}
        onCreated={({ journey_id }) => navigate(`/w/${workspace_id}/journeys/${journey_id}/settings`)}
      />
    </Page>
  )
}

function JourneyTable({ journeys }: { journeys: Schemas['Journey'][] }) {
  const { workspace_id, canChange } = useMembership()
  return (
    <ArrowKeys>
      <Table aria-label="Journeys" layout="fixed" verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Journey</Table.Th>
            <Table.Th visibleFrom="lg" w={300}>
              journey_id
            </Table.Th>
            <Table.Th visibleFrom="sm" w={110}>
              Status
            </Table.Th>
            <Table.Th visibleFrom="md" w={70} ta="right">
              Steps
            </Table.Th>
            <Table.Th visibleFrom="md" w={165}>
              Updated
            </Table.Th>
            {canChange && <RowMenuHeader />}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {journeys.map((journey) => {
            const name = visibleName(journey.name, journey.journey_id)
            return (
              <Table.Tr key={journey.journey_id}>
                <Table.Td>
                  <Text truncate inherit>
                    <Anchor
                      component={Link}
                      inherit
                      to={`/w/${workspace_id}/journeys/${journey.journey_id}`}
                      fw={500}
                      title={name}
                    >
                      {name}
                    </Anchor>
                  </Text>
                  {journey.status !== 'active' && (
                    <Box hiddenFrom="sm">
                      <JourneyStatusBadge status={journey.status} />
                    </Box>
                  )}
                </Table.Td>
                <Table.Td visibleFrom="lg">
                  <Identifier value={journey.journey_id} label={`journey_id of ${name}`} />
                </Table.Td>
                <Table.Td visibleFrom="sm">
                  <JourneyStatusBadge status={journey.status} />
                </Table.Td>
                <Table.Td visibleFrom="md" ta="right">
                  {countText(journey.steps.length)}
                </Table.Td>
                <Table.Td visibleFrom="md">
                  <Instant at={journey.updated_at} relative />
                </Table.Td>
                {canChange && (
                  <Table.Td>
                    <JourneyMenu journey={journey} />
                  </Table.Td>
                )}
              </Table.Tr>
            )
          })}
        </Table.Tbody>
      </Table>
    </ArrowKeys>
  )
}

function NoJourneys({ filter, search }: { filter: Filter; search: string }) {
  const { canChange } = useMembership()
  if (search) {
    return (
      <EmptyState title="No journey found" icon={<IconSearch />}>
        No {filter === 'all' ? '' : `${filter} `}journey has a name with a word that starts with “
        {isolated(search)}”, or this journey_id.
      </EmptyState>
    )
  }
  if (filter === 'archived') {
    return (
      <EmptyState title="No archived journeys" icon={<IconRoute />}>
        Archived journeys accept no new customers or events. Their data stays readable.
      </EmptyState>
    )
  }
  return (
    <EmptyState title={filter === 'active' ? 'No active journeys' : 'No journeys yet'} icon={<IconRoute />}>
      Every event belongs to a journey.{' '}
      {canChange
        ? 'Create a journey, then send your first event to it.'
        : 'An owner or admin of the workspace can create one.'}
    </EmptyState>
  )
}
