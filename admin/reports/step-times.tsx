import { NativeSelect, Stack, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Schemas } from '../../client/person.ts'
import { Bars, ChartFigure } from '../parts/charts/chart-figure.tsx'
import { stepNumber } from '../parts/filters/filter-readers.ts'
import { useFilters } from '../parts/filters/filters.ts'
import { durationText } from '../parts/instants/duration-text.ts'
import { Loading } from '../parts/loading.tsx'
import { countOf, countText } from '../parts/number-text.ts'
import { onDemand } from '../parts/on-demand.tsx'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { isolated } from '../parts/visible-name.ts'
import { taken } from '../problem.ts'
import { useCairn } from '../session/session.ts'
import type { ChartQuery } from './report-filters.ts'
import { isOfSame, refreshChartsEveryMs, useReportsKey } from './report-query.ts'

// Only with a breakdown.
const GroupTimes = onDemand(() => import('./group-times.tsx').then((module) => module.GroupTimes))

/** How long customers take from one step to the next. The step is in the address. */
export function StepTimesSection({
  report: { journey_id, steps },
  query,
}: {
  report: Schemas['JourneyReport']
  query: ChartQuery
}) {
  const cairn = useCairn()
  const { values, set } = useFilters({ to_step: stepNumber(steps.at(-1)?.step ?? 0) })
  const chosen = steps.find(({ step }) => String(step) === values.to_step) ?? steps[1] ?? steps[0]
  const step = chosen?.step ?? 1
  const queryKey = [...useReportsKey(), journey_id, 'step-times', step, query]
  const times = useQuery({
    queryKey,
    queryFn: ({ signal }) =>
      taken(cairn.getJourneyStepTimes({ path: { journey_id }, query: { ...query, step }, signal })),
    refetchInterval: refreshChartsEveryMs,
    // Not the times of another step.
    placeholderData: (before, earlier) =>
      isOfSame(queryKey, earlier?.queryKey) && earlier?.queryKey.at(-2) === step ? before : undefined,
  })
  if (!chosen) return null
  const from = stepBefore(steps, step)
  const to = isolated(chosen.name)
  return (
    <Stack component="section" gap="sm" aria-labelledby="times-heading" aria-busy={times.isPlaceholderData}>
      <Title order={2} size="h4" id="times-heading">
        Time between steps
      </Title>
      <NativeSelect
        label="Steps"
        maw={420}
        value={String(step)}
        onChange={(change) => set('to_step', change.currentTarget.value)}
        data={steps.map(({ step, name }) => ({
          value: String(step),
          label: `${stepBefore(steps, step)} → ${isolated(name)}`,
        }))}
      />
      <ProblemAlert error={times.error} onRetry={() => times.refetch()} />
      {times.isPending && <Loading lines={5} />}
      {times.data && <TimesFigure times={times.data} from={from} to={to} />}
      {times.data?.groups && !times.isPlaceholderData && (
        <GroupTimes
          groups={times.data.groups}
          breakdown={query.breakdown ?? ''}
          name={`Time from “${from}” to “${to}”`}
        />
      )}
    </Stack>
  )
}

/** The name, isolated, of what a time to a step is counted from. A part of a journey does not name the step before its first. */
export function stepBefore(steps: readonly { step: number; name: string }[], step: number): string {
  const before = steps.find((other) => other.step === step - 1)
  return isolated(before?.name ?? (step === 1 ? 'Entered' : `Step ${step - 1}`))
}

/** The times to a step as a chart. */
export function TimesFigure({
  times: { times, classes },
  from,
  to,
}: {
  times: Schemas['JourneyStepTimes']
  from: string
  to: string
}) {
  const { n, median_ms, p90_ms } = times
  if (median_ms === null || p90_ms === null)
    return (
      <p>
        No customer has moved from “{from}” to “{to}” yet.
      </p>
    )
  return (
    <ChartFigure
      sentence={`Time from “${from}” to “${to}” of ${countOf(n, 'customer')}: median ${durationText(median_ms)}, 90% within ${durationText(p90_ms)}.`}
      columns={[
        { key: 'from', label: 'At least' },
        { key: 'to', label: 'Less than' },
        { key: 'count', label: 'Customers' },
      ]}
      rows={classes.map(({ from_ms, to_ms, count }) => ({
        key: String(from_ms),
        cells: [durationText(from_ms), to_ms === null ? '–' : durationText(to_ms), countText(count)],
      }))}
    >
      <Bars
        noun="Customers"
        bars={classes.map(({ from_ms, to_ms, count }) => ({
          label: classText(from_ms, to_ms),
          value: count,
        }))}
      />
    </ChartFigure>
  )
}

function classText(from_ms: number, to_ms: number | null): string {
  if (to_ms === null) return `${durationText(from_ms)} or more`
  return from_ms === 0 ? `under ${durationText(to_ms)}` : `${durationText(from_ms)} – ${durationText(to_ms)}`
}
