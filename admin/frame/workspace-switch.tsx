import { Box, Button, Menu, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import {
  IconArchive,
  IconArchiveOff,
  IconHourglass,
  IconPencil,
  IconPlus,
  IconSelector,
  IconTrash,
} from '@tabler/icons-react'
import { Link } from 'react-router'
import { visibleName } from '../parts/visible-name.ts'
import { useMembership, useSession } from '../session/session.ts'
import {
  ArchivingDialog,
  NewWorkspaceDialog,
  RemovalDialog,
  RenameWorkspaceDialog,
  RetentionDialog,
} from './workspace-dialog.tsx'

/** The name of the workspace, the way to others where the person has any, and what owners do about workspaces. */
export function WorkspaceSwitch() {
  const { workspaces, owners_make_workspaces } = useSession()
  const { workspace_id, name: givenName, role, status } = useMembership()
  const name = visibleName(givenName)
  const [isMaking, making] = useDisclosure()
  const [isRenaming, renaming] = useDisclosure()
  const [isKeeping, keeping] = useDisclosure()
  const [isArchiving, archiving] = useDisclosure()
  const [isRemoving, removing] = useDisclosure()
  const isArchived = status === 'archived'
  const isOwner = role === 'owner'
  const owned = owners_make_workspaces ? 'switch, rename or make another' : 'switch or rename'
  const actions = isOwner ? owned : 'switch to another'
  if (workspaces.length === 1 && !isOwner) {
    return (
      <Text truncate miw={0}>
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
                {visibleName(workspace.name, workspace.workspace_id)}
              </Menu.Item>
            ))}
          </Box>
          {isOwner && (
            <>
              <Menu.Divider />
              <Menu.Item leftSection={<IconPencil size={16} aria-hidden />} onClick={renaming.open}>
                Rename this one
              </Menu.Item>
              <Menu.Item leftSection={<IconHourglass size={16} aria-hidden />} onClick={keeping.open}>
                How long events are kept
              </Menu.Item>
              <Menu.Item
                leftSection={
                  isArchived ? (
                    <IconArchiveOff size={16} aria-hidden />
                  ) : (
                    <IconArchive size={16} aria-hidden />
                  )
                }
                onClick={archiving.open}
              >
                {isArchived ? 'Restore this one' : 'Archive this one'}
              </Menu.Item>
              {isArchived && (
                <Menu.Item leftSection={<IconTrash size={16} aria-hidden />} onClick={removing.open}>
                  Remove this one…
                </Menu.Item>
              )}
              {owners_make_workspaces && (
                <Menu.Item leftSection={<IconPlus size={16} aria-hidden />} onClick={making.open}>
                  New workspace
                </Menu.Item>
              )}
            </>
          )}
        </Menu.Dropdown>
      </Menu>
      <NewWorkspaceDialog opened={isMaking} onClose={making.close} />
      <RenameWorkspaceDialog opened={isRenaming} onClose={renaming.close} />
      <RetentionDialog opened={isKeeping} onClose={keeping.close} />
      <ArchivingDialog opened={isArchiving} onClose={archiving.close} />
      <RemovalDialog opened={isRemoving} onClose={removing.close} />
    </>
  )
}
