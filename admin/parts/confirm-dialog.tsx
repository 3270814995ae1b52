import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { ProblemAlert } from './problem-alert.tsx'

/** Asks for confirmation of an action that is hard to undo. The children say what will happen. */
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
  /** Whether data is permanently deleted. */
  danger?: boolean
  pending?: boolean
  /** Whether required input is missing. */
  disabled?: boolean
  /** Why the last attempt failed; the dialog stays open. */
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
