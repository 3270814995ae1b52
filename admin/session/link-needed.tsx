import { Text } from '@mantine/core'
import { Gate } from '../frame/gate.tsx'

/** For the page of a one-time link without its token, for example after a reload. */
export function LinkNeeded({ title }: { title: string }) {
  return (
    <Gate title={title} description="Open the link again.">
      <Text>
        The address is missing its token, the part after #, which is removed from the address bar for
        security. The link still works if it has not been used.
      </Text>
    </Gate>
  )
}
