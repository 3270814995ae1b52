import { ActionIcon, Menu, Modal, Text } from '@mantine/core'
import { IconLogout, IconUserCircle, IconUserCog } from '@tabler/icons-react'
import { Link } from 'react-router'
import { roleName } from '../members/role.ts'
import { mayLeave } from '../parts/forms/unsaved.ts'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { visibleName } from '../parts/visible-name.ts'
import { useMembership, useSession, useSignOut } from '../session/session.ts'

/** The signed-in person, with links to the account and to sign out. */
export function PersonMenu() {
  const { person } = useSession()
  const { workspace_id, role } = useMembership()
  const signOut = useSignOut()
  return (
    <>
      <Menu position="bottom-end" width={260}>
        <Menu.Target>
          <ActionIcon
            variant="subtle"
            color="gray"
            size="lg"
            aria-label={`${visibleName(person.name, person.email)}, account and sign out`}
          >
            <IconUserCircle size={22} stroke={1.6} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>
            <Text size="sm" fw={600} c="var(--mantine-color-text)" className="breakable">
              {visibleName(person.name)}
            </Text>
            <Text size="xs" className="breakable">
              {person.email}
            </Text>
            <Text size="xs">{roleName[role]}</Text>
          </Menu.Label>
          <Menu.Divider />
          <Menu.Item
            component={Link}
            to={`/w/${workspace_id}/account`}
            leftSection={<IconUserCog size={16} aria-hidden />}
          >
            Account
          </Menu.Item>
          <Menu.Item
            leftSection={<IconLogout size={16} aria-hidden />}
            onClick={() => mayLeave() && signOut.mutate()}
          >
            Sign out
          </Menu.Item>
          <Menu.Divider />
          <Menu.Label>Cairn {CAIRN_VERSION}</Menu.Label>
        </Menu.Dropdown>
      </Menu>
      <Modal opened={signOut.isError} onClose={signOut.reset} title="You are still signed in">
        <ProblemAlert error={signOut.error} onRetry={signOut.mutate} />
      </Modal>
    </>
  )
}
