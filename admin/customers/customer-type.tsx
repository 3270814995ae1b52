import { Group, Text } from '@mantine/core'
import { IconBuilding, IconUser } from '@tabler/icons-react'
import type { Schemas } from '../../client/person.ts'

/** The type of a customer, account or contact. */
export function CustomerType({ type }: { type: Schemas['CustomerType'] }) {
  const Icon = type === 'account' ? IconBuilding : IconUser
  return (
    <Group component="span" gap={6} wrap="nowrap" display="inline-flex">
      <Icon size={16} aria-hidden />
      <Text span inherit>
        {type}
      </Text>
    </Group>
  )
}
