import { Anchor, Group, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useId } from 'react'
import { Link, Navigate } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { JourneyStatusBadge } from '../journeys/journey-status-badge.tsx'
import { ShortIdentifier } from '../parts/identifier.tsx'
import { Instant } from '../parts/instant.tsx'
import { Loading } from '../parts/loading.tsx'
import { Page } from '../parts/page.tsx'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { visibleName } from '../parts/visible-name.ts'
import { taken } from '../problem.ts'
import { useCairn, useMembership, useWorkspaceKey } from '../session/session.ts'
import { useHasEvents } from './has-events.ts'

/** So many of each are shown. */
const limit = 6

/** The latest of everything, where one begins. While there is nothing, one begins with the journeys. */
export function OverviewScreen() {
  const { workspace_id, name } = useMembership()
  const hasEvents = useHasEvents()
  if (hasEvents.data === false) return <Navigate to={`/w/${workspace_id}/journeys`} replace />
  return (
    <Page
      title="Overview"
      description={`What has arrived lately in ${visibleName(name)}.`}
      action={
        <Anchor component={Link} to={`/w/${workspace_id}/first-event`}>
          Send a test event
        </Anchor>
      }
    >
      {hasEvents.isPending && <Loading lines={8} />}
      {hasEvents.error && <ProblemAlert error={hasEvents.error} onRetry={() => hasEvents.refetch()} />}
      {hasEvents.data && (
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
          <LatestEvents />
          <NewestCustomers />
          <NewestJourneys />
        </SimpleGrid>
      )}
    </Page>
  )
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
    <Latest title="Latest events" to="events" all="All events" list={events}>
      {events.data?.data.map((event: Schemas['Event']) => (
        <Line key={event.id} at={event.received_at}>
          <Text span inherit ff="monospace" fw={600}>
            {event.event_id}
          </Text>{' '}
          <Anchor component={Link} inherit to={`/w/${workspace_id}/customers/${event.customer_id}`}>
            <ShortIdentifier value={event.customer_id} />
          </Anchor>
        </Line>
      ))}
    </Latest>
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
    <Latest title="Newest customers" to="customers" all="All customers" list={customers}>
      {customers.data?.data.map(({ customer_id, customer_name, created_at }) => (
        <Line key={customer_id} at={created_at}>
          <Anchor component={Link} inherit to={`/w/${workspace_id}/customers/${customer_id}`}>
            <bdi>{visibleName(customer_name, customer_id)}</bdi>
          </Anchor>
        </Line>
      ))}
    </Latest>
  )
}

function NewestJourneys() {
  const cairn = useCairn()
  const { workspace_id } = useMembership()
  const journeys = useQuery({
    queryKey: useWorkspaceKey('journeys', 'of-overview'),
    queryFn: ({ signal }) => taken(cairn.listJourneys({ query: { limit }, signal })),
  })
  return (
    <Latest title="Newest journeys" to="journeys?status=all" all="All journeys" list={journeys}>
      {journeys.data?.data.map(({ journey_id, name, status, created_at }) => (
        <Line key={journey_id} at={created_at}>
          <Anchor component={Link} inherit to={`/w/${workspace_id}/journeys/${journey_id}`}>
            <bdi>{visibleName(name, journey_id)}</bdi>
          </Anchor>{' '}
          {status === 'archived' && <JourneyStatusBadge status={status} />}
        </Line>
      ))}
    </Latest>
  )
}

/** The first of a list, under a heading, and the way to all of it. */
function Latest({
  title,
  to,
  all,
  list,
  children,
}: {
  title: string
  to: string
  all: string
  list: { isPending: boolean; error: unknown; refetch: () => unknown }
  children: ReactNode
}) {
  const { workspace_id } = useMembership()
  const headingId = useId()
  return (
    <Paper component="section" aria-labelledby={headingId} withBorder p="md" miw={0}>
      <Group justify="space-between" mb="sm">
        <Title order={2} size="h4" id={headingId}>
          {title}
        </Title>
        <Anchor component={Link} size="sm" to={`/w/${workspace_id}/${to}`}>
          {all}
        </Anchor>
      </Group>
      {list.isPending && <Loading lines={limit} />}
      <ProblemAlert error={list.error} onRetry={() => list.refetch()} />
      <Stack component="ul" gap="xs" m={0} p={0} style={{ listStyle: 'none' }}>
        {children}
      </Stack>
    </Paper>
  )
}

function Line({ at, children }: { at: string; children: ReactNode }) {
  return (
    <Group component="li" justify="space-between" wrap="nowrap" gap="md" fz="sm">
      <Text component="div" inherit miw={0} style={{ overflowWrap: 'anywhere' }}>
        {children}
      </Text>
      <Instant at={at} />
    </Group>
  )
}
