import { Anchor, Group, Stack, Table, Text, UnstyledButton, VisuallyHidden } from '@mantine/core'
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react'
import { type ReactNode, useId } from 'react'
import { Link } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { Identifier, ShortIdentifier } from '../parts/identifier.tsx'
import { Instant } from '../parts/instant.tsx'
import { JsonView } from '../parts/json-view.tsx'
import { useIsNarrow } from '../parts/narrow.ts'
import { visibleName } from '../parts/visible-name.ts'
import { useMembership } from '../session/session.ts'

/** An event in the table of events, and below it, while `opened`, all that is stored of it. */
export function EventRow({
  event,
  journey,
  opened,
  onToggle,
}: {
  event: Schemas['Event']
  journey: Schemas['Journey'] | undefined
  opened: boolean
  onToggle: () => void
}) {
  const { workspace_id } = useMembership()
  const isNarrow = useIsNarrow()
  const detailsId = useId()
  const Chevron = opened ? IconChevronDown : IconChevronRight
  const customer = (
    <Anchor component={Link} inherit to={`/w/${workspace_id}/customers/${event.customer_id}`}>
      <ShortIdentifier value={event.customer_id} />
    </Anchor>
  )
  const journeyName = (
    <bdi>
      {journey ? visibleName(journey.name, journey.journey_id) : <ShortIdentifier value={event.journey_id} />}
    </bdi>
  )
  return (
    <>
      <Table.Tr>
        <Table.Td style={{ overflowWrap: 'anywhere' }}>
          <UnstyledButton
            fz="sm"
            aria-expanded={opened}
            aria-controls={opened ? detailsId : undefined}
            onClick={onToggle}
          >
            <Group gap={6} wrap="nowrap" align="flex-start">
              <Chevron size={16} aria-hidden style={{ flexShrink: 0, marginTop: 2 }} />
              <Text span inherit ff="monospace" fw={600}>
                {event.event_id}
              </Text>
              <VisuallyHidden>
                , details of the event received at {clockFormat.format(new Date(event.received_at))}
              </VisuallyHidden>
            </Group>
          </UnstyledButton>
          <Stack hiddenFrom="sm" gap={2} mt={4} fz="sm">
            <span>
              {customer} in {journeyName}
            </span>
            <span>
              received <Instant at={event.received_at} />
            </span>
          </Stack>
        </Table.Td>
        <Table.Td visibleFrom="sm">{customer}</Table.Td>
        <Table.Td visibleFrom="sm" style={{ overflowWrap: 'anywhere' }}>
          {journeyName}
        </Table.Td>
        <Table.Td visibleFrom="sm">
          <Instant at={event.occurred_at} />
        </Table.Td>
        <Table.Td visibleFrom="sm">
          <Instant at={event.received_at} />
        </Table.Td>
      </Table.Tr>
      {opened && (
        <Table.Tr id={detailsId}>
          {/* In a fixed layout a cell over columns that are not shown would make them take room. */}
          <Table.Td colSpan={isNarrow ? 1 : 5}>
            <EventDetails event={event} journey={journey} />
          </Table.Td>
        </Table.Tr>
      )}
    </>
  )
}

function EventDetails({
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
            <bdi>{journey ? visibleName(journey.name, journey.journey_id) : event.journey_id}</bdi>
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
        <Detail name="message_id">
          {event.message_id === null ? (
            'none: a resend of this event would be stored again'
          ) : (
            <Identifier value={event.message_id} label={`message_id of ${event.event_id}`} />
          )}
        </Detail>
      </Group>
      <Detail name="Custom variables">
        {event.custom_variables === null ? 'none were sent' : <JsonView value={event.custom_variables} />}
      </Detail>
    </Stack>
  )
}

function Detail({ name, children }: { name: string; children: ReactNode }) {
  return (
    <Stack gap={2} fz="sm" miw={0} maw="100%" style={{ overflowWrap: 'anywhere' }}>
      <Text span inherit fw={600}>
        {name}
      </Text>
      <div>{children}</div>
    </Stack>
  )
}

const clockFormat = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })
