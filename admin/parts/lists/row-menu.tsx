import { ActionIcon, Menu, Table, VisuallyHidden } from '@mantine/core'
import { IconDots } from '@tabler/icons-react'
import type { ReactNode } from 'react'

/** The menu of actions on a list item. `name` names the item. */
export function RowMenu({ name, children }: { name: string; children: ReactNode }) {
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={`Actions for ${name}`}>
          <IconDots size={18} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>{children}</Menu.Dropdown>
    </Menu>
  )
}

/** The header of the column with the menus. */
export function RowMenuHeader() {
  return (
    <Table.Th w={48}>
      <VisuallyHidden>Actions</VisuallyHidden>
    </Table.Th>
  )
}
