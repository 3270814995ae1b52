import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { ProblemAlert } from './problem-alert.tsx'

/** Asks before something that is hard to undo. The children say what will happen. */
export function ConfirmDialog({
  opened,
  onClose,
  title,
  onConfirm,
  confirmLabel,
  danger = false,
  pending = false,
  disabled = false,
  error,
  children,
}: {
  opened: boolean
  onClose: () => void
  title: string
  onConfirm: () => void
  confirmLabel: string
  /** Whether something is lost for good. */
  danger?: boolean
  pending?: boolean
  /** Whether something has to be filled in first. */
  disabled?: boolean
  /** Why the last try failed; the dialog stays open. */
  error?: unknown
  children: ReactNode
}) {
  return (
    <Modal opened={opened} onClose={onClose} title={title}>
      <Stack>
        <Text component="div">{children}</Text>
        <ProblemAlert error={error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} data-autofocus>
            Cancel
          </Button>
          <Button {...(danger && { color: 'red' })} loading={pending} disabled={disabled} onClick={onConfirm}>
            {confirmLabel}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
