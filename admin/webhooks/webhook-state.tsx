import { Alert, Badge, Stack } from '@mantine/core'
import { IconAlertTriangle, IconClockPause } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import type { Schemas } from '../../client/person.ts'
import { Instant } from '../parts/instants/instant.tsx'
import { countText } from '../parts/number-text.ts'

type Webhook = Schemas['Webhook']

/** The state of a webhook in a few words. */
export function WebhookState({ webhook }: { webhook: Webhook }) {
  const { color, text, at } = stateOf(webhook)
  return (
    <Badge variant="dot" color={color} tt="none" maw="100%">
      {text}
      {at && (
        <>
          {' '}
          <Instant at={at} />
        </>
      )}
    </Badge>
  )
}

function stateOf(webhook: Webhook): { color: string; text: string; at?: string | null } {
  const { enabled, disabled_reason, failing_since, next_attempt_at } = webhook
  if (!enabled) {
    if (disabled_reason === 'failing') return { color: 'red', text: 'Disabled: it failed for five days' }
    if (disabled_reason === 'gone') return { color: 'red', text: 'Disabled: the receiver is gone (410)' }
    return { color: 'gray', text: 'Disabled' }
  }
  if (failing_since !== null) return { color: 'orange', text: 'Failing since', at: failing_since }
  if (next_attempt_at !== null) return { color: 'yellow', text: 'Paused until', at: next_attempt_at }
  return { color: 'green', text: 'Enabled' }
}

/** The server counts up to this. */
const countedPending = 1000

/** How many messages wait: `12`, `1,000+`. */
export function pendingText(count: number): string {
  return `${countText(count)}${count >= countedPending ? '+' : ''}`
}

/** What is wrong with a webhook, and what to do about it. Renders nothing if all is well. */
export function WebhookNotices({ webhook, actions }: { webhook: Webhook; actions: ReactNode }) {
  const { enabled, disabled_reason, failing_since, next_attempt_at, is_lagging } = webhook
  const next = next_attempt_at && (
    <>
      {' '}
      The next attempt is <Instant at={next_attempt_at} relative />.
    </>
  )
  return (
    <>
      {!enabled && (
        <Alert
          color={disabled_reason === 'by_hand' ? 'gray' : 'red'}
          icon={<IconAlertTriangle aria-hidden />}
          title={titles[disabled_reason ?? ''] ?? 'This webhook is disabled'}
        >
          <Stack gap="sm" align="flex-start">
            <span>
              {cures[disabled_reason ?? '']} Nothing is lost: enabled again, it continues where it stopped, or
              you skip what it missed.
            </span>
            {actions}
          </Stack>
        </Alert>
      )}
      {enabled && failing_since !== null && (
        <Alert
          color="orange"
          icon={<IconAlertTriangle aria-hidden />}
          title="The receiver does not accept messages"
        >
          Every attempt since <Instant at={failing_since} /> has failed. Messages wait, and are sent again.
          {next} After five days it is disabled; nothing is lost then either. The deliveries below show the
          error.
        </Alert>
      )}
      {enabled && failing_since === null && next_attempt_at !== null && (
        <Alert
          color="yellow"
          icon={<IconClockPause aria-hidden />}
          title="The receiver has asked for a pause"
        >
          Messages wait.{next}
        </Alert>
      )}
      {is_lagging && (
        <Alert
          color="red"
          icon={<IconAlertTriangle aria-hidden />}
          title="Events will be removed before they are sent"
        >
          Within a day, retention removes events that this webhook has not sent yet. Enable it, repair the
          receiver, or keep events for longer. Otherwise the receiver only learns which period it has missed
          (webhook.skipped).
        </Alert>
      )}
    </>
  )
}

const titles: Record<string, string> = {
  failing: 'Disabled, because every attempt in five days has failed',
  gone: 'Disabled, because the receiver answered 410 (gone)',
}

const cures: Record<string, string> = {
  failing: 'Repair the receiver, and send a test.',
  gone: 'The receiver wants no more messages. If it should get them, repair it and send a test.',
  by_hand: 'Somebody has disabled it.',
}
