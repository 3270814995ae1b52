import { Box, Stack, Text, Title } from '@mantine/core'
import { skipToken, useQuery } from '@tanstack/react-query'
import { useLocation } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { cairnFor } from '../cairn.ts'
import { Gate } from '../frame/gate.tsx'
import { useArrival } from '../parts/arrival.ts'
import { Instant } from '../parts/instants/instant.tsx'
import { instantText } from '../parts/instants/instant-text.ts'
import { day_ms } from '../parts/instants/lengths.ts'
import { timeZoneText } from '../parts/instants/time-zone.ts'
import { Loading } from '../parts/loading.tsx'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { isolated, visibleName } from '../parts/visible-name.ts'
import { codeOf, taken } from '../problem.ts'
import { type By, lineOf, sinceFirstEntry, type Trend, timesTo } from '../reports/cohorts.ts'
import { ConversionSentence } from '../reports/conversion-sentence.tsx'
import { CountingRule } from '../reports/counting-rule.tsx'
import { GroupTimes } from '../reports/group-times.tsx'
import { IncompleteNumbers } from '../reports/incomplete-numbers.tsx'
import { AnyTrend, spanText } from '../reports/journey-trend.tsx'
import { ReportComparisons } from '../reports/report-comparisons.tsx'
import { isLaterPart, ReportTable } from '../reports/report-table.tsx'
import { stepBefore, TimesFigure } from '../reports/step-times.tsx'
import { chartNames } from './view-address.ts'
import { sayingOf } from './view-saying.ts'

/** The server computes the numbers of a link at most this often. */
const refreshEveryMs = 30_000

/** A view for people without an account. Its token stays in the fragment, so that the page can be reloaded. */
export function SharedScreen() {
  const token = new URLSearchParams(useLocation().hash.slice(1)).get('token')
  const { data, error, refetch } = useQuery({
    queryKey: ['shared', token],
    queryFn: token
      ? ({ signal }) => taken(cairnFor().readSharedView({ body: { token }, signal }))
      : skipToken,
    // What a link leads to may be back after an outage.
    refetchInterval: ({ state }) => (isInvalid(state.error) ? false : refreshEveryMs),
  })
  if (!token || isInvalid(error)) {
    return (
      <Gate
        title="This link is not valid"
        description="It has expired or was revoked, or what it showed was removed."
      >
        <Text>Check that you opened the complete link, or ask for a new one.</Text>
      </Gate>
    )
  }
  const retry = () => void refetch()
  if (data) return <SharedView view={data} error={error} onRetry={retry} />
  return (
    <Gate title="Shared view">
      {error ? <ProblemAlert error={error} onRetry={retry} /> : <Loading lines={3} />}
    </Gate>
  )
}

function isInvalid(error: unknown): boolean {
  // A token that is longer than any is refused as an invalid request.
  return ['shared_view_not_found', 'invalid_request'].includes(codeOf(error) ?? '')
}

function SharedView({
  view,
  error,
  onRetry,
}: {
  view: Schemas['SharedView']
  error: unknown
  onRetry: () => void
}) {
  const heading = useArrival()
  const { name, journey_name, query, report, trend, step_times, expires_at } = view
  const title = visibleName(name)
  return (
    <Box component="main" maw="64rem" mx="auto" px="md" py="xl">
      <title>{`${title} · Cairn`}</title>
      <Stack gap="xl" className="breakable">
        <Box>
          <Title order={1} size="h2" tabIndex={-1} ref={heading}>
            {title}
          </Title>
          <Text c="dimmed" mt={4}>
            {[visibleName(journey_name), ...sayingOf(query)].join(' · ')}
          </Text>
        </Box>
        <ProblemAlert error={error} onRetry={onRetry} />
        <IncompleteNumbers report={report} from={startOf(query)} />
        <ReportComparisons
          report={report}
          breakdown={query.breakdown ?? ''}
          hasWindow={query.window !== undefined}
        />
        <Stack component="section" gap="sm" aria-labelledby="steps-heading">
          <Title order={2} size="h4" id="steps-heading">
            {report.recomputing ? 'Funnel before the change' : 'Funnel'}
          </Title>
          <ConversionSentence report={report} />
          <ReportTable report={report} query={undefined} />
          <CountingRule />
        </Stack>
        {query.chart === 'trend' && !trend && (
          <Text>The period is too long for a chart of the conversion over time.</Text>
        )}
        {trend && (
          <Stack component="section" gap="sm" aria-labelledby="trend-heading">
            <Title order={2} size="h4" id="trend-heading">
              {chartNames.trend}
            </Title>
            <AnyTrend
              trend={sinceFirstEntry(namedByDay(trend, query.time_zone))}
              measure={query.measure ?? 'of_enrolled'}
              line={lineOf(
                trend.steps.length,
                (query.step ?? 0) - (query.first_step ?? 1) + 1,
                query.breakdown,
              )}
              takes_ms={query.window ? undefined : timesTo(report.steps)}
              isLater={isLaterPart(report.steps)}
              breakdown={query.breakdown}
            />
            <Text size="xs" c="dimmed">
              Cohorts by when customers entered the journey.{' '}
              {spanText(periodOf(trend), (query.entered_from ?? query.last_days) !== undefined)}
            </Text>
          </Stack>
        )}
        {step_times && (
          <Stack component="section" gap="sm" aria-labelledby="times-heading">
            <Title order={2} size="h4" id="times-heading">
              {chartNames.step_times}
            </Title>
            <TimesFigure
              times={step_times}
              from={stepBefore(report.steps, step_times.step)}
              to={nameOf(view, step_times.step)}
            />
            {step_times.groups && (
              <GroupTimes
                groups={step_times.groups}
                breakdown={query.breakdown ?? ''}
                name={`Time from “${stepBefore(report.steps, step_times.step)}” to “${nameOf(view, step_times.step)}”`}
              />
            )}
          </Stack>
        )}
        <Text size="xs" c="dimmed">
          {report.as_of && `Includes all events received by ${instantText(new Date(report.as_of))}. `}
          Days begin in the time zone {query.time_zone ?? 'UTC'}. {timeZoneText()} This link works until{' '}
          <Instant at={expires_at} />.
        </Text>
      </Stack>
    </Box>
  )
}

/** The start of the period of a view; of its last days at the latest possible instant, since days depend on its time zone. */
function startOf({ entered_from, entered_to, last_days }: Schemas['ViewQuery']): string | undefined {
  if (entered_from || entered_to || !last_days) return entered_from
  return new Date(Date.now() - (last_days - 1) * day_ms).toISOString()
}

function nameOf({ report }: Schemas['SharedView'], step: number): string {
  return isolated(report.steps.find((other) => other.step === step)?.name ?? `step ${step}`)
}

/** A trend whose cohorts are named by their days in the view's time zone, wherever the reader is. */
function namedByDay(trend: Schemas['JourneyTrend'], time_zone = 'UTC'): Trend {
  const cohorts = trend.cohorts.map((cohort) => ({
    ...cohort,
    starts_at: `${dayIn(time_zone, cohort.starts_at)}T00:00:00.000Z`,
  }))
  return { ...trend, cohorts, by: periodOf(trend), time_zone: 'UTC' }
}

/** The period of a trend's cohorts: longer than that of its view if there were too many. */
function periodOf({ cohorts: [cohort] }: Schemas['JourneyTrend']): By {
  const days = cohort ? (Date.parse(cohort.ends_at) - Date.parse(cohort.starts_at)) / day_ms : 1
  // Where clocks change, a day has 25 hours.
  if (days < 2) return 'day'
  return days < 8 ? 'week' : 'month'
}

function dayIn(timeZone: string, at: string): string {
  try {
    // The Swedish form of a day is that of ISO 8601.
    return new Intl.DateTimeFormat('sv-SE', { timeZone }).format(new Date(at))
  } catch {
    // The server may know zones that are newer than the browser.
    return at.slice(0, 10)
  }
}
