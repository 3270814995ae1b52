import { Button, List } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconUserPlus } from '@tabler/icons-react'
import { Page } from '../parts/page.tsx'
import { ShownOnceGuard } from '../parts/shown-once-dialog.tsx'
import { useMembership } from '../session/session.ts'
import { InvitationDialog } from './invitation-dialog.tsx'
import { InvitationList } from './invitation-list.tsx'
import { MemberList } from './member-list.tsx'
import { abilityOf, grantableRoles, roleName } from './role.ts'

/** The members of the workspace with their roles, and pending invitations. */
export function MembersScreen() {
  const { canChange } = useMembership()
  const [inviting, invite] = useDisclosure()
  return (
    <Page
      title="Members"
      description={
        <>
          People with access to this workspace, and their roles.
          {!canChange && ' Owners and admins can invite and remove members and change roles.'}
        </>
      }
      action={
        canChange && (
          <Button leftSection={<IconUserPlus size={18} aria-hidden />} onClick={invite.open}>
            Invite member
          </Button>
        )
      }
    >
      <Roles />
      <MemberList />
      {canChange && <InvitationList />}
      <InvitationDialog opened={inviting} onClose={invite.close} />
      <ShownOnceGuard noun="link" cure="If you leave, you need to create another one." />
    </Page>
  )
}

function Roles() {
  return (
    <List size="sm" aria-label="Roles" listStyleType="none" spacing={2}>
      {grantableRoles('owner').map((role) => (
        <List.Item key={role}>
          <strong>{roleName[role]}</strong> {abilityOf[role]}.
        </List.Item>
      ))}
    </List>
  )
}
