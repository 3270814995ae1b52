import { Text } from '@mantine/core'
import { Gate } from '../frame/gate.tsx'

/** For a page of a one-time link that has no token, as after a reload. `title` is that of the page. */
export function LinkNeeded({ title }: { title: string }) {
  return (
    <Gate title={title} description="Open the link again.">
      <Text>
        The part of it behind #, which is taken out of the address bar, is its key. It still works if nobody
        has used it.
      </Text>
    </Gate>
  )
}
