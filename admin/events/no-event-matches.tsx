import { Button } from '@mantine/core'
import { IconFilter } from '@tabler/icons-react'
import { EmptyState } from '../parts/empty-state.tsx'

/** Shown if no event matches the filters of a list. */
export function NoEventMatches({ onClear }: { onClear: () => void }) {
  return (
    <EmptyState
      title="No events match these filters"
      icon={<IconFilter />}
      action={
        <Button variant="default" onClick={onClear}>
          Show all events
        </Button>
      }
    >
      An event_id must match exactly, including case.
    </EmptyState>
  )
}
