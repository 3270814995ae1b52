import '@mantine/core/styles/Progress.css'
import { Alert, Progress, Text } from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import type { Schemas } from '../../client/person.ts'
import { Instant } from '../parts/instants/instant.tsx'
import { countOf, countText } from '../parts/number-text.ts'

type Report = Schemas['JourneyReport']

/** Says that the numbers of a report are incomplete or outdated, and since when events are kept. Renders nothing otherwise. */
export function IncompleteNumbers({
  report,
  from,
}: {
  report: Report
  /** The start of the period that is shown, in UTC; undefined for all time. */
  from: string | undefined
}) {
  const { as_of, recomputing, events_since, comparison } = report
  const starts = [from, ...(comparison ? [comparison.entered_from] : [])]
  const isBefore = starts.some((at) => events_since && (!at || Date.parse(at) < Date.parse(events_since)))
  return (
    <>
      {(recomputing || !as_of) && <CalculationAlert recomputing={recomputing} isFirst={!as_of} />}
      {events_since && isBefore && (
        <Text size="sm">
          Events before <Instant at={events_since} /> were removed; customers who entered earlier may have
          lost steps.
        </Text>
      )}
    </>
  )
}

/** Marks the numbers as outdated while the report is recalculated, with the progress, or as missing until there are any. */
function CalculationAlert({
  recomputing,
  isFirst,
}: {
  recomputing: Schemas['Recomputing']
  /** Whether there are no earlier numbers. */
  isFirst: boolean
}) {
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
        {recomputing &&
          `${countText(recomputing.done)} of ${countOf(recomputing.total, 'customer')} processed.`}
      </Text>
      {recomputing && (
        <Progress
          value={recomputing.total === 0 ? 0 : (recomputing.done / recomputing.total) * 100}
          aria-label="Recalculation progress"
          transitionDuration={0}
        />
      )}
    </Alert>
  )
}
