import { Anchor, Box, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { Link } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import type { JourneyDirectory } from '../journeys/journey-directory.ts'
import { ArrowKeys } from '../parts/arrow-keys.tsx'
import { Identifier } from '../parts/identifier.tsx'
import { Instant } from '../parts/instant.tsx'
import { visibleName } from '../parts/visible-name.ts'
import { useMembership } from '../session/session.ts'
import { CustomVariables } from './custom-variables.tsx'

/** From this difference on, the time of arrival says something: an import, a queue, a phone that was offline. */
const noticeableDelayMs = 60_000

/** A customer's events, latest first, under a heading for each day in the viewer's time zone. */
export function Timeline({
  events,
  journeys,
}: {
  events: readonly Schemas['Event'][]
  journeys: JourneyDirectory
}) {
  return (
    <ArrowKeys>
      <Stack gap="lg">
        {byDay(events).map(({ day, events }) => (
          <Box component="section" key={day} aria-label={`Events of ${day}`}>
            <Title order={3} size="h5" mb="xs">
              {day}
            </Title>
            <Stack component="ol" gap="xs" p={0} m={0} style={{ listStyle: 'none' }}>
              {events.map((event) => (
                <Paper component="li" key={event.id} withBorder p="sm">
                  <TimelineEvent event={event} journey={journeys.get(event.journey_id)} />
                </Paper>
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
}: {
  event: Schemas['Event']
  journey: Schemas['Journey'] | undefined
}) {
  const { workspace_id } = useMembership()
  const step = journey?.steps.find(({ event_id }) => event_id === event.event_id)
  const delayMs = Math.abs(Date.parse(event.received_at) - Date.parse(event.occurred_at))
  return (
    <Stack gap="xs">
      <Group justify="space-between" gap="xs" align="baseline">
        <Group gap="xs" align="baseline" style={{ overflowWrap: 'anywhere' }}>
          {step && (
            <Text span fw={600}>
              <bdi>{step.name}</bdi>
            </Text>
          )}
          <Text span ff="monospace" fw={step ? 400 : 600} size="sm">
            {event.event_id}
          </Text>
        </Group>
        <Text span size="sm">
          <Instant at={event.occurred_at} />
        </Text>
      </Group>
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        In the journey{' '}
        <Anchor component={Link} inherit to={`/w/${workspace_id}/journeys/${event.journey_id}`}>
          <bdi>{journey ? visibleName(journey.name, journey.journey_id) : event.journey_id}</bdi>
        </Anchor>
        {delayMs >= noticeableDelayMs && (
          <>
            {' · received '}
            <Instant at={event.received_at} />
          </>
        )}
      </Text>
      <CustomVariables event={event} />
      {event.message_id !== null && (
        <Group gap="xs" fz="sm" wrap="nowrap">
          <Text span inherit>
            message_id
          </Text>
          <Identifier value={event.message_id} label={`message_id of ${event.event_id}`} />
        </Group>
      )}
    </Stack>
  )
}

/** Runs of events that occurred on the same day; the order stays. */
function byDay(events: readonly Schemas['Event'][]): { day: string; events: Schemas['Event'][] }[] {
  const days: { day: string; events: Schemas['Event'][] }[] = []
  for (const event of events) {
    const day = dayFormat.format(new Date(event.occurred_at))
    const last = days.at(-1)
    if (last?.day === day) last.events.push(event)
    else days.push({ day, events: [event] })
  }
  return days
}

const dayFormat = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full' })
