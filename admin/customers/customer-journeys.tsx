import { Anchor, Box, Group, Paper, SimpleGrid, Stack, Text, Title, VisuallyHidden } from '@mantine/core'
import { IconCircle, IconCircleCheckFilled, IconCircleDashed } from '@tabler/icons-react'
import { Link } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { JourneyStatusBadge } from '../journeys/journey-status-badge.tsx'
import { Instant } from '../parts/instants/instant.tsx'
import { LoadMore } from '../parts/lists/load-more.tsx'
import type { usePages } from '../parts/lists/pages.ts'
import { Loading } from '../parts/loading.tsx'
import { countText } from '../parts/number-text.ts'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { isolated, visibleName } from '../parts/visible-name.ts'
import { useMembership } from '../session/session.ts'

type CustomerJourney = Schemas['CustomerJourney']

/** A customer's progress in each of its journeys. */
export function CustomerJourneys({ journeys }: { journeys: ReturnType<typeof usePages<CustomerJourney>> }) {
  return (
    <Stack component="section" gap="md" aria-labelledby="journeys">
      <Title order={2} size="h4" id="journeys">
        Journeys
      </Title>
      <ProblemAlert error={journeys.listError} onRetry={() => void journeys.refetch()} />
      {journeys.isPending && <Loading lines={3} />}
      {journeys.isEmpty && <Text size="sm">This customer has not entered any journey yet.</Text>}
      <SimpleGrid
        component="ul"
        cols={{ base: 1, md: 2 }}
        spacing="md"
        m={0}
        p={0}
        style={{ listStyle: 'none' }}
      >
        {journeys.items.map((journey) => (
          <Paper component="li" key={journey.journey_id} withBorder p="md" miw={0}>
            <JourneyProgress journey={journey} />
          </Paper>
        ))}
      </SimpleGrid>
      <LoadMore query={journeys} />
    </Stack>
  )
}

function JourneyProgress({
  journey: { journey_id, name, status, entered_at, steps, recomputing },
}: {
  journey: CustomerJourney
}) {
  const { workspace_id } = useMembership()
  const reached = steps.filter(({ reached_at }) => reached_at !== null).length
  return (
    <Stack gap="xs">
      <Group gap="xs" justify="space-between">
        <Anchor
          component={Link}
          fw={600}
          to={`/w/${workspace_id}/journeys/${journey_id}`}
          className="breakable"
        >
          {visibleName(name, journey_id)}
        </Anchor>
        {status === 'archived' && <JourneyStatusBadge status={status} />}
      </Group>
      <Text size="sm">
        Entered <Instant at={entered_at} relative />
        {steps.length > 0 && ` · ${countText(reached)} of ${countText(steps.length)} steps`}
        {recomputing && ' · recalculating'}
      </Text>
      {steps.length === 0 ? (
        <Text size="sm">This journey has no steps yet.</Text>
      ) : (
        <Stack
          component="ol"
          gap={4}
          m={0}
          p={0}
          fz="sm"
          aria-label={`Steps of ${name}`}
          style={{ listStyle: 'none' }}
        >
          {steps.map((step) => (
            <StepLine key={step.event_id} step={step} />
          ))}
        </Stack>
      )}
    </Stack>
  )
}

function StepLine({
  step: { step, name, reached_at, out_of_order },
}: {
  step: Schemas['CustomerJourneyStep']
}) {
  const Dot = reached_at ? IconCircleCheckFilled : out_of_order ? IconCircleDashed : IconCircle
  return (
    <Group component="li" gap={8} wrap="nowrap" align="flex-start">
      <Dot
        size={18}
        aria-hidden
        color={reached_at ? 'var(--series-1)' : 'var(--mantine-color-dimmed)'}
        style={{ flexShrink: 0 }}
      />
      <Box flex={1} miw={0} className="breakable">
        {step}. {isolated(name)}
        {out_of_order && ' (completed out of order)'}
      </Box>
      {reached_at ? <Instant at={reached_at} /> : <VisuallyHidden>not reached yet</VisuallyHidden>}
    </Group>
  )
}
