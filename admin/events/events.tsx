import { Alert, Anchor, Button, Group, SegmentedControl, Stack, Text, VisuallyHidden } from '@mantine/core'
import { IconActivity, IconFilter, IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import { Link } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { useCustomerChoices } from '../customers/customer-choices.ts'
import { useJourneyChoices } from '../journeys/journey-choices.ts'
import { useJourneysOf } from '../journeys/journey-directory.ts'
import { JourneyFilter } from '../journeys/journey-filter.tsx'
import { useKeyChoices } from '../keys/key-choices.ts'
import { useHasEvents, useHasEventsKey } from '../overview/has-events.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { ExportButton } from '../parts/export/export-button.tsx'
import { FilterField } from '../parts/filters/filter-field.tsx'
import type { Chip } from '../parts/filters/filter-line.tsx'
import { oneOf, text } from '../parts/filters/filter-readers.ts'
import { type Filters, given, useFilters } from '../parts/filters/filters.ts'
import { SearchedSelect } from '../parts/forms/searched-select.tsx'
import { secondsText } from '../parts/instants/instant-text.ts'
import { LoadMore } from '../parts/lists/load-more.tsx'
import { useOpened } from '../parts/lists/opened.ts'
import { usePages } from '../parts/lists/pages.ts'
import { Loading } from '../parts/loading.tsx'
import { countOf, countText } from '../parts/number-text.ts'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { isolated } from '../parts/visible-name.ts'
import { taken } from '../problem.ts'
import { useCairn, useMembership, useWorkspaceKey } from '../session/session.ts'
import { EventDrawer, type FilterBy } from './event-drawer.tsx'
import { EventRows, type ShownTime } from './event-rows.tsx'
import { useChipText } from './filter-chips.ts'
import { HappeningPage } from './happening-page.tsx'
import { Histogram } from './histogram.tsx'
import { type Listed, merged, useHeld, useLive } from './live.ts'
import { NoEventMatches } from './no-event-matches.tsx'
import { firstReceived, occurredWithin, type SpanFilters, spanReaders, useSpan } from './span.ts'
import { SpanFilterLine } from './span-filter-line.tsx'
import { hasVariable } from './variables-text.ts'

type Event = Schemas['Event']

type EventFilters = Filters<keyof typeof readers>

/** Server-side filters have the contract's names, so that engineers can derive the request from the address. */
const readers = {
  journey_id: text,
  event_id: text,
  customer_id: text,
  key_id: text,
  variable: text,
  time: oneOf(['occurred']),
}

/** Live events of the workspace, the most recently received first. */
export function EventsScreen() {
  const cairn = useCairn()
  const filters = useFilters(readers)
  const spans = useFilters(spanReaders)
  const span = useSpan(spans)
  const { journey_id, event_id, customer_id, key_id, variable } = filters.values
  const time: ShownTime = filters.values.time === 'occurred' ? 'occurred_at' : 'received_at'
  const within = time === 'occurred_at' ? occurredWithin(span) : span.query
  const query = { ...within, ...given({ journey_id, event_id, customer_id, key_id }) }
  const events = usePages(
    useWorkspaceKey('events', 'list', query),
    (cursor, signal) => {
      const asked = { ...query, warnings: true, ...(cursor && { cursor }) }
      return taken(cairn.listEvents({ query: asked, signal }))
    },
    // `useLive` adds new events without moving the list.
    { refetchOnWindowFocus: false, refetchOnReconnect: false },
  )

  const isEnding = span.toMs !== undefined
  const [readings, setReadings] = useState(0)
  const live = useLive(cairn, {
    key: JSON.stringify([query, readings]),
    query: { ...query, warnings: true },
    listed: events.data && listedOf(events.items, events.hasNextPage),
    isOn: !isEnding && !events.isPlaceholderData,
  })
  const { openedId, open } = useOpened('event')
  const [isPaused, setIsPaused] = useState(false)
  const held = useHeld(live.arrived, { isHeld: isPaused || openedId !== '', listed: events.items })
  const listed = merged(held.shown, events.items)
  const shown = variable ? listed.filter((event) => hasVariable(event.custom_variables, variable)) : listed
  const journeys = useJourneysOf(listed)
  useNoteEvents(listed.length > 0)

  return (
    <HappeningPage
      tab="events"
      action={
        <ExportButton
          ignores={variable === '' ? undefined : `variable ${isolated(variable)}`}
          request={(format, signal) => cairn.exportEvents({ query: { ...query, format }, signal })}
        />
      }
    >
      <Stack gap="sm">
        <EventFilterLine
          filters={filters}
          spans={spans}
          end={
            !isEnding && (
              <LiveButton
                isPaused={isPaused}
                waiting={held.waiting}
                onToggle={() => setIsPaused(!isPaused)}
              />
            )
          }
        />
        <Histogram
          span={span}
          spans={spans}
          filter={{ journey_id, event_id, key_id }}
          note={countedNote({ customer_id, variable, time })}
        />
        {live.isSampled && live.counted && (
          <Alert color="yellow" py="xs" title="Showing a sample: events arrive too fast to show all of them">
            The counters are exact: {countOf(live.counted.created, 'event')} created and{' '}
            {countText(live.counted.rejected)} rejected since {secondsText(live.counted.since)}.
          </Alert>
        )}
        {live.isIncomplete && !live.isSampled && live.counted && (
          <Alert color="gray" py="xs" title="Some events are missing from this list">
            <Group gap="sm">
              Since {secondsText(live.counted.since)}, more events arrived than this list can take.
              <Button
                size="xs"
                variant="default"
                onClick={async () => {
                  await events.refetch()
                  setReadings(readings + 1)
                }}
              >
                Reload list
              </Button>
            </Group>
          </Alert>
        )}
        <ProblemAlert error={events.listError} onRetry={() => events.refetch()} />
        {!events.error && <ProblemAlert error={live.error} />}
        {events.isPending && <Loading lines={10} />}
        {variable && listed.length > 0 && (
          <Text size="sm" role="status">
            {countText(shown.length)} of {countOf(listed.length, 'loaded event')} match {isolated(variable)}.
          </Text>
        )}
        {held.waiting > 0 && !isPaused && openedId === '' && (
          <Button variant="light" size="xs" className="waiting" onClick={held.show}>
            Show {countOf(held.waiting, 'new event')}
          </Button>
        )}
        {shown.length > 0 && (
          <EventRows events={shown} journeys={journeys} time={time} openedId={openedId} onOpen={open} />
        )}
        {events.isEmpty && listed.length === 0 && (
          <NoEvents
            isFiltered={filters.count > (time === 'occurred_at' ? 1 : 0)}
            time={time}
            span={span.text}
            spans={spans}
            onClear={filters.clear}
          />
        )}
        <LoadMore query={events} />
      </Stack>
      <OpenedEvent listed={shown} />
    </HappeningPage>
  )
}

/** Rows on the first page of a list. */
const firstPage = 50

function listedOf(items: readonly Event[], hasMore: boolean): Listed {
  const last = items[firstPage - 1] ?? (hasMore ? items.at(-1) : undefined)
  return { newest: items[0] ?? null, oldest: last ?? null }
}

/** How the counters differ from the list: they count by time of receipt, and not by customer or variable. */
function countedNote({
  customer_id,
  variable,
  time,
}: {
  customer_id: string
  variable: string
  time: ShownTime
}): string | undefined {
  const notes = [
    ...(time === 'occurred_at' ? ['by time received'] : []),
    ...(customer_id ? ['not filtered by customer'] : []),
    ...(variable ? ['not filtered by variable'] : []),
  ]
  return notes.length > 0 ? notes.join(', ') : undefined
}

/** The navigation changes once there are events. */
function useNoteEvents(isAny: boolean) {
  const queryClient = useQueryClient()
  const key = useHasEventsKey()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key is of the workspace, as all of the screen.
  useEffect(() => {
    if (isAny) queryClient.setQueryData(key, true)
  }, [isAny])
}

function EventFilterLine({
  filters: { values, set },
  spans,
  end,
}: {
  filters: EventFilters
  spans: SpanFilters
  end: ReactNode
}) {
  const journeys = useJourneyChoices()
  const customers = useCustomerChoices()
  const keys = useKeyChoices()
  const { journey_id, event_id, customer_id, key_id, variable, time } = values
  const journeyText = useChipText(journeys, journey_id)
  const customerText = useChipText(customers, customer_id)
  const keyText = useChipText(keys, key_id)
  const chips: (Chip | false)[] = [
    journey_id !== '' && chip('journey', journeyText, () => set('journey_id', '')),
    event_id !== '' && chip('event', event_id, () => set('event_id', '')),
    customer_id !== '' && chip('customer', customerText, () => set('customer_id', '')),
    key_id !== '' && chip('key', keyText, () => set('key_id', '')),
    variable !== '' && chip('variable', variable, () => set('variable', '')),
    time !== '' && chip('time', 'occurred', () => set('time', '')),
  ]
  return (
    <SpanFilterLine
      label="Filter events"
      spans={spans}
      by={time === 'occurred' ? 'Occurred' : 'Received'}
      chips={chips.filter((chip) => chip !== false)}
      end={end}
      fields={
        <>
          <JourneyFilter value={journey_id} onChange={(value) => set('journey_id', value)} />
          <SearchedSelect
            label="Customer"
            source={customers}
            value={customer_id}
            onChange={(value) => set('customer_id', value)}
            placeholder="Name, your identifier or cus_…"
            clearable
            clearButtonProps={{ 'aria-label': 'Clear the filter by customer' }}
            nothingFoundMessage="No customer with this name or identifier"
            unknownMessage="This workspace has no such customer."
          />
          <FilterField
            label="event_id"
            description="Exact event name, for example signed_up"
            monospace
            value={event_id}
            onChange={(value) => set('event_id', value)}
          />
          <SearchedSelect
            label="Service key"
            source={keys}
            value={key_id}
            onChange={(value) => set('key_id', value)}
            placeholder="All keys"
            clearable
            clearButtonProps={{ 'aria-label': 'Clear the filter by key' }}
            nothingFoundMessage="No key with this name"
            unknownMessage="This workspace has no such key."
          />
          <FilterField
            label="Variable"
            description="name=value, or any text. Filters only the events loaded below."
            monospace
            value={variable}
            onChange={(value) => set('variable', value)}
          />
          <Stack gap={4}>
            <Text size="sm" fw={500}>
              Filter and show time by
            </Text>
            <SegmentedControl
              aria-label="Filter and show time by"
              size="xs"
              data={[
                { value: '', label: 'Received' },
                { value: 'occurred', label: 'Occurred' },
              ]}
              value={time === 'occurred' ? time : ''}
              onChange={(value) => set('time', value)}
            />
          </Stack>
        </>
      }
    />
  )
}

function chip(name: string, text: string, onRemove: () => void): Chip {
  return { key: name, name, text, onRemove }
}

function LiveButton({
  isPaused,
  waiting,
  onToggle,
}: {
  isPaused: boolean
  waiting: number
  onToggle: () => void
}) {
  return (
    <Button
      size="xs"
      variant={isPaused ? 'default' : 'light'}
      leftSection={
        isPaused ? <IconPlayerPlay size={14} aria-hidden /> : <IconPlayerPause size={14} aria-hidden />
      }
      onClick={onToggle}
    >
      {isPaused ? (
        `Resume${waiting > 0 ? ` (${countText(waiting)} new)` : ''}`
      ) : (
        <>
          Live<VisuallyHidden component="span">, pause</VisuallyHidden>
        </>
      )}
    </Button>
  )
}

/** The event in the address, even if it is not in the list. */
function OpenedEvent({ listed }: { listed: readonly Event[] }) {
  const cairn = useCairn()
  const { openedId, movesIn, close } = useOpened('event')
  const inList = listed.find(({ id }) => id === openedId)
  const other = useQuery({
    queryKey: useWorkspaceKey('events', 'one', openedId),
    queryFn: async ({ signal }) =>
      (await taken(cairn.listEvents({ query: { id: openedId, warnings: true }, signal }))).data[0] ?? null,
    enabled: openedId !== '' && !inList,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const event = inList ?? other.data
  const journeys = useJourneysOf(event ? [event] : [])
  const onFilter: FilterBy = (name, value) => close({ [name]: value })
  return (
    <EventDrawer
      opened={openedId !== ''}
      event={event}
      error={event ? null : other.error}
      onRetry={() => other.refetch()}
      journey={event ? journeys.get(event.journey_id) : undefined}
      onClose={() => close()}
      onFilter={onFilter}
      moves={movesIn(listed.map(({ id }) => id))}
    />
  )
}

/** Before any event. One can have occurred since 1900 (contract: `Instant`). */
const everSince = {
  received_at: new Date(firstReceived).toISOString(),
  occurred_at: '1900-01-01T00:00:00.000Z',
}

function NoEvents({
  isFiltered,
  time,
  span,
  spans,
  onClear,
}: {
  isFiltered: boolean
  time: ShownTime
  span: string
  spans: SpanFilters
  onClear: () => void
}) {
  const { workspace_id } = useMembership()
  const { data: hasEvents } = useHasEvents()
  if (!hasEvents) {
    return (
      <EmptyState
        title="No events yet"
        icon={<IconActivity />}
        action={
          <Anchor component={Link} to={`/w/${workspace_id}/first-event`}>
            Send your first event
          </Anchor>
        }
      >
        Events appear here as soon as your application sends createEvent requests. Rejected requests are on
        the Rejected tab.
      </EmptyState>
    )
  }
  if (isFiltered) return <NoEventMatches onClear={onClear} />
  const isLongest = spans.values.last === '7d' && !spans.values.received_from
  return (
    <EmptyState
      title="No events in this time range"
      icon={<IconFilter />}
      action={
        <Button
          variant="default"
          onClick={() =>
            spans.setAll({
              last: isLongest ? '' : '7d',
              received_from: isLongest ? everSince[time] : '',
              received_to: '',
            })
          }
        >
          {isLongest ? 'Show all events' : 'Show the last 7 days'}
        </Button>
      }
    >
      No event {time === 'occurred_at' ? 'occurred' : 'was received'} in {span}.
    </EmptyState>
  )
}
