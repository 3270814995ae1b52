import { Text } from '@mantine/core'
import { ProblemError } from '../problem.ts'

/**
 * For a change that must not be made twice: says what to look for after an error that is not Cairn's response, because the
 * change may have been made. Renders nothing without such an error.
 */
export function LostResponse({ error, children }: { error: unknown; children: string }) {
  if (error === null || error instanceof ProblemError) return null
  return (
    <Text size="sm" role="alert">
      {children}
    </Text>
  )
}
