import { Anchor, Button, Stack, Text } from '@mantine/core'
import { IconSend } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link, useParams, useSearchParams } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { Loading } from '../parts/loading.tsx'
import { Page } from '../parts/page.tsx'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { visibleName } from '../parts/visible-name.ts'
import { codeOf, taken } from '../problem.ts'
import { useCairn, useMembership, useWorkspaceKey } from '../session/session.ts'

/** The pages of a journey, below its address. */
const pages = [
  { path: '', label: 'Report' },
  { path: '/customers', label: 'Customers' },
  { path: '/settings', label: 'Settings' },
] as const

/** Parameters kept when switching between the pages of a journey: the filters shared by its report and its customers. */
const kept = [
  ...['last', 'entered_from', 'entered_to', 'customer_type', 'window'],
  ...['first_step', 'last_step', 'step_order', 'touch', 'variables'],
]

/** A page of the journey in the address: its name, tabs for its pages, and the content. */
export function JourneyPage({
  path,
  children,
}: {
  path: (typeof pages)[number]['path']
  children: (journey: Schemas['Journey']) => ReactNode
}) {
  const cairn = useCairn()
  const { workspace_id } = useMembership()
  const { journeyId = '' } = useParams()
  const [search] = useSearchParams()
  const { data, error, isPending, refetch } = useQuery({
    queryKey: useWorkspaceKey('journeys', journeyId),
    queryFn: ({ signal }) => taken(cairn.getJourney({ path: { journey_id: journeyId }, signal })),
  })
  const listLink = (
    <Anchor component={Link} to={`/w/${workspace_id}/journeys`} size="sm" className="not-printed">
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
          <EmptyState title="Journey not found" action={listLink}>
            <Text>
              This workspace has no journey with this ID. Check the address, or look for it in the list.
            </Text>
          </EmptyState>
        ) : (
          <ProblemAlert error={error} onRetry={() => refetch()} />
        )}
      </Page>
    )
  }
  const query = String(new URLSearchParams([...search].filter(([name]) => kept.includes(name))))
  return (
    <Page
      title={visibleName(data.name)}
      part={pages.find((page) => page.path === path)?.label}
      action={
        data.status === 'active' && (
          <Button
            component={Link}
            to={`/w/${workspace_id}/first-event?journey=${data.journey_id}`}
            variant="default"
            size="xs"
            leftSection={<IconSend size={16} aria-hidden />}
          >
            Send an event
          </Button>
        )
      }
    >
      <Stack gap="lg">
        {listLink}
        <nav className="tabs" aria-label="Journey">
          {pages.map((page) => (
            <Link
              key={page.path}
              to={`/w/${workspace_id}/journeys/${data.journey_id}${page.path}${query && `?${query}`}`}
              {...(page.path === path && { 'aria-current': 'page' as const })}
            >
              {page.label}
            </Link>
          ))}
        </nav>
        {data.status === 'archived' && (
          <Text size="sm">
            This journey is archived. It accepts no new customers or events; its data stays readable.
          </Text>
        )}
        <ProblemAlert error={error} onRetry={() => refetch()} />
        {children(data)}
      </Stack>
    </Page>
  )
}
