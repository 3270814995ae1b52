import { Group, NativeSelect, SegmentedControl, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRef } from 'react'
import type { Schemas } from '../../client/person.ts'
import { Bars, ChartFigure, Lines } from '../parts/charts/chart-figure.tsx'
import { limitSeries, lookOf, type Series } from '../parts/charts/chart-series.ts'
import { oneOf, stepNumber } from '../parts/filters/filter-readers.ts'
import { useFilters } from '../parts/filters/filters.ts'
import { durationText } from '../parts/instants/duration-text.ts'
import { dayText, monthText } from '../parts/instants/instant-text.ts'
import { viewerTimeZone } from '../parts/instants/time-zone.ts'
import { Loading } from '../parts/loading.tsx'
import { countOf, countText, shareText } from '../parts/number-text.ts'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { codeOf, taken } from '../problem.ts'
import { useCairn } from '../session/session.ts'
import type { ReportQuery } from './report-filters.tsx'
import { isOfSame, refreshChartsEveryMs, useReportsKey } from './report-query.ts'

type By = 'day' | 'week' | 'month'
type Periods = { by: By; time_zone: string }
type Trend = Schemas['JourneyTrend'] & Periods
type Cohort = Schemas['JourneyCohort']
type Measure = 'of_enrolled' | 'of_previous' | 'count'

/** With fewer customers a day than this, the shares of single days are mostly noise: the chart then starts with weeks. */
const leastPerDay = 30

/** The conversion of cohorts: customers who entered on the same day, in the same week or month. Settings are in the address. */
export function JourneyTrendSection({
  report: { journey_id, enrolled, steps: counted },
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
  const measure = values.measure || 'of_enrolled'
  const zone = viewerTimeZone()
  /** Chosen once, so that the chart does not change under the viewer as customers enter. */
  const usualBy = useRef<By>(undefined)
  const queryKey = [...useReportsKey(), journey_id, 'trend', values.by, query]
  const trend = useQuery({
    queryKey,
    queryFn: async ({ signal }): Promise<Trend> => {
      const readIn = async (by: By, time_zone = 'UTC') => ({
        ...(await taken(
          cairn.getJourneyTrend({ path: { journey_id }, query: { ...query, by, time_zone }, signal }),
        )),
        by,
        time_zone,
      })
      const read = async (by: By) => {
        try {
          return await readIn(by, zone)
        } catch (error) {
          // A browser may know zones that are newer than the server.
          if (codeOf(error) !== 'time_zone_unknown') throw error
          return await readIn(by)
        }
      }
      const by = values.by || usualBy.current || (enrolled < leastPerDay ? 'week' : undefined)
      if (by) return read(by)
      const days = await read('day').catch((error) => {
        // Several years of days are more than the server returns.
        if (codeOf(error) === 'too_many_periods') return undefined
        throw error
      })
      usualBy.current = days && perPeriod(days) >= leastPerDay ? 'day' : 'week'
      return days && usualBy.current === 'day' ? days : read('week')
    },
    refetchInterval: refreshChartsEveryMs,
    placeholderData: (before, earlier) => (isOfSame(queryKey, earlier?.queryKey) ? before : undefined),
  })
  const by = values.by || trend.data?.by || 'week'
  const steps = trend.data?.steps ?? []
  const line = steps.length < limitSeries ? 0 : Number(values.line) || steps.length

  return (
    <Stack component="section" gap="sm" aria-labelledby="trend-heading">
      <Title order={2} size="h4" id="trend-heading">
        Conversion over time
      </Title>
      <Group gap="sm" align="flex-end">
        <SegmentedControl
          aria-label="Cohorts by"
          value={by}
          onChange={(value) => set('by', value)}
          data={[
            { value: 'day', label: 'Days' },
            { value: 'week', label: 'Weeks' },
            { value: 'month', label: 'Months' },
          ]}
        />
        <NativeSelect
          aria-label="Measure"
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
          measure={measure}
          line={line}
          takes_ms={query.window ? undefined : timesTo(counted)}
        />
      )}
      <Text size="xs" c="dimmed">
        Cohorts by when customers entered the journey. {daysText(zone, trend.data?.time_zone ?? zone)}
      </Text>
    </Stack>
  )
}

/** The time zone in which days start; `used` is undefined until the first response if the browser does not name its zone. */
function daysText(zone: string | undefined, used: string | undefined): string {
  if (zone === undefined) return 'Days are in UTC, because your browser does not know your time zone.'
  if (used !== zone) return `Days are in UTC, because this server does not know your time zone, ${zone}.`
  return `Days are in your time zone, ${zone}.`
}

const measures: { value: Measure; label: string }[] = [
  { value: 'of_enrolled', label: '% of entered' },
  { value: 'of_previous', label: '% of previous step' },
  { value: 'count', label: 'Number of customers' },
]

/** Without the empty cohorts at the beginning, before the first customer entered. */
export function sinceFirstEntry(trend: Trend): Trend {
  const first = trend.cohorts.findIndex(({ enrolled }) => enrolled > 0)
  return { ...trend, cohorts: trend.cohorts.slice(Math.max(first, 0)) }
}

/** Customers per cohort on average, since the first one entered. */
function perPeriod(trend: Trend): number {
  const { cohorts } = sinceFirstEntry(trend)
  return cohorts.reduce((sum, { enrolled }) => sum + enrolled, 0) / Math.max(cohorts.length, 1)
}

/**
 * How long customers may take from entering the journey to each step: the sum of the 90th percentiles of the times between
 * the steps.
 */
export function timesTo(steps: Schemas['JourneyReport']['steps']): number[] {
  let sum_ms = 0
  return steps.map(({ times: { p90_ms } }) => {
    sum_ms += p90_ms ?? 0
    return sum_ms
  })
}

type Figure = {
  trend: Trend
  measure: Measure
  /** The only step that is drawn, from 1; 0 for all. */
  line: number
  /** How long customers may take to each step; undefined if there is a conversion window. */
  takes_ms: readonly number[] | undefined
}

/**
 * Whether a cohort's number of customers who reached a step is comparable with an earlier cohort's: with a conversion window,
 * all windows are over; without one, 90% of those who will reach the step have had the time to.
 */
function isSettled({ complete, ends_at }: Cohort, step: number, { trend, takes_ms }: Figure): boolean {
  if (!complete || !takes_ms) return complete
  const asOf_ms = trend.as_of === null ? Date.now() : Date.parse(trend.as_of)
  return Date.parse(ends_at) + (takes_ms[step - 1] ?? 0) <= asOf_ms
}

/** A trend as a chart. */
export function TrendFigure(figure: Figure) {
  const {
    trend: { steps, cohorts, by, time_zone },
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
  // One cohort makes no line; its points would lie above each other.
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

/** Describes the chart, with the numbers of the most recent comparable cohort. */
function sentenceOf(figure: Figure): string {
  const {
    trend: { steps, cohorts, by, time_zone },
    measure,
    line,
    takes_ms,
  } = figure
  const number = line || steps.length
  const name = steps[number - 1]?.name ?? ''
  const what = line ? `“${name}”` : 'each step'
  const subject = {
    of_enrolled: `Share of customers who reached ${what}, by the ${by} they entered`,
    of_previous: `Conversion from the previous step to ${what}, by the ${by} customers entered`,
    count: `Customers who entered and who reached ${what}, by the ${by} they entered`,
  }[measure]
  const [only, another] = cohorts.filter(({ enrolled }) => enrolled > 0)
  if (only && !another) {
    const yet = takes_ms && only.complete ? 'is too recent to compare' : 'is not complete yet'
    const isOpen = isSettled(only, number, figure) ? '' : `, which ${yet}`
    return `${subject}. All customers entered ${inPeriod(only, { by, time_zone })}${isOpen}.`
  }
  const settled = cohorts.filter((cohort) => cohort.enrolled > 0 && isSettled(cohort, number, figure))
  const [last, before] = [settled.at(-1), settled.at(-2)]
  const open = cohorts.filter((cohort) => !isSettled(cohort, number, figure)).length
  const numbersText = (cohort: Cohort) =>
    `${cellText(cohort, number, measure)} of ${countText(wholeOf(cohort, number, measure))}`
  return [
    `${subject}.`,
    last &&
      `“${name}”: ${numbersText(last)} ${inPeriod(last, { by, time_zone })}, the most recent ${takes_ms ? 'comparable' : 'complete'} cohort${
        before ? `; ${numbersText(before)} in the cohort before` : ''
      }.`,
    open > 0 &&
      (takes_ms?.[number - 1]
        ? `Hollow points are too recent to compare: 90% of customers take up to ${durationText(takes_ms[number - 1] ?? 0)} to reach “${name}”, so the last ${countOf(open, by)} may still rise.`
        : `Hollow points are not complete yet: ${countOf(open, by)}.`),
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

/** The denominator of a measure for a step. */
function wholeOf({ enrolled, reached }: Cohort, step: number, measure: Measure): number {
  return measure === 'of_previous' && step > 1 ? (reached[step - 2] ?? 0) : enrolled
}

/** A count, with its share if the measure is a share. */
function cellText(cohort: Cohort, step: number, measure: Measure): string {
  const count = countText(cohort.reached[step - 1] ?? 0)
  const value = measured(cohort, step, measure)
  if (measure === 'count') return count
  return value === null ? count : `${count} (${shareText(value)})`
}

function periodText({ starts_at }: Cohort, { by, time_zone }: Periods): string {
  const start = new Date(starts_at)
  // Otherwise a day that starts in UTC would be shown as the previous day in America.
  const zone = time_zone === 'UTC' ? 'UTC' : undefined
  return by === 'month' ? monthText(start, zone) : dayText(start, zone)
}

/** `on 6 Nov 2026`, `in the week of 2 Nov 2026`, `in Nov 2026`. */
function inPeriod(cohort: Cohort, periods: Periods): string {
  const before = { day: 'on', week: 'in the week of', month: 'in' }[periods.by]
  return `${before} ${periodText(cohort, periods)}`
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
