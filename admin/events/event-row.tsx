import { Anchor, Group, Stack, Table, Text, UnstyledButton, VisuallyHidden } from '@mantine/core'
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react'
import { useId } from 'react'
import { Link } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { ShortIdentifier } from '../parts/identifier.tsx'
import { Instant } from '../parts/instant.tsx'
import { useIsNarrow } from '../parts/narrow.ts'
import { visibleName } from '../parts/visible-name.ts'
import { useMembership } from '../session/session.ts'
import { EventDetails } from './event-details.tsx'

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

const clockFormat = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })
