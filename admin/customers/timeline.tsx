import { Badge, Box, Group, Stack, Text, Title, UnstyledButton } from '@mantine/core'
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react'
import { useId, useState } from 'react'
import type { Schemas } from '../../client/person.ts'
import { EventDetails } from '../events/event-details.tsx'
import type { JourneyDirectory } from '../journeys/journey-directory.ts'
import { clockText } from '../parts/instants/instant-text.ts'
import { ArrowKeys } from '../parts/lists/arrow-keys.tsx'
import { isolated, visibleName } from '../parts/visible-name.ts'

type Event = Schemas['Event']

/** By the `id` of an event, the number of the step that it reached in its journey. */
export type FilledSteps = ReadonlyMap<string, number>

/**
 * A customer's events, one line each, grouped by day in the viewer's time zone. A line expands to all details.
 * @param byArrival whether the events are ordered, and grouped by day, by when they were received
 */
export function Timeline({
  events,
  journeys,
  filledSteps,
  byArrival,
}: {
  events: readonly Event[]
  journeys: JourneyDirectory
  filledSteps: FilledSteps
  byArrival: boolean
}) {
  return (
    <ArrowKeys>
      <Stack gap="lg">
        {byDay(events, byArrival).map(({ key, day, events }) => (
          <Box component="section" key={key} aria-label={`Events on ${day}`}>
            <Title order={3} size="h5" mb={4}>
              {day}
            </Title>
            <Stack component="ol" gap={0} p={0} m={0} style={{ listStyle: 'none' }}>
              {events.map((event) => (
                <TimelineEvent
                  key={event.id}
                  event={event}
                  journey={journeys.get(event.journey_id)}
                  step={filledSteps.get(event.id)}
                  at={byArrival ? event.received_at : event.occurred_at}
                />
              ))}
            </Stack>
          </Box>
        ))}
      </Stack>
    </ArrowKeys>
  )
}

function TimelineEvent({
  event,
  journey,
  step,
  at,
}: {
  event: Event
  journey: Schemas['Journey'] | undefined
  step: number | undefined
  at: string
}) {
  const [opened, setOpened] = useState(false)
  const detailsId = useId()
  const Chevron = opened ? IconChevronDown : IconChevronRight
  const name = journey?.steps.find(({ event_id }) => event_id === event.event_id)?.name
  return (
    <Box component="li" className="timeline-line">
      <UnstyledButton
        w="100%"
        py={6}
        fz="sm"
        aria-expanded={opened}
        aria-controls={opened ? detailsId : undefined}
        onClick={() => setOpened(!opened)}
      >
        <Group gap={8} wrap="nowrap">
          <Chevron size={16} aria-hidden style={{ flexShrink: 0 }} />
          <time dateTime={at} title={at}>
            {clockText(new Date(at))}
          </time>
          <Text span inherit truncate miw={0} flex="0 1 auto">
            {name && (
              <Text span inherit fw={600}>
                {isolated(name)}{' '}
              </Text>
            )}
            <Text span inherit ff="monospace" fw={name ? 400 : 600}>
              {isolated(event.event_id)}
            </Text>
          </Text>
          {step !== undefined && (
            <Badge variant="light" tt="none" miw="max-content">
              Step {step}
            </Badge>
          )}
          {journey && (
            <Text span inherit truncate miw={0} flex="1 1 0" ta="right" c="dimmed" visibleFrom="sm">
              {visibleName(journey.name, journey.journey_id)}
            </Text>
          )}
        </Group>
      </UnstyledButton>
      {opened && (
        <Box id={detailsId} pl={24} py="xs">
          <EventDetails event={event} journey={journey} />
        </Box>
      )}
    </Box>
  )
}

/** Runs of events on the same day, in the given order. */
function byDay(
  events: readonly Event[],
  byArrival: boolean,
): { key: string; day: string; events: Event[] }[] {
  const days: { key: string; day: string; events: Event[] }[] = []
  for (const event of events) {
    const day = dayFormat.format(new Date(byArrival ? event.received_at : event.occurred_at))
    const last = days.at(-1)
    if (last?.day === day) last.events.push(event)
    else days.push({ key: event.id, day, events: [event] })
  }
  return days
}

const dayFormat = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full' })
