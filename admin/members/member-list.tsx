import { Box, Stack, Table, useMatches } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import type { Schemas } from '../../client/person.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { FilterField } from '../parts/filters/filter-field.tsx'
import { text } from '../parts/filters/filter-readers.ts'
import { useFilters } from '../parts/filters/filters.ts'
import { ArrowKeys } from '../parts/lists/arrow-keys.tsx'
import { FoundStatus } from '../parts/lists/found-status.tsx'
import { LoadMore } from '../parts/lists/load-more.tsx'
import { usePages } from '../parts/lists/pages.ts'
import { RowMenuHeader } from '../parts/lists/row-menu.tsx'
import { Loading } from '../parts/loading.tsx'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { isolated } from '../parts/visible-name.ts'
import { taken } from '../problem.ts'
import { useCairn, useWorkspaceKey } from '../session/session.ts'
import { MemberRow } from './member-row.tsx'

/** With more members than this, the list can be searched. */
const searchedFrom = 10

/** The members of the workspace, to be changed and removed by owners and admins. The search is in the query string. */
export function MemberList() {
  const cairn = useCairn()
  const filters = useFilters({ search: text })
  const search = filters.values.search.trim()
  const all = usePages(useWorkspaceKey('members'), (cursor) =>
    taken(cairn.listMembers({ query: { ...(cursor && { cursor }) } })),
  )
  const found = usePages(
    useWorkspaceKey('members', 'found', search),
    (cursor, signal) => taken(cairn.listMembers({ query: { search, ...(cursor && { cursor }) }, signal })),
    { enabled: search !== '', keepsList: true },
  )
  // All members stay until the first search has loaded.
  const members = search && !found.isPending ? found : all
  return (
    <Stack>
      {(search || all.items.length > searchedFrom) && (
        <Box maw="30rem">
          <FilterField
            aria-label="Search members"
            placeholder="Search by name or email"
            leftSection={<IconSearch size={16} aria-hidden />}
            value={filters.values.search}
            onChange={(value) => filters.set('search', value)}
          />
        </Box>
      )}
      <FoundStatus query={search ? found : undefined} noun="member" />
      {members.isPending && <Loading lines={4} />}
      {members.items.length > 0 && (
        <div aria-busy={search !== '' && (found.isPending || found.isPlaceholderData)}>
          <MemberTable members={members.items} />
        </div>
      )}
      {search && found.isEmpty && (
        <EmptyState title="No member found" icon={<IconSearch />}>
          No member has a name with a word that starts with “{isolated(search)}”, or an email that starts with
          it.
        </EmptyState>
      )}
      <ProblemAlert error={members.listError} onRetry={() => members.refetch()} />
      <LoadMore query={members} />
    </Stack>
  )
}

function MemberTable({ members }: { members: readonly Schemas['Member'][] }) {
  const spacing = useMatches({ base: 6, sm: 'xs' })
  return (
    <ArrowKeys>
      <Table verticalSpacing="sm" horizontalSpacing={spacing} aria-label="Members" layout="fixed">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Member</Table.Th>
            <Table.Th w={{ base: 116, sm: 150 }}>Role</Table.Th>
            <Table.Th w={190} visibleFrom="sm">
              Joined
            </Table.Th>
            <RowMenuHeader />
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {members.map((member) => (
            <MemberRow key={member.person_id} member={member} />
          ))}
        </Table.Tbody>
      </Table>
    </ArrowKeys>
  )
}
