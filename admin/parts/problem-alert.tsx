import { Alert, Anchor, Button, Group, Stack, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { UnexpectedResponseError } from '../../client/person.ts'
import { codeOf, ProblemError } from '../problem.ts'
import { CookieNotKeptError } from '../session/session.ts'
import { Identifier } from './identifier.tsx'
import { CutShortError } from './save-file.ts'

/**
 * What went wrong and what to do. A refusal is told in the server's words, with a link to what the reference says of it
 * and with the id of the request, which an operator finds in the log. Nothing where `error` is null or undefined.
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
                {`${parameter ?? pointer?.slice(1).replaceAll('/', ' › ')} ${detail}`.trim()}
              </li>
            ))}
          </Text>
        )}
        {error instanceof ProblemError && (
          <>
            {/* On a page of its own: what was typed here stays. */}
            <Anchor size="xs" href={error.problem.type} target="_blank" rel="noreferrer">
              About {error.problem.code}
            </Anchor>
            <Group gap={4} wrap="nowrap" maw="100%" c="dimmed">
              <Text size="xs" style={{ whiteSpace: 'nowrap' }}>
                Request id
              </Text>
              <Identifier value={error.problem.request_id} label="request id" />
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
      title: 'Your session had ended',
      detail: 'Nothing was changed. Sign in again, then repeat the last step.',
    }
  }
  if (error instanceof ProblemError) {
    const { title, detail } = error.problem
    return { title, detail }
  }
  if (error instanceof CookieNotKeptError) {
    return {
      title: 'Your browser did not keep the session',
      detail:
        'Email and password are right, but the cookie of the session was not sent back. Open Cairn at the address ' +
        'that its operator set as CAIRN_PUBLIC_URL, with https:// if that is how it begins, and allow cookies for it.',
    }
  }
  if (error instanceof CutShortError) {
    return {
      title: 'The file was cut short',
      detail: 'It ended before the last line, so nothing was kept of it. Try again.',
    }
  }
  if (error instanceof UnexpectedResponseError) {
    return {
      title: 'Something other than Cairn answered',
      detail: `A proxy between this page and Cairn answered with status ${error.response.status}. Try again; if it stays so, tell the operator.`,
    }
  }
  // What fetch rejects with is a TypeError; so is many a mistake in a program, which no retry mends.
  if (error instanceof TypeError) {
    return {
      title: 'Cairn does not answer',
      detail: 'Check your connection and whether the server runs. Nothing you typed is lost.',
    }
  }
  return {
    title: 'Something went wrong on this page',
    detail: 'Reload the page. If it happens again, tell the operator what you did last.',
  }
}
