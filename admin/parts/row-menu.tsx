import { ActionIcon, Menu, Table, VisuallyHidden } from '@mantine/core'
import { IconDots } from '@tabler/icons-react'
import type { ReactNode } from 'react'

/** What can be done with one item of a list, behind a button. `name` tells whose actions they are. */
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

/** The head of the column in which each row has its menu. */
export function RowMenuHeader() {
  return (
    <Table.Th w={48}>
      <VisuallyHidden>Actions</VisuallyHidden>
    </Table.Th>
  )
}
