import { Badge } from '@mantine/core'
import type { Schemas } from '../../client/person.ts'

type Status = Schemas['DeliveryStatus']

/** The statuses of a delivery, as the filter and the rows name them. */
export const deliveryStatuses: readonly { value: Status; label: string; color: string }[] = [
  { value: 'pending', label: 'Pending', color: 'yellow' },
  { value: 'succeeded', label: 'Succeeded', color: 'green' },
  { value: 'failed', label: 'Failed', color: 'red' },
]

/** The status of a delivery in a word. */
export function DeliveryStatus({ status }: { status: Status }) {
  const { label = status, color = 'gray' } = deliveryStatuses.find(({ value }) => value === status) ?? {}
  return (
    <Badge variant="dot" color={color} tt="none" miw="max-content">
      {label}
    </Badge>
  )
}
