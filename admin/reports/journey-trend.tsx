import { Group, NativeSelect, SegmentedControl, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Schemas } from '../../client/person.ts'
import { Bars, ChartFigure, Lines, limitSeries, lookOf, type Series } from '../parts/chart-figure.tsx'
import { oneOf, stepNumber } from '../parts/filter-readers.ts'
import { useFilters } from '../parts/filters.ts'
import { dayText, monthText } from '../parts/instant-text.ts'
import { Loading } from '../parts/loading.tsx'
import { countOf, countText, shareText } from '../parts/number-text.ts'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { taken } from '../problem.ts'
import { useCairn } from '../session/session.ts'
import type { ReportQuery } from './report-filters.tsx'
import { isOfSame, refreshChartsEveryMs, useReportsKey } from './report-query.ts'

type Trend = Schemas['JourneyTrend']
type Cohort = Schemas['JourneyCohort']
type Period = 'day' | 'week' | 'month'
type Measure = 'of_enrolled' | 'of_previous' | 'count'

/** How those who entered in each day, week or month come along. What is shown stands in the address. */
export function JourneyTrendSection({
  report: { journey_id, steps: of },
  query,
}: {
  report: Schemas['JourneyReport']
  query: ReportQuery
}) {
  const cairn = useCairn()
  const { values, set } = useFilters({
    by: oneOf(['day', 'week', 'month']),
    measure: oneOf(measures.map(({ value }) => value)),
    line: stepNumber(of.length),
  })
  const by = values.by || 'day'
  const measure = values.measure || 'of_enrolled'
  const time_zone = Intl.DateTimeFormat().resolvedOptions().timeZone
  const queryKey = [...useReportsKey(), journey_id, 'trend', by, query]
  const trend = useQuery({
    queryKey,
    queryFn: ({ signal }) =>
      taken(cairn.getJourneyTrend({ path: { journey_id }, query: { ...query, by, time_zone }, signal })),
    refetchInterval: refreshChartsEveryMs,
    placeholderData: (before, earlier) => (isOfSame(queryKey, earlier?.queryKey) ? before : undefined),
  })
  const steps = trend.data?.steps ?? []
  const line = steps.length < limitSeries ? 0 : Number(values.line) || steps.length

  return (
    <Stack component="section" gap="sm" aria-labelledby="trend-heading">
      <Title order={2} size="h4" id="trend-heading">
        Over time
      </Title>
      <Group gap="sm" align="flex-end">
        <SegmentedControl
          aria-label="Length of a period"
          value={by}
          onChange={(value) => set('by', value === 'day' ? '' : value)}
          data={[
            { value: 'day', label: 'Days' },
            { value: 'week', label: 'Weeks' },
            { value: 'month', label: 'Months' },
          ]}
        />
        <NativeSelect
          aria-label="What the lines show"
          value={measure}
          onChange={({ currentTarget: { value } }) => set('measure', value === 'of_enrolled' ? '' : value)}
          data={measures}
        />
        {line > 0 && (
          <NativeSelect
            aria-label="Step"
            value={String(line)}
            onChange={(change) => set('line', change.currentTarget.value)}
            data={steps.map(({ name }, index) => ({
              value: String(index + 1),
              label: `${index + 1}. ${name}`,
            }))}
          />
        )}
      </Group>
      <ProblemAlert error={trend.error} onRetry={() => trend.refetch()} />
      {trend.isPending && <Loading lines={5} />}
      {trend.data && !trend.error && <TrendFigure trend={trend.data} by={by} measure={measure} line={line} />}
      <Text size="xs" c="dimmed">
        By when a customer entered the journey. Days begin in your time zone, {time_zone}.
      </Text>
    </Stack>
  )
}

const measures: { value: Measure; label: string }[] = [
  { value: 'of_enrolled', label: 'Share of all who entered' },
  { value: 'of_previous', label: 'Share of the step before' },
  { value: 'count', label: 'Number of customers' },
]

function TrendFigure({
  trend: { steps, cohorts },
  by,
  measure,
  line,
}: {
  trend: Trend
  by: Period
  measure: Measure
  /** The only step that is drawn, from 1; 0 for all. */
  line: number
}) {
  const shown = line ? [line] : steps.map((_, index) => index + 1)
  const series: Series[] = [
    ...(measure === 'count' ? [{ name: 'enrolled', label: 'Entered', ...lookOf(limitSeries - 1) }] : []),
    ...shown.map((step) => ({
      name: `step_${step}`,
      label: steps[step - 1]?.name ?? '',
      ...lookOf(line ? 0 : step - 1),
    })),
  ]
  const points = cohorts.map((cohort) => ({
    label: periodText(cohort, by),
    isOpen: !cohort.complete,
    values: Object.fromEntries([
      ['enrolled', cohort.enrolled],
      ...shown.map((step) => [`step_${step}`, measured(cohort, step, measure)]),
    ]),
  }))
  const [only, another] = points.filter(({ values }) => values.enrolled)
  // Of one period there is no line, and its points would lie above each other.
  const isAlone = only !== undefined && another === undefined
  const numbers = measure === 'count' ? {} : { shareText }
  return (
    <ChartFigure
      sentence={sentenceOf({ steps, cohorts, by, measure, line })}
      series={isAlone ? [] : series}
      columns={[
        { key: 'period', label: capitalized(by) },
        { key: 'enrolled', label: 'Entered' },
        ...steps.map(({ event_id, name }) => ({ key: event_id, label: name })),
        { key: 'complete', label: 'Complete' },
      ]}
      rows={cohorts.toReversed().map((cohort) => ({
        key: cohort.starts_at,
        cells: [
          periodText(cohort, by),
          countText(cohort.enrolled),
          ...steps.map((_, index) => cellText(cohort, index + 1, measure)),
          cohort.complete ? 'yes' : 'not yet',
        ],
      }))}
    >
      {isAlone ? (
        <Bars
          bars={series.map(({ name, label }) => ({ label, value: only.values[name] ?? 0 }))}
          noun={measures.find(({ value }) => value === measure)?.label ?? ''}
          {...numbers}
        />
      ) : (
        <Lines points={points} series={series} {...numbers} />
      )}
    </ChartFigure>
  )
}

/** What the chart shows: in words, with the last cohort that can change no more. */
function sentenceOf({
  steps,
  cohorts,
  by,
  measure,
  line,
}: Pick<Trend, 'steps' | 'cohorts'> & { by: Period; measure: Measure; line: number }): string {
  const number = line || steps.length
  const name = steps[number - 1]?.name ?? ''
  const what = line ? `have reached “${name}”` : 'have reached each step'
  const subject = {
    of_enrolled: `Of those who entered in each ${by}, how many ${what}`,
    of_previous: `Of those who entered in each ${by} and reached the step before, how many ${what}`,
    count: `How many entered in each ${by}, and how many of them ${what}`,
  }[measure]
  const [only, another] = cohorts.filter(({ enrolled }) => enrolled > 0)
  if (only && !another) {
    const isOpen = only.complete ? '' : ', which is not complete yet'
    return `${subject}. Here all entered in the ${by} of ${periodText(only, by)}${isOpen}.`
  }
  const settled = cohorts.filter(({ complete, enrolled }) => complete && enrolled > 0)
  const [last, before] = [settled.at(-1), settled.at(-2)]
  const open = cohorts.filter(({ complete }) => !complete).length
  const told = (cohort: Cohort) => `${cellText(cohort, number, measure)} of ${countText(cohort.enrolled)}`
  return [
    `${subject}.`,
    last &&
      `“${name}”: ${told(last)} in the ${by} of ${periodText(last, by)}, the last complete one that anybody entered in${
        before ? `; before that ${told(before)}` : ''
      }.`,
    open > 0 && `Hollow points: ${countOf(open, by)} not complete yet.`,
  ]
    .filter(Boolean)
    .join(' ')
}

function measured({ enrolled, reached }: Cohort, step: number, measure: Measure): number | null {
  const count = reached[step - 1] ?? 0
  if (measure === 'count') return count
  const whole = measure === 'of_enrolled' ? enrolled : (reached[step - 2] ?? (step === 1 ? enrolled : 0))
  return whole === 0 ? null : count / whole
}

/** A number and, where shares are shown, its share. */
function cellText(cohort: Cohort, step: number, measure: Measure): string {
  const count = countText(cohort.reached[step - 1] ?? 0)
  const value = measured(cohort, step, measure)
  if (measure === 'count') return count
  return value === null ? count : `${count} (${shareText(value)})`
}

function periodText({ starts_at }: Cohort, by: Period): string {
  const start = new Date(starts_at)
  return by === 'month' ? monthText(start) : dayText(start)
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
