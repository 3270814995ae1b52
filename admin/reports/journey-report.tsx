import { Group, Stack, Text, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import type { Schemas } from '../../client/person.ts'
import { JourneyPage } from '../journeys/journey-page.tsx'
import { instantText } from '../parts/instants/instant-text.ts'
import { Loading } from '../parts/loading.tsx'
import { countOf, shareText } from '../parts/number-text.ts'
import { onDemand } from '../parts/on-demand.tsx'
import type { Output } from '../parts/output/output.ts'
import { OutputMenu } from '../parts/output/output-menu.tsx'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { isolated } from '../parts/visible-name.ts'
import { ViewsButton } from '../views/views-button.tsx'
import { ComparisonButtons, comparisonChips } from './comparison-line.tsx'
import { ConversionSentence } from './conversion-sentence.tsx'
import { CountingRule } from './counting-rule.tsx'
import { ReportFilterLine } from './report-filter-line.tsx'
import { isComparisonOpen, useReportFilters } from './report-filters.ts'
import { numbersOf, refreshCharts, useReport, useReportsKey } from './report-query.ts'
import { ReportTable } from './report-table.tsx'

// Only while numbers are calculated, or if events were removed.
const IncompleteNumbers = onDemand(() =>
  import('./incomplete-numbers.tsx').then((module) => module.IncompleteNumbers),
)

// Shown instead of the numbers.
const NoSteps = onDemand(
  () => import('./no-numbers.tsx').then((module) => module.NoSteps),
  () => <Loading lines={4} />,
)
const NobodyEntered = onDemand(
  () => import('./no-numbers.tsx').then((module) => module.NobodyEntered),
  () => <Loading lines={4} />,
)

// Only if a step was never reached.
const MistakenNames = onDemand(() => import('./mistaken-names.tsx').then((module) => module.MistakenNames))

// Only if customers skipped steps.
const OutOfOrder = onDemand(() => import('./out-of-order.tsx').then((module) => module.OutOfOrder))

// Only if asked for.
const ReportComparisons = onDemand(
  () => import('./report-comparisons.tsx').then((module) => module.ReportComparisons),
  () => <Loading lines={8} />,
)

// Below the table, loaded after it.
const ReportCharts = onDemand(
  () => import('./report-charts.tsx').then((module) => module.ReportCharts),
  () => <Loading lines={8} />,
)

/** A journey's report: the funnel, where customers drop off, and how long they take. */
export function JourneyScreen() {
  return <JourneyPage path="">{(journey) => <JourneyReport journey={journey} />}</JourneyPage>
}

function JourneyReport({ journey }: { journey: Schemas['Journey'] }) {
  const filters = useReportFilters(journey.steps.length)
  const {
    data: report,
    error,
    isPending,
    isPlaceholderData,
    refetch,
  } = useReport(journey.journey_id, filters.reportQuery)
  useChartsAsNewAs(report)

  if (isPending) return <Loading lines={8} />
  const isFiltered = filters.count > 0
  const hasNoSteps = journey.steps.length === 0 && report?.steps.length === 0
  if (report && hasNoSteps) {
    return <NoSteps journey={journey} report={report} />
  }
  return (
    <>
      {(!report || report.enrolled > 0 || isFiltered) && (
        <ReportFilterLine
          label="Filter the report"
          steps={journey.steps}
          filters={filters}
          chips={comparisonChips(filters)}
          more={<ComparisonButtons filters={filters} steps={journey.steps} />}
          end={<ViewsButton journey_id={journey.journey_id} />}
        />
      )}
      <ProblemAlert error={error} onRetry={() => refetch()} />
      {isComparisonOpen(filters.values) && (
        <Text size="sm" role="status">
          Choose {filters.values.compare === 'custom' ? 'the period to compare with' : 'a period'}, with its
          start{filters.values.compare === 'custom' && ' and end'}, to compare.
        </Text>
      )}
      {report && (
        <>
          {(report.recomputing || !report.as_of || report.events_since) && (
            <IncompleteNumbers report={report} from={filters.query.entered_from} />
          )}
          {report.enrolled === 0 ? (
            !report.recomputing &&
            report.as_of && (
              <NobodyEntered journey={journey} {...(isFiltered && { onClear: filters.clear })} />
            )
          ) : (
            <Stack gap="xl" aria-busy={isPlaceholderData} className="breakable">
              {(report.groups || report.comparison) && (
                <ReportComparisons
                  report={report}
                  breakdown={filters.values.breakdown}
                  hasWindow={filters.values.window !== ''}
                  isOutdated={isPlaceholderData}
                />
              )}
              <Stack component="section" gap="sm" aria-labelledby="steps-heading">
                <Group justify="space-between">
                  <Title order={2} size="h4" id="steps-heading">
                    {report.recomputing ? 'Funnel before the change' : 'Funnel'}
                  </Title>
                  <OutputMenu output={() => outputOf(journey.name, report)} />
                </Group>
                <Summary report={report} />
                {report.steps.length === 0 && (
                  <Text>No step is in this part of the journey: its last step is before its first one.</Text>
                )}
                {report.steps.some(isUnreached) && (
                  <MistakenNames journey_id={report.journey_id} steps={report.steps.filter(isUnreached)} />
                )}
                <ReportTable report={report} query={filters.query} />
                {report.steps.some(({ out_of_order }) => out_of_order > 0) && (
                  <OutOfOrder report={report} query={filters.query} />
                )}
                <CountingRule />
                {report.as_of && (
                  <Text size="xs" c="dimmed">
                    Includes all events received by {instantText(new Date(report.as_of))}.{' '}
                    <span className="not-printed">Refreshes every few seconds.</span>
                  </Text>
                )}
              </Stack>
              <ReportCharts report={report} query={filters.chartQuery} />
            </Stack>
          )}
        </>
      )}
    </>
  )
}

/** The funnel as a table of text. */
async function outputOf(name: string, report: Schemas['JourneyReport']): Promise<Output> {
  const { reportRows } = await import('./report-rows.ts')
  return { name, sentence: name, table: reportRows(report) }
}

/** Reloads the charts as soon as the numbers of the report change. */
function useChartsAsNewAs(report: Schemas['JourneyReport'] | undefined) {
  const queryClient = useQueryClient()
  const key = useReportsKey()
  const numbers = report && numbersOf(report)
  const before = useRef(numbers)
  useEffect(() => {
    if (before.current && report && numbers !== before.current) {
      void refreshCharts(queryClient, key, report.journey_id)
    }
    before.current = numbers
  })
}

/** The report in two sentences: the conversion rate, and the biggest drop-off. */
function Summary({ report }: { report: Schemas['JourneyReport'] }) {
  const { enrolled, steps } = report
  const last = steps.at(-1)
  if (!last) return null
  const [worst, before] = worstLoss(steps)
  const candidates = before ? before.reached : enrolled
  return (
    <ConversionSentence report={report}>
      {worst && lostAt(worst) === 0 && last.dropped !== null && 'Nobody has dropped off so far.'}
      {worst && lostAt(worst) > 0 && (
        <>
          Biggest drop-off: {before ? 'between' : 'before'} {before && <>“{isolated(before.name)}” and </>}“
          {isolated(worst.name)}”, {countOf(lostAt(worst), 'customer')} (
          {shareText(lostAt(worst) / candidates)} of those who got this far).
        </>
      )}
    </ConversionSentence>
  )
}

function isUnreached({ reached, out_of_order }: Schemas['JourneyReportStep']): boolean {
  return reached === 0 && out_of_order === 0
}

/** How many dropped off before a step. Customers in progress do not count, if there is a window (never for the first step). */
function lostAt({ dropped, not_reached }: Schemas['JourneyReportStep']): number {
  return dropped ?? not_reached
}

/** The step with the biggest drop-off before it, and its previous step. */
function worstLoss(
  steps: readonly Schemas['JourneyReportStep'][],
): [worst?: Schemas['JourneyReportStep'] | undefined, before?: Schemas['JourneyReportStep'] | undefined] {
  const [worst] = steps.toSorted(
    (one, other) => lostAt(other) - lostAt(one) || (one.of_previous ?? 1) - (other.of_previous ?? 1),
  )
  return [worst, worst && steps[steps.indexOf(worst) - 1]]
}
