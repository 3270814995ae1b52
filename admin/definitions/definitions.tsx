import { Anchor, Box, Button, Center, Group, SegmentedControl, Stack, Table, Text } from '@mantine/core'
import { IconListDetails, IconPlus, IconSearch } from '@tabler/icons-react'
import { useState } from 'react'
import { Link } from 'react-router'
import { HappeningPage } from '../events/happening-page.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { FilterField } from '../parts/filters/filter-field.tsx'
import { oneOf, text } from '../parts/filters/filter-readers.ts'
import { useFilters } from '../parts/filters/filters.ts'
import { Instant } from '../parts/instants/instant.tsx'
import { ArrowKeys } from '../parts/lists/arrow-keys.tsx'
import { Loading } from '../parts/loading.tsx'
import { countOf, countText } from '../parts/number-text.ts'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { visibleName } from '../parts/visible-name.ts'
import { useMembership } from '../session/session.ts'
import { type CatalogueEntry, useCatalogue } from './catalogue.ts'
import { ModeBadge } from './mode.tsx'

/** Names shown at first, and more at each click. */
const names = 100

/** The event names of the workspace with their definitions, searchable. The filters are in the query string. */
export function DefinitionsScreen() {
  const { workspace_id, canChange } = useMembership()
  const { values, set } = useFilters({ search: text, defined: oneOf(['yes', 'no']) })
  const { entries, omitted, error, refetch } = useCatalogue()
  const [limit, setLimit] = useState(names)
  const search = values.search.trim().toLowerCase()
  const found = (entries ?? []).filter(
    ({ event_id, definition }) =>
      event_id.toLowerCase().includes(search) &&
      (values.defined === '' || (values.defined === 'yes') === (definition !== undefined)),
  )
  return (
    <HappeningPage
      tab="definitions"
      action={
        canChange && (
          <Button
            component={Link}
            to={`/w/${workspace_id}/events/definitions/new`}
            leftSection={<IconPlus size={16} aria-hidden />}
          >
            Define an event
          </Button>
        )
      }
    >
      <Stack>
        <Group gap="sm">
          <Box flex="1 1 18rem">
            <FilterField
              aria-label="Search event names"
              placeholder="Search by event_id"
              leftSection={<IconSearch size={16} aria-hidden />}
              value={values.search}
              onChange={(value) => set('search', value)}
            />
          </Box>
          <SegmentedControl
            aria-label="Event names to show"
            value={values.defined}
            onChange={(value) => set('defined', value)}
            data={[
              { value: '', label: 'All' },
              { value: 'yes', label: 'Defined' },
              { value: 'no', label: 'Not defined' },
            ]}
          />
        </Group>
        <ProblemAlert error={error} onRetry={refetch} />
        {!entries && !error && <Loading lines={6} />}
        {found.length > 0 && <Catalogue entries={found.slice(0, limit)} />}
        {found.length > limit && (
          <Center>
            <Button variant="default" onClick={() => setLimit(limit + names)}>
              Show more
            </Button>
          </Center>
        )}
        {omitted > 0 && (
          <Text size="sm">
            The least frequent {countOf(omitted, 'name')} of the last 7 days {omitted === 1 ? 'is' : 'are'}{' '}
            not listed, unless defined.
          </Text>
        )}
        {entries && found.length === 0 && <NoNames isFiltered={entries.length > 0} />}
      </Stack>
    </HappeningPage>
  )
}

function Catalogue({ entries }: { entries: readonly CatalogueEntry[] }) {
  const { canChange } = useMembership()
  return (
    <ArrowKeys>
      <Table aria-label="Event names" layout="fixed" verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>event_id</Table.Th>
            <Table.Th visibleFrom="sm" w={120} ta="right">
              Last 7 days
            </Table.Th>
            <Table.Th visibleFrom="lg" w={120} ta="right">
              Violations
            </Table.Th>
            <Table.Th visibleFrom="lg" w={165}>
              Last received
            </Table.Th>
            <Table.Th visibleFrom="sm" w={200}>
              Definition
            </Table.Th>
            {canChange && <Table.Th w={90}>Action</Table.Th>}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {entries.map((entry) => (
            <Table.Tr key={entry.event_id}>
              <Table.Td className="breakable">
                <Name entry={entry} />
                <Group hiddenFrom="sm" gap="xs" mt={4} fz="sm">
                  <State entry={entry} />
                  <span>{countOf(entry.received, 'event')} in 7 days</span>
                </Group>
                <Box hiddenFrom="lg" fz="sm">
                  <ViolationCount entry={entry} noun />
                </Box>
              </Table.Td>
              <Table.Td visibleFrom="sm" ta="right">
                {countText(entry.received)}
              </Table.Td>
              <Table.Td visibleFrom="lg" ta="right">
                <ViolationCount entry={entry} />
              </Table.Td>
              <Table.Td visibleFrom="lg">
                {entry.lastAt ? <Instant at={entry.lastAt} relative /> : 'Not in 7 days'}
              </Table.Td>
              <Table.Td visibleFrom="sm">
                <State entry={entry} />
              </Table.Td>
              {canChange && (
                <Table.Td>
                  <DefineLink entry={entry} />
                </Table.Td>
              )}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ArrowKeys>
  )
}

function Name({ entry: { event_id, definition } }: { entry: CatalogueEntry }) {
  const { workspace_id } = useMembership()
  const path = definition
    ? `events/definitions/${definition.definition_id}`
    : `events?${new URLSearchParams({ event_id, last: '7d' })}`
  return (
    <Anchor component={Link} inherit ff="monospace" fw={500} to={`/w/${workspace_id}/${path}`}>
      {visibleName(event_id)}
    </Anchor>
  )
}

function State({ entry: { definition } }: { entry: CatalogueEntry }) {
  if (!definition) return 'Not defined'
  return (
    <Group component="span" gap="xs" display="inline-flex">
      <ModeBadge mode={definition.mode} />
      <Text span inherit style={{ whiteSpace: 'nowrap' }}>
        revision {countText(definition.revision)}
      </Text>
    </Group>
  )
}

/** How many events of the last 7 days violated the definition; nothing if none did. */
function ViolationCount({
  entry: { event_id, definition },
  noun = false,
}: {
  entry: CatalogueEntry
  /** Whether it is outside of its column. */
  noun?: boolean
}) {
  const { workspace_id } = useMembership()
  const { definition_id, not_conforming = 0 } = definition ?? {}
  if (not_conforming === 0) return null
  return (
    <Anchor
      component={Link}
      inherit
      to={`/w/${workspace_id}/events/definitions/${definition_id}#violations-heading`}
      aria-label={`${countOf(not_conforming, 'violation')} of ${event_id}`}
    >
      {noun ? countOf(not_conforming, 'violation') : countText(not_conforming)}
    </Anchor>
  )
}

function DefineLink({ entry: { event_id, definition } }: { entry: CatalogueEntry }) {
  const { workspace_id } = useMembership()
  if (definition) return null
  return (
    <Button
      component={Link}
      to={`/w/${workspace_id}/events/definitions/new?event_id=${encodeURIComponent(event_id)}`}
      variant="default"
      size="compact-sm"
      aria-label={`Define ${event_id}`}
    >
      Define
    </Button>
  )
}

function NoNames({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) {
    return (
      <EmptyState title="No event name found" icon={<IconSearch />}>
        No event name of the last 7 days and no definition matches these filters.
      </EmptyState>
    )
  }
  return (
    <EmptyState title="No event names yet" icon={<IconListDetails />}>
      A definition says which fields the <code>custom_variables</code> of an event have. Cairn checks new
      events against it, and warns about those that do not conform or rejects them. Names that your
      application sends appear here, ready to be defined.
    </EmptyState>
  )
}
