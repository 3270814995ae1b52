import '@mantine/core/styles/ThemeIcon.css'
import { Anchor, Box, Group, Paper, Stack, Text, ThemeIcon } from '@mantine/core'
import { IconX } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { CureText, FaultList } from '../events/refused/refusal-details.tsx'
import { UnsavedRefusals } from '../events/refused/unsaved-refusals.tsx'
import { rejectionText } from '../overview/rejections.ts'
import { Instant } from '../parts/instants/instant.tsx'
import { countOf } from '../parts/number-text.ts'
import { isolated } from '../parts/visible-name.ts'
import { taken } from '../problem.ts'
import { useCairn, useMembership, useWorkspaceKey } from '../session/session.ts'

/** Maximum requests shown, the newest first. */
const limit = 5

/** The interval at which rejections are summed up; longer if there are many. */
const fast_ms = 1_000
const slow_ms = 10_000
const many = 1_000

/**
 * Live rejected requests of the workspace, each with its cause and how to fix it. For owners and admins. Reads only sums until
 * there is a request to show, because reading rejected requests is recorded in the audit log.
 * @param since when the latest event was stored; undefined if there is none
 */
export function RejectedRequests({ since }: { since: string | undefined }) {
  const cairn = useCairn()
  const { workspace_id } = useMembership()
  const span = since === undefined ? {} : { received_from: since }
  const summary = useQuery({
    queryKey: useWorkspaceKey('refusals', 'of-first-event', since),
    queryFn: ({ signal }) => taken(cairn.getRefusalSummary({ query: { ...span, periods: 1 }, signal })),
    refetchInterval: ({ state }) => (state.error || (state.data?.count ?? 0) > many ? slow_ms : fast_ms),
    staleTime: 0,
  })
  const { kinds, groups = [], unsaved = [], count = 0 } = summary.data ?? {}
  const kept = count - (summary.data?.left_out ?? 0)
  const newest = groups
    .map(({ last_at }) => last_at)
    .sort()
    .at(-1)
  const list = useQuery({
    queryKey: useWorkspaceKey('refusals', 'of-first-event', 'requests', since, kept, newest),
    queryFn: ({ signal }) => taken(cairn.listRefusals({ query: { ...span, limit }, signal })),
    enabled: kept > 0,
    placeholderData: keepPreviousData,
  })
  if (!kinds || count === 0) return null
  const requests = kept > 0 ? (list.data?.data ?? []) : []
  return (
    <Paper withBorder p="md" style={{ borderColor: 'var(--mantine-color-red-filled)' }}>
      <Group align="flex-start" wrap="nowrap">
        <ThemeIcon color="red" radius="xl" aria-hidden>
          <IconX size={18} />
        </ThemeIcon>
        <Stack miw={0} flex={1} gap="xs">
          <Text fw={500} role="status" aria-label="Live rejected requests">
            {since === undefined ? 'Rejected so far: ' : 'Rejected since this event: '}
            {rejectionText(kinds)}
          </Text>
          {requests.length > 0 && (
            <Stack
              component="ul"
              aria-label="Rejected requests"
              gap={0}
              m={0}
              p={0}
              style={{ listStyle: 'none' }}
            >
              {requests.map((refusal, index) => (
                <RejectedRequest
                  key={refusal.refusal_id}
                  refusal={refusal}
                  isFirstOfCode={requests.findIndex(({ code }) => code === refusal.code) === index}
                />
              ))}
            </Stack>
          )}
          {unsaved.length > 0 && <UnsavedRefusals unsaved={unsaved} groups={groups} />}
          <Anchor component={Link} size="sm" to={`/w/${workspace_id}/events/refused`}>
            {kept > requests.length && requests.length > 0
              ? `View ${countOf(kept - requests.length, 'more request')}`
              : 'View all rejected requests'}
          </Anchor>
        </Stack>
      </Group>
    </Paper>
  )
}

/** @param isFirstOfCode whether to show how to fix it, which is the same for all requests with the same code */
function RejectedRequest({
  refusal,
  isFirstOfCode,
}: {
  refusal: Schemas['Refusal']
  isFirstOfCode: boolean
}) {
  const { workspace_id } = useMembership()
  const { refusal_id, code, operation, event_id, received_at } = refusal
  return (
    <Box component="li" className="timeline-line breakable" py={8} fz="sm">
      <Group justify="space-between" gap="xs">
        <Text span inherit ff="monospace" fw={650}>
          {code}
        </Text>
        <Instant at={received_at} relative />
      </Group>
      <Anchor component={Link} inherit to={`/w/${workspace_id}/events/refused?refusal=${refusal_id}`}>
        {operation} {isolated(event_id ?? '')}
      </Anchor>
      <FaultList refusal={refusal} />
      {isFirstOfCode && <CureText code={code} />}
    </Box>
  )
}
