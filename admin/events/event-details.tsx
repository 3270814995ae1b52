import { Anchor, Group, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { Identifier } from '../parts/identifier.tsx'
import { Instant } from '../parts/instants/instant.tsx'
import { JsonView } from '../parts/json/json-view.tsx'
import { visibleName } from '../parts/visible-name.ts'
import { useMembership } from '../session/session.ts'

/** All fields of an event. */
export function EventDetails({
  event,
  journey,
}: {
  event: Schemas['Event']
  journey: Schemas['Journey'] | undefined
}) {
  const { workspace_id } = useMembership()
  return (
    <Stack gap="sm" pb="xs">
      <Group gap="lg" align="flex-start">
        <Detail name="Occurred">
          <Instant at={event.occurred_at} />
        </Detail>
        <Detail name="Received">
          <Instant at={event.received_at} />
        </Detail>
        <Detail name="Journey">
          <Anchor component={Link} inherit to={`/w/${workspace_id}/journeys/${event.journey_id}`}>
            {journey ? visibleName(journey.name, journey.journey_id) : event.journey_id}
          </Anchor>
        </Detail>
      </Group>
      <Group gap="lg" align="flex-start">
        <Detail name="id">
          <Identifier value={event.id} label={`id of ${event.event_id}`} />
        </Detail>
        <Detail name="customer_id">
          <Identifier value={event.customer_id} label={`customer_id of ${event.event_id}`} />
        </Detail>
        <Detail name="Idempotency key (message_id)">
          {event.message_id === null ? (
            'None. A resend of this event would be stored twice.'
          ) : (
            <Identifier value={event.message_id} label={`message_id of ${event.event_id}`} />
          )}
        </Detail>
      </Group>
      <Detail name="Custom variables">
        {event.custom_variables === null ? 'None' : <JsonView value={event.custom_variables} />}
      </Detail>
    </Stack>
  )
}

function Detail({ name, children }: { name: string; children: ReactNode }) {
  return (
    <Stack gap={2} fz="sm" miw={0} maw="100%" className="breakable">
      <Text span inherit fw={600}>
        {name}
      </Text>
      <div>{children}</div>
    </Stack>
  )
}
