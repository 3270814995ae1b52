import { Anchor, Group, Paper, Stack, Table, Text, Title } from '@mantine/core'
import { type ReactNode, useId } from 'react'
import { Link } from 'react-router'
import { Instant } from '../parts/instants/instant.tsx'
import { Loading } from '../parts/loading.tsx'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { useMembership } from '../session/session.ts'

/** A section of the overview, with a link to the full list. */
export function OverviewPart({
  title,
  to,
  all,
  query,
  children,
}: {
  title: string
  to: string
  /** The text of the link; without it there is none. */
  all?: string | false
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
        {all && (
          <Anchor component={Link} size="sm" to={`/w/${workspace_id}/${to}`}>
            {all}
          </Anchor>
        )}
      </Group>
      {query.isPending && <Loading lines={5} />}
      <ProblemAlert error={query.error} onRetry={() => query.refetch()} />
      {children}
    </Paper>
  )
}

/** The latest items, one line each, with the time at the end. */
export function Lines({ children }: { children: ReactNode }) {
  return (
    <Stack component="ul" gap="xs" m={0} p={0} style={{ listStyle: 'none' }}>
      {children}
    </Stack>
  )
}

/** A line of `Lines`. */
export function Line({ at, children }: { at: string; children: ReactNode }) {
  return (
    <Group component="li" justify="space-between" wrap="nowrap" gap="md" fz="sm">
      <Text component="div" inherit miw={0} className="breakable">
        {children}
      </Text>
      <Instant at={at} relative />
    </Group>
  )
}

/** A column without a name visualizes another one. */
type Column = { name?: string; width?: number | string; isNumber?: boolean; onlyWide?: boolean }

/** A table in a section of the overview. */
export function OverviewTable({
  label,
  columns,
  children,
}: {
  label: string
  columns: readonly Column[]
  children: ReactNode
}) {
  return (
    <Table aria-label={label} layout="fixed" verticalSpacing={6} horizontalSpacing={6}>
      <Table.Thead>
        <Table.Tr>
          {columns.map(({ name, width, isNumber, onlyWide }) => (
            <Table.Th
              key={name ?? ''}
              {...(name === undefined && { 'aria-hidden': true })}
              {...(isNumber && { ta: 'right' as const })}
              {...(width !== undefined && { w: width })}
              {...(onlyWide && { visibleFrom: 'sm' as const })}
            >
              {name}
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>{children}</Table.Tbody>
    </Table>
  )
}
