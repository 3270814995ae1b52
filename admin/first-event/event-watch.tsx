import '@mantine/core/styles/ThemeIcon.css'
import { Anchor, Box, Group, Paper, Stack, Text, ThemeIcon } from '@mantine/core'
import { IconCheck, IconClock } from '@tabler/icons-react'
import { skipToken, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { Link } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { useHasEventsKey } from '../overview/has-events.ts'
import { Fact } from '../parts/fact.tsx'
import { Identifier } from '../parts/identifier.tsx'
import { Instant } from '../parts/instants/instant.tsx'
import { JsonView } from '../parts/json/json-view.tsx'
import { isolated, visibleName } from '../parts/visible-name.ts'
import { ProblemError, taken } from '../problem.ts'
import { useCairn, useMembership, useWorkspaceKey } from '../session/session.ts'
import { RejectedRequests } from './rejected-requests.tsx'

/**
 * Waits for events of the journey while the page is visible. Shows and announces the latest one within a second of its
 * receipt.
 */
export function EventWatch({ journey }: { journey: Schemas['Journey'] }) {
  const cairn = useCairn()
  const { workspace_id, canChange } = useMembership()
  const { journey_id } = journey
  const name = visibleName(journey.name)
  const { data, error } = useQuery({
    queryKey: useWorkspaceKey('events', 'latest', journey_id),
    queryFn: ({ signal }) => taken(cairn.listEvents({ query: { journey_id, limit: 1 }, signal })),
    // Polls less often after a problem, which somebody has to fix first.
    refetchInterval: ({ state }) => (state.error instanceof ProblemError ? 5000 : 500),
    staleTime: 0,
  })
  const event = data?.data[0]
  const queryClient = useQueryClient()
  const hasEventsKey = useHasEventsKey()

  useEffect(() => {
    if (event && !queryClient.getQueryData(hasEventsKey)) queryClient.setQueryData(hasEventsKey, true)
  })

  return (
    <Stack>
      <Paper
        role="group"
        aria-label="Latest event"
        withBorder
        p="md"
        mih={96}
        style={event && { borderColor: 'var(--mantine-color-green-filled)', borderWidth: 2 }}
      >
        <Group align="flex-start" wrap="nowrap">
          <ThemeIcon color={event ? 'green' : 'gray'} radius="xl" aria-hidden>
            {event ? <IconCheck size={18} /> : <IconClock size={18} />}
          </ThemeIcon>
          <Box miw={0} flex={1}>
            {/* Without the facts: their relative time would announce all of it anew each minute. */}
            <Text fw={500} role="status" className="breakable">
              {/* Keyed by event, so that one with the same name is announced too. */}
              <span key={event?.id}>
                {event
                  ? `${isolated(event.event_id)} received in ${name}`
                  : `Waiting for the first event in ${name}…`}
              </span>
            </Text>
            {event ? (
              <LatestEvent event={event} />
            ) : (
              <Text size="sm">It appears here as soon as it is stored.</Text>
            )}
            <div role="status">
              {error && (
                <Text size="sm" mt="xs">
                  {error instanceof ProblemError ? error.problem.detail : 'Cannot reach Cairn at the moment.'}{' '}
                  Retrying…
                </Text>
              )}
            </div>
          </Box>
        </Group>
      </Paper>
      {canChange && data && <RejectedRequests since={event?.received_at} />}
      {data && !event && <NothingAppears seesRejections={canChange} />}
      {event && (
        <Box component="nav" aria-label="Next steps">
          <Text fw={500} mb={4}>
            Next steps
          </Text>
          <Group gap="lg" className="breakable">
            {journey.steps.length > 0 ? (
              <Anchor component={Link} to={`/w/${workspace_id}/journeys/${journey_id}`}>
                View report of {name}
              </Anchor>
            ) : (
              <Anchor component={Link} to={`/w/${workspace_id}/journeys/${journey_id}/settings`}>
                Define steps of {name}
              </Anchor>
            )}
            <Anchor component={Link} to={`/w/${workspace_id}/customers`}>
              View customers
            </Anchor>
            <Anchor component={Link} to={`/w/${workspace_id}/events?journey_id=${journey_id}`}>
              View events of {name}
            </Anchor>
          </Group>
        </Box>
      )}
    </Stack>
  )
}

/** Troubleshooting if not even a rejected request appears. */
function NothingAppears({ seesRejections }: { seesRejections: boolean }) {
  const { workspace_id } = useMembership()
  return (
    <Text size="sm" c="dimmed">
      {seesRejections
        ? 'Rejected requests appear here too, with the reason. '
        : 'Rejected requests are shown only to owners and admins of the workspace. '}
      If nothing appears, check the response that your program receives. With 401 unauthorized, the key is
      unknown: compare it with those under{' '}
      <Anchor component={Link} inherit to={`/w/${workspace_id}/keys`}>
        Service keys
      </Anchor>
      . Without any response, the program cannot reach this server: compare its URL with the one in the code.
    </Text>
  )
}

function LatestEvent({ event }: { event: Schemas['Event'] }) {
  const cairn = useCairn()
  const { workspace_id } = useMembership()
  const { customer_id } = event
  const { data: customer } = useQuery({
    queryKey: useWorkspaceKey('customers', customer_id, 'of-latest-event'),
    queryFn: customer_id
      ? ({ signal }) => taken(cairn.getCustomer({ path: { customer_id }, signal }))
      : skipToken,
  })
  return (
    <>
      <Stack component="dl" gap="xs" m={0} mt="xs">
        <Fact name="Customer">
          <Anchor component={Link} to={`/w/${workspace_id}/customers/${customer_id}`}>
            {customer ? visibleName(customer.customer_name, customer_id) : customer_id}
          </Anchor>
          {customer && <> – {isolated(customer.client_customer_id)}</>}
        </Fact>
        <Fact name="Received">
          <Instant at={event.received_at} relative />
        </Fact>
        <Fact name="Event ID">
          <Identifier value={event.id} label="event ID" />
        </Fact>
        <Fact name="Custom variables">
          {event.custom_variables === null ? 'None' : <JsonView value={event.custom_variables} />}
        </Fact>
      </Stack>
      <Text size="sm" mt="xs">
        Still listening; the next event replaces this one.
      </Text>
    </>
  )
}
