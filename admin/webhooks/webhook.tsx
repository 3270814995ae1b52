import { Button, Group, SimpleGrid, Stack, Title } from '@mantine/core'
import { IconPencil } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { useParams } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { Fact } from '../parts/fact.tsx'
import { Identifier } from '../parts/identifier.tsx'
import { Instant } from '../parts/instants/instant.tsx'
import { Loading } from '../parts/loading.tsx'
import { onDemand } from '../parts/on-demand.tsx'
import { Page } from '../parts/page.tsx'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { ShownOnceGuard } from '../parts/shown-once-dialog.tsx'
import { codeOf, taken } from '../problem.ts'
import { useCairn, useMembership, useWorkspaceKey } from '../session/session.ts'
import { AllWebhooks, ForAdmins } from './all-webhooks.tsx'
import { Deliveries } from './deliveries.tsx'
import { JourneyNames } from './journey-names.tsx'
import { MadeSecretDialog } from './made-secret-dialog.tsx'
import { SendTest } from './send-test.tsx'
import { VerificationHelp } from './verification-help.tsx'
import { EnableButtons, WebhookMenu } from './webhook-actions.tsx'
import { draftOfWebhook, webhookChanges, windowText } from './webhook-draft.ts'
import { pendingText, WebhookNotices, WebhookState } from './webhook-state.tsx'
import { typesText, UrlText } from './webhook-types.tsx'

// The page of a webhook is mostly read.
const WebhookForm = onDemand(
  () => import('./webhook-form.tsx').then((module) => module.WebhookForm),
  () => <Loading lines={8} />,
)

type Webhook = Schemas['Webhook']

/** A webhook: its state and what to do about it, and its deliveries. */
export function WebhookScreen() {
  const { canChange } = useMembership()
  if (canChange) return <LoadedWebhook />
  return (
    <Page title="Webhook">
      <ForAdmins />
    </Page>
  )
}

function LoadedWebhook() {
  const cairn = useCairn()
  const { webhookId: webhook_id = '' } = useParams()
  const { data, error, isPending, refetch } = useQuery({
    queryKey: useWorkspaceKey('webhooks', webhook_id),
    queryFn: ({ signal }) => taken(cairn.getWebhook({ path: { webhook_id }, signal })),
    refetchInterval: 2000,
  })
  const alert = <ProblemAlert error={error} onRetry={() => refetch()} />
  const isGone = codeOf(error) === 'webhook_not_found'
  if (data) return <WebhookPage key={webhook_id} webhook={data} isGone={isGone} alert={alert} />
  if (isGone) return <NotFound />
  return (
    <Page title="Webhook">
      {isPending && <Loading lines={8} />}
      {alert}
    </Page>
  )
}

function NotFound() {
  return (
    <Page title="Webhook">
      <EmptyState title="Webhook not found" action={<AllWebhooks />}>
        This workspace has no webhook with this ID. It may have been removed.
      </EmptyState>
    </Page>
  )
}

function WebhookPage({
  webhook,
  isGone,
  alert,
}: {
  webhook: Webhook
  /** Whether it has been removed since it was read. */
  isGone: boolean
  /** Why it could not be read again, if so. */
  alert: ReactNode
}) {
  const [isEditing, setIsEditing] = useState(false)
  const [secret, setSecret] = useState<string>()
  const { host } = new URL(webhook.url)
  // What was typed stays until its author discards it.
  if (isGone && !isEditing) return <NotFound />
  return (
    <Page
      title={host}
      description={<span className="breakable">{webhook.description}</span>}
      action={
        !isEditing && (
          <Group gap="xs">
            <Button leftSection={<IconPencil size={16} aria-hidden />} onClick={() => setIsEditing(true)}>
              Edit webhook
            </Button>
            <WebhookMenu webhook={webhook} onSecret={setSecret} />
          </Group>
        )
      }
    >
      <Stack gap="lg">
        <AllWebhooks />
        {alert}
        {isEditing ? (
          <EditForm webhook={webhook} onDone={() => setIsEditing(false)} />
        ) : (
          <>
            <WebhookNotices webhook={webhook} actions={<EnableButtons webhook={webhook} />} />
            <Facts webhook={webhook} />
            <SendTest webhook={webhook} />
            <section aria-labelledby="deliveries-heading">
              <Title order={2} size="h4" mb="sm" id="deliveries-heading">
                Deliveries
              </Title>
              <Deliveries webhook={webhook} />
            </section>
            <VerificationHelp />
          </>
        )}
      </Stack>
      {secret !== undefined && (
        <MadeSecretDialog host={host} secret={secret} isRotated onClose={() => setSecret(undefined)} />
      )}
      <ShownOnceGuard noun="secret" cure="If you leave, you need to rotate it again." />
    </Page>
  )
}

function EditForm({ webhook, onDone }: { webhook: Webhook; onDone: () => void }) {
  const cairn = useCairn()
  const queryClient = useQueryClient()
  const webhooksKey = useWorkspaceKey('webhooks')
  const { webhook_id } = webhook
  /** The version being edited; the page may reload meanwhile. */
  const [initial] = useState(() => draftOfWebhook(webhook))
  return (
    <WebhookForm
      initial={initial}
      submitLabel="Save changes"
      save={async (draft) => {
        const body = webhookChanges(initial, draft)
        if (Object.keys(body).length > 0) {
          await taken(cairn.updateWebhook({ path: { webhook_id }, body }))
          await queryClient.invalidateQueries({ queryKey: webhooksKey })
        }
        onDone()
      }}
      onCancel={onDone}
    />
  )
}

function Facts({ webhook }: { webhook: Webhook }) {
  const { webhook_id, url, types, journey_ids, event_ids, dropped_after } = webhook
  const { last_success_at, pending_deliveries, created_at } = webhook
  return (
    <SimpleGrid component="dl" m={0} cols={{ base: 1, xs: 2, md: 3 }} spacing="md" verticalSpacing="xs">
      <Fact name="State">
        <WebhookState webhook={webhook} />
      </Fact>
      <Fact name="URL">
        <UrlText url={url} />
      </Fact>
      <Fact name="Messages about">{typesText(types)}</Fact>
      {journey_ids && (
        <Fact name="Only these journeys">
          <JourneyNames journey_ids={journey_ids} />
        </Fact>
      )}
      {event_ids && <Fact name="Only these events">{event_ids.join(', ')}</Fact>}
      {dropped_after && types.includes('journey.dropped') && (
        <Fact name="Time to complete a journey">{windowText(dropped_after)}</Fact>
      )}
      <Fact name="Last success">
        {last_success_at ? <Instant at={last_success_at} relative /> : 'None yet'}
      </Fact>
      <Fact name="Pending messages">{pendingText(pending_deliveries)}</Fact>
      <Fact name="Created">
        <Instant at={created_at} relative />
      </Fact>
      <Fact name="webhook_id">
        <Identifier value={webhook_id} label="webhook_id" />
      </Fact>
    </SimpleGrid>
  )
}
