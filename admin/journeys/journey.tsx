import { Anchor, Button, Group, List, Stack, Text, Title } from '@mantine/core'
import { IconSend } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { Identifier } from '../parts/identifier.tsx'
import { Instant } from '../parts/instant.tsx'
import { Loading } from '../parts/loading.tsx'
import { Page } from '../parts/page.tsx'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { visibleName } from '../parts/visible-name.ts'
import { codeOf, taken } from '../problem.ts'
import { useCairn, useMembership, useWorkspaceKey } from '../session/session.ts'
import { JourneyForm } from './journey-form.tsx'
import { JourneyStatusButton } from './journey-status.tsx'
import { JourneyStatusBadge } from './journey-status-badge.tsx'

/** One journey: what it is, and for those who may change it a form. */
export function JourneyScreen() {
  const cairn = useCairn()
  const { workspace_id, canChange } = useMembership()
  const { journeyId = '' } = useParams()
  const { data, error, isPending, refetch } = useQuery({
    queryKey: useWorkspaceKey('journeys', journeyId),
    queryFn: ({ signal }) => taken(cairn.getJourney({ path: { journey_id: journeyId }, signal })),
  })
  const listLink = (
    <Anchor component={Link} to={`/w/${workspace_id}/journeys`} size="sm">
      All journeys
    </Anchor>
  )

  if (isPending) {
    return (
      <Page title="Journey">
        <Loading lines={8} />
      </Page>
    )
  }
  if (!data) {
    return (
      <Page title="Journey">
        {codeOf(error) === 'journey_not_found' ? (
          <EmptyState title="There is no such journey" action={listLink}>
            <Text>
              The workspace has no journey with this identifier. Check the address, or look for it in the
              list.
            </Text>
          </EmptyState>
        ) : (
          <ProblemAlert error={error} onRetry={() => refetch()} />
        )}
      </Page>
    )
  }
  return (
    <Page
      title={visibleName(data.name)}
      action={
        <Group gap="sm">
          {data.status === 'active' && (
            <Button
              component={Link}
              to={`/w/${workspace_id}/first-event?journey=${data.journey_id}`}
              variant="default"
              size="xs"
              leftSection={<IconSend size={16} aria-hidden />}
            >
              Send an event
            </Button>
          )}
          {canChange && <JourneyStatusButton journey={data} />}
        </Group>
      }
    >
      <Stack gap="lg">
        <Stack gap={4}>
          <Group gap="sm">
            <JourneyStatusBadge status={data.status} />
            <Text size="sm" component="span">
              Updated <Instant at={data.updated_at} />
            </Text>
            {listLink}
          </Group>
          <Identifier value={data.journey_id} label="journey_id" />
          {data.status === 'archived' && (
            <Text size="sm">
              This journey is archived: it takes no new customers and events. What it holds stays readable.
            </Text>
          )}
        </Stack>
        {error && <ProblemAlert error={error} onRetry={() => refetch()} />}
        {canChange ? <JourneyForm key={data.journey_id} journey={data} /> : <JourneyDetails journey={data} />}
      </Stack>
    </Page>
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
            <List.Item key={event_id} style={{ overflowWrap: 'anywhere' }}>
              {name}{' '}
              <Text span size="sm" ff="monospace">
                {event_id}
              </Text>
            </List.Item>
          ))}
        </List>
      ) : (
        <Text>This journey has no steps yet.</Text>
      )}
      <Text size="sm">An owner or an admin of the workspace can change this journey.</Text>
    </Stack>
  )
}
