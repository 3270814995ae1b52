import { Button } from '@mantine/core'
import { IconFilter } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { EmptyState } from '../empty-state.tsx'

/**
 * Shown in place of a list of which nothing matches the filters.
 * @param items what it lists, in the plural
 * @param children what to change, or what the filters mean
 */
export function NoMatches({
  items,
  onClear,
  children,
}: {
  items: string
  onClear: () => void
  children: ReactNode
}) {
  return (
    <EmptyState
      title={`No ${items} match these filters`}
      icon={<IconFilter />}
      action={
        <Button variant="default" onClick={onClear}>
          {`Show all ${items}`}
        </Button>
      }
    >
      {children}
    </EmptyState>
  )
}
