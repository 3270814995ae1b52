import '@mantine/core/styles/Progress.css'
import { Alert, Progress, Text } from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import type { Schemas } from '../../client/person.ts'
import { countOf, countText } from '../parts/number-text.ts'

/** Marks the numbers as outdated while the report is recalculated, with the progress. Renders nothing otherwise. */
export function RecomputingAlert({
  recomputing,
  isFirst = false,
}: {
  recomputing: Schemas['Recomputing']
  /** Whether there are no earlier numbers. */
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
          ? 'Calculating the report for the first time'
          : 'These numbers are outdated: the report is being recalculated'
      }
    >
      <Text size="sm" mb="xs">
        {isFirst
          ? 'The numbers will appear here automatically.'
          : 'The steps of this journey were changed. The steps and numbers below are from before the change and will be replaced automatically.'}{' '}
        {countText(done)} of {countOf(total, 'customer')} processed.
      </Text>
      <Progress
        value={total === 0 ? 0 : (done / total) * 100}
        aria-label="Recalculation progress"
        transitionDuration={0}
      />
    </Alert>
  )
}
