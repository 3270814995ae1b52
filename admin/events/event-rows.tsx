import { Box, Table, Text, UnstyledButton, VisuallyHidden } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import type { Schemas } from '../../client/person.ts'
import type { JourneyDirectory } from '../journeys/journey-directory.ts'
import { millisecondsText, shortDayText } from '../parts/instants/instant-text.ts'
import { useToday } from '../parts/instants/today.ts'
import { ArrowKeys } from '../parts/lists/arrow-keys.tsx'
import { isolated, visibleName } from '../parts/visible-name.ts'
import { variablesText } from './variables-text.ts'

type Event = Schemas['Event']

/** Which of its two times an event is shown with. */
export type ShownTime = 'received_at' | 'occurred_at'

/** Events, one line each. A line opens the details of the event. */
export function EventRows({
  events,
  journeys,
  time,
  openedId,
  onOpen,
}: {
  events: readonly Event[]
  journeys: JourneyDirectory
  time: ShownTime
  openedId: string
  onOpen: (id: string) => void
}) {
  const today = useToday()
  return (
    <ArrowKeys>
      <Table
        className="event-rows"
        aria-label="Events"
        layout="fixed"
        verticalSpacing={4}
        horizontalSpacing="xs"
      >
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={{ base: '7.5rem', sm: '11rem' }}>
              {time === 'received_at' ? 'Received' : 'Occurred'}
            </Table.Th>
            <Table.Th w={{ sm: '18%' }}>Event</Table.Th>
            <Table.Th visibleFrom="sm" w="22%">
              Customer
            </Table.Th>
            <Table.Th visibleFrom="sm" w="14%">
              Journey
            </Table.Th>
            <Table.Th visibleFrom="sm">Variables</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {events.map((event) => (
            <EventRow
              key={event.id}
              event={event}
              journey={journeys.get(event.journey_id)}
              time={time}
              today={today}
              isOpened={event.id === openedId}
              onOpen={() => onOpen(event.id)}
            />
          ))}
        </Table.Tbody>
      </Table>
    </ArrowKeys>
  )
}

function EventRow({
  event,
  journey,
  time,
  today,
  isOpened,
  onOpen,
}: {
  event: Event
  journey: Schemas['Journey'] | undefined
  time: ShownTime
  today: string
  isOpened: boolean
  onOpen: () => void
}) {
  const at = new Date(event[time])
  const customer = visibleName(event.customer_name, event.client_customer_id)
  const journeyName = journey ? visibleName(journey.name, journey.journey_id) : event.journey_id
  const step = stepOf(event, journey)
  const variables = variablesText(event.custom_variables)
  return (
    <Table.Tr data-open={isOpened || undefined} onClick={onOpen}>
      <Table.Td className="event-time">
        <UnstyledButton
          className="event-time"
          aria-haspopup="dialog"
          onClick={(click) => {
            // Open once, not again for the row.
            click.stopPropagation()
            onOpen()
          }}
        >
          <VisuallyHidden>{event.event_id} of </VisuallyHidden>
          {at.toDateString() !== today && (
            <Text span inherit c="dimmed" visibleFrom="sm">
              {shortDayText(at)}{' '}
            </Text>
          )}
          <time dateTime={event[time]} title={event[time]}>
            {millisecondsText(at)}
          </time>
        </UnstyledButton>
      </Table.Td>
      <Table.Td>
        <Text span inherit {...(!step && { ff: 'monospace' as const })} fw={600} title={event.event_id}>
          {step ?? isolated(event.event_id)}
        </Text>
        {event.warnings && <WarningMark />}
        <Box hiddenFrom="sm" fz="xs" style={{ overflow: 'hidden', textOverflow: 'ellipsis' }}>
          {customer}
        </Box>
      </Table.Td>
      <Table.Td visibleFrom="sm" title={`${customer} ${isolated(event.client_customer_id)}`}>
        {customer}{' '}
        <Text span inherit c="dimmed" ff="monospace" fz="0.9em">
          {isolated(event.client_customer_id)}
        </Text>
      </Table.Td>
      <Table.Td visibleFrom="sm" title={journeyName}>
        {journeyName}
      </Table.Td>
      <Table.Td visibleFrom="sm" c="dimmed" title={variables}>
        {variables}
      </Table.Td>
    </Table.Tr>
  )
}

/** Marks an event that does not conform to its definition. */
function WarningMark() {
  const label = 'Does not conform to its definition'
  return (
    <span role="img" aria-label={label} title={label} className="event-warning">
      <IconAlertTriangle size={14} aria-hidden />
    </span>
  )
}

/** The name of the step in its journey that an event belongs to. */
export function stepOf({ event_id }: Event, journey: Schemas['Journey'] | undefined): string | undefined {
  const name = journey?.steps.find((step) => step.event_id === event_id)?.name
  return name && visibleName(name, event_id)
}
