import { Group, NativeSelect, SegmentedControl, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRef } from 'react'
import type { Schemas } from '../../client/person.ts'
import { Bars, ChartFigure, Lines } from '../parts/charts/chart-figure.tsx'
import { limitSeries, lookOf, type Series } from '../parts/charts/chart-series.ts'
import { oneOf, stepNumber } from '../parts/filters/filter-readers.ts'
import { useFilters } from '../parts/filters/filters.ts'
import { durationText } from '../parts/instants/duration-text.ts'
import { viewerTimeZone } from '../parts/instants/time-zone.ts'
import { Loading } from '../parts/loading.tsx'
import { countOf, countText, shareText } from '../parts/number-text.ts'
import { onDemand } from '../parts/on-demand.tsx'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { isolated } from '../parts/visible-name.ts'
import { codeOf, taken } from '../problem.ts'
import { useCairn } from '../session/session.ts'
import {
  type By,
  type Cohort,
  cellText,
  cohortText,
  type Figure,
  inPeriod,
  isSettled,
  lineOf,
  type Measure,
  measured,
  perPeriod,
  sinceFirstEntry,
  type Trend,
  timesTo,
  wholeOf,
} from './cohorts.ts'
import type { ChartQuery } from './report-filters.ts'
import { isOfSame, refreshChartsEveryMs, useReportsKey } from './report-query.ts'
import { isLaterPart } from './report-table.tsx'

// Only with a breakdown.
const GroupTrend = onDemand(
  () => import('./group-trend.tsx').then((module) => module.GroupTrend),
  () => <Loading lines={5} />,
)

/** With fewer customers a day than this, the shares of single days are mostly noise: the chart then starts with weeks. */
const leastPerDay = 30

/** The conversion of cohorts: customers who entered on the same day, in the same week or month. Settings are in the address. */
export function JourneyTrendSection({
  report: { journey_id, enrolled, steps: counted },
  query,
}: {
  report: Schemas['JourneyReport']
  query: ChartQuery
}) {
  const cairn = useCairn()
  const { values, set } = useFilters({
    by: oneOf(['day', 'week', 'month']),
    measure: oneOf(measures.map(({ value }) => value)),
    line: stepNumber(counted.at(-1)?.step ?? 0),
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
  // A part of the journey may begin at a later step.
  const before = (counted[0]?.step ?? 1) - 1
  const line = lineOf(steps.length, Number(values.line) - before, query.breakdown)

  return (
    <Stack component="section" gap="sm" aria-labelledby="trend-heading" aria-busy={trend.isPlaceholderData}>
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
          data={measuresOf(isLaterPart(counted))}
        />
        {line > 0 && (
          <NativeSelect
            aria-label="Step"
            value={String(before + line)}
            onChange={(change) => set('line', change.currentTarget.value)}
            data={steps.map(({ name }, index) => ({
              value: String(before + index + 1),
              label: `${before + index + 1}. ${name}`,
            }))}
          />
        )}
      </Group>
      <ProblemAlert error={trend.error} onRetry={() => trend.refetch()} />
      {trend.isPending && <Loading lines={5} />}
      {trend.data && !trend.error && (
        <AnyTrend
          trend={sinceFirstEntry(trend.data)}
          measure={measure}
          line={line}
          takes_ms={query.window ? undefined : timesTo(counted)}
          isLater={isLaterPart(counted)}
          breakdown={trend.isPlaceholderData ? undefined : query.breakdown}
        />
      )}
      <Text size="xs" c="dimmed">
        Cohorts by when customers entered the journey. {spanText(by, query.entered_from !== undefined)}{' '}
        {daysText(zone, trend.data?.time_zone ?? zone)}
      </Text>
    </Stack>
  )
}

/** A trend as a chart: of one step by group with a breakdown, otherwise of all steps. */
export function AnyTrend({ breakdown, ...figure }: Figure & { breakdown: string | undefined }) {
  if (figure.trend.cohorts.every(({ enrolled }) => enrolled === 0)) {
    return <Text>Nobody entered in this time.</Text>
  }
  if (!figure.trend.groups || breakdown === undefined) return <TrendFigure {...figure} />
  return <GroupTrend {...figure} breakdown={breakdown} />
}

/** The periods that the server returns before the current one if it is asked for no start. */
const usualPeriods = { day: 30, week: 26, month: 24 }

/** Which periods a trend has. */
export function spanText(by: By, hasStart: boolean): string {
  return hasStart
    ? `Whole ${by}s, even where the chosen time begins or ends within one.`
    : `Whole ${by}s, the last ${usualPeriods[by] + 1} or fewer.`
}

/** The time zone in which days start; `used` is undefined until the first response if the browser does not name its zone. */
function daysText(zone: string | undefined, used: string | undefined): string {
  if (zone === undefined) return 'Days are in UTC, because your browser does not know your time zone.'
  if (used !== zone) return `Days are in UTC, because this server does not know your time zone, ${zone}.`
  return `Days are in your time zone, ${zone}.`
}

/** What a trend can show. */
const measures: { value: Measure; label: string }[] = [
  { value: 'of_enrolled', label: '% of entered' },
  { value: 'of_previous', label: '% of previous step' },
  { value: 'count', label: 'Number of customers' },
]

/** What it can show of a part of the journey. */
function measuresOf(isLater: boolean): typeof measures {
  return measures.map((measure) =>
    isLater && measure.value === 'of_enrolled' ? { ...measure, label: '% of first' } : measure,
  )
}

/** A trend as a chart. */
function TrendFigure(figure: Figure) {
  const { trend, measure, line, takes_ms, isLater } = figure
  const { steps, cohorts, by } = trend
  const shown = line ? [line] : steps.map((_, index) => index + 1)
  const series: Series[] = [
    ...(measure === 'count' && !isLater
      ? [{ name: 'enrolled', label: 'Entered', ...lookOf(limitSeries - 1) }]
      : []),
    ...shown.map((step) => ({
      name: `step_${step}`,
      label: steps[step - 1]?.name ?? '',
      ...lookOf(line ? 0 : step - 1),
    })),
  ]
  const points = cohorts.map((cohort) => ({
    label: cohortText(cohort, trend),
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
        ...(isLater ? [] : [{ key: 'enrolled', label: 'Entered' }]),
        ...steps.map(({ event_id, name }) => ({ key: event_id, label: name })),
        { key: 'complete', label: takes_ms ? 'Comparable' : 'Complete' },
      ]}
      rows={cohorts.toReversed().map((cohort) => ({
        key: cohort.starts_at,
        cells: [
          cohortText(cohort, trend),
          ...(isLater ? [] : [countText(cohort.enrolled)]),
          ...steps.map((_, index) => cellText(cohort, index + 1, measure)),
          isSettled(cohort, line || steps.length, figure) ? 'yes' : 'not yet',
        ],
      }))}
    >
      {isAlone ? (
        <Bars
          bars={series.map(({ name, label }) => ({ label, value: only.values[name] ?? 0 }))}
          noun={measuresOf(isLater).find(({ value }) => value === measure)?.label ?? ''}
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
  const { trend, measure, line, takes_ms, isLater } = figure
  const { steps, cohorts, by } = trend
  const number = line || steps.length
  const name = isolated(steps[number - 1]?.name)
  const what = line ? `“${name}”` : 'each step'
  const subject = {
    of_enrolled: `Share of customers who reached ${what}, by the ${by} they entered`,
    of_previous: `Conversion from the previous step to ${what}, by the ${by} customers entered`,
    count: `Customers who ${isLater ? '' : 'entered and who '}reached ${what}, by the ${by} they entered`,
  }[measure]
  const [only, another] = cohorts.filter(({ enrolled }) => enrolled > 0)
  if (only && !another) {
    const yet = takes_ms && only.complete ? 'is too recent to compare' : 'is not complete yet'
    const isOpen = isSettled(only, number, figure) ? '' : `, which ${yet}`
    return `${subject}. All customers in this chart entered ${inPeriod(only, trend)}${isOpen}.`
  }
  const settled = cohorts.filter((cohort) => cohort.enrolled > 0 && isSettled(cohort, number, figure))
  const [last, before] = [settled.at(-1), settled.at(-2)]
  const open = cohorts.filter((cohort) => !isSettled(cohort, number, figure)).length
  const numbersText = (cohort: Cohort) =>
    `${cellText(cohort, number, measure)} of ${countText(wholeOf(cohort, number, measure))}`
  return [
    `${subject}.`,
    last &&
      `“${name}”: ${numbersText(last)} ${inPeriod(last, trend)}, the most recent ${takes_ms ? 'comparable' : 'complete'} cohort${
        before ? `; ${numbersText(before)} in the cohort before` : ''
      }.`,
    open > 0 &&
      (takes_ms?.[number - 1]
        ? `Hollow points are too recent to compare: 90% of those who reach “${name}” take up to ${durationText(takes_ms[number - 1] ?? 0)}, so the last ${countOf(open, by)} may still rise.`
        : `Hollow points are not complete yet: ${countOf(open, by)}.`),
  ]
    .filter(Boolean)
    .join(' ')
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
