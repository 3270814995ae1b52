import { Button, List } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconUserPlus } from '@tabler/icons-react'
import { Page } from '../parts/page.tsx'
import { useMembership } from '../session/session.ts'
import { InvitationDialog } from './invitation-dialog.tsx'
import { InvitationList } from './invitation-list.tsx'
import { MemberList } from './member-list.tsx'
import { abilityOf, grantableRoles, roleName } from './role.ts'

/** Who may come in, and what they may do; the invitations that are open. */
export function MembersScreen() {
  const { canChange } = useMembership()
  const [inviting, invite] = useDisclosure()
  return (
    <Page
      title="Members"
      description={
        <>
          The people of this workspace and what they may do.
          {!canChange && ' Owners and admins invite, change roles and remove.'}
        </>
      }
      action={
        canChange && (
          <Button leftSection={<IconUserPlus size={18} aria-hidden />} onClick={invite.open}>
            Invite
          </Button>
        )
      }
    >
      <Roles />
      <MemberList />
      {canChange && <InvitationList />}
      {canChange && <InvitationDialog opened={inviting} onClose={invite.close} />}
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
