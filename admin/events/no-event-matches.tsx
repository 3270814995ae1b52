import { Button } from '@mantine/core'
import { IconFilter } from '@tabler/icons-react'
import { EmptyState } from '../parts/empty-state.tsx'

/** Stands where a list of events will be, once its filters let one through. */
export function NoEventMatches({ onClear }: { onClear: () => void }) {
  return (
    <EmptyState
      title="No event matches these filters"
      icon={<IconFilter />}
      action={
        <Button variant="default" onClick={onClear}>
          Show all events
        </Button>
      }
    >
      An event_id is compared exactly, upper and lower case included.
    </EmptyState>
  )
}
