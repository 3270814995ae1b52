import { Badge, Button, List, Stack, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { Schemas } from '../../client/person.ts'
import { cairnFor } from '../cairn.ts'
import { Instant } from '../parts/instants/instant.tsx'
import { Loading } from '../parts/loading.tsx'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { codeOf, taken } from '../problem.ts'

/** The key of the query of the person's sessions. */
export const sessionsKey = ['sessions']

/** The person's sessions, each with a button to end it, except the current one, which ends by signing out. */
export function SessionList() {
  const sessions = useQuery({ queryKey: sessionsKey, queryFn: () => taken(cairnFor().listSessions()) })
  if (sessions.error) return <ProblemAlert error={sessions.error} onRetry={sessions.refetch} />
  if (!sessions.data) return <Loading lines={2} />
  return (
    <List listStyleType="none" spacing="md" w="100%" aria-label="Your sessions">
      {sessions.data.data.map((session) => (
        <List.Item
          key={session.session_id}
          styles={{ itemWrapper: { width: '100%' }, itemLabel: { width: '100%' } }}
        >
          <SessionItem session={session} />
        </List.Item>
      ))}
    </List>
  )
}

function SessionItem({ session }: { session: Schemas['OpenSession'] }) {
  const { session_id, browser, created_at, last_used_at, current } = session
  const queryClient = useQueryClient()
  const end = useMutation({
    mutationFn: async () => {
      try {
        await taken(cairnFor().endSession({ path: { session_id } }))
      } catch (error) {
        // It has already ended, which is the desired result.
        if (codeOf(error) !== 'session_not_found') throw error
      }
    },
    onSuccess: () => queryClient.invalidateQueries({ queryKey: sessionsKey }),
  })
  const name = browser ?? 'Unknown browser'
  return (
    <Stack gap={4} align="flex-start">
      <Text fw={600}>
        {name}{' '}
        {current && (
          <Badge variant="light" component="span">
            Current
          </Badge>
        )}
      </Text>
      <Text size="sm" c="dimmed" component="div">
        Started <Instant at={created_at} relative />, last used <Instant at={last_used_at} relative />
      </Text>
      <ProblemAlert error={end.error} />
      {!current && (
        <Button
          variant="default"
          size="compact-sm"
          loading={end.isPending}
          // Names may repeat.
          aria-label={`End session in ${name}, started ${created_at}`}
          onClick={() => end.mutate()}
        >
          End session
        </Button>
      )}
    </Stack>
  )
}
