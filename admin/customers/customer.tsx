import { Anchor, DataList, Stack, Text, Title } from '@mantine/core'
import { IconTimelineEvent, IconUserQuestion } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from 'react-router'
import { useJourneysOf } from '../journeys/journey-directory.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { Identifier } from '../parts/identifier.tsx'
import { Instant } from '../parts/instant.tsx'
import { LoadMore } from '../parts/load-more.tsx'
import { Loading } from '../parts/loading.tsx'
import { Page } from '../parts/page.tsx'
import { usePages } from '../parts/pages.ts'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { visibleName } from '../parts/visible-name.ts'
import { codeOf, taken } from '../problem.ts'
import { useCairn, useMembership, useWorkspaceKey } from '../session/session.ts'
import { CustomerType } from './customer-type.tsx'
import { Timeline } from './timeline.tsx'

/** One customer: what is known of it, and its events in all journeys. */
export function CustomerScreen() {
  const { customerId = '' } = useParams()
  const cairn = useCairn()
  const { workspace_id } = useMembership()
  const customer = useQuery({
    queryKey: useWorkspaceKey('customers', 'one', customerId),
    queryFn: ({ signal }) => taken(cairn.getCustomer({ path: { customer_id: customerId }, signal })),
  })

  if (codeOf(customer.error) === 'customer_not_found') {
    return (
      <Page title="Customer not found">
        <EmptyState
          title="No customer has this identifier"
          icon={<IconUserQuestion />}
          action={
            <Anchor component={Link} to={`/w/${workspace_id}/customers`}>
              Search all customers
            </Anchor>
          }
        >
          The address names a customer_id that this workspace does not know. It may belong to another
          workspace, or be cut short.
        </EmptyState>
      </Page>
    )
  }

  return (
    <Page title={visibleName(customer.data?.customer_name ?? 'Customer')}>
      <Stack gap="xl">
        {customer.error && <ProblemAlert error={customer.error} onRetry={() => void customer.refetch()} />}
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
            <DataList.Item>
              <DataList.ItemLabel>Registered</DataList.ItemLabel>
              <DataList.ItemValue>
                <Instant at={customer.data.created_at} />
              </DataList.ItemValue>
            </DataList.Item>
            <DataList.Item>
              <DataList.ItemLabel>Last updated</DataList.ItemLabel>
              <DataList.ItemValue>
                <Instant at={customer.data.updated_at} />
              </DataList.ItemValue>
            </DataList.Item>
          </DataList>
        )}
        <CustomerTimeline customerId={customerId} />
      </Stack>
    </Page>
  )
}

function CustomerTimeline({ customerId }: { customerId: string }) {
  const cairn = useCairn()
  const { workspace_id } = useMembership()
  const events = usePages(useWorkspaceKey('events', 'timeline', customerId), (cursor) =>
    taken(
      cairn.listCustomerEvents({ path: { customer_id: customerId }, query: { ...(cursor && { cursor }) } }),
    ),
  )
  const journeys = useJourneysOf(events.items)
  return (
    <Stack component="section" gap="md" aria-labelledby="timeline">
      <div>
        <Title order={2} size="h4" id="timeline">
          Timeline
        </Title>
        <Text size="sm">
          What this customer did in all journeys, latest first. In order of arrival:{' '}
          <Anchor
            component={Link}
            inherit
            to={`/w/${workspace_id}/events?${new URLSearchParams({ customer_id: customerId })}`}
          >
            events of this customer
          </Anchor>
          .
        </Text>
      </div>
      {events.error && !events.isFetchNextPageError && (
        <ProblemAlert error={events.error} onRetry={() => void events.refetch()} />
      )}
      {events.isPending && <Loading lines={8} />}
      {events.items.length > 0 && <Timeline events={events.items} journeys={journeys} />}
      {events.isEmpty && (
        <EmptyState title="No events yet" icon={<IconTimelineEvent />}>
          The customer is registered. Its events appear here as soon as your application sends them with
          createEvent.
        </EmptyState>
      )}
      <LoadMore query={events} />
    </Stack>
  )
}
