import '@mantine/core/styles/ThemeIcon.css'
import './arrivals.css'
import { Box, Group, SimpleGrid, Stack, Text, ThemeIcon } from '@mantine/core'
import { IconAlertTriangle, IconCheck } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import type { PersonClient, Schemas } from '../../client/person.ts'
import { ChartFigure } from '../parts/charts/chart-figure.tsx'
import { Now, Relative } from '../parts/instants/instant.tsx'
import { instantText } from '../parts/instants/instant-text.ts'
import { day_ms, hour_ms, minute_ms } from '../parts/instants/lengths.ts'
import { changeText, countOf, countText } from '../parts/number-text.ts'
import { taken } from '../problem.ts'
import { useCairn, useMembership, useWorkspaceKey } from '../session/session.ts'
import { dayStart, useDayRefusals } from './last-day.ts'
import { OverviewPart } from './overview-part.tsx'
import { type Rejections, rejectionCount, rejectionsOf, rejectionText } from './rejections.ts'

type Period = Schemas['ActivityPeriod']

const week_ms = 7 * day_ms

/** Recently received events, and those in the same spans a week earlier; undefined if nothing was counted yet then. */
type Arrivals = {
  lastHour: Schemas['ActivityCounts']
  lastDay: Schemas['ActivityCounts']
  /** Includes requests that are not in the event counters. */
  hourRejections: Rejections
  hourBefore: number | undefined
  dayBefore: number | undefined
  /** The hours of the last day, including the current one, each with the same part of that hour a week earlier. */
  hours: { startsAt: Date; created: number; before: number | undefined }[]
  /** The minute, or the hour if longer ago, in which the last event was stored. */
  lastAt: Date | undefined
}

/** Events in the last hour and the last day, compared with the same spans a week earlier. */
export function Arrivals() {
  const cairn = useCairn()
  const { canChange } = useMembership()
  const refusals = useDayRefusals()
  const arrivals = useQuery({
    queryKey: useWorkspaceKey('activity', 'arrivals', canChange),
    queryFn: ({ signal }) => readArrivals(cairn, canChange, signal),
    refetchInterval: 15_000,
  })
  return (
    <OverviewPart title="Incoming events" to="events" all="All events" query={arrivals}>
      {arrivals.data && (
        <ArrivalNumbers
          arrivals={arrivals.data}
          dayRejections={rejectionsOf(arrivals.data.lastDay, refusals.data ?? undefined)}
        />
      )}
    </OverviewPart>
  )
}

function ArrivalNumbers({ arrivals, dayRejections }: { arrivals: Arrivals; dayRejections: Rejections }) {
  const { lastHour, lastDay, hourRejections, hourBefore, dayBefore, hours, lastAt } = arrivals
  const isArriving = lastHour.created > 0
  const rejected = rejectionCount(hourRejections)
  const isMostRejected = rejected > lastHour.created + lastHour.duplicate
  const isWell = isArriving && !isMostRejected
  return (
    <Stack gap="md">
      <Group gap="sm" wrap="nowrap">
        <ThemeIcon color={isWell ? 'green' : 'yellow'} radius="xl" aria-hidden>
          {isWell ? <IconCheck size={18} /> : <IconAlertTriangle size={18} />}
        </ThemeIcon>
        <Text fw={600}>
          {isWell && 'Events are arriving.'}
          {isArriving && !isWell && 'Events are arriving, but most are rejected.'}
          {!isArriving &&
            `No events were stored in the last ${lastDay.created > 0 ? 'hour' : '24 hours'}${isMostRejected ? ': incoming events are rejected' : ''}.`}
          {lastAt && (
            <>
              {' '}
              Last event: <Relative instant={lastAt} within_ms={Infinity} />.
            </>
          )}
        </Text>
      </Group>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md">
        <Span title="Last hour" counts={lastHour} rejections={hourRejections} before={hourBefore} />
        <Span title="Last 24 hours" counts={lastDay} rejections={dayRejections} before={dayBefore} />
      </SimpleGrid>
      <ChartFigure
        height={112}
        sentence={`Events created per hour in the last 24 hours.${
          dayBefore === undefined ? '' : ' Dashed lines show the same hours a week earlier.'
        }`}
        columns={[
          { key: 'hour', label: 'Hour' },
          { key: 'created', label: 'Created' },
          { key: 'before', label: 'A week earlier' },
        ]}
        rows={hours.toReversed().map(({ startsAt, created, before }) => ({
          key: startsAt.toISOString(),
          cells: [instantText(startsAt), countText(created), before === undefined ? '–' : countText(before)],
        }))}
      >
        <HourBars hours={hours} />
      </ChartFigure>
    </Stack>
  )
}

function Span({
  title,
  counts: { created, duplicate, rejected },
  rejections,
  before,
}: {
  title: string
  counts: Schemas['ActivityCounts']
  rejections: Rejections
  before: number | undefined
}) {
  const change = before === undefined ? undefined : changeText(created, before)
  const others = rejections.requests + rejections.customers
  return (
    <div>
      <Text size="sm" c="dimmed">
        {title}
      </Text>
      <Text fz="xl" fw={650}>
        {countOf(created, 'event')} created
      </Text>
      <Text size="sm">
        {before === undefined
          ? 'No data from a week earlier'
          : `${change ? `${change}: ` : ''}${countText(before)} a week earlier`}
      </Text>
      {duplicate + rejected > 0 && (
        <Text size="sm">
          {countText(created + duplicate + rejected)} received, {countOf(duplicate, 'duplicate')},{' '}
          {countText(rejected)} rejected
        </Text>
      )}
      {others > 0 && <Text size="sm">{rejectionText({ ...rejections, events: 0 })} rejected</Text>}
    </div>
  )
}

/** Plain boxes: the chart library would be half of what this first screen loads. */
function HourBars({ hours }: { hours: Arrivals['hours'] }) {
  const most = Math.max(1, ...hours.flatMap(({ created, before = 0 }) => [created, before]))
  return (
    <Stack h="100%" gap={4}>
      <Box flex={1} style={{ display: 'flex', gap: 2 }}>
        {hours.map(({ startsAt, created, before }) => (
          <Box key={startsAt.toISOString()} flex={1} pos="relative" className="hour">
            <Box className="bar" pos="absolute" bottom={0} w="100%" h={`${(created / most) * 100}%`} />
            {before !== undefined && (
              <Box className="hour-before" pos="absolute" w="100%" bottom={`${(before / most) * 100}%`} />
            )}
          </Box>
        ))}
      </Box>
      <Group justify="space-between" fz="xs">
        <span>{hours[0] && instantText(hours[0].startsAt)}</span>
        <Now />
      </Group>
    </Stack>
  )
}

async function readArrivals(
  cairn: PersonClient,
  seesRefusals: boolean,
  signal: AbortSignal,
): Promise<Arrivals> {
  const now = Date.now()
  const minute = now - (now % minute_ms)
  const hour = now - (now % hour_ms)
  const read = (by: 'minute' | 'hour', from: number, to: number) =>
    taken(
      cairn.getActivity({
        query: { by, from: new Date(from).toISOString(), to: new Date(to).toISOString() },
        signal,
      }),
    )
  const hourFrom = minute - 59 * minute_ms
  const dayFrom = dayStart(now)
  const received_from = new Date(hourFrom).toISOString()
  const [lastHour, lastDay, hourBefore, hoursBefore, refusals] = await Promise.all([
    read('minute', hourFrom, now),
    read('hour', dayFrom, now),
    read('minute', hourFrom - week_ms, now - week_ms),
    read('hour', dayFrom - week_ms, hour - week_ms),
    seesRefusals
      ? taken(cairn.getRefusalSummary({ query: { received_from, periods: 1 }, signal }))
      : undefined,
  ])
  // For the current hour, the same part of that hour a week earlier, from its minutes.
  const begun = created(hourBefore.periods.filter(({ starts_at }) => Date.parse(starts_at) >= hour - week_ms))
  const wasCounted = ({ kept_from, from }: Schemas['Activity']) => kept_from <= from
  const isHourComparable = wasCounted(hourBefore)
  const isDayComparable = wasCounted(hoursBefore)
  const before = [...hoursBefore.periods.map(({ created }) => created), begun]
  return {
    lastHour: lastHour.total,
    lastDay: lastDay.total,
    hourRejections: rejectionsOf(lastHour.total, refusals),
    hourBefore: isHourComparable ? hourBefore.total.created : undefined,
    dayBefore: isDayComparable ? hoursBefore.total.created + begun : undefined,
    hours: lastDay.periods.map(({ starts_at, created }, index) => ({
      startsAt: new Date(starts_at),
      created,
      before: isDayComparable ? before[index] : undefined,
    })),
    lastAt: lastStored(lastHour.periods) ?? lastStored(lastDay.periods),
  }
}

function created(periods: readonly Period[]): number {
  return periods.reduce((sum, { created }) => sum + created, 0)
}

function lastStored(periods: readonly Period[]): Date | undefined {
  const last = periods.findLast(({ created }) => created > 0)
  return last && new Date(last.starts_at)
}
