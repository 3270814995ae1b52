import { Anchor, Stack, Switch, Table } from '@mantine/core'
import { IconActivity } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { useCustomerChoices } from '../customers/customer-choices.ts'
import { useJourneyChoices } from '../journeys/journey-choices.ts'
import { useJourneysOf } from '../journeys/journey-directory.ts'
import { ArrowKeys } from '../parts/arrow-keys.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { FilterBar } from '../parts/filter-bar.tsx'
import { FilterField } from '../parts/filter-field.tsx'
import { given, useFilters } from '../parts/filters.ts'
import { InstantField } from '../parts/instant-field.tsx'
import { LoadMore } from '../parts/load-more.tsx'
import { Loading } from '../parts/loading.tsx'
import { Page } from '../parts/page.tsx'
import { usePages } from '../parts/pages.ts'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { SearchedSelect } from '../parts/searched-select.tsx'
import { taken } from '../problem.ts'
import { useCairn, useMembership, useWorkspaceKey } from '../session/session.ts'
import { EventRow } from './event-row.tsx'
import { NoEventMatches } from './no-event-matches.tsx'

const followEveryMs = 5000

/** What the query has read so far. */
type ReadPages = { pages: Schemas['EventPage'][] }

/** The events of the workspace in the order of their arrival, the newest first; follows new ones while nobody reads. */
export function EventsScreen() {
  const cairn = useCairn()
  const { workspace_id } = useMembership()
  const journeyChoices = useJourneyChoices()
  const customerChoices = useCustomerChoices()
  // The names of the contract, so that an engineer can tell the request from the address.
  const filters = useFilters(['journey_id', 'event_id', 'customer_id', 'received_from', 'received_to'])
  const { values } = filters
  const [follow, setFollow] = useState(true)
  const [openedIds, setOpenedIds] = useState<ReadonlySet<string>>(new Set())

  const key = useWorkspaceKey('events', 'list', values)
  const read = useQueryClient().getQueryData<ReadPages>(key)
  const pause = pauseOf(read?.pages ?? [], openedIds.size > 0)
  const events = usePages(
    key,
    (cursor) => taken(cairn.listEvents({ query: { ...given(values), ...(cursor && { cursor }) } })),
    { refetchInterval: follow && !pause && followEveryMs },
  )
  const journeys = useJourneysOf(events.items)

  function toggle(id: string) {
    const next = new Set(openedIds)
    if (!next.delete(id)) next.add(id)
    setOpenedIds(next)
  }

  return (
    <Page
      title="Events"
      description="What Cairn has stored, the latest arrival first. Look here when you want to know whether an event has arrived and what it carried."
    >
      <Stack gap="md">
        <FilterBar label="Filter events" count={filters.count} onClear={filters.clear}>
          <SearchedSelect
            label="Journey"
            source={journeyChoices}
            value={values.journey_id}
            onChange={(value) => filters.set('journey_id', value)}
            placeholder="All journeys"
            clearable
            clearButtonProps={{ 'aria-label': 'Clear the filter by journey' }}
            nothingFoundMessage="No journey has this name"
            unknownMessage="There is no such journey."
          />
          <SearchedSelect
            label="Customer"
            source={customerChoices}
            value={values.customer_id}
            onChange={(value) => filters.set('customer_id', value)}
            placeholder="Name, your identifier or cus_…"
            clearable
            clearButtonProps={{ 'aria-label': 'Clear the filter by customer' }}
            nothingFoundMessage="No customer has this name or identifier"
            unknownMessage="There is no such customer (any more)."
          />
          <FilterField
            label="event_id"
            description="The exact name, for example signed_up"
            monospace
            value={values.event_id}
            onChange={(value) => filters.set('event_id', value)}
          />
          <InstantField
            label="Received from"
            value={values.received_from}
            onChange={(value) => filters.set('received_from', value)}
          />
          <InstantField
            label="Received before"
            value={values.received_to}
            onChange={(value) => filters.set('received_to', value)}
          />
        </FilterBar>
        <Switch
          label="Follow new events"
          description={
            !follow
              ? 'The list stays as it is.'
              : pause
                ? `Paused while ${pause}.`
                : 'New events appear at the top within five seconds.'
          }
          checked={follow}
          onChange={(change) => setFollow(change.currentTarget.checked)}
        />

        {events.error && !events.isFetchNextPageError && (
          <ProblemAlert error={events.error} onRetry={() => void events.refetch()} />
        )}
        {events.isPending && <Loading lines={10} />}
        {events.items.length > 0 && (
          <ArrowKeys>
            <Table aria-label="Events" layout="fixed" verticalSpacing="xs">
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Event</Table.Th>
                  <Table.Th visibleFrom="sm" w={130}>
                    Customer
                  </Table.Th>
                  <Table.Th visibleFrom="sm">Journey</Table.Th>
                  <Table.Th visibleFrom="sm" w={165}>
                    Occurred
                  </Table.Th>
                  <Table.Th visibleFrom="sm" w={165}>
                    Received
                  </Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {events.items.map((event) => (
                  <EventRow
                    key={event.id}
                    event={event}
                    journey={journeys.get(event.journey_id)}
                    opened={openedIds.has(event.id)}
                    onToggle={() => toggle(event.id)}
                  />
                ))}
              </Table.Tbody>
            </Table>
          </ArrowKeys>
        )}
        {events.isEmpty &&
          (filters.count > 0 ? (
            <NoEventMatches onClear={filters.clear} />
          ) : (
            <EmptyState
              title="No events yet"
              icon={<IconActivity />}
              action={
                <Anchor component={Link} to={`/w/${workspace_id}/first-event`}>
                  See how to send the first event
                </Anchor>
              }
            >
              Events appear here as soon as Cairn has answered your application’s createEvent calls.
            </EmptyState>
          ))}
        <LoadMore query={events} />
      </Stack>
    </Page>
  )
}

/** Why new events are not followed. To read a list again costs all of the requests that it took. */
function pauseOf([first, second]: ReadPages['pages'], isOpened: boolean): string | undefined {
  if (second) return 'older events are shown'
  if (first?.data.length === 0 && first.next_cursor) return 'there are older events to look through'
  return isOpened ? 'details are open' : undefined
}
