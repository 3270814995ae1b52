import { Anchor, Button, Group, SimpleGrid, Stack, Text } from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useId } from 'react'
import { Link } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { CodeBlock } from '../first-event/code-block.tsx'
import { Fact } from '../parts/fact.tsx'
import { Identifier } from '../parts/identifier.tsx'
import { exactText, instantText } from '../parts/instants/instant-text.ts'
import { JsonTree } from '../parts/json/json-tree.tsx'
import { notify } from '../parts/notify.ts'
import { countText } from '../parts/number-text.ts'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { quoted } from '../parts/shell-text.ts'
import { taken } from '../problem.ts'
import { useCairn, useMembership, useWorkspaceKey } from '../session/session.ts'
import { attemptText, ResponseText } from './attempt-result.tsx'
import { DeliveryStatus } from './delivery-status.tsx'
import { typeLabel } from './webhook-types.tsx'

type Delivery = Schemas['Delivery']

/** A message and its last attempt, with a button that sends it again. */
export function DeliveryDetails({
  webhook,
  delivery,
  onResent,
}: {
  webhook: Schemas['Webhook']
  delivery: Delivery
  /** Receives the delivery as it is then. */
  onResent: (delivery: Delivery) => void
}) {
  const cairn = useCairn()
  const queryClient = useQueryClient()
  const reasonId = useId()
  const { webhook_id, url, enabled } = webhook
  const webhooksKey = useWorkspaceKey('webhooks', webhook_id)
  const { delivery_id, type, status, attempts, created_at, next_attempt_at, last_attempt, message } = delivery
  const resend = useMutation({
    mutationFn: () => taken(cairn.resendWebhookDelivery({ path: { webhook_id, delivery_id } })),
    onSuccess: async (delivery) => {
      const pausedUntil = webhook.next_attempt_at
      void notify(
        pausedUntil
          ? `The message is sent at the next attempt: ${instantText(new Date(pausedUntil))}.`
          : 'The message is sent again.',
      )
      onResent(delivery)
      await queryClient.invalidateQueries({ queryKey: webhooksKey })
    },
  })
  return (
    <Stack gap="md">
      <SimpleGrid component="dl" m={0} cols={{ base: 1, xs: 2 }} spacing="md" verticalSpacing="sm">
        <Fact name="Status">
          <DeliveryStatus status={status} />
        </Fact>
        <Fact name="Type">
          {typeLabel(type)}{' '}
          <Text span inherit ff="monospace">
            {type}
          </Text>
        </Fact>
        <Fact name="Created">{exactText(new Date(created_at))}</Fact>
        <Fact name="Attempts">{countText(attempts)}</Fact>
        {next_attempt_at && <Fact name="Next attempt">{exactText(new Date(next_attempt_at))}</Fact>}
        <Fact name="webhook-id">
          <Identifier value={delivery_id} label="webhook-id" />
        </Fact>
        {last_attempt && (
          <Fact name="Last attempt">
            {exactText(new Date(last_attempt.at))}
            <br />
            {attemptText(last_attempt)}
          </Fact>
        )}
      </SimpleGrid>
      {last_attempt && <ResponseText response={last_attempt.response} />}
      <Group>
        <Button
          variant="default"
          leftSection={<IconRefresh size={16} aria-hidden />}
          loading={resend.isPending}
          // Not truly disabled: then the focus would not get to the reason.
          aria-disabled={!enabled}
          data-disabled={!enabled}
          aria-describedby={enabled ? undefined : reasonId}
          onClick={() => enabled && resend.mutate()}
        >
          Send again
        </Button>
        {!enabled && (
          <Text size="sm" id={reasonId}>
            The webhook is disabled and sends nothing. Enable it first.
          </Text>
        )}
      </Group>
      <ProblemAlert error={resend.error} />
      <Message message={message} subject_id={delivery.subject_id} />
      {message && (
        <Stack gap={4}>
          <CodeBlock label="Request as curl" code={curlCommand({ url, delivery_id, message })} />
          <Text size="xs" c="dimmed">
            Without webhook-timestamp and webhook-signature: only the server has the secret that signs.
          </Text>
        </Stack>
      )}
    </Stack>
  )
}

function Message({ message, subject_id }: Pick<Delivery, 'message' | 'subject_id'>) {
  const { workspace_id } = useMembership()
  if (message) {
    return (
      <div>
        <Text size="xs" c="dimmed" mb={4}>
          Message
        </Text>
        <JsonTree value={message} label="Copy message" />
      </div>
    )
  }
  return (
    <Text size="sm">
      The message of an event that was accepted is not kept:{' '}
      <Anchor component={Link} inherit to={`/w/${workspace_id}/events?event=${subject_id}`}>
        the event is stored
      </Anchor>
      , unless it has been removed since. “Send again” makes the message anew.
    </Text>
  )
}

/** The request of a message, without its signature. */
function curlCommand({
  url,
  delivery_id,
  message,
}: Pick<Delivery, 'delivery_id' | 'message'> & { url: string }): string {
  return `curl -i ${quoted(url)} \\
  -H 'content-type: application/json' \\
  -H 'webhook-id: ${delivery_id}' \\
  -d ${quoted(JSON.stringify(message))}
`
}
