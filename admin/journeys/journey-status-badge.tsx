import { Badge } from '@mantine/core'
import type { Schemas } from '../../client/person.ts'

/** Whether the journey accepts customers and events. */
export function JourneyStatusBadge({ status }: { status: Schemas['JourneyStatus'] }) {
  return (
    <Badge variant="dot" color={status === 'active' ? 'green' : 'gray'} tt="none" miw="max-content">
      {status === 'active' ? 'Active' : 'Archived'}
    </Badge>
  )
}
