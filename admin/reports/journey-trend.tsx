import { Group, NativeSelect, SegmentedControl, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Schemas } from '../../client/person.ts'
import { Bars, ChartFigure, Lines, limitSeries, lookOf, type Series } from '../parts/chart-figure.tsx'
import { durationText } from '../parts/duration-text.ts'
import { oneOf, stepNumber } from '../parts/filter-readers.ts'
import { useFilters } from '../parts/filters.ts'
import { dayText, monthText } from '../parts/instant-text.ts'
import { Loading } from '../parts/loading.tsx'
import { countOf, countText, shareText } from '../parts/number-text.ts'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { viewerTimeZone } from '../parts/time-zone.ts'
import { codeOf, taken } from '../problem.ts'
import { useCairn } from '../session/session.ts'
import type { ReportQuery } from './report-filters.tsx'
import { isOfSame, refreshChartsEveryMs, useReportsKey } from './report-query.ts'

type Trend = Schemas['JourneyTrend'] & { time_zone: string }
type Cohort = Schemas['JourneyCohort']
type Periods = { by: 'day' | 'week' | 'month'; time_zone: string }
type Measure = 'of_enrolled' | 'of_previous' | 'count'

/** How those who entered in each day, week or month come along. What is shown stands in the address. */
export function JourneyTrendSection({
  report: { journey_id, steps: counted },
  query,
}: {
  report: Schemas['JourneyReport']
  query: ReportQuery
}) {
  const cairn = useCairn()
  const { values, set } = useFilters({
    by: oneOf(['day', 'week', 'month']),
    measure: oneOf(measures.map(({ value }) => value)),
    line: stepNumber(counted.length),
  })
  const by = values.by || 'day'
  const measure = values.measure || 'of_enrolled'
  const zone = viewerTimeZone()
  const queryKey = [...useReportsKey(), journey_id, 'trend', by, query]
  const trend = useQuery({
    queryKey,
    queryFn: async ({ signal }) => {
      const readIn = async (time_zone = 'UTC') => ({
        ...(await taken(
          cairn.getJourneyTrend({ path: { journey_id }, query: { ...query, by, time_zone }, signal }),
        )),
        time_zone,
      })
      try {
        return await readIn(zone)
      } catch (error) {
        // A browser may know zones that are newer than the server.
        if (codeOf(error) !== 'time_zone_unknown') throw error
        return await readIn()
      }
    },
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
      {trend.data && !trend.error && (
        <TrendFigure
          trend={sinceFirstEntry(trend.data)}
          by={by}
          measure={measure}
          line={line}
          takes_ms={query.window ? undefined : timesTo(counted)}
        />
      )}
      <Text size="xs" c="dimmed">
        By when a customer entered the journey. {daysText(zone, trend.data?.time_zone ?? zone)}
      </Text>
    </Stack>
  )
}

/** In which time zone days begin; `used` is undefined until the first answer where the browser names none. */
function daysText(zone: string | undefined, used: string | undefined): string {
  if (zone === undefined) return 'Days begin in UTC: your browser does not know your time zone.'
  if (used !== zone) return `Days begin in UTC: this server does not know your time zone, ${zone}.`
  return `Days begin in your time zone, ${zone}.`
}

const measures: { value: Measure; label: string }[] = [
  { value: 'of_enrolled', label: 'Share of all who entered' },
  { value: 'of_previous', label: 'Share of the step before' },
  { value: 'count', label: 'Number of customers' },
]

/** A year is empty at its beginning where a journey is younger. */
function sinceFirstEntry(trend: Trend): Trend {
  const first = trend.cohorts.findIndex(({ enrolled }) => enrolled > 0)
  return { ...trend, cohorts: trend.cohorts.slice(Math.max(first, 0)) }
}

/**
 * How long customers may take from entering the journey to each step: the times in which nine of ten take each step, added
 * up.
 */
function timesTo(steps: Schemas['JourneyReport']['steps']): number[] {
  let sum_ms = 0
  return steps.map(({ times: { p90_ms } }) => {
    sum_ms += p90_ms ?? 0
    return sum_ms
  })
}

type Figure = {
  trend: Trend
  by: Periods['by']
  measure: Measure
  /** The only step that is drawn, from 1; 0 for all. */
  line: number
  /** How long customers may take to each step; undefined where a time limit says it. */
  takes_ms: readonly number[] | undefined
}

/**
 * Whether the number of a cohort that have reached a step can be compared with that of an earlier cohort: with a time limit
 * nobody has time left, without one nine of ten of those who get there have had the time to.
 */
function isSettled({ complete, ends_at }: Cohort, step: number, { trend, takes_ms }: Figure): boolean {
  if (!complete || !takes_ms) return complete
  const asOf_ms = trend.as_of === null ? Date.now() : Date.parse(trend.as_of)
  return Date.parse(ends_at) + (takes_ms[step - 1] ?? 0) <= asOf_ms
}

function TrendFigure(figure: Figure) {
  const {
    trend: { steps, cohorts, time_zone },
    by,
    measure,
    line,
    takes_ms,
  } = figure
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
    label: periodText(cohort, { by, time_zone }),
    open: [
      ...(cohort.complete ? [] : ['enrolled']),
      ...shown.filter((step) => !isSettled(cohort, step, figure)).map((step) => `step_${step}`),
    ],
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
      sentence={sentenceOf(figure)}
      series={isAlone ? [] : series}
      columns={[
        { key: 'period', label: capitalized(by) },
        { key: 'enrolled', label: 'Entered' },
        ...steps.map(({ event_id, name }) => ({ key: event_id, label: name })),
        { key: 'complete', label: takes_ms ? 'Comparable' : 'Complete' },
      ]}
      rows={cohorts.toReversed().map((cohort) => ({
        key: cohort.starts_at,
        cells: [
          periodText(cohort, { by, time_zone }),
          countText(cohort.enrolled),
          ...steps.map((_, index) => cellText(cohort, index + 1, measure)),
          isSettled(cohort, line || steps.length, figure) ? 'yes' : 'not yet',
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

/** What the chart shows: in words, with the last cohort that can be compared with those before it. */
function sentenceOf(figure: Figure): string {
  const {
    trend: { steps, cohorts, time_zone },
    by,
    measure,
    line,
    takes_ms,
  } = figure
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
    const yet = takes_ms && only.complete ? 'is too recent to compare' : 'is not complete yet'
    const isOpen = isSettled(only, number, figure) ? '' : `, which ${yet}`
    return `${subject}. Here all entered in the ${by} of ${periodText(only, { by, time_zone })}${isOpen}.`
  }
  const settled = cohorts.filter((cohort) => cohort.enrolled > 0 && isSettled(cohort, number, figure))
  const [last, before] = [settled.at(-1), settled.at(-2)]
  const open = cohorts.filter((cohort) => !isSettled(cohort, number, figure)).length
  const told = (cohort: Cohort) =>
    `${cellText(cohort, number, measure)} of ${countText(wholeOf(cohort, number, measure))}`
  return [
    `${subject}.`,
    last &&
      `“${name}”: ${told(last)} in the ${by} of ${periodText(last, { by, time_zone })}, the last ${takes_ms ? 'comparable' : 'complete'} one that anybody entered in${
        before ? `; before that ${told(before)}` : ''
      }.`,
    open > 0 &&
      (takes_ms?.[number - 1]
        ? `Hollow points are too recent to compare: “${name}” takes nine of ten customers up to ${durationText(takes_ms[number - 1] ?? 0)}, so the last ${countOf(open, by)} may still rise.`
        : `Hollow points: ${countOf(open, by)} not complete yet.`),
  ]
    .filter(Boolean)
    .join(' ')
}

function measured(cohort: Cohort, step: number, measure: Measure): number | null {
  const count = cohort.reached[step - 1] ?? 0
  if (measure === 'count') return count
  const whole = wholeOf(cohort, step, measure)
  return whole === 0 ? null : count / whole
}

/** Of how many a measure counts those who have reached a step. */
function wholeOf({ enrolled, reached }: Cohort, step: number, measure: Measure): number {
  return measure === 'of_previous' && step > 1 ? (reached[step - 2] ?? 0) : enrolled
}

/** A number and, where shares are shown, its share. */
function cellText(cohort: Cohort, step: number, measure: Measure): string {
  const count = countText(cohort.reached[step - 1] ?? 0)
  const value = measured(cohort, step, measure)
  if (measure === 'count') return count
  return value === null ? count : `${count} (${shareText(value)})`
}

function periodText({ starts_at }: Cohort, { by, time_zone }: Periods): string {
  const start = new Date(starts_at)
  // Else a day that begins in UTC would have the name of the day before it in America.
  const zone = time_zone === 'UTC' ? 'UTC' : undefined
  return by === 'month' ? monthText(start, zone) : dayText(start, zone)
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
