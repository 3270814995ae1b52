import '@mantine/core/styles/DataList.css'
import { Anchor, DataList, Group, NativeSelect, Stack, Text, Title } from '@mantine/core'
import { IconTimelineEvent, IconUserQuestion } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { NoEventMatches } from '../events/no-event-matches.tsx'
import { useJourneysOf } from '../journeys/journey-directory.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { SaveButton } from '../parts/export/export-button.tsx'
import { FilterBar } from '../parts/filters/filter-bar.tsx'
import { FilterField } from '../parts/filters/filter-field.tsx'
import { text } from '../parts/filters/filter-readers.ts'
import { given, useFilters } from '../parts/filters/filters.ts'
import { Identifier } from '../parts/identifier.tsx'
import { Instant } from '../parts/instants/instant.tsx'
import { LoadMore } from '../parts/lists/load-more.tsx'
import { usePages } from '../parts/lists/pages.ts'
import { Loading } from '../parts/loading.tsx'
import { countText } from '../parts/number-text.ts'
import { Page } from '../parts/page.tsx'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { visibleName } from '../parts/visible-name.ts'
import { codeOf, taken } from '../problem.ts'
import { useCairn, useMembership, useWorkspaceKey } from '../session/session.ts'
import { CustomerJourneys } from './customer-journeys.tsx'
import { CustomerMenu } from './customer-menu.tsx'
import { CustomerType } from './customer-type.tsx'
import { Timeline } from './timeline.tsx'

type CustomerEvents = ReturnType<typeof usePages<Schemas['Event']>>

/** One customer: its profile, its progress in journeys, and its events in all of them. */
export function CustomerScreen() {
  const { customerId = '' } = useParams()
  const cairn = useCairn()
  const { workspace_id, canChange } = useMembership()
  const customer = useQuery({
    queryKey: useWorkspaceKey('customers', 'one', customerId),
    queryFn: ({ signal }) => taken(cairn.getCustomer({ path: { customer_id: customerId }, signal })),
  })
  const events = usePages(useWorkspaceKey('events', 'timeline', customerId), (cursor, signal) =>
    taken(
      cairn.listCustomerEvents({
        path: { customer_id: customerId },
        query: { ...(cursor && { cursor }) },
        signal,
      }),
    ),
  )
  const journeys = usePages(useWorkspaceKey('customers', customerId, 'journeys'), (cursor, signal) =>
    taken(
      cairn.listCustomerJourneys({
        path: { customer_id: customerId },
        query: { ...(cursor && { cursor }) },
        signal,
      }),
    ),
  )
  const [firstSeen] = journeys.items.map(({ entered_at }) => entered_at).toSorted()
  // The list starts with the latest event.
  const lastSeen = events.items[0]?.occurred_at ?? firstSeen

  if (codeOf(customer.error) === 'customer_not_found') {
    return (
      <Page title="Customer not found">
        <EmptyState
          title="No customer has this ID"
          icon={<IconUserQuestion />}
          action={
            <Anchor component={Link} to={`/w/${workspace_id}/customers`}>
              Search all customers
            </Anchor>
          }
        >
          This workspace has no customer with the customer_id in the address. The customer may have been
          erased or belong to another workspace, or the address may be incomplete.
        </EmptyState>
      </Page>
    )
  }

  return (
    <Page
      title={visibleName(customer.data?.customer_name ?? 'Customer')}
      action={
        canChange &&
        customer.data && (
          // Keyed: what is asked or exported is of this customer.
          <Group key={customerId} gap="sm" align="flex-start">
            <SaveButton
              label="Export customer data"
              request={(signal) => cairn.exportCustomer({ path: { customer_id: customerId }, signal })}
            />
            <CustomerMenu customer={customer.data} />
          </Group>
        )
      }
    >
      <Stack gap="xl">
        <ProblemAlert error={customer.error} onRetry={() => void customer.refetch()} />
        {customer.isPending && <Loading lines={6} />}
        {customer.data && (
          <DataList orientation="horizontal" labelWidth="7rem" styles={{ itemValue: { minWidth: 0 } }}>
            <DataList.Item>
              <DataList.ItemLabel>Type</DataList.ItemLabel>
              <DataList.ItemValue>
                <CustomerType type={customer.data.customer_type} />
              </DataList.ItemValue>
            </DataList.Item>
            <DataList.Item>
              <DataList.ItemLabel>Your identifier</DataList.ItemLabel>
              <DataList.ItemValue>
                <Identifier value={customer.data.client_customer_id} label="client_customer_id" />
              </DataList.ItemValue>
            </DataList.Item>
            <DataList.Item>
              <DataList.ItemLabel>customer_id</DataList.ItemLabel>
              <DataList.ItemValue>
                <Identifier value={customer.data.customer_id} label="customer_id" />
              </DataList.ItemValue>
            </DataList.Item>
            {firstSeen && !journeys.hasNextPage && (
              <DataList.Item>
                <DataList.ItemLabel>First seen</DataList.ItemLabel>
                <DataList.ItemValue>
                  <Instant at={firstSeen} relative />
                </DataList.ItemValue>
              </DataList.Item>
            )}
            {lastSeen && (
              <DataList.Item>
                <DataList.ItemLabel>Last seen</DataList.ItemLabel>
                <DataList.ItemValue>
                  <Instant at={lastSeen} relative />
                </DataList.ItemValue>
              </DataList.Item>
            )}
            {events.data && (
              <DataList.Item>
                <DataList.ItemLabel>Events</DataList.ItemLabel>
                <DataList.ItemValue>
                  {countText(events.items.length)}
                  {events.hasNextPage && '+'}
                </DataList.ItemValue>
              </DataList.Item>
            )}
            <DataList.Item>
              <DataList.ItemLabel>Registered</DataList.ItemLabel>
              <DataList.ItemValue>
                <Instant at={customer.data.created_at} relative />
              </DataList.ItemValue>
            </DataList.Item>
            <DataList.Item>
              <DataList.ItemLabel>Last updated</DataList.ItemLabel>
              <DataList.ItemValue>
                <Instant at={customer.data.updated_at} relative />
              </DataList.ItemValue>
            </DataList.Item>
          </DataList>
        )}
        <CustomerJourneys journeys={journeys} />
        <CustomerTimeline
          customerId={customerId}
          since={customer.data?.created_at}
          all={events}
          journeys={journeys.items}
        />
      </Stack>
    </Page>
  )
}

/** The customer's events. Filters are applied by the server, because only a part of the events may be loaded. */
function CustomerTimeline({
  customerId,
  since,
  all,
  journeys,
}: {
  customerId: string
  /** When the customer was registered, before which it has no events; undefined until that is known. */
  since: string | undefined
  all: CustomerEvents
  journeys: readonly Schemas['CustomerJourney'][]
}) {
  const cairn = useCairn()
  const { workspace_id } = useMembership()
  const filters = useFilters({ journey_id: text, event_id: text })
  const { values } = filters
  const isFiltered = filters.count > 0
  // The timeline shows all events; the Events page would show those of the last 24 hours.
  const shown = since && { customer_id: customerId, ...given(values), received_from: since }
  const eventsPage = shown && `/w/${workspace_id}/events?${new URLSearchParams(shown)}`
  const found = usePages(
    useWorkspaceKey('events', 'of-customer', customerId, values),
    (cursor, signal) =>
      taken(
        cairn.listEvents({
          query: { customer_id: customerId, ...given(values), ...(cursor && { cursor }) },
          signal,
        }),
      ),
    { enabled: isFiltered },
  )
  const events = isFiltered ? found : all
  const directory = useJourneysOf(events.items)
  const filledSteps = new Map(
    journeys.flatMap(({ steps }) =>
      steps.flatMap(({ step, reached_by }) => (reached_by ? [[reached_by, step] as const] : [])),
    ),
  )
  return (
    <Stack component="section" gap="md" aria-labelledby="timeline">
      <div>
        <Title order={2} size="h4" id="timeline">
          Timeline
        </Title>
        <Text size="sm">
          {isFiltered
            ? 'Matching events, most recently received first. '
            : 'Events in all journeys, most recent first. '}
          {eventsPage && (
            <Anchor component={Link} inherit to={eventsPage}>
              Show on the Events page
            </Anchor>
          )}
        </Text>
      </div>
      {(isFiltered || all.items.length > 0) && (
        <FilterBar label="Filter the timeline" count={filters.count} onClear={filters.clear}>
          <NativeSelect
            label="Journey"
            value={values.journey_id}
            onChange={(change) => filters.set('journey_id', change.currentTarget.value)}
            data={[
              { value: '', label: 'All journeys' },
              ...journeys.map(({ journey_id, name }) => ({
                value: journey_id,
                label: visibleName(name, journey_id),
              })),
            ]}
          />
          <FilterField
            label="event_id"
            description="Exact event name, for example signed_up"
            monospace
            value={values.event_id}
            onChange={(value) => filters.set('event_id', value)}
          />
        </FilterBar>
      )}
      <ProblemAlert error={events.listError} onRetry={() => void events.refetch()} />
      {events.isPending && <Loading lines={8} />}
      {events.items.length > 0 && (
        <Timeline
          events={events.items}
          journeys={directory}
          filledSteps={filledSteps}
          byArrival={isFiltered}
        />
      )}
      {events.isEmpty &&
        (isFiltered ? (
          <NoEventMatches onClear={filters.clear} />
        ) : (
          <EmptyState title="No events yet" icon={<IconTimelineEvent />}>
            The customer is registered. Its events appear here as soon as your application sends them with
            createEvent requests.
          </EmptyState>
        ))}
      <LoadMore query={events} />
    </Stack>
  )
}
