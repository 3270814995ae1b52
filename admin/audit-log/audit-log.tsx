import { Button, Select, Stack } from '@mantine/core'
import { IconFilter, IconHistory } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import type { Schemas } from '../../client/person.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { FilterBar } from '../parts/filter-bar.tsx'
import { given, useFilters } from '../parts/filters.ts'
import { InstantField } from '../parts/instant-field.tsx'
import { LoadMore } from '../parts/load-more.tsx'
import { Loading } from '../parts/loading.tsx'
import { Page } from '../parts/page.tsx'
import { usePages } from '../parts/pages.ts'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { wholeList } from '../parts/whole-list.ts'
import { taken } from '../problem.ts'
import { useCairn, useMembership, useWorkspaceKey } from '../session/session.ts'
import { AuditItem } from './audit-item.tsx'

const areas: { value: Schemas['AuditArea']; label: string }[] = [
  { value: 'sessions', label: 'Signing in and out' },
  { value: 'members', label: 'Members and invitations' },
  { value: 'service_keys', label: 'Service keys' },
  { value: 'journeys', label: 'Journeys' },
]

/** Who changed what in the workspace, newest first. */
export function AuditLogScreen() {
  const { canChange } = useMembership()
  return (
    <Page
      title="Audit log"
      description="Who signed in and who changed members, service keys and journeys. Nothing changes or removes an entry."
    >
      {canChange ? (
        <AuditLog />
      ) : (
        <EmptyState title="For owners and admins" icon={<IconHistory />}>
          Your role in this workspace is viewer. An owner or an admin can read the audit log, or give you
          another role.
        </EmptyState>
      )}
    </Page>
  )
}

function AuditLog() {
  const cairn = useCairn()
  const filters = useFilters(['area', 'actor_id', 'from', 'to'])
  const { area, ...values } = filters.values
  const knownArea = areas.find(({ value }) => value === area)?.value
  const entries = usePages(useWorkspaceKey('audit-log', { ...values, area: knownArea }), (cursor) =>
    taken(
      cairn.listAuditLog({
        query: { ...given(values), ...(knownArea && { area: knownArea }), ...(cursor && { cursor }) },
      }),
    ),
  )
  return (
    <Stack gap="md">
      <FilterBar label="Filter the audit log" count={filters.count} onClear={filters.clear}>
        <Select
          label="Area"
          data={areas}
          value={knownArea ?? null}
          onChange={(value) => filters.set('area', value ?? '')}
          placeholder="All areas"
          clearable
          clearButtonProps={{ 'aria-label': 'Clear the filter by area' }}
        />
        <ActorField value={values.actor_id} onChange={(value) => filters.set('actor_id', value)} />
        <InstantField label="From" value={values.from} onChange={(value) => filters.set('from', value)} />
        <InstantField label="Before" value={values.to} onChange={(value) => filters.set('to', value)} />
      </FilterBar>
      {entries.error && !entries.isFetchNextPageError && (
        <ProblemAlert error={entries.error} onRetry={() => void entries.refetch()} />
      )}
      {entries.isPending && <Loading lines={10} />}
      {entries.items.length > 0 && (
        <Stack component="ol" aria-label="Entries" gap="xs" p={0} m={0} style={{ listStyle: 'none' }}>
          {entries.items.map((entry) => (
            <AuditItem key={entry.id} entry={entry} onActor={(actorId) => filters.set('actor_id', actorId)} />
          ))}
        </Stack>
      )}
      {entries.isEmpty &&
        (filters.count > 0 ? (
          <EmptyState
            title="No entry matches these filters"
            icon={<IconFilter />}
            action={
              <Button variant="default" onClick={filters.clear}>
                Show all entries
              </Button>
            }
          >
            Widen the time, or choose another area or actor.
          </EmptyState>
        ) : (
          <EmptyState title="No entries yet" icon={<IconHistory />}>
            Every sign-in and every change of members, service keys and journeys will be listed here.
          </EmptyState>
        ))}
      <LoadMore query={entries} />
    </Stack>
  )
}

/** Members and keys to choose from, and whoever is chosen even if removed since. */
function ActorField({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const cairn = useCairn()
  const members = useQuery({
    queryKey: useWorkspaceKey('members', 'all'),
    queryFn: ({ signal }) =>
      wholeList((cursor) =>
        taken(cairn.listMembers({ query: { limit: 500, ...(cursor && { cursor }) }, signal })),
      ),
  })
  const keys = useQuery({
    queryKey: useWorkspaceKey('service-keys', 'all'),
    queryFn: ({ signal }) =>
      wholeList((cursor) =>
        taken(cairn.listServiceKeys({ query: { limit: 500, ...(cursor && { cursor }) }, signal })),
      ),
  })

  const memberOptions = (members.data ?? []).map(({ person_id, name, email }) => ({
    value: person_id,
    label: `${name} (${email})`,
  }))
  // A publishable key may change nothing that the log tells of.
  const keyOptions = (keys.data ?? [])
    .filter(({ kind }) => kind === 'secret')
    .map(({ key_id, name, last_four }) => ({ value: key_id, label: `${name} (…${last_four})` }))
  const isKnown = [...memberOptions, ...keyOptions].some((option) => option.value === value)
  return (
    <Select
      label="Member or secret key"
      data={[
        { group: 'Members', items: memberOptions },
        { group: 'Secret keys', items: keyOptions },
        ...(value && !isKnown ? [{ group: 'Others', items: [{ value, label: value }] }] : []),
      ]}
      value={value || null}
      onChange={(chosen) => onChange(chosen ?? '')}
      placeholder="Everybody"
      searchable
      clearable
      clearButtonProps={{ 'aria-label': 'Clear the filter by actor' }}
      nothingFoundMessage="No member or key has this name"
    />
  )
}
