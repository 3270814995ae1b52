import { Box, Text } from '@mantine/core'
import type { Schemas } from '../../client/person.ts'
import { durationText } from '../parts/instants/duration-text.ts'

type Attempt = Schemas['WebhookAttempt']

/** Errors of an attempt in words. */
const errors: Record<NonNullable<Schemas['AttemptError']>, string> = {
  status: 'The receiver did not accept it',
  redirect: 'The receiver redirects, which is not followed; enter its final URL',
  timeout: 'There was no response within 15 seconds',
  dns: 'The name of the host could not be resolved',
  connection_refused: 'The connection was refused: no program listens there',
  connection_reset: 'The receiver closed the connection',
  connection_failed: 'There was no connection to the receiver',
  tls: 'The TLS certificate of the receiver could not be verified',
  invalid_response: 'The response is not valid HTTP',
  blocked_address: 'The host has an address that is not allowed',
  secret_unreadable: 'The secret cannot be read with the key of this server; rotate it',
}

/** An attempt in a sentence: `The receiver accepted it: status 204, after 82ms`. */
export function attemptText({ status_code, error, duration_ms }: Attempt): string {
  const outcome = error === null ? 'The receiver accepted it' : (errors[error] ?? error.replaceAll('_', ' '))
  const status = status_code === null ? '' : `status ${status_code}, `
  return `${outcome}: ${status}after ${durationText(duration_ms)}`
}

/** What the receiver answered; renders nothing without a text. */
export function ResponseText({ response }: Pick<Attempt, 'response'>) {
  if (response === null) return null
  return (
    <div>
      <Text size="xs" c="dimmed" mb={4}>
        Response
      </Text>
      <Box
        component="pre"
        m={0}
        fz="sm"
        ff="monospace"
        style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}
      >
        {response}
      </Box>
    </div>
  )
}
