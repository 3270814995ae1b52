import { Anchor, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { type ReactNode, useId } from 'react'
import { Link } from 'react-router'
import { Instant } from '../parts/instant.tsx'
import { Loading } from '../parts/loading.tsx'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { useMembership } from '../session/session.ts'

/** A part of the overview, under a heading, with the way to all that it is about. */
export function OverviewPart({
  title,
  to,
  all,
  query,
  children,
}: {
  title: string
  to: string
  all: string
  query: { isPending: boolean; error: unknown; refetch: () => unknown }
  children: ReactNode
}) {
  const { workspace_id } = useMembership()
  const headingId = useId()
  return (
    <Paper component="section" aria-labelledby={headingId} withBorder p="md" miw={0}>
      <Group justify="space-between" mb="sm">
        <Title order={2} size="h4" id={headingId}>
          {title}
        </Title>
        <Anchor component={Link} size="sm" to={`/w/${workspace_id}/${to}`}>
          {all}
        </Anchor>
      </Group>
      {query.isPending && <Loading lines={5} />}
      <ProblemAlert error={query.error} onRetry={() => query.refetch()} />
      {children}
    </Paper>
  )
}

/** What came last, one line each, with the time at its end. */
export function Lines({ children }: { children: ReactNode }) {
  return (
    <Stack component="ul" gap="xs" m={0} p={0} style={{ listStyle: 'none' }}>
      {children}
    </Stack>
  )
}

/** One of the lines. */
export function Line({ at, children }: { at: string; children: ReactNode }) {
  return (
    <Group component="li" justify="space-between" wrap="nowrap" gap="md" fz="sm">
      <Text component="div" inherit miw={0} style={{ overflowWrap: 'anywhere' }}>
        {children}
      </Text>
      <Instant at={at} />
    </Group>
  )
}
