import { Group, List, Stack, Text, Title } from '@mantine/core'
import type { Schemas } from '../../client/person.ts'
import { Identifier } from '../parts/identifier.tsx'
import { Instant } from '../parts/instants/instant.tsx'
import { isolated } from '../parts/visible-name.ts'
import { useMembership } from '../session/session.ts'
import { JourneyForm } from './journey-form.tsx'
import { JourneyPage } from './journey-page.tsx'
import { JourneyRetention } from './journey-retention.tsx'
import { JourneyStatusButton } from './journey-status.tsx'
import { JourneyStatusBadge } from './journey-status-badge.tsx'
import { RemoveJourneyButton } from './remove-journey-button.tsx'

/** A journey's name, steps and status; a form for members who may change it. */
export function JourneySettingsScreen() {
  const { canChange, role } = useMembership()
  return (
    <JourneyPage path="/settings">
      {(journey) => (
        <>
          <Stack gap={4}>
            <Group gap="sm">
              <JourneyStatusBadge status={journey.status} />
              <Text size="sm" component="span">
                Updated <Instant at={journey.updated_at} relative />
              </Text>
              {canChange && <JourneyStatusButton journey={journey} />}
              {role === 'owner' && journey.status === 'archived' && <RemoveJourneyButton journey={journey} />}
            </Group>
            <Identifier value={journey.journey_id} label="journey_id" />
          </Stack>
          {canChange ? (
            <>
              <JourneyForm key={journey.journey_id} journey={journey} />
              <JourneyRetention key={journey.journey_id} journey={journey} />
            </>
          ) : (
            <JourneyDetails journey={journey} />
          )}
        </>
      )}
    </JourneyPage>
  )
}

function JourneyDetails({ journey: { description, steps } }: { journey: Schemas['Journey'] }) {
  return (
    <Stack>
      {description && <Text style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>{description}</Text>}
      <Title order={2} size="h4">
        Steps
      </Title>
      {steps.length > 0 ? (
        <List type="ordered" spacing="xs">
          {steps.map(({ event_id, name }) => (
            <List.Item key={event_id} className="breakable">
              {isolated(name)}{' '}
              <Text span size="sm" ff="monospace">
                {isolated(event_id)}
              </Text>
            </List.Item>
          ))}
        </List>
      ) : (
        <Text>This journey has no steps yet.</Text>
      )}
      <Text size="sm">An owner or admin of the workspace can change this journey.</Text>
    </Stack>
  )
}
