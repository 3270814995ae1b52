import { Menu, Select, Table, Text, useMatches } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconKey, IconTrash } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { ConfirmDialog } from '../parts/confirm-dialog.tsx'
import { Instant } from '../parts/instants/instant.tsx'
import { RowMenu } from '../parts/lists/row-menu.tsx'
import { notify } from '../parts/notify.ts'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { visibleName } from '../parts/visible-name.ts'
import { codeOf, taken } from '../problem.ts'
import { sessionQuery, useCairn, useMembership, useSession, useWorkspaceKey } from '../session/session.ts'
import { PasswordLinkDialog } from './password-link-dialog.tsx'
import { abilityOf, asRole, grantableRoles, mayChange, roleName } from './role.ts'

/** A member as a table row, with the permitted actions. */
export function MemberRow({ member }: { member: Schemas['Member'] }) {
  const cairn = useCairn()
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const membersKey = useWorkspaceKey('members')
  const { person } = useSession()
  const workspace = useMembership()
  const [asked, setAsked] = useState<Schemas['Role'] | 'none'>()
  const [isLinking, linking] = useDisclosure()
  const name = visibleName(member.name, member.email)
  const workspaceName = visibleName(workspace.name)
  const isSelf = member.person_id === person.person_id
  const path = { person_id: member.person_id }
  // A cell that spans more columns than there are would add one.
  const columns = useMatches({ base: 3, sm: 4 })

  // The row goes with everything in it: the list is read again after this error.
  const onError = (error: Error) => {
    if (codeOf(error) === 'member_not_found') void notify(`${name} is no longer a member.`)
  }
  const change = useMutation({
    mutationFn: (role: Schemas['Role']) => taken(cairn.updateMember({ path, body: { role } })),
    onSuccess: async () => {
      setAsked(undefined)
      await queryClient.invalidateQueries({ queryKey: membersKey })
      if (isSelf) await queryClient.invalidateQueries(sessionQuery)
    },
    onError,
  })
  const remove = useMutation({
    mutationFn: () => taken(cairn.removeMember({ path })),
    onSuccess: async () => {
      setAsked(undefined)
      if (isSelf) {
        // In the other order the screen would be rendered once more, in a workspace without access.
        await navigate('/', { replace: true })
        await queryClient.resetQueries(sessionQuery)
      } else {
        await queryClient.invalidateQueries({ queryKey: membersKey })
      }
    },
    onError,
  })

  function choose(role: Schemas['Role']) {
    if (role === member.role) return
    // Lowering one's own role cannot be undone, so it asks for confirmation.
    if (isSelf) setAsked(role)
    else change.mutate(role)
  }
  function close() {
    setAsked(undefined)
    change.reset()
    remove.reset()
  }

  const error = asked === undefined ? change.error : null
  return (
    <>
      <Table.Tr>
        <Table.Td className="breakable">
          <Text size="sm" fw={600}>
            {visibleName(member.name)}
            {isSelf && (
              <Text span size="sm" fw={400} c="dimmed">
                {' '}
                (you)
              </Text>
            )}
          </Text>
          <Text size="sm" c="dimmed">
            {member.email}
          </Text>
          <Text size="xs" c="dimmed" hiddenFrom="sm">
            Joined <Instant at={member.joined_at} relative />
          </Text>
        </Table.Td>
        <Table.Td>
          {mayChange(workspace.role, member.role) ? (
            <Select
              size="sm"
              aria-label={`Role of ${name}`}
              data={grantableRoles(workspace.role).map((role) => ({ value: role, label: roleName[role] }))}
              value={change.isPending ? change.variables : member.role}
              onChange={(role) => role && choose(role)}
              allowDeselect={false}
              // Within the page's landmarks.
              comboboxProps={{ withinPortal: false }}
              readOnly={change.isPending}
            />
          ) : (
            <Text size="sm">{roleName[member.role]}</Text>
          )}
        </Table.Td>
        <Table.Td visibleFrom="sm">
          <Text size="sm" component="span">
            <Instant at={member.joined_at} relative />
          </Text>
        </Table.Td>
        <Table.Td>
          {(isSelf || mayChange(workspace.role, member.role)) && workspace.canChange && (
            <RowMenu name={name}>
              {!isSelf && (
                <Menu.Item leftSection={<IconKey size={16} aria-hidden />} onClick={linking.open}>
                  Create password reset link…
                </Menu.Item>
              )}
              <Menu.Item leftSection={<IconTrash size={16} aria-hidden />} onClick={() => setAsked('none')}>
                {isSelf ? 'Leave workspace…' : 'Remove from workspace…'}
              </Menu.Item>
            </RowMenu>
          )}
        </Table.Td>
      </Table.Tr>
      {error && (
        <Table.Tr>
          <Table.Td colSpan={columns}>
            <ProblemAlert error={error} />
          </Table.Td>
        </Table.Tr>
      )}
      {!isSelf && (
        <PasswordLinkDialog member={member} opened={isLinking} onClose={linking.close} onError={onError} />
      )}
      <ConfirmDialog
        opened={asked === 'none'}
        onClose={close}
        title={isSelf ? `Leave ${workspaceName}?` : `Remove ${name}?`}
        confirmLabel={isSelf ? 'Leave workspace' : 'Remove member'}
        danger
        onConfirm={() => remove.mutate()}
        pending={remove.isPending}
        error={remove.error}
      >
        {isSelf
          ? 'You lose access to this workspace immediately and need a new invitation to return. Your own views are deleted; the rest of what you created is kept.'
          : `${name} loses access to ${workspaceName} immediately and needs a new invitation to return. Their own views are deleted; the rest of what they created is kept. Secret keys and view links that they know keep working: rotate those keys and revoke those links.`}
      </ConfirmDialog>
      {asked !== undefined && asked !== 'none' && (
        <ConfirmDialog
          opened
          onClose={close}
          title={`Change your role to ${asked}?`}
          confirmLabel="Change role"
          onConfirm={() => change.mutate(asked)}
          pending={change.isPending}
          error={change.error}
        >
          As {asRole(asked)}, you {abilityOf[asked]}. You cannot undo this yourself; an owner or admin can.
        </ConfirmDialog>
      )}
    </>
  )
}
