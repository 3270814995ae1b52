import { Select, Stack } from '@mantine/core'
import { IconHistory } from '@tabler/icons-react'
import type { Schemas } from '../../client/person.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { FilterBar } from '../parts/filters/filter-bar.tsx'
import { instant, oneOf, text } from '../parts/filters/filter-readers.ts'
import { given, useFilters } from '../parts/filters/filters.ts'
import { InstantField } from '../parts/filters/instant-field.tsx'
import { NoMatches } from '../parts/filters/no-matches.tsx'
import { SearchedSelect } from '../parts/forms/searched-select.tsx'
import { ArrowKeys } from '../parts/lists/arrow-keys.tsx'
import { LoadMore } from '../parts/lists/load-more.tsx'
import { usePages } from '../parts/lists/pages.ts'
import { Loading } from '../parts/loading.tsx'
import { Page } from '../parts/page.tsx'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { taken } from '../problem.ts'
import { useCairn, useMembership, useWorkspaceKey } from '../session/session.ts'
import { useActorChoices } from './actor-choices.ts'
import { AuditItem } from './audit-item.tsx'

const areas: { value: Schemas['AuditArea']; label: string }[] = [
  { value: 'sessions', label: 'Sign-ins and sign-outs' },
  { value: 'members', label: 'Members and invitations' },
  { value: 'service_keys', label: 'Service keys' },
  { value: 'journeys', label: 'Journeys' },
  { value: 'event_definitions', label: 'Event definitions' },
  { value: 'webhooks', label: 'Webhooks' },
  { value: 'views', label: 'Views' },
  { value: 'refusals', label: 'Rejected requests' },
  { value: 'customers', label: 'Customers' },
  { value: 'exports', label: 'Exports' },
]

const readers = {
  area: oneOf(areas.map(({ value }) => value)),
  actor_id: text,
  from: instant,
  to: instant,
}

/** All recorded actions in the workspace, newest first. */
export function AuditLogScreen() {
  const { canChange } = useMembership()
  return (
    <Page
      title="Audit log"
      description="Sign-ins, and changes to members, service keys, journeys, event definitions, webhooks and views. Entries cannot be changed or removed."
    >
      {canChange ? (
        <AuditLog />
      ) : (
        <EmptyState title="For owners and admins" icon={<IconHistory />}>
          Your role in this workspace is viewer. Owners and admins can read the audit log and change your
          role.
        </EmptyState>
      )}
    </Page>
  )
}

function AuditLog() {
  const cairn = useCairn()
  const actors = useActorChoices()
  const filters = useFilters(readers)
  const { values } = filters
  const entries = usePages(useWorkspaceKey('audit-log', values), (cursor) =>
    taken(
      cairn.listAuditLog({
        query: { ...given(values), ...(cursor && { cursor }) },
      }),
    ),
  )
  return (
    <Stack gap="md">
      <FilterBar label="Filter the audit log" count={filters.count} onClear={filters.clear}>
        <Select
          label="Area"
          data={areas}
          value={values.area || null}
          onChange={(value) => filters.set('area', value ?? '')}
          placeholder="All areas"
          clearable
          clearButtonProps={{ 'aria-label': 'Clear the filter by area' }}
        />
        <SearchedSelect
          label="Member or secret key"
          source={actors}
          value={values.actor_id}
          onChange={(value) => filters.set('actor_id', value)}
          placeholder="Everyone"
          clearable
          clearButtonProps={{ 'aria-label': 'Clear the filter by actor' }}
          nothingFoundMessage="No member or key with this name"
          unknownMessage="This workspace has no such member or secret key."
        />
        <InstantField label="From" value={values.from} onChange={(value) => filters.set('from', value)} />
        <InstantField
          label="Before"
          value={values.to}
          after={values.from}
          onChange={(value) => filters.set('to', value)}
        />
      </FilterBar>
      <ProblemAlert error={entries.listError} onRetry={() => void entries.refetch()} />
      {entries.isPending && <Loading lines={10} />}
      {entries.items.length > 0 && (
        <ArrowKeys>
          <Stack component="ol" aria-label="Entries" gap="xs" p={0} m={0} style={{ listStyle: 'none' }}>
            {entries.items.map((entry) => (
              <AuditItem
                key={entry.id}
                entry={entry}
                onActor={(actorId) => filters.set('actor_id', actorId)}
              />
            ))}
          </Stack>
        </ArrowKeys>
      )}
      {entries.isEmpty &&
        (filters.count > 0 ? (
          <NoMatches items="entries" onClear={filters.clear}>
            Select a longer time range, or another area or actor.
          </NoMatches>
        ) : (
          <EmptyState title="No entries yet" icon={<IconHistory />}>
            Sign-ins and changes to members, service keys, journeys, event definitions, webhooks and views
            appear here.
          </EmptyState>
        ))}
      <LoadMore query={entries} />
    </Stack>
  )
}
