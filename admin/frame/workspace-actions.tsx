import { Menu } from '@mantine/core'
import {
  IconArchive,
  IconArchiveOff,
  IconHourglass,
  IconPencil,
  IconPlus,
  IconShieldLock,
  IconTrash,
} from '@tabler/icons-react'
import { useMembership, useSession } from '../session/session.ts'
import type { WorkspaceAction } from './workspace-dialog.tsx'

/** What owners do about the workspace in the URL, and another one, as items of a menu. */
export function WorkspaceActions({ onChoose }: { onChoose: (action: WorkspaceAction) => void }) {
  const { owners_make_workspaces } = useSession()
  const isArchived = useMembership().status === 'archived'
  const ArchivingIcon = isArchived ? IconArchiveOff : IconArchive
  return (
    <>
      <Menu.Item leftSection={<IconPencil size={16} aria-hidden />} onClick={() => onChoose('rename')}>
        Rename this one
      </Menu.Item>
      <Menu.Item leftSection={<IconHourglass size={16} aria-hidden />} onClick={() => onChoose('keep')}>
        How long events are kept
      </Menu.Item>
      <Menu.Item leftSection={<IconShieldLock size={16} aria-hidden />} onClick={() => onChoose('protect')}>
        What publishable keys can do
      </Menu.Item>
      <Menu.Item leftSection={<ArchivingIcon size={16} aria-hidden />} onClick={() => onChoose('archive')}>
        {isArchived ? 'Restore this one' : 'Archive this one'}
      </Menu.Item>
      {isArchived && (
        <Menu.Item leftSection={<IconTrash size={16} aria-hidden />} onClick={() => onChoose('remove')}>
          Remove this one…
        </Menu.Item>
      )}
      {owners_make_workspaces && (
        <Menu.Item leftSection={<IconPlus size={16} aria-hidden />} onClick={() => onChoose('make')}>
          New workspace
        </Menu.Item>
      )}
    </>
  )
}
