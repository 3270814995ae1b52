import { Alert, Progress, Text } from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import type { Schemas } from '../../client/person.ts'
import { countOf, countText } from '../parts/number-text.ts'

/** Marks numbers as old while all is counted anew, and tells how far that is. Nothing where they are not. */
export function RecomputingAlert({
  recomputing,
  isFirst = false,
}: {
  recomputing: Schemas['Recomputing']
  /** Whether nothing was counted before. */
  isFirst?: boolean
}) {
  if (!recomputing) return null
  const { done, total } = recomputing
  return (
    <Alert
      color="yellow"
      icon={<IconRefresh aria-hidden />}
      title={
        isFirst
          ? 'Being counted for the first time'
          : 'These numbers are old: everything is being counted anew'
      }
    >
      <Text size="sm" mb="xs">
        {isFirst
          ? 'The numbers appear here by themselves.'
          : 'The steps of this journey were changed. Below are the steps and the numbers from before the change; the new ones take their place by themselves.'}{' '}
        {countText(done)} of {countOf(total, 'customer')} counted so far.
      </Text>
      <Progress
        value={total === 0 ? 0 : (done / total) * 100}
        aria-label="Counted anew"
        transitionDuration={0}
      />
    </Alert>
  )
}
