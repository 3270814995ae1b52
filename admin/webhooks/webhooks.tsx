import { Anchor, Box, Button, Stack, Table, Text } from '@mantine/core'
import { IconPlus, IconWebhook } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { Instant } from '../parts/instants/instant.tsx'
import { ArrowKeys } from '../parts/lists/arrow-keys.tsx'
import { Loading } from '../parts/loading.tsx'
import { Page } from '../parts/page.tsx'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { taken } from '../problem.ts'
import { useCairn, useMembership, useWorkspaceKey } from '../session/session.ts'
import { ForAdmins } from './all-webhooks.tsx'
import { VerificationHelp } from './verification-help.tsx'
import { pendingText, WebhookState } from './webhook-state.tsx'
import { typesText, UrlText } from './webhook-types.tsx'

/** The webhooks of the workspace, oldest first. */
export function WebhooksScreen() {
  const { workspace_id, canChange } = useMembership()
  return (
    <Page
      title="Webhooks"
      description="Webhooks tell your programs what happens, as signed messages to a URL."
      action={
        canChange && (
          <Button
            component={Link}
            to={`/w/${workspace_id}/webhooks/new`}
            leftSection={<IconPlus size={16} aria-hidden />}
          >
            Create webhook
          </Button>
        )
      }
    >
      {canChange ? <Webhooks /> : <ForAdmins />}
    </Page>
  )
}

function Webhooks() {
  const cairn = useCairn()
  const { data, error, isPending, refetch } = useQuery({
    queryKey: useWorkspaceKey('webhooks', 'list'),
    queryFn: ({ signal }) => taken(cairn.listWebhooks({ signal })),
    refetchInterval: 10_000,
  })
  return (
    <Stack>
      <ProblemAlert error={error} onRetry={() => refetch()} />
      {isPending && <Loading lines={4} />}
      {data && data.data.length > 0 && <WebhookTable webhooks={data.data} />}
      {data?.data.length === 0 && <NoWebhooks />}
    </Stack>
  )
}

function WebhookTable({ webhooks }: { webhooks: readonly Schemas['Webhook'][] }) {
  return (
    <ArrowKeys>
      <Table aria-label="Webhooks" layout="fixed" verticalSpacing={8}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>URL</Table.Th>
            <Table.Th visibleFrom="sm" w="24%">
              Messages about
            </Table.Th>
            <Table.Th visibleFrom="sm" w={270}>
              State
            </Table.Th>
            <Table.Th visibleFrom="md" w={140}>
              Last success
            </Table.Th>
            <Table.Th visibleFrom="md" w={90} ta="right">
              Pending
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {webhooks.map((webhook) => (
            <WebhookRow key={webhook.webhook_id} webhook={webhook} />
          ))}
        </Table.Tbody>
      </Table>
    </ArrowKeys>
  )
}

function WebhookRow({ webhook }: { webhook: Schemas['Webhook'] }) {
  const { workspace_id } = useMembership()
  const { webhook_id, url, description, types, last_success_at, pending_deliveries } = webhook
  return (
    <Table.Tr>
      <Table.Td>
        <Anchor component={Link} inherit to={`/w/${workspace_id}/webhooks/${webhook_id}`}>
          <UrlText url={url} />
        </Anchor>
        {description && (
          <Text size="sm" c="dimmed" lineClamp={2}>
            {description}
          </Text>
        )}
        <Box hiddenFrom="sm" mt={4}>
          <WebhookState webhook={webhook} />
          <Text size="sm">{typesText(types)}</Text>
        </Box>
      </Table.Td>
      <Table.Td visibleFrom="sm">{typesText(types)}</Table.Td>
      <Table.Td visibleFrom="sm">
        <WebhookState webhook={webhook} />
      </Table.Td>
      <Table.Td visibleFrom="md">
        {last_success_at ? <Instant at={last_success_at} relative /> : 'None yet'}
      </Table.Td>
      <Table.Td visibleFrom="md" ta="right">
        {pendingText(pending_deliveries)}
      </Table.Td>
    </Table.Tr>
  )
}

function NoWebhooks() {
  return (
    <Stack gap="xl">
      <EmptyState title="No webhooks yet" icon={<IconWebhook />}>
        Create a webhook to tell another program that a customer signed up, a step was reached, or requests
        are being rejected, without asking Cairn again and again.
      </EmptyState>
      <VerificationHelp />
    </Stack>
  )
}
