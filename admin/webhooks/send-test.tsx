import { Alert, Button, Stack } from '@mantine/core'
import { IconAlertTriangle, IconCircleCheck, IconSend } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import type { Schemas } from '../../client/person.ts'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { taken } from '../problem.ts'
import { useCairn } from '../session/session.ts'
import { attemptText, ResponseText } from './attempt-result.tsx'

/** Sends a test message, and shows how it went. */
export function SendTest({ webhook: { webhook_id } }: { webhook: Schemas['Webhook'] }) {
  const cairn = useCairn()
  const test = useMutation({
    mutationFn: () => taken(cairn.testWebhook({ path: { webhook_id } })),
  })
  const { data, error } = test
  const isAccepted = data?.error === null
  return (
    <Stack gap="sm" align="flex-start">
      <Button
        variant="default"
        leftSection={<IconSend size={16} aria-hidden />}
        loading={test.isPending}
        onClick={() => test.mutate()}
      >
        Send a test
      </Button>
      <div role="status">
        {data && (
          <Alert
            color={isAccepted ? 'green' : 'red'}
            icon={isAccepted ? <IconCircleCheck aria-hidden /> : <IconAlertTriangle aria-hidden />}
            title={isAccepted ? 'The test arrived' : 'The test failed'}
            // Announced by the element around it.
            role="presentation"
          >
            <Stack gap="xs">
              {attemptText(data)}
              <ResponseText response={data.response} />
            </Stack>
          </Alert>
        )}
      </div>
      <ProblemAlert error={error} />
    </Stack>
  )
}
