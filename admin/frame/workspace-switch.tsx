import { Box, Button, Menu, Text } from '@mantine/core'
import { IconSelector } from '@tabler/icons-react'
import { Link } from 'react-router'
import { useMembership, useSession } from '../session/session.ts'

/** The name of the workspace, and the way to others where the person has any. */
export function WorkspaceSwitch() {
  const { workspaces } = useSession()
  const { workspace_id, name } = useMembership()
  if (workspaces.length === 1) {
    return (
      <Text truncate miw={0}>
        {name}
      </Text>
    )
  }
  return (
    <Menu position="bottom-start" width={260}>
      <Menu.Target>
        <Button
          variant="subtle"
          color="gray"
          px="xs"
          miw={0}
          rightSection={<IconSelector size={16} aria-hidden />}
          aria-label={`Workspace ${name}, switch to another`}
        >
          {name}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Workspaces</Menu.Label>
        <Box mah="60dvh" style={{ overflowY: 'auto' }}>
          {workspaces.map((workspace) => (
            <Menu.Item
              key={workspace.workspace_id}
              component={Link}
              to={`/w/${workspace.workspace_id}/overview`}
              {...(workspace.workspace_id === workspace_id && { 'aria-current': true, fw: 650 })}
            >
              {workspace.name}
            </Menu.Item>
          ))}
        </Box>
      </Menu.Dropdown>
    </Menu>
  )
}
