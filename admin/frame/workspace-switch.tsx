import { Box, Button, Menu, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconSelector } from '@tabler/icons-react'
import { useState } from 'react'
import { Link } from 'react-router'
import { onDemand } from '../parts/on-demand.tsx'
import { visibleName } from '../parts/visible-name.ts'
import { useMembership, useSession } from '../session/session.ts'
import type { WorkspaceAction } from './workspace-dialog.tsx'

// Loaded with the menu, and with the first dialog, because every screen has this button.
const Actions = onDemand(() => import('./workspace-actions.tsx').then((module) => module.WorkspaceActions))
const Dialog = onDemand(() => import('./workspace-dialog.tsx').then((module) => module.WorkspaceDialog))

/** The name of the workspace, with links to the person's other workspaces and the actions of owners. */
export function WorkspaceSwitch() {
  const { workspaces, owners_make_workspaces } = useSession()
  const { workspace_id, name: givenName, role } = useMembership()
  const name = visibleName(givenName)
  const [action, setAction] = useState<WorkspaceAction>()
  const [isAsking, asking] = useDisclosure()
  const choose = (chosen: WorkspaceAction) => {
    setAction(chosen)
    asking.open()
  }
  const isOwner = role === 'owner'
  const owned = owners_make_workspaces ? 'switch, manage or create workspaces' : 'switch or manage workspaces'
  const actions = isOwner ? owned : 'switch workspace'
  if (workspaces.length === 1 && !isOwner) {
    return (
      <Text span truncate miw={0}>
        {name}
      </Text>
    )
  }
  return (
    <>
      <Menu position="bottom-start" width={260}>
        <Menu.Target>
          <Button
            variant="subtle"
            color="gray"
            px="xs"
            miw={0}
            rightSection={<IconSelector size={16} aria-hidden />}
            aria-label={`Workspace ${name}, ${actions}`}
          >
            {name}
          </Button>
        </Menu.Target>
        {/* The header, and the menu with it, does not scroll with the page. */}
        <Menu.Dropdown mah="calc(100dvh - 4.5rem)" style={{ overflowY: 'auto' }}>
          <Menu.Label>Workspaces</Menu.Label>
          <Box mah="60dvh" style={{ overflowY: 'auto' }}>
            {workspaces.map((workspace) => (
              <Menu.Item
                key={workspace.workspace_id}
                component={Link}
                to={`/w/${workspace.workspace_id}/overview`}
                {...(workspace.workspace_id === workspace_id && { 'aria-current': true, fw: 650 })}
              >
                {visibleName(workspace.name, workspace.workspace_id)}
              </Menu.Item>
            ))}
          </Box>
          {isOwner && (
            <>
              <Menu.Divider />
              <Actions onChoose={choose} />
            </>
          )}
        </Menu.Dropdown>
      </Menu>
      {action && <Dialog action={action} opened={isAsking} onClose={asking.close} />}
    </>
  )
}
