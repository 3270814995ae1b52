import { Button, Group, Menu, Stack, Text } from '@mantine/core'
import { IconHistory, IconPlayerPause, IconPlayerPlay, IconRefresh, IconTrash } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { ConfirmDialog } from '../parts/confirm-dialog.tsx'
import { InstantInput } from '../parts/instants/instant-input.tsx'
import { instantText } from '../parts/instants/instant-text.ts'
import { instantOf } from '../parts/instants/typed-instant.ts'
import { RowMenu } from '../parts/lists/row-menu.tsx'
import { LostResponse } from '../parts/lost-response.tsx'
import { notify } from '../parts/notify.ts'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { shownOnceKey } from '../parts/shown-once-dialog.tsx'
import { taken } from '../problem.ts'
import { useCairn, useMembership, useWorkspaceKey } from '../session/session.ts'

type Webhook = Schemas['Webhook']

type Asked = 'rotate' | 'replay' | 'disable' | 'remove'

/** Enables a webhook, or disables it. */
function useUpdate({ webhook_id }: Webhook) {
  const cairn = useCairn()
  const queryClient = useQueryClient()
  const webhooksKey = useWorkspaceKey('webhooks')
  return useMutation({
    mutationFn: (body: Schemas['WebhookUpdate']) =>
      taken(cairn.updateWebhook({ path: { webhook_id }, body })),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: webhooksKey }),
  })
}

/** Buttons that enable a disabled webhook: where it stopped, or from now on. */
export function EnableButtons({ webhook }: { webhook: Webhook }) {
  const update = useUpdate(webhook)
  const [isSkipping, setIsSkipping] = useState(false)
  function skip() {
    if (update.isError) update.reset()
    setIsSkipping(true)
  }
  return (
    <>
      <Group gap="xs">
        <Button
          size="xs"
          leftSection={<IconPlayerPlay size={14} aria-hidden />}
          loading={update.isPending && !isSkipping}
          onClick={() => update.mutate({ enabled: true })}
        >
          Enable
        </Button>
        <Button size="xs" variant="default" onClick={skip}>
          Skip what it missed…
        </Button>
      </Group>
      <ProblemAlert error={isSkipping ? null : update.error} />
      <ConfirmDialog
        opened={isSkipping}
        onClose={() => setIsSkipping(false)}
        title="Enable and skip what it missed?"
        confirmLabel="Skip and enable"
        danger
        pending={update.isPending}
        error={update.error}
        onConfirm={() =>
          update.mutate({ enabled: true, skip_missed: true }, { onSuccess: () => setIsSkipping(false) })
        }
      >
        <Text size="sm">
          Its pending messages are removed, and nothing is sent about what has happened until now. It sends
          messages about what happens from now on.
        </Text>
      </ConfirmDialog>
    </>
  )
}

/** The actions on a webhook that are rarely needed. */
export function WebhookMenu({
  webhook,
  onSecret,
}: {
  webhook: Webhook
  /** Receives the new secret. */
  onSecret: (secret: string) => void
}) {
  const update = useUpdate(webhook)
  const [asked, setAsked] = useState<Asked>()
  const { host } = new URL(webhook.url)
  const close = () => setAsked(undefined)
  function ask(what: Asked) {
    if (update.isError) update.reset()
    setAsked(what)
  }
  return (
    <>
      <RowMenu name={host}>
        <Menu.Item leftSection={<IconRefresh size={16} aria-hidden />} onClick={() => ask('rotate')}>
          Rotate secret…
        </Menu.Item>
        <Menu.Item leftSection={<IconHistory size={16} aria-hidden />} onClick={() => ask('replay')}>
          Replay…
        </Menu.Item>
        {webhook.enabled && (
          <Menu.Item leftSection={<IconPlayerPause size={16} aria-hidden />} onClick={() => ask('disable')}>
            Disable…
          </Menu.Item>
        )}
        <Menu.Item
          color="red"
          leftSection={<IconTrash size={16} aria-hidden />}
          onClick={() => ask('remove')}
        >
          Remove…
        </Menu.Item>
      </RowMenu>
      <Rotation webhook={webhook} opened={asked === 'rotate'} onClose={close} onSecret={onSecret} />
      {asked === 'replay' && <Replay webhook={webhook} onClose={close} />}
      <ConfirmDialog
        opened={asked === 'disable'}
        onClose={close}
        title={`Disable the webhook ${host}?`}
        confirmLabel="Disable"
        pending={update.isPending}
        error={update.error}
        onConfirm={() => update.mutate({ enabled: false }, { onSuccess: close })}
      >
        <Text size="sm">
          No messages are sent until you enable it again. It then continues where it stopped.
        </Text>
      </ConfirmDialog>
      <Removal webhook={webhook} opened={asked === 'remove'} onClose={close} />
    </>
  )
}

type DialogProps = { webhook: Webhook; opened: boolean; onClose: () => void }

function Rotation({
  webhook: { webhook_id },
  opened,
  onClose,
  onSecret,
}: DialogProps & { onSecret: (secret: string) => void }) {
  const cairn = useCairn()
  const rotation = useMutation({
    mutationKey: shownOnceKey,
    // The result stays out of the mutation's state, so that the secret exists only where it is shown.
    mutationFn: async () => {
      const { secret } = await taken(cairn.rotateWebhookSecret({ path: { webhook_id } }))
      onSecret(secret)
    },
    onSuccess: onClose,
  })
  function close() {
    if (rotation.isError) rotation.reset()
    onClose()
  }
  return (
    <ConfirmDialog
      opened={opened}
      onClose={close}
      title="Rotate the secret?"
      confirmLabel="Rotate secret"
      pending={rotation.isPending}
      error={rotation.error}
      onConfirm={() => rotation.mutate()}
    >
      <Text size="sm">
        Creates a new secret. For 24 hours every message is signed with the old one too, so that you can
        change the receiver; then the old secret no longer works.
      </Text>
      <LostResponse error={rotation.error}>
        The secret may have been rotated all the same. Try again: the new secret cannot be shown again, and in
        24 hours the old one no longer works.
      </LostResponse>
    </ConfirmDialog>
  )
}

function Replay({ webhook: { webhook_id }, onClose }: Omit<DialogProps, 'opened'>) {
  const cairn = useCairn()
  const queryClient = useQueryClient()
  const webhooksKey = useWorkspaceKey('webhooks')
  const [typed, setTyped] = useState('')
  const [isTried, setIsTried] = useState(false)
  const from = instantOf(typed)
  const replay = useMutation({
    mutationFn: (from: Date) =>
      taken(cairn.replayWebhook({ path: { webhook_id }, body: { from: from.toISOString() } })),
    onSuccess: () => {
      onClose()
      void notify('Replay started.')
      void queryClient.invalidateQueries({ queryKey: webhooksKey })
    },
  })
  const fault = typed.trim()
    ? 'Enter a time such as 20 Nov 2026, 09:30'
    : 'Enter the time of the first event to send.'
  return (
    <ConfirmDialog
      opened
      onClose={onClose}
      title="Replay from a time"
      confirmLabel="Replay"
      pending={replay.isPending}
      error={replay.error}
      onConfirm={() => {
        setIsTried(true)
        if (from) replay.mutate(from)
      }}
    >
      <Stack gap="sm">
        <Text size="sm">
          Sends every event received and every customer created since this time again, with the same
          webhook-id, so that the receiver recognizes what it has. Messages about journeys, rejections and
          erasures are not sent again.
        </Text>
        <InstantInput
          type="datetime-local"
          label="Since"
          min="1900-01-02T00:00"
          error={isTried && !from && <span role="alert">{fault}</span>}
          value={typed}
          chosen={from}
          onChoose={(instant) => setTyped(instantText(instant))}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
      </Stack>
    </ConfirmDialog>
  )
}

function Removal({ webhook: { webhook_id, url, pending_deliveries }, opened, onClose }: DialogProps) {
  const cairn = useCairn()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const { workspace_id } = useMembership()
  const listKey = useWorkspaceKey('webhooks', 'list')
  const removal = useMutation({
    mutationFn: () => taken(cairn.removeWebhook({ path: { webhook_id } })),
    onSuccess: () => {
      void notify('Webhook removed.')
      void queryClient.invalidateQueries({ queryKey: listKey })
    },
  })
  /** Not part of the mutation: it does not lead away from another page that was opened meanwhile. */
  const leave = () => navigate(`/w/${workspace_id}/webhooks`)
  function close() {
    if (removal.isError) removal.reset()
    onClose()
  }
  return (
    <ConfirmDialog
      opened={opened}
      onClose={close}
      title={`Remove the webhook ${new URL(url).host}?`}
      confirmLabel="Remove webhook"
      danger
      pending={removal.isPending}
      error={removal.error}
      onConfirm={() => removal.mutate(undefined, { onSuccess: leave })}
    >
      <Text size="sm">
        The webhook is removed with its secret and its deliveries.{' '}
        {pending_deliveries > 0 && 'Messages that wait to be sent are lost. '}
        To stop it for a while, disable it instead.
      </Text>
    </ConfirmDialog>
  )
}
