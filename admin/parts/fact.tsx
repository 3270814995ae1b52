import { Text } from '@mantine/core'
import type { ReactNode } from 'react'

/** A name with its value, in a `dl`. */
export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <Text component="dt" size="xs" c="dimmed">
        {name}
      </Text>
      <Text component="dd" size="sm" m={0} className="breakable">
        {children}
      </Text>
    </div>
  )
}
