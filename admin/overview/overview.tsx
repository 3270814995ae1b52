import { Anchor, SimpleGrid, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, Navigate } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { Loading } from '../parts/loading.tsx'
import { onDemand } from '../parts/on-demand.tsx'
import { Page } from '../parts/page.tsx'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { visibleName } from '../parts/visible-name.ts'
import { taken } from '../problem.ts'
import { useCairn, useMembership, useWorkspaceKey } from '../session/session.ts'
import { Arrivals } from './arrivals.tsx'
import { useHasEvents } from './has-events.ts'
import { JourneysAtAGlance } from './journeys-at-a-glance.tsx'
import { useDayActivity, useDayRefusals } from './last-day.ts'
import { Line, Lines, OverviewPart } from './overview-part.tsx'
import { Refused } from './refused.tsx'
import { RefusedNotice } from './refused-notice.tsx'
import { rejectionCount, rejectionsOf } from './rejections.ts'

// Only for those who have any.
const OverviewViews = onDemand(() =>
  import('../views/overview-views.tsx').then((module) => module.OverviewViews),
)

/** Maximum latest events, and newest customers, shown. */
const limit = 6

/** The start page: incoming events, conversion of journeys, and rejected requests. */
export function OverviewScreen() {
  const { workspace_id, name } = useMembership()
  const hasEvents = useHasEvents()
  const hasRejections = useHasRejections()
  // Without any data, the start page is how to send the first event.
  if (hasEvents.data === false && hasRejections === false) {
    return <Navigate to={`/w/${workspace_id}/first-event`} replace />
  }
  const isShown = hasEvents.data || (hasEvents.data === false && hasRejections)
  return (
    <Page
      title="Overview"
      description={`Incoming events and conversion in ${visibleName(name)}.`}
      action={
        <Anchor component={Link} to={`/w/${workspace_id}/first-event`}>
          Send a test event
        </Anchor>
      }
    >
      {!isShown && !hasEvents.error && <Loading lines={8} />}
      <ProblemAlert error={hasEvents.error} onRetry={() => hasEvents.refetch()} />
      {isShown && (
        <Stack gap="md">
          <RefusedNotice />
          <Arrivals />
          <JourneysAtAGlance />
          <Views />
          <Refused />
          <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
            <LatestEvents />
            <NewestCustomers />
          </SimpleGrid>
        </Stack>
      )}
    </Page>
  )
}

/** Whether anything was rejected in the last 24 hours; undefined until that is known. */
function useHasRejections(): boolean | undefined {
  const activity = useDayActivity()
  const refusals = useDayRefusals()
  // If this cannot be read, continue to the first event.
  if (activity.error || refusals.error) return false
  if (!activity.data || refusals.data === undefined) return undefined
  return rejectionCount(rejectionsOf(activity.data.total, refusals.data ?? undefined)) > 0
}

/** The newest views; nothing if there are none. */
function Views() {
  const cairn = useCairn()
  const { data } = useQuery({
    queryKey: useWorkspaceKey('views', {}),
    queryFn: ({ signal }) => taken(cairn.listViews({ signal })),
  })
  return data && data.data.length > 0 && <OverviewViews views={data.data} />
}

function LatestEvents() {
  const cairn = useCairn()
  const { workspace_id } = useMembership()
  const events = useQuery({
    queryKey: useWorkspaceKey('events', 'of-overview'),
    queryFn: ({ signal }) => taken(cairn.listEvents({ query: { limit }, signal })),
    refetchInterval: 5000,
  })
  return (
    <OverviewPart title="Latest events" to="events" all="All events" query={events}>
      <Lines>
        {events.data?.data.map((event: Schemas['Event']) => (
          <Line key={event.id} at={event.received_at}>
            <Text span inherit ff="monospace" fw={600}>
              {event.event_id}
            </Text>{' '}
            <Anchor component={Link} inherit to={`/w/${workspace_id}/customers/${event.customer_id}`}>
              {visibleName(event.customer_name, event.customer_id)}
            </Anchor>
          </Line>
        ))}
      </Lines>
    </OverviewPart>
  )
}

function NewestCustomers() {
  const cairn = useCairn()
  const { workspace_id } = useMembership()
  const customers = useQuery({
    queryKey: useWorkspaceKey('customers', 'of-overview'),
    queryFn: ({ signal }) => taken(cairn.listCustomers({ query: { limit }, signal })),
  })
  return (
    <OverviewPart title="Newest customers" to="customers" all="All customers" query={customers}>
      <Lines>
        {customers.data?.data.map(({ customer_id, customer_name, created_at }) => (
          <Line key={customer_id} at={created_at}>
            <Anchor component={Link} inherit to={`/w/${workspace_id}/customers/${customer_id}`}>
              {visibleName(customer_name, customer_id)}
            </Anchor>
          </Line>
        ))}
      </Lines>
    </OverviewPart>
  )
}
