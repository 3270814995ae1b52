import { Text } from '@mantine/core'
import { ShownOnceDialog } from '../parts/shown-once-dialog.tsx'

/** Shows the new secret of a webhook, once. */
export function MadeSecretDialog({
  host,
  secret,
  isRotated = false,
  onClose,
}: {
  host: string
  secret: string
  /** Whether it replaces another one. */
  isRotated?: boolean
  onClose: () => void
}) {
  return (
    <ShownOnceDialog
      title={`Your new secret for ${host}`}
      value={secret}
      label="Secret of the webhook"
      noun="secret"
      cure="Without it, you need to rotate it."
      onClose={onClose}
    >
      <Text size="sm">
        Copy the secret now and store it where the receiver reads it. It cannot be shown again: Cairn stores
        it encrypted.
      </Text>
      {isRotated && (
        <Text size="sm">
          For 24 hours every message is signed with the old secret too, so that no message fails while you
          change the receiver.
        </Text>
      )}
    </ShownOnceDialog>
  )
}
