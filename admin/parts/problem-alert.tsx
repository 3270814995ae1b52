import { Alert, Anchor, Button, Group, Stack, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { UnexpectedResponseError } from '../../client/person.ts'
import { codeOf, ExplainedError, ProblemError } from '../problem.ts'
import { Identifier } from './identifier.tsx'
import { namesIn } from './json-pointer.ts'
import { countOf } from './number-text.ts'

/**
 * What went wrong and what to do. A problem is shown in the server's words, with a link to its documentation and the request
 * ID, which an operator can find in the log. Renders nothing if `error` is null or undefined.
 */
export function ProblemAlert({ error, onRetry }: { error: unknown; onRetry?: (() => void) | undefined }) {
  if (error === null || error === undefined) return null
  const { title, detail } = explained(error)
  const faults = error instanceof ProblemError ? (error.problem.errors ?? []) : []
  return (
    <Alert color="red" title={title} icon={<IconAlertTriangle aria-hidden />}>
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{detail}</Text>
        {faults.length > 0 && (
          <Text size="sm" component="ul" m={0} pl="md">
            {faults.map(({ pointer, parameter, detail }) => (
              <li key={`${pointer ?? parameter} ${detail}`}>
                {`${parameter ?? namesIn(pointer ?? '').join(' › ')} ${detail}`.trim()}
              </li>
            ))}
          </Text>
        )}
        {error instanceof ProblemError && (
          <>
            {/* In a new tab, so that nothing typed here is lost. */}
            <Anchor size="xs" href={error.problem.type} target="_blank" rel="noreferrer">
              About {error.problem.code}
            </Anchor>
            <Group gap={4} wrap="nowrap" maw="100%" c="dimmed">
              <Text size="xs" style={{ whiteSpace: 'nowrap' }}>
                Request ID
              </Text>
              <Identifier value={error.problem.request_id} label="request ID" />
            </Group>
          </>
        )}
        {onRetry && (
          <Button variant="default" size="xs" onClick={onRetry}>
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  )
}

function explained(error: unknown): { title: string; detail: string } {
  if (codeOf(error) === 'unauthorized') {
    return {
      title: 'Your session has ended',
      detail: 'Nothing was changed. Sign in again, then retry.',
    }
  }
  if (error instanceof ProblemError) {
    const { problem, retryAfterSeconds: seconds } = error
    // The server tells a program which header to send, and which one to read.
    if (problem.code === 'not_a_member') {
      return { ...problem, detail: 'Ask an owner or an admin of it for an invitation.' }
    }
    // It tells a program which identifier to send.
    if (problem.status === 404 && problem.detail.includes('_id')) {
      return { ...problem, detail: 'It may have been removed.' }
    }
    if (seconds === undefined) return problem
    const when = `Try again in ${countOf(seconds, 'second')}.`
    return {
      ...problem,
      detail: problem.detail.replace('Retry after the number of seconds in Retry-After.', when),
    }
  }
  if (error instanceof ExplainedError) return error
  if (error instanceof UnexpectedResponseError) {
    return {
      title: 'The response did not come from Cairn',
      detail: `A proxy between this page and Cairn responded with status ${error.response.status}. Try again. If it happens again, contact the operator of this server.`,
    }
  }
  // fetch rejects with a TypeError. Bugs throw TypeErrors too, which a retry would not fix.
  if (error instanceof TypeError) {
    return {
      title: 'Cannot reach Cairn',
      detail: 'Check your connection and that the server is running. Nothing you typed is lost.',
    }
  }
  return {
    title: 'Something went wrong on this page',
    detail:
      'Reload the page. If it happens again, tell the operator of this server what you did before the error.',
  }
}
