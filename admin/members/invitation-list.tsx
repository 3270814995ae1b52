import { Button, Paper, Stack, Table, Text, Title, VisuallyHidden } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { Schemas } from '../../client/person.ts'
import { ConfirmDialog } from '../parts/confirm-dialog.tsx'
import { Instant, useNow } from '../parts/instants/instant.tsx'
import { LoadMore } from '../parts/lists/load-more.tsx'
import { usePages } from '../parts/lists/pages.ts'
import { Loading } from '../parts/loading.tsx'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { visibleName } from '../parts/visible-name.ts'
import { taken } from '../problem.ts'
import { useCairn, useWorkspaceKey } from '../session/session.ts'
import { roleName } from './role.ts'

/** The pending invitations, which can be revoked. */
export function InvitationList() {
  const cairn = useCairn()
  const queryClient = useQueryClient()
  const invitationsKey = useWorkspaceKey('invitations')
  const invitations = usePages(invitationsKey, (cursor) =>
    taken(cairn.listInvitations({ query: { ...(cursor && { cursor }) } })),
  )
  // An invitation may expire while it is shown.
  const now_ms = useNow()
  const pending = invitations.items.filter(({ expires_at }) => Date.parse(expires_at) > now_ms)
  const [asked, setAsked] = useState<Schemas['Invitation']>()
  const revoke = useMutation({
    mutationFn: ({ invitation_id }: Schemas['Invitation']) =>
      taken(cairn.revokeInvitation({ path: { invitation_id } })),
    onSuccess: () => {
      setAsked(undefined)
      return queryClient.invalidateQueries({ queryKey: invitationsKey })
    },
  })
  function close() {
    setAsked(undefined)
    revoke.reset()
  }

  let list: ReactNode
  if (invitations.isPending) {
    list = <Loading lines={2} />
  } else if (invitations.isError && invitations.items.length === 0) {
    list = <ProblemAlert error={invitations.error} onRetry={invitations.refetch} />
  } else if (pending.length === 0 && invitations.data && !invitations.hasNextPage) {
    list = <Text c="dimmed">No pending invitations.</Text>
  } else if (pending.length > 0) {
    list = (
      <Paper withBorder>
        <Table verticalSpacing="sm" aria-label="Pending invitations" layout="fixed">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Email</Table.Th>
              <Table.Th w={140} visibleFrom="sm">
                Role
              </Table.Th>
              <Table.Th w={190} visibleFrom="sm">
                Expires
              </Table.Th>
              <Table.Th w={96}>
                <VisuallyHidden>Revoke</VisuallyHidden>
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {pending.map((invitation) => (
              <Table.Tr key={invitation.invitation_id}>
                <Table.Td className="breakable">
                  <Text size="sm" fw={600}>
                    {invitation.email}
                  </Text>
                  <Text size="sm" c="dimmed">
                    Invited by {visibleName(invitation.invited_by)}
                  </Text>
                  <Text size="xs" c="dimmed" hiddenFrom="sm">
                    {roleName[invitation.role]}, expires <Instant at={invitation.expires_at} relative />
                  </Text>
                </Table.Td>
                <Table.Td visibleFrom="sm">
                  <Text size="sm">{roleName[invitation.role]}</Text>
                </Table.Td>
                <Table.Td visibleFrom="sm">
                  <Text size="sm" component="span">
                    <Instant at={invitation.expires_at} relative />
                  </Text>
                </Table.Td>
                <Table.Td>
                  <Button
                    variant="default"
                    size="compact-sm"
                    aria-label={`Revoke invitation of ${invitation.email}`}
                    onClick={() => setAsked(invitation)}
                  >
                    Revoke
                  </Button>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Paper>
    )
  }
  return (
    <Stack gap="sm" mt="md">
      <Title order={2} size="h4">
        Pending invitations
      </Title>
      {list}
      <LoadMore query={invitations} />
      <ConfirmDialog
        opened={asked !== undefined}
        onClose={close}
        title="Revoke invitation?"
        confirmLabel="Revoke invitation"
        danger
        onConfirm={() => asked && revoke.mutate(asked)}
        pending={revoke.isPending}
        error={revoke.error}
      >
        The invitation link of {asked?.email} stops working. You can invite them again at any time.
      </ConfirmDialog>
    </Stack>
  )
}
