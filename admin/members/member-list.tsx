import { Paper, Stack, Table, useMatches, VisuallyHidden } from '@mantine/core'
import { LoadMore } from '../parts/load-more.tsx'
import { Loading } from '../parts/loading.tsx'
import { usePages } from '../parts/pages.ts'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { taken } from '../problem.ts'
import { useCairn, useWorkspaceKey } from '../session/session.ts'
import { MemberRow } from './member-row.tsx'

/** The members of the workspace; whoever may, changes and removes them here. */
export function MemberList() {
  const cairn = useCairn()
  const spacing = useMatches({ base: 6, sm: 'sm' })
  const members = usePages(useWorkspaceKey('members'), (cursor) =>
    taken(cairn.listMembers({ query: { ...(cursor && { cursor }) } })),
  )
  if (members.isPending) return <Loading lines={4} />
  if (members.isError && members.items.length === 0) {
    return <ProblemAlert error={members.error} onRetry={members.refetch} />
  }
  return (
    <Stack>
      <Paper withBorder>
        <Table verticalSpacing="sm" horizontalSpacing={spacing} aria-label="Members" layout="fixed">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Member</Table.Th>
              <Table.Th w={{ base: 116, sm: 150 }}>Role</Table.Th>
              <Table.Th w={190} visibleFrom="sm">
                Joined
              </Table.Th>
              <Table.Th w={{ base: 44, sm: 56 }}>
                <VisuallyHidden>Actions</VisuallyHidden>
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {members.items.map((member) => (
              <MemberRow key={member.person_id} member={member} />
            ))}
          </Table.Tbody>
        </Table>
      </Paper>
      <LoadMore query={members} />
    </Stack>
  )
}
