import { Menu } from '@mantine/core'
import {
  IconArchive,
  IconArchiveOff,
  IconHourglass,
  IconLink,
  IconListDetails,
  IconPencil,
  IconPlus,
  IconShieldLock,
  IconTrash,
} from '@tabler/icons-react'
import { useMembership, useSession } from '../session/session.ts'
import type { WorkspaceAction } from './workspace-dialog.tsx'

/** Menu items for owners: actions on the workspace in the URL, and creating another one. */
export function WorkspaceActions({ onChoose }: { onChoose: (action: WorkspaceAction) => void }) {
  const { owners_make_workspaces } = useSession()
  const isArchived = useMembership().status === 'archived'
  const ArchivingIcon = isArchived ? IconArchiveOff : IconArchive
  return (
    <>
      <Menu.Item leftSection={<IconPencil size={16} aria-hidden />} onClick={() => onChoose('rename')}>
        Rename workspace…
      </Menu.Item>
      <Menu.Item leftSection={<IconHourglass size={16} aria-hidden />} onClick={() => onChoose('retention')}>
        Event retention…
      </Menu.Item>
      <Menu.Item
        leftSection={<IconShieldLock size={16} aria-hidden />}
        onClick={() => onChoose('protection')}
      >
        Customer protection…
      </Menu.Item>
      <Menu.Item
        leftSection={<IconListDetails size={16} aria-hidden />}
        onClick={() => onChoose('unknown-events')}
      >
        Events without a definition…
      </Menu.Item>
      <Menu.Item leftSection={<IconLink size={16} aria-hidden />} onClick={() => onChoose('view-links')}>
        Links to views…
      </Menu.Item>
      <Menu.Item leftSection={<ArchivingIcon size={16} aria-hidden />} onClick={() => onChoose('archive')}>
        {isArchived ? 'Restore workspace…' : 'Archive workspace…'}
      </Menu.Item>
      {isArchived && (
        <Menu.Item leftSection={<IconTrash size={16} aria-hidden />} onClick={() => onChoose('remove')}>
          Remove workspace…
        </Menu.Item>
      )}
      {owners_make_workspaces && (
        <Menu.Item leftSection={<IconPlus size={16} aria-hidden />} onClick={() => onChoose('create')}>
          Create workspace…
        </Menu.Item>
      )}
    </>
  )
}
